/** The quoted words in a source that is shown as text. */
import { tick } from "svelte";
import type { SourceUnit } from "../ipc/bindings";
import type { Place } from "./source.svelte";
import { findWords } from "./unit-text";

/** The characters to mark in the place's unit; nothing when the whole unit is meant. */
export function quotedIn(units: readonly SourceUnit[], place: Place): { start: number; end: number } | null {
  const unit = units.find((each) => each.unit_id === place.unit_id);
  if (unit === undefined) return null;
  if (place.char_end > place.char_start) return { start: place.char_start, end: place.char_end };
  return place.words === null ? null : findWords(unit.text, place.words);
}

/** Brings the marked words of the unit into view, or the unit; without one, the beginning. */
export async function scrollToUnit(box: HTMLElement, unitId: string | null): Promise<void> {
  await tick();
  const unit = unitId === null ? null : box.querySelector(`[data-unit="${CSS.escape(unitId)}"]`);
  const target = unit?.querySelector("mark") ?? unit;
  if (target === null || target === undefined) box.scrollTop = 0;
  else target.scrollIntoView({ block: "center" });
}
