import { describe, expect, it } from "vitest";
import { actionOf, composerKey, type Stroke } from "../src/lib/window/keys";

const stroke = (key: string, change: Partial<Stroke> = {}): Stroke => ({
  key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, keyCode: 0, ...change,
});

describe("the keyboard map", () => {
  it("uses Ctrl here and Command on a Mac", () => {
    expect(actionOf(stroke("k", { ctrlKey: true }), false)).toBe("search");
    expect(actionOf(stroke("k", { ctrlKey: true }), true)).toBeNull();
    expect(actionOf(stroke("k", { metaKey: true }), true)).toBe("search");
    expect(actionOf(stroke("n", { ctrlKey: true }), false)).toBe("new_conversation");
    expect(actionOf(stroke("O", { ctrlKey: true }), false)).toBe("import");
  });

  it("walks citations with Alt and arrows", () => {
    expect(actionOf(stroke("ArrowUp", { altKey: true }), false)).toBe("previous_citation");
    expect(actionOf(stroke("ArrowDown", { altKey: true }), false)).toBe("next_citation");
    expect(actionOf(stroke("ArrowDown"), false)).toBeNull();
  });

  it("sends with Enter, breaks the line with Shift Enter", () => {
    expect(composerKey(stroke("Enter"))).toBe("send");
    expect(composerKey(stroke("Enter", { shiftKey: true }))).toBeNull();
  });

  it("leaves every key to a composing input method", () => {
    expect(composerKey(stroke("Enter", { isComposing: true }))).toBeNull();
    expect(composerKey(stroke("Enter", { keyCode: 229 }))).toBeNull();
    expect(actionOf(stroke("Escape", { isComposing: true }), false)).toBeNull();
    expect(actionOf(stroke("Escape", { keyCode: 229 }), false)).toBeNull();
    expect(actionOf(stroke("Escape"), false)).toBe("stop");
  });
});
