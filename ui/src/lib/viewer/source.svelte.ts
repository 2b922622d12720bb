/** The opened source: which place of which version, and the citations around it. */
import { api } from "../ipc/api";
import type { Citation, DocumentKind, Locator, Sheet, Source, SourceUnit } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";
import { layout } from "../window/layout.svelte";

/** A place to open: a citation, a search hit or a whole document. */
export interface Place {
  document: string;
  version: number;
  title: string;
  unit_id: string | null;
  locator: Locator | null;
  /** The quoted characters of the unit; none when `char_end` is 0. */
  char_start: number;
  char_end: number;
  /** Words to mark where the characters are not known. */
  words: string | null;
}

const sheetKinds: readonly DocumentKind[] = ["csv", "xlsx", "xls", "ods"];

class SourceView {
  place: Place | null = $state.raw(null);
  source: Source | null = $state.raw(null);
  units: SourceUnit[] = $state.raw([]);
  /** Of a spreadsheet, in place of its units. */
  sheets: Sheet[] = $state.raw([]);
  status: "empty" | "loading" | "ready" | "gone" | "error" = $state("empty");
  problem: Problem | null = $state(null);
  citations: Citation[] = $state.raw([]);
  index = $state(-1);
  /** Counts openings, so that opening the same place again scrolls to it again. */
  opened = $state(0);
  #request = 0;

  openCitation(citations: Citation[], index: number): void {
    const citation = citations[index];
    if (citation === undefined) return;
    this.citations = citations;
    this.index = index;
    if (citation.source_gone) {
      this.#request += 1;
      this.place = { ...citation, words: null };
      this.source = null;
      this.status = "gone";
      layout.show("source");
      return;
    }
    void this.#open({ ...citation, words: null });
  }

  openPlace(place: Place): void {
    this.citations = [];
    this.index = -1;
    void this.#open(place);
  }

  step(by: 1 | -1): void {
    const next = this.index + by;
    if (next >= 0 && next < this.citations.length) this.openCitation(this.citations, next);
  }

  async openNewer(): Promise<void> {
    const source = this.source;
    if (source === null) return;
    this.openPlace({ ...source, version: source.latest_version, unit_id: null, locator: null, char_start: 0, char_end: 0, words: null });
  }

  async openOriginal(): Promise<void> {
    const source = this.source;
    if (source === null) return;
    try {
      await api().sourceOpenOriginal(source.document, source.version);
      this.problem = null;
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  async #open(place: Place): Promise<void> {
    this.#request += 1;
    const request = this.#request;
    const same = this.source?.document === place.document && this.source.version === place.version && this.status === "ready";
    this.place = { ...place };
    this.problem = null;
    layout.show("source");
    if (!same) {
      this.status = "loading";
      this.source = null;
    }
    try {
      const locator = await placeNow(place);
      if (request !== this.#request) return;
      this.place = { ...place, locator };
      if (same) {
        this.opened += 1;
        return;
      }
      const source = await api().sourceOpen(place.document, place.version);
      const sheets = sheetKinds.includes(source.kind) ? await api().sourceSheets(place.document, place.version) : [];
      const units = source.kind === "pdf" || sheets.length > 0 ? [] : await api().sourceUnits(place.document, place.version);
      if (request !== this.#request) return;
      this.source = source;
      this.sheets = sheets;
      this.units = units;
      this.status = "ready";
      this.opened += 1;
    } catch (thrown) {
      if (request !== this.#request) return;
      this.problem = problemOf(thrown);
      this.status = this.problem.code === "not_found" ? "gone" : "error";
    }
  }

  /** Reads again after something changed: a document removed meanwhile closes its pages. */
  async check(): Promise<void> {
    const source = this.source;
    if (source === null || this.status !== "ready") return;
    try {
      const now = await api().sourceOpen(source.document, source.version);
      if (this.source?.document === now.document && this.source.version === now.version) {
        this.source = { ...now, media_ref: source.media_ref, media_url: source.media_url };
      }
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (problem.code !== "not_found") return;
      this.source = null;
      this.units = [];
      this.sheets = [];
      this.status = "gone";
    }
  }

  close(): void {
    layout.hide("source");
  }
}

/** The place read again: it may be gone, and it has the boxes, the time or the cells of exactly the quoted words. */
async function placeNow(place: Place): Promise<Locator | null> {
  if (place.unit_id === null || place.char_end <= place.char_start) return place.locator;
  return api().sourcePlace(place.unit_id, place.char_start, place.char_end);
}

export const sourceView = new SourceView();
