/** The cells of one sheet as far as they have been read: stretch by stretch, when its rows come into view. */
import { api } from "../ipc/api";
import type { CellArea, Sheet, SheetCell } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";
import { areaName, holds } from "./cells";

export class SheetReader {
  readonly sheet: Sheet;
  /** Counts what was read, so that those who show it look again. */
  read = $state(0);
  /** What was read first: columns that change their width while someone reads are worse than some that fit less well. */
  sample: SheetCell[] = $state.raw([]);
  problem: Problem | null = $state(null);
  #rows = new Map<number, Map<number, SheetCell>>();
  #merged = new Map<string, CellArea>();
  #asked = new Set<string>();

  constructor(sheet: Sheet) {
    this.sheet = sheet;
  }

  /** Reads the stretches that reach into these rows and were not read yet. */
  show(from: number, to: number): void {
    for (const { unit_id, area } of this.sheet.stretches) {
      if (area.first_row > to || area.last_row < from || this.#asked.has(unit_id)) continue;
      this.#asked.add(unit_id);
      void this.#read(unit_id);
    }
  }

  async #read(unitId: string): Promise<void> {
    try {
      const { cells, merged } = await api().sourceCells(unitId);
      for (const cell of cells) {
        const row = this.#rows.get(cell.row) ?? new Map<number, SheetCell>();
        this.#rows.set(cell.row, row.set(cell.column, cell));
      }
      for (const area of merged) this.#merged.set(areaName(area), area);
      if (this.sample.length === 0) this.sample = cells;
      this.read += 1;
    } catch (thrown) {
      this.#asked.delete(unitId);
      this.problem = problemOf(thrown);
    }
  }

  cell(row: number, column: number): SheetCell | null {
    return this.#rows.get(row)?.get(column) ?? null;
  }

  /** Merged cells that reach into these rows. */
  mergedIn(from: number, to: number): CellArea[] {
    return [...this.#merged.values()].filter((area) => area.first_row <= to && area.last_row >= from);
  }

  /** The cells that are shown as one with this one: itself where nothing is merged. */
  whole(row: number, column: number, merged: readonly CellArea[]): CellArea {
    return merged.find((area) => holds(area, row, column)) ?? { first_row: row, first_column: column, last_row: row, last_column: column };
  }
}
