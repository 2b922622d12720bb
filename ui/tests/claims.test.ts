import { describe, expect, it } from "vitest";
import { claimKeys, segment } from "../src/lib/ask/claims";
import { parseInline, type Run } from "../src/lib/ask/markdown";
import type { Claim } from "../src/lib/ipc/bindings";

const claim = (text: string): Claim => ({ text, citations: [1], support: "supported", reason: { code: "x", args: {} } });
const words = (runs: Run[]): string => runs.map((run) => (run.kind === "cite" ? `[${run.n}]` : run.kind === "text" ? run.text : "/")).join("");
const cut = (text: string, claims: string[]): [number | null, string][] =>
  segment(parseInline(text), claimKeys(claims.map(claim)), new Set()).map((part) => [part.claim, words(part.runs)]);

describe("claims in an answer", () => {
  it("covers each sentence with its punctuation and marks", () => {
    expect(cut("卫生间用聚氨酯防水涂料[1]。供应商是宏达[2]。", ["卫生间用聚氨酯防水涂料。", "供应商是宏达 [2]。"])).toEqual([
      [0, "卫生间用聚氨酯防水涂料[1]。"],
      [1, "供应商是宏达[2]。"],
    ]);
  });

  it("ignores emphasis, case and width", () => {
    expect(cut("The **Limit** is ２００ EUR. [1] Other words.", ["the limit is 200 eur"])).toEqual([
      [0, "The Limit is ２００ EUR. [1]"],
      [null, " Other words."],
    ]);
  });

  it("keeps a sign with its figure", () => {
    expect(cut("同比增长 12% [1]\n其他", ["同比增长 12%"])[0]).toEqual([0, "同比增长 12% [1]"]);
  });

  it("keeps marks before the full stop with their sentence", () => {
    expect(cut("型号 M-208 [1]。涂刷两遍 [1][2]。其他", ["型号 M-208。", "涂刷两遍。"])).toEqual([
      [0, "型号 M-208 [1]。"],
      [1, "涂刷两遍 [1][2]。"],
      [null, "其他"],
    ]);
  });

  it("leaves text without a claim whole", () => {
    expect(cut("Nothing checked here.", ["something else"])).toEqual([[null, "Nothing checked here."]]);
  });

  it("uses a repeated sentence once per claim", () => {
    expect(cut("Yes it is. Yes it is.", ["Yes it is.", "Yes it is."]).filter(([index]) => index !== null).map(([index]) => index)).toEqual([0, 1]);
  });
});
