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

/** The machine an address names; the address itself when it is none. */
export function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

/** The address stays on this computer. */
export function isLocal(address: string): boolean {
  const host = hostOf(address).replace(/:\d+$/u, "");
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

/** A name as an id: what the keychain and the settings file can carry. */
export function idOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, "-")
    .replace(/^-|-$/gu, "")
    .slice(0, 40);
}
