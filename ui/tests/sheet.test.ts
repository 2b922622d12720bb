import { describe, expect, it } from "vitest";
import { areaName, cellName, columnName, holds, parseArea } from "../src/lib/viewer/cells";
import { cellAfter, columnWidths, edges, past, scrolled, seen } from "../src/lib/viewer/grid";

const area = (range: string) => {
  const found = parseArea(range);
  if (found === null) throw new Error(range);
  return found;
};

describe("places in a sheet", () => {
  it("are read and written as people write them", () => {
    for (const name of ["A1", "Z9", "AA10", "XFD1048576", "B3:D9"]) expect(areaName(area(name))).toBe(name);
    expect(areaName(area("D9:B3"))).toBe("B3:D9");
    expect([0, 25, 26, 701, 702].map(columnName)).toEqual(["A", "Z", "AA", "ZZ", "AAA"]);
    for (const wrong of ["", "A", "7", "A0", "B3:"]) expect(parseArea(wrong)).toBeNull();
  });

  it("hold their corners and nothing outside", () => {
    const cells = [[2, 1], [8, 3], [1, 1], [8, 4]].filter(([row = 0, column = 0]) => holds(area("B3:D9"), row, column));
    expect(cells).toEqual([[2, 1], [8, 3]]);
  });
});

describe("the grid", () => {
  it("gives wide characters the room they take, within bounds", () => {
    const widths = columnWidths(
      [
        { row: 0, column: 0, text: "7", notes: [] },
        { row: 1, column: 1, text: "聚氨酯防水涂料", notes: [] },
        { row: 2, column: 1, text: "abcdefg", notes: [] },
        { row: 0, column: 2, text: "x".repeat(500), notes: [] },
      ],
      4,
    );
    expect(widths[0]).toBe(5);
    expect(widths[1]).toBeCloseTo(14 * 0.46 + 1.5);
    expect(widths.slice(2)).toEqual([16, 6]);
  });

  it("draws the columns that reach into what is seen", () => {
    const lefts = edges([10, 20, 30, 40]);
    expect(lefts).toEqual([0, 10, 30, 60, 100]);
    expect([[0, 5], [0, 11], [30, 60], [95, 400], [400, 500]].map(([from = 0, to = 0]) => Object.values(seen(lefts, from, to)))).toEqual([[0, 0], [0, 1], [2, 2], [3, 3], [3, 3]]);
  });

  it("moves by keys and stays inside", () => {
    const last = { row: 19_999, column: 5 };
    const at = { row: 3, column: 5 };
    const to = (key: string, far = false): string | null => {
      const next = cellAfter(key, far, at, last, 20);
      return next === null ? null : cellName(next);
    };
    expect(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "a"].map((key) => to(key))).toEqual(
      ["F3", "F5", "E4", "F4", "F1", "F24", "A4", "F4", null],
    );
    expect(["Home", "End", "ArrowDown"].map((key) => to(key, true))).toEqual(["A1", "F20000", "F20000"]);
  });

  it("leaves merged cells in one step", () => {
    const last = { row: 9, column: 9 };
    const from = (key: string): string => {
      const at = { row: 4, column: 2 };
      return cellName(past(area("B4:D8"), at, cellAfter(key, false, at, last, 2) ?? at, last));
    };
    expect(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].map(from)).toEqual(["C3", "C9", "A5", "E5"]);
  });

  it("scrolls only as far as it must, and puts an opened place in the middle", () => {
    expect(scrolled(100, 50, 110, 120, true)).toBe(100);
    expect(scrolled(100, 50, 150, 160, false)).toBe(110);
    expect(scrolled(100, 50, 90, 100, false)).toBe(90);
    expect(scrolled(0, 50, 500, 510, true)).toBe(480);
    expect(scrolled(0, 50, 500, 900, true)).toBe(500);
  });
});
