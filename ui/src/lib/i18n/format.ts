/** Numbers, sizes, dates and times in the reader's language. */
import type { Messages } from "./zh";

export type Locale = "zh" | "en";

const tags: Record<Locale, string> = { zh: "zh-CN", en: "en" };

/** The locale's tag; in English the region of the system decides on dates. */
export function localeTag(locale: Locale, system: readonly string[] = []): string {
  return system.find((tag) => tag.toLowerCase().startsWith(locale)) ?? tags[locale];
}

export function formatNumber(value: number, tag: string, digits = 0): string {
  return new Intl.NumberFormat(tag, { maximumFractionDigits: digits }).format(value);
}

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function formatSize(bytes: number, tag: string): string {
  let value = Math.max(0, bytes);
  let index = 0;
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  if (index === 0) return `${formatNumber(value, tag)} B`;
  const unit = units[index] ?? "byte";
  const digits = value >= 100 ? 0 : 1;
  return new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: digits }).format(value);
}

/** Today: the time; this year: month and day; else the whole date. */
export function formatMoment(ms: number, tag: string, nowMs: number): string {
  const then = new Date(ms);
  const now = new Date(nowMs);
  if (then.toDateString() === now.toDateString()) {
    return new Intl.DateTimeFormat(tag, { hour: "2-digit", minute: "2-digit" }).format(then);
  }
  if (then.getFullYear() === now.getFullYear()) {
    return new Intl.DateTimeFormat(tag, { month: "short", day: "numeric" }).format(then);
  }
  return new Intl.DateTimeFormat(tag, { year: "numeric", month: "short", day: "numeric" }).format(then);
}

/** Rounded as a person would say it. */
export function formatDuration(seconds: number, tag: string, m: Messages): string {
  if (seconds < 60) return m.time.seconds(formatNumber(Math.max(1, Math.round(seconds)), tag));
  if (seconds < 5400) return m.time.minutes(formatNumber(Math.round(seconds / 60), tag));
  return m.time.hours(formatNumber(seconds / 3600, tag, 1));
}
