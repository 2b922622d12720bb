/** The model services that the user set up. A key goes in and is never read back. */
import { api } from "../ipc/api";
import type { ProviderDraft, ProviderKind, ProviderRow } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";

export interface Preset {
  id: string;
  name: string;
  kind: ProviderKind;
  base_url: string;
  model: string;
}

/** Starting points; everything in them can be changed. Names are proper names and need no translation. */
export const presets: readonly Preset[] = [
  { id: "anthropic", name: "Anthropic", kind: "anthropic", base_url: "https://api.anthropic.com", model: "claude-sonnet-4-5" },
  { id: "openai", name: "OpenAI", kind: "openai_compatible", base_url: "https://api.openai.com/v1", model: "gpt-5-mini" },
  { id: "deepseek", name: "DeepSeek", kind: "openai_compatible", base_url: "https://api.deepseek.com/v1", model: "deepseek-chat" },
  { id: "qwen", name: "通义千问 Qwen", kind: "openai_compatible", base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1", model: "qwen-plus" },
  { id: "moonshot", name: "Kimi", kind: "openai_compatible", base_url: "https://api.moonshot.cn/v1", model: "kimi-latest" },
  { id: "zhipu", name: "智谱 GLM", kind: "openai_compatible", base_url: "https://open.bigmodel.cn/api/paas/v4", model: "glm-4-plus" },
  { id: "local", name: "Ollama", kind: "openai_compatible", base_url: "http://localhost:11434/v1", model: "qwen3:4b" },
  { id: "custom", name: "", kind: "openai_compatible", base_url: "", model: "" },
];

class Providers {
  rows: ProviderRow[] = $state.raw([]);
  loaded = $state(false);
  problem: Problem | null = $state(null);

  async refresh(): Promise<void> {
    try {
      this.rows = await api().providers();
      this.problem = null;
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.loaded = true;
  }

  /** Stores what was typed; with a key, the key too. Says what went wrong, if anything. */
  async save(draft: ProviderDraft, key: string): Promise<Problem | null> {
    return this.#act(async () => {
      const row = await api().providerSave(draft);
      if (key !== "") await api().keySet(row.id, key);
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
