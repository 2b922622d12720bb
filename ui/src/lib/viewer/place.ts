/** A place in a source in words: "page 12 (label iv)", the heading, the slide. */
import type { Locator } from "../ipc/bindings";
import type { Messages } from "../i18n/zh";

export function placeText(locator: Locator, m: Messages, number: (n: number) => string): string {
  switch (locator.kind) {
    case "page": {
      const page = number(locator.page_index + 1);
      const label = locator.page_label.trim();
      return label === "" || label === String(locator.page_index + 1) ? m.source.page(page) : m.source.page_label(page, label);
    }
    case "section":
      return locator.heading_path.join(" › ");
    case "slide":
      return locator.part === "notes" ? m.source.slide_notes(number(locator.index + 1)) : m.source.slide(number(locator.index + 1));
    case "cells":
      return locator.sheet === "" ? m.source.cells(locator.range) : `${locator.sheet} › ${locator.range}`;
    case "time":
      return clock(locator.start_ms);
    case "region":
    case "chars":
      return "";
  }
}

export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
