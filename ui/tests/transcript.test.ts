import { describe, expect, it } from "vitest";
import type { SourceUnit } from "../src/lib/ipc/bindings";
import { lineAt, spokenLines } from "../src/lib/viewer/transcript";

const unit = (id: string, start_ms: number, text: string, timing: SourceUnit["timing"], process: SourceUnit["process"] = "asr"): SourceUnit => ({
  unit_id: id,
  locator: { kind: "time", start_ms, end_ms: start_ms + 10_000 },
  text,
  heading_path: [],
  trust: "normal",
  process,
  timing,
});

describe("the words of a recording", () => {
  const units = [
    unit("a", 0, "第一句。\nSecond.", [
      { char_start: 0, char_end: 4, start_ms: 500, end_ms: 2000 },
      { char_start: 5, char_end: 12, start_ms: 2500, end_ms: 4000 },
    ]),
    unit("b", 2000, "画面 M-208", [], "ocr"),
  ];

  it("stand in the order of time, each with its own", () => {
    expect(spokenLines(units).map((line) => [line.startMs, line.text, line.seen])).toEqual([
      [500, "第一句。", false],
      [2000, "画面 M-208", true],
      [2500, "Second.", false],
    ]);
  });

  it("follow along by what is heard, not by what is seen", () => {
    const lines = spokenLines(units);
    expect(lineAt(lines, 2100)?.text).toBe("第一句。");
    expect(lineAt(lines, 100)).toBeNull();
  });
});
