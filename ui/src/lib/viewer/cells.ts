/** Places in a sheet as people write them: `B3`, `B3:D9`. Rows and columns count from 0. */
import type { CellArea } from "../ipc/bindings";

export interface Cell {
  row: number;
  column: number;
}

export function columnName(column: number): string {
  let name = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

export function cellName({ row, column }: Cell): string {
  return `${columnName(column)}${row + 1}`;
}

export function areaName(area: CellArea): string {
  const [first, last] = [cellName({ row: area.first_row, column: area.first_column }), cellName({ row: area.last_row, column: area.last_column })];
  return first === last ? first : `${first}:${last}`;
}

function parseCell(text: string): Cell | null {
  const [, letters = "", digits = ""] = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})$/u.exec(text) ?? [];
  if (letters === "") return null;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { row: Number(digits) - 1, column };
}

export function parseArea(range: string): CellArea | null {
  const [from = "", to = from] = range.split(":");
  const [a, b] = [parseCell(from), parseCell(to)];
  if (a === null || b === null) return null;
  return {
    first_row: Math.min(a.row, b.row),
    first_column: Math.min(a.column, b.column),
    last_row: Math.max(a.row, b.row),
    last_column: Math.max(a.column, b.column),
  };
}

export function holds(area: CellArea, row: number, column: number): boolean {
  return row >= area.first_row && row <= area.last_row && column >= area.first_column && column <= area.last_column;
}

/** The last row and column in which anything of these areas stands. */
export function extent(areas: readonly CellArea[]): Cell {
  return areas.reduce((most, area) => ({ row: Math.max(most.row, area.last_row), column: Math.max(most.column, area.last_column) }), { row: 0, column: 0 });
}
