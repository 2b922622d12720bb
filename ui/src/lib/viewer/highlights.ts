/** Our boxes over a page that PDF.js drew: placed in shares of the page, so they keep their place at any zoom. */
import { boxOnScreen, padded, type Box, type Rectangle, type Viewport } from "./geometry";

const layerClass = "highlights";

/** Draws the boxes into the page's element, in place of those drawn before; returns the first one's rectangle. */
export function drawHighlights(page: HTMLElement, boxes: readonly Box[], viewport: Viewport): Rectangle | null {
  clearHighlights(page);
  if (boxes.length === 0) return null;
  const layer = document.createElement("div");
  layer.className = layerClass;
  layer.setAttribute("aria-hidden", "true");
  const rectangles = boxes.map((box) => padded(boxOnScreen(box, viewport), viewport, 0.75));
  for (const { left, top, width, height } of rectangles) {
    const mark = document.createElement("div");
    mark.className = "highlight";
    mark.style.left = `${(left / viewport.width) * 100}%`;
    mark.style.top = `${(top / viewport.height) * 100}%`;
    mark.style.width = `${(width / viewport.width) * 100}%`;
    mark.style.height = `${(height / viewport.height) * 100}%`;
    layer.append(mark);
  }
  page.append(layer);
  return rectangles.reduce((first, next) => (next.top < first.top ? next : first));
}

export function clearHighlights(page: HTMLElement): void {
  for (const layer of page.querySelectorAll(`:scope > .${layerClass}`)) layer.remove();
}
