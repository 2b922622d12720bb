import { describe, expect, it } from "vitest";
import { markRange, parseUnitText, type Stretch, type UnitBlock } from "../src/lib/viewer/unit-text";

const text = "# 报销制度 😀\n\n住宿上限 500 元。\n- 一线城市\n  - 北京\n1. 提交\n\n| 城市 | 上限 |\n| --- | --- |\n| 北京 | 800 |";
const stretches = (block: UnitBlock): Stretch[] => (block.kind === "table" ? block.rows.flat() : [block.text]);

describe("a unit's text", () => {
  it("becomes blocks", () => {
    expect(parseUnitText(text).map((block) => block.kind)).toEqual(["heading", "paragraph", "item", "item", "item", "table"]);
  });

  it("keeps the character position of every stretch", () => {
    const characters = [...text];
    for (const block of parseUnitText(text)) {
      for (const { text: words, start, end } of stretches(block)) expect(characters.slice(start, end).join("")).toBe(words);
    }
  });

  it("takes nothing between fences for a heading, a list or a table", () => {
    const code = "```\n# install\n\n- x | y\n| a |\n```\n# Next\n```";
    expect(parseUnitText(code).map((block) => block.kind)).toEqual(["code", "code", "code", "code", "heading", "paragraph"]);
    const characters = [...code];
    for (const block of parseUnitText(code)) {
      for (const { text: words, start, end } of stretches(block)) expect(characters.slice(start, end).join("")).toBe(words);
    }
  });

  it("leaves the rule below a table's head out", () => {
    const table = parseUnitText(text).at(-1);
    expect(table?.kind === "table" && table.rows.map((row) => row.map((cell) => cell.text))).toEqual([["城市", "上限"], ["北京", "800"]]);
  });

  it("marks the quoted characters, counted in characters rather than UTF-16 units", () => {
    expect(markRange({ text: "a😀bcd", start: 10, end: 15 }, 11, 13)).toEqual([
      { text: "a", marked: false },
      { text: "😀b", marked: true },
      { text: "cd", marked: false },
    ]);
    expect(markRange({ text: "abc", start: 10, end: 13 }, 20, 30)).toEqual([{ text: "abc", marked: false }]);
  });
});
