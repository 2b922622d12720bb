import { describe, expect, it } from "vitest";
import { readableQuote } from "../src/lib/ask/copy";
import { excerpt, queryTerms } from "../src/lib/search/excerpt";
import { hostOf, idOf, isLocal } from "../src/lib/settings/address";
import { fit } from "../src/lib/window/fit";

const shown = (width: number, library: boolean, source: boolean, focus: "library" | "conversation" | "source"): string =>
  Object.entries(fit(width, { library, source }, focus)).filter(([, is]) => is).map(([pane]) => pane).join(" ");

describe("the panes that fit", () => {
  it("are all three when there is room", () => {
    expect(shown(90, true, true, "conversation")).toBe("library conversation source");
  });

  it("give way to the one in use when there is not", () => {
    expect(shown(50, true, true, "source")).toBe("conversation source");
    expect(shown(50, true, true, "library")).toBe("library conversation");
  });

  it("are one at 200 % text in a small window", () => {
    expect(shown(30, true, true, "source")).toBe("source");
    expect(shown(30, true, false, "source")).toBe("conversation");
  });
});

describe("addresses", () => {
  it("tells what stays on this computer", () => {
    expect(["http://127.0.0.1:8080/v1", "http://localhost:11434", "http://[::1]:1/", "https://api.openai.com/v1", "http://localhost.evil.example"].map(isLocal)).toEqual([
      true, true, true, false, false,
    ]);
  });

  it("names the machine and makes ids of names", () => {
    expect(hostOf("https://api.deepseek.com/v1")).toBe("api.deepseek.com");
    expect(idOf("  My Server (GPU) ")).toBe("my-server-gpu");
  });
});

describe("excerpts", () => {
  it("mark the words looked for, Chinese in pairs", () => {
    expect(queryTerms("防水材料 M-208")).toEqual(["m-208", "防水", "水材", "材料"]);
    expect(excerpt("卫生间的防水材料型号为 M-208。", "防水 M-208", 80)).toEqual([
      { text: "卫生间的", marked: false },
      { text: "防水", marked: true },
      { text: "材料型号为 ", marked: false },
      { text: "M-208", marked: true },
      { text: "。", marked: false },
    ]);
  });

  it("start near the first hit of a long passage", () => {
    const parts = excerpt(`${"前文".repeat(200)}防水${"后文".repeat(200)}`, "防水", 60);
    expect(parts.some((part) => part.marked)).toBe(true);
    expect(parts.map((part) => part.text).join("").length).toBeLessThanOrEqual(62);
  });
});

describe("quotations", () => {
  it("read as words, not as the marks that carry tables and lists", () => {
    expect(readableQuote("| 材料 | 型号 |\n| --- | --- |\n| 涂料 | M-208 |")).toBe("材料 · 型号 涂料 · M-208");
    expect(readableQuote("## 标题\n- 一\n正文")).toBe("标题 一 正文");
  });
});
