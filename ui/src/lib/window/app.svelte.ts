/** What concerns the whole window: its settings, which view it shows, what floats above it. */
import { i18n } from "../i18n/index.svelte";
import { api } from "../ipc/api";
import type { AppInfo, WindowSettings } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";
import { layout } from "./layout.svelte";

export type SettingsPage = "general" | "importing" | "models" | "providers" | "privacy" | "storage" | "about";

const defaults: WindowSettings = { version: 1, language: "system", theme: "system", text_size: 100, provider: null, started: true };

class App {
  info: AppInfo | null = $state(null);
  problem: Problem | null = $state(null);
  settings: WindowSettings = $state({ ...defaults });
  view: "main" | "settings" = $state("main");
  page: SettingsPage = $state("general");
  palette = $state(false);
  map = $state(false);
  dropHover = $state(false);
  /** Said to a screen reader, once. */
  announcement = $state("");

  async load(): Promise<void> {
    this.problem = null;
    try {
      this.info = await api().appInfo();
      this.settings = { ...this.info.settings };
      this.applySettings();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  /** Shows the change at once and stores it; a failure to store is told where the setting is. */
  async change(change: Partial<WindowSettings>): Promise<Problem | null> {
    this.settings = { ...this.settings, ...change };
    this.applySettings();
    try {
      await api().settingsSave({ ...this.settings });
      return null;
    } catch (thrown) {
      return problemOf(thrown);
    }
  }

  applySettings(): void {
    const root = document.documentElement;
    i18n.use(this.settings.language);
    const dark = this.settings.theme === "dark" || (this.settings.theme === "system" && systemDark().matches);
    root.dataset["theme"] = dark ? "dark" : "light";
    root.style.setProperty("--text-scale", String(this.settings.text_size / 100));
    layout.measure();
  }

  openSettings(page: SettingsPage = "general"): void {
    this.page = page;
    this.view = "settings";
  }

  say(text: string): void {
    // The same words twice in a row are two announcements: a live region only speaks when its text changes.
    this.announcement = this.announcement === text ? `${text}\u00a0` : text;
  }
}

export function systemDark(): MediaQueryList {
  return window.matchMedia("(prefers-color-scheme: dark)");
}

export const app = new App();
