/** The measures of a grid that only draws what is on screen: how wide columns are, which are seen, where a key leads. */
import type { CellArea, SheetCell } from "../ipc/bindings";
import { holds, type Cell } from "./cells";

const narrowest = 5;
const widest = 16;
/** A column in which nothing was read yet. */
const unknown = 6;

/** Columns in rem, by the longest of the texts read so far; a wide character takes two places. */
export function columnWidths(cells: Iterable<SheetCell>, nColumns: number): number[] {
  const longest = new Map<number, number>();
  for (const { column, text } of cells) longest.set(column, Math.max(longest.get(column) ?? 0, places(text)));
  return Array.from({ length: nColumns }, (_, column) => {
    const n = longest.get(column);
    return n === undefined ? unknown : Math.min(widest, Math.max(narrowest, n * 0.46 + 1.5));
  });
}

function places(text: string): number {
  let n = 0;
  for (const character of text.slice(0, 64)) n += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u.test(character) ? 2 : 1;
  return n;
}

/** Where each column begins; one more entry than columns, the last is the whole width. */
export function edges(widths: readonly number[]): number[] {
  const found = [0];
  for (const width of widths) found.push((found.at(-1) ?? 0) + width);
  return found;
}

/** First and last column that reach into `from..to`. */
export function seen(lefts: readonly number[], from: number, to: number): { first: number; last: number } {
  const final = Math.max(0, lefts.length - 2);
  let first = 0;
  while (first < final && (lefts[first + 1] ?? 0) <= from) first += 1;
  let last = first;
  while (last < final && (lefts[last + 1] ?? 0) < to) last += 1;
  return { first, last };
}

/** Where a key leads from a cell; nothing when it means something else. `last` is the last cell there is. */
export function cellAfter(key: string, far: boolean, at: Cell, last: Cell, pageRows: number): Cell | null {
  const row = (n: number): number => Math.max(0, Math.min(last.row, n));
  const column = (n: number): number => Math.max(0, Math.min(last.column, n));
  switch (key) {
    case "ArrowUp":
      return { ...at, row: far ? 0 : row(at.row - 1) };
    case "ArrowDown":
      return { ...at, row: far ? last.row : row(at.row + 1) };
    case "ArrowLeft":
      return { ...at, column: far ? 0 : column(at.column - 1) };
    case "ArrowRight":
      return { ...at, column: far ? last.column : column(at.column + 1) };
    case "PageUp":
      return { ...at, row: row(at.row - pageRows) };
    case "PageDown":
      return { ...at, row: row(at.row + pageRows) };
    case "Home":
      return far ? { row: 0, column: 0 } : { ...at, column: 0 };
    case "End":
      return far ? { ...last } : { ...at, column: last.column };
    default:
      return null;
  }
}

/** Out of merged cells in one step: the wanted cell, or the next one behind the merged ones that `at` is in. */
export function past(merged: CellArea, at: Cell, wanted: Cell, last: Cell): Cell {
  if (!holds(merged, wanted.row, wanted.column)) return wanted;
  if (wanted.row > at.row) return { ...wanted, row: Math.min(last.row, merged.last_row + 1) };
  if (wanted.row < at.row) return { ...wanted, row: Math.max(0, merged.first_row - 1) };
  if (wanted.column > at.column) return { ...wanted, column: Math.min(last.column, merged.last_column + 1) };
  if (wanted.column < at.column) return { ...wanted, column: Math.max(0, merged.first_column - 1) };
  return wanted;
}

/** Where to scroll so that `start..end` is within the `room` that is seen; `centred`, in its middle when it was not. */
export function scrolled(top: number, room: number, start: number, end: number, centred: boolean): number {
  if (start >= top && end <= top + room) return top;
  if (centred) return Math.max(0, start - Math.max(0, (room - (end - start)) / 2));
  return start < top ? start : Math.min(start, end - room);
}
