import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { en } from "../src/lib/i18n/en";
import { formatDuration, formatNumber, formatSize, localeTag } from "../src/lib/i18n/format";
import { knowsProblem, problemWords } from "../src/lib/i18n/problems";
import { hasReason, reasons, reasonText } from "../src/lib/i18n/reasons";
import { zh } from "../src/lib/i18n/zh";

const rust = join(import.meta.dirname, "../../src-tauri");

/** Every Rust source outside tests, with its test modules cut off. */
function* sources(dir: string): Generator<string> {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (!["tests", "target", "testkit", "zhiku-testkit"].includes(entry.name)) yield* sources(path);
    } else if (entry.name.endsWith(".rs") && entry.name !== "tests.rs") {
      yield readFileSync(path, "utf8").split(/#\[cfg\(test\)\]\s*mod /u)[0] ?? "";
    }
  }
}

/** Codes that are written down where reasons and warnings are made. */
const makers = [
  /Reason::new\(\s*"([a-z_]+)"/gu,
  /\bwarn(?:ing)?\(\s*"([a-z_]+)"/gu,
  /\bgap\([^()"]*"([a-z_]+)"\)/gu,
  /\bcode: "([a-z_]+)"\.to_owned\(\)/gu,
];

function codesInRust(): Set<string> {
  const codes = new Set<string>();
  for (const text of sources(rust)) for (const maker of makers) for (const [, code] of text.matchAll(maker)) if (code !== undefined) codes.add(code);
  return codes;
}

function errorCodesInRust(): string[] {
  const text = readFileSync(join(rust, "crates/zhiku-core/src/error.rs"), "utf8");
  return [...text.matchAll(/Self::\w+ => "([a-z_]+)"/gu)].map(([, code]) => code ?? "");
}

describe("words for codes", () => {
  it("finds the codes of the Rust sources", () => {
    expect(codesInRust().size).toBeGreaterThan(20);
    expect(errorCodesInRust().length).toBeGreaterThan(10);
  });

  it("has both languages for every reason that Rust makes", () => {
    expect([...codesInRust()].filter((code) => !hasReason(code))).toEqual([]);
  });

  it("has both languages for every error code", () => {
    expect(errorCodesInRust().filter((code) => !knowsProblem(code))).toEqual([]);
    for (const code of errorCodesInRust()) expect(problemWords(code, "zh").happened).toMatch(/\p{Script=Han}/u);
  });

  it("names the same arguments in both languages", () => {
    const names = (text: string): string[] => [...text.matchAll(/\{([a-z_]+)\}/gu)].map(([, name]) => name ?? "").toSorted();
    for (const [code, words] of Object.entries(reasons)) expect([code, names(words.en)]).toEqual([code, names(words.zh)]);
  });

  it("fills in arguments and survives an unknown code", () => {
    expect(reasonText({ code: "code_not_found", args: { code: "M-208" } }, "zh")).toBe("资料里没有出现“M-208”。");
    expect(reasonText({ code: "some_new_code", args: {} }, "en")).toBe("some new code");
    expect(reasonText({ code: "toString", args: {} }, "en")).toBe("toString");
  });
});

describe("the two languages", () => {
  const paths = (value: object, prefix = ""): string[] =>
    Object.entries(value).flatMap(([key, child]) => (typeof child === "object" ? paths(child as object, `${prefix}${key}.`) : [`${prefix}${key}`]));

  it("have the same texts", () => {
    expect(paths(en)).toEqual(paths(zh));
  });

  it("do without exclamation marks", () => {
    expect(JSON.stringify([zh, en, reasons])).not.toMatch(/[!！]/u);
  });
});

describe("numbers in the reader's language", () => {
  it("follows the system's region for dates and numbers when its language fits", () => {
    expect(localeTag("en", ["de-DE", "en-GB"])).toBe("en-GB");
    expect(localeTag("zh", ["en-GB"])).toBe("zh-CN");
  });

  it("writes sizes, numbers and durations", () => {
    expect(formatNumber(100000, "en")).toBe("100,000");
    expect(formatSize(118_000_000, "en")).toBe("118 MB");
    expect(formatSize(193, "en")).toBe("193 B");
    expect(formatSize(1_440_000, "en")).toBe("1.4 MB");
    expect(formatDuration(74, "zh-CN", zh)).toBe("1 分钟");
    expect(formatDuration(0.2, "en", en)).toBe("1 s");
  });
});
