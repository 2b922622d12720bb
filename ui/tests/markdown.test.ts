import { describe, expect, it } from "vitest";
import { parseInline, parseMarkdown, plainText, type Run } from "../src/lib/ask/markdown";

const short = (run: Run): string => {
  if (run.kind === "cite") return `[${run.n}]`;
  if (run.kind === "break") return "/";
  const marks = `${run.strong ? "b" : ""}${run.emphasis ? "i" : ""}${run.code ? "c" : ""}${run.href === null ? "" : `→${run.href}`}`;
  return marks === "" ? run.text : `${marks}(${run.text})`;
};
const inline = (source: string): string[] => parseInline(source).map(short);

describe("inline text", () => {
  it("makes citation marks of numbers in brackets", () => {
    expect(inline("防水用聚氨酯[1][2]。见 [3, 4]")).toEqual(["防水用聚氨酯", "[1]", "[2]", "。见 ", "[3]", "[4]"]);
  });

  it("knows emphasis and code, but leaves names with underscores alone", () => {
    expect(inline("**重** and *it* `a*b` snake_case_name 2*3")).toEqual(["b(重)", " and ", "i(it)", " ", "c(a*b)", " snake_case_name 2*3"]);
  });

  it("keeps a link as words with an address", () => {
    expect(inline("see [the site](https://example.org/a)")).toEqual(["see ", "→https://example.org/a(the site)"]);
  });

  it("never keeps an image or a script address", () => {
    expect(inline("![x](https://evil.example/p.png) [y](javascript:alert(1))")).toEqual(["x", " [y](javascript:alert(1))"]);
    expect(inline("[y](data:text/html,x)")).toEqual(["y"]);
  });

  it("leaves markup as text", () => {
    const runs = parseInline('<img src=x onerror="1"> & <b>');
    expect(plainText(runs)).toBe('<img src=x onerror="1"> & <b>');
  });
});

describe("blocks", () => {
  it("reads headings, paragraphs, lists, tables, quotes and code", () => {
    const blocks = parseMarkdown("# 结论\n一行\n二行\n\n- a\n  - b [1]\n\n2. x\n3. y\n\n| k | v |\n| --- | --- |\n| 1 | 2 |\n\n> q\n\n```\n*raw*\n```\n---");
    expect(blocks.map((block) => block.kind)).toEqual(["heading", "paragraph", "list", "list", "table", "quote", "code", "rule"]);
    expect(blocks[2]).toMatchObject({ ordered: false, items: [{ depth: 0 }, { depth: 1 }] });
    expect(blocks[3]).toMatchObject({ ordered: true, start: 2 });
    expect(blocks[6]).toEqual({ kind: "code", text: "*raw*" });
  });

  it("survives a stream that stops anywhere", () => {
    const whole = "# 标题\n**重点** [1]\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\ncode";
    for (let end = 0; end <= whole.length; end += 1) {
      expect(() => parseMarkdown(whole.slice(0, end))).not.toThrow();
    }
  });
});
