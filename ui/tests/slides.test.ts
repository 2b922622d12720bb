import { describe, expect, it } from "vitest";
import { en } from "../src/lib/i18n/en";
import { zh } from "../src/lib/i18n/zh";
import type { SourceUnit } from "../src/lib/ipc/bindings";
import { placeText } from "../src/lib/viewer/place";
import { isSlides, slidesOf } from "../src/lib/viewer/slides";

const unit = (unit_id: string, locator: SourceUnit["locator"]): SourceUnit => ({
  unit_id,
  locator,
  text: unit_id,
  heading_path: [],
  trust: "normal",
  process: "text",
  timing: [],
});

describe("a presentation", () => {
  const units = [
    unit("b", { kind: "slide", index: 1, part: "body" }),
    unit("a", { kind: "slide", index: 0, part: "body" }),
    unit("n", { kind: "slide", index: 1, part: "notes" }),
  ];

  it("has its slides in the order of the show, each with what the speaker wrote", () => {
    const hidden = { reason: { code: "slide_hidden", args: {} }, locator: units[0]?.locator ?? null };
    expect(slidesOf(units, [hidden]).map(({ index, body, notes, hidden: left }) => [index, body.length, notes.length, left])).toEqual([
      [0, 1, 0, false],
      [1, 1, 1, true],
    ]);
    expect(isSlides(units)).toBe(true);
    expect(isSlides([unit("s", { kind: "chars", char_start: 0, char_end: 1 })])).toBe(false);
  });
});

describe("a place in words", () => {
  it("names the slide, its notes and the cells in both languages", () => {
    const say = (locator: SourceUnit["locator"]): string[] => [zh, en].map((m) => placeText(locator, m, String));
    expect(say({ kind: "slide", index: 2, part: "body" })).toEqual(["第 3 张幻灯片", "Slide 3"]);
    expect(say({ kind: "slide", index: 2, part: "notes" })).toEqual(["第 3 张幻灯片的备注", "Notes of slide 3"]);
    expect(say({ kind: "cells", sheet: "库存", range: "B7:G7" })).toEqual(["库存 › B7:G7", "库存 › B7:G7"]);
    expect(say({ kind: "cells", sheet: "", range: "A2" })).toEqual(["单元格 A2", "Cell A2"]);
  });
});
