/** The units of a presentation by slide: what stands on it, and what the speaker wrote below it. */
import type { SourceUnit, SourceWarning } from "../ipc/bindings";

export interface Slide {
  /** Counts from 0. */
  index: number;
  body: SourceUnit[];
  notes: SourceUnit[];
  /** The show leaves it out. */
  hidden: boolean;
}

export function isSlides(units: readonly SourceUnit[]): boolean {
  return units.some((unit) => unit.locator.kind === "slide");
}

/** In the order of the show. */
export function slidesOf(units: readonly SourceUnit[], warnings: readonly SourceWarning[]): Slide[] {
  const slides = new Map<number, Slide>();
  for (const unit of units) {
    if (unit.locator.kind !== "slide") continue;
    const { index, part } = unit.locator;
    const slide = slides.get(index) ?? { index, body: [], notes: [], hidden: false };
    slides.set(index, slide);
    slide[part].push(unit);
  }
  for (const { reason, locator } of warnings) {
    const slide = reason.code === "slide_hidden" && locator?.kind === "slide" ? slides.get(locator.index) : undefined;
    if (slide !== undefined) slide.hidden = true;
  }
  return [...slides.values()].sort((a, b) => a.index - b.index);
}
