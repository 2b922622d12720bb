/** A recording's words as lines with their times. */
import type { SourceUnit } from "../ipc/bindings";

export interface SpokenLine {
  key: string;
  unit: string;
  /** Characters of the unit's text. */
  start: number;
  end: number;
  text: string;
  startMs: number;
  endMs: number;
  /** Words seen in the picture rather than heard. */
  seen: boolean;
}

/** In the order of time; a unit without times of its own is one line. */
export function spokenLines(units: readonly SourceUnit[]): SpokenLine[] {
  const lines: SpokenLine[] = [];
  for (const unit of units) {
    if (unit.locator.kind !== "time") continue;
    const characters = [...unit.text];
    const whole = { char_start: 0, char_end: characters.length, start_ms: unit.locator.start_ms, end_ms: unit.locator.end_ms };
    for (const timed of unit.timing.length > 0 ? unit.timing : [whole]) {
      lines.push({
        key: `${unit.unit_id}:${timed.char_start}`,
        unit: unit.unit_id,
        start: timed.char_start,
        end: timed.char_end,
        text: characters.slice(timed.char_start, timed.char_end).join(""),
        startMs: timed.start_ms,
        endMs: timed.end_ms,
        seen: unit.process === "ocr",
      });
    }
  }
  return lines.sort((a, b) => a.startMs - b.startMs);
}

/** The line that is being said at a time, or the last one before it. */
export function lineAt(lines: readonly SpokenLine[], ms: number): SpokenLine | null {
  let found: SpokenLine | null = null;
  for (const line of lines) {
    if (line.startMs > ms) break;
    if (!line.seen) found = line;
  }
  return found;
}
