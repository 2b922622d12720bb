/** The language of the window: texts, numbers and dates change together and at once. */
import type { Language } from "../ipc/bindings";
import { en } from "./en";
import { formatDuration, formatMoment, formatNumber, formatSize, localeTag, type Locale } from "./format";
import { zh, type Messages } from "./zh";

/** What `system` means: the first language of the system that the window speaks. */
export function resolveLanguage(choice: Language, system: readonly string[]): Locale {
  if (choice !== "system") return choice;
  for (const tag of system) {
    const lower = tag.toLowerCase();
    if (lower.startsWith("zh")) return "zh";
    if (lower.startsWith("en")) return "en";
  }
  return "en";
}

function systemLanguages(): readonly string[] {
  return navigator.languages.length > 0 ? navigator.languages : [navigator.language];
}

class I18n {
  locale: Locale = $state(resolveLanguage("system", systemLanguages()));
  tag: string = $derived(localeTag(this.locale, systemLanguages()));
  m: Messages = $derived(this.locale === "zh" ? zh : en);

  use(choice: Language): void {
    this.locale = resolveLanguage(choice, systemLanguages());
    document.documentElement.lang = this.locale === "zh" ? "zh-CN" : "en";
  }

  number(value: number, digits = 0): string {
    return formatNumber(value, this.tag, digits);
  }

  size(bytes: number): string {
    return formatSize(bytes, this.tag);
  }

  moment(ms: number): string {
    return formatMoment(ms, this.tag, Date.now());
  }

  duration(seconds: number): string {
    return formatDuration(seconds, this.tag, this.m);
  }
}

export const i18n = new I18n();
