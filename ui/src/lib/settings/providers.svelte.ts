/** The model services that the user set up. A key goes in and is never read back. */
import { api } from "../ipc/api";
import type { ProviderDraft, ProviderPreset, ProviderRow } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";

class Providers {
  rows: ProviderRow[] = $state.raw([]);
  /** Starting points for new services; everything in them can be changed. */
  presets: ProviderPreset[] = $state.raw([]);
  loaded = $state(false);
  problem: Problem | null = $state(null);

  async refresh(): Promise<void> {
    try {
      this.rows = await api().providers();
      if (this.presets.length === 0) this.presets = await api().providerPresets();
      this.problem = null;
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.loaded = true;
  }

  /** Stores what was typed; with a key, the key too. Says what went wrong, if anything. */
  async save(draft: ProviderDraft, key: string): Promise<Problem | null> {
    return this.#act(async () => {
      await api().providerSave(draft);
      if (key !== "") await api().keySet(draft.id, key);
    });
  }

  async remove(id: string): Promise<Problem | null> {
    return this.#act(() => api().providerDelete(id));
  }

  async deleteKey(id: string): Promise<Problem | null> {
    return this.#act(() => api().keyDelete(id));
  }

  async #act(action: () => Promise<void>): Promise<Problem | null> {
    try {
      await action();
      return null;
    } catch (thrown) {
      return problemOf(thrown);
    } finally {
      await this.refresh();
    }
  }
}

export const providers = new Providers();
