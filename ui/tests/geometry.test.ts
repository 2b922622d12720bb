import { describe, expect, it } from "vitest";
import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs";
import { boxOnScreen, padded, scrollTarget, type Viewport } from "../src/lib/viewer/geometry";

// A real page whose crop box does not start at the origin, as scanners make them; PDF.js itself turns it.
const page = await getDocument({
  data: new TextEncoder().encode(
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
      "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 800 1000]/CropBox[100 50 700 850]>>endobj\ntrailer<</Root 1 0 R>>\n",
  ),
  verbosity: 0,
}).promise.then((pdf) => pdf.getPage(1));
const viewport = (rotation: number, scale: number): Viewport => page.getViewport({ rotation, scale }) as unknown as Viewport;
const rounded = (value: object) => Object.fromEntries(Object.entries(value).map(([key, n]) => [key, Math.round(Number(n) * 100) / 100]));

describe("a box on the screen", () => {
  const box = [60, 80, 260, 96] as const;

  it("keeps its place at scale 1", () => {
    expect(rounded(boxOnScreen(box, viewport(0, 1)))).toEqual({ left: 60, top: 80, width: 200, height: 16 });
  });

  it("grows with the scale", () => {
    expect(rounded(boxOnScreen(box, viewport(0, 1.5)))).toEqual({ left: 90, top: 120, width: 300, height: 24 });
  });

  it("turns with the page", () => {
    expect(rounded(boxOnScreen(box, viewport(90, 1)))).toEqual({ left: 800 - 96, top: 60, width: 16, height: 200 });
    expect(rounded(boxOnScreen(box, viewport(180, 1)))).toEqual({ left: 600 - 260, top: 800 - 96, width: 200, height: 16 });
    expect(rounded(boxOnScreen(box, viewport(270, 1)))).toEqual({ left: 80, top: 600 - 260, width: 16, height: 200 });
  });

  it("gets air, but not outside the page", () => {
    const whole = boxOnScreen([0, 0, 600, 10], viewport(0, 1));
    expect(padded(whole, viewport(0, 1), 4)).toEqual({ left: 0, top: 0, width: 600, height: 14 });
  });

  it("is scrolled into the upper third", () => {
    expect(scrollTarget({ left: 0, top: 900, width: 10, height: 30 }, 630)).toBe(700);
    expect(scrollTarget({ left: 0, top: 5, width: 10, height: 30 }, 630)).toBe(0);
  });
});
