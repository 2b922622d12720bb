/** The library as far as it is on screen, the work on it, and the documents a question is narrowed to. */
import { SvelteMap } from "svelte/reactivity";
import { api } from "../ipc/api";
import type { DocumentRow, ImportChoice, ImportReceipt, WorkStatus } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";

const pageSize = 100;

class Library {
  total = $state(0);
  /** Documents in the whole vault, without the filter. */
  everything = $state(0);
  /** Documents that failed and may be tried again. */
  retryable = $state(0);
  loaded = $state(false);
  filter = $state("");
  pages: ReadonlyMap<number, DocumentRow[]> = $state.raw(new Map());
  work: WorkStatus | null = $state(null);
  problem: Problem | null = $state(null);
  receipt: ImportReceipt | null = $state(null);
  /** Titles by document id. */
  readonly selected = new SvelteMap<string, string>();
  #visible: [number, number] = [0, 0];
  #request = 0;

  row(index: number): DocumentRow | undefined {
    return this.pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  /** Reads the pages that the rows `from..to` need and that are not there. */
  async show(from: number, to: number): Promise<void> {
    this.#visible = [from, to];
    for (let page = Math.floor(from / pageSize); page <= Math.floor(to / pageSize); page += 1) {
      if (!this.pages.has(page) && page * pageSize < this.total) await this.#read(page, new Map(this.pages));
    }
  }

  /** Reads again what is on screen. */
  async refresh(): Promise<void> {
    await this.#read(Math.floor(this.#visible[0] / pageSize), new Map());
    await this.show(...this.#visible);
  }

  async #read(page: number, keep: Map<number, DocumentRow[]>): Promise<void> {
    this.#request += 1;
    const request = this.#request;
    const filter = this.filter;
    try {
      const { total, retryable, rows } = await api().libraryPage(page * pageSize, pageSize, filter);
      if (request !== this.#request) return;
      this.pages = keep.set(page, rows);
      this.total = total;
      this.retryable = retryable;
      if (filter === "") this.everything = total;
      this.problem = null;
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.loaded = true;
  }

  async setFilter(filter: string): Promise<void> {
    this.filter = filter;
    this.#visible = [0, 0];
    await this.refresh();
  }

  async refreshWork(): Promise<void> {
    try {
      this.work = await api().workStatus();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  async import(choice: ImportChoice): Promise<void> {
    try {
      const receipt = await api().importChosen(choice);
      if (receipt !== null) this.imported(receipt);
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  imported(receipt: ImportReceipt): void {
    this.receipt = receipt;
    void this.refresh();
    void this.refreshWork();
  }

  async retry(document: string): Promise<void> {
    await this.#act(() => api().documentRetry(document));
  }

  async unlock(document: string, password: string): Promise<void> {
    await this.#act(() => api().documentUnlock(document, password));
  }

  async remove(document: string): Promise<void> {
    await this.#act(() => api().documentRemove(document));
    this.selected.delete(document);
  }

  async pause(paused: boolean): Promise<void> {
    await this.#act(() => api().workPause(paused));
    await this.refreshWork();
  }

  /** Takes one document's import back; all for `null`. */
  async cancel(document: string | null): Promise<void> {
    await this.#act(() => api().workCancel(document));
    await this.refreshWork();
  }

  async retryFailed(): Promise<void> {
    await this.#act(() => api().workRetryFailed());
    await this.refreshWork();
  }

  async #act(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (thrown) {
      this.problem = problemOf(thrown);
      return;
    }
    await this.refresh();
  }

  toggle(row: DocumentRow): void {
    if (!this.selected.delete(row.document)) this.selected.set(row.document, row.title);
  }
}

export const library = new Library();
