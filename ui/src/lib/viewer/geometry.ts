/**
 * From a box in page coordinates to a rectangle on the screen. A box is `[x0, y0, x1, y1]` in points from the top left of the
 * unrotated crop box; a PDF's own user space has its origin below and may start anywhere, so the crop box is needed.
 */
export type Box = readonly [number, number, number, number];

/** What is needed of PDF.js's `PageViewport`. */
export interface Viewport {
  viewBox: readonly number[];
  width: number;
  height: number;
  convertToViewportPoint(x: number, y: number): number[];
}

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** In CSS pixels of the page's element, after rotation and scale. */
export function boxOnScreen(box: Box, viewport: Viewport): Rectangle {
  const [cropLeft = 0, , , cropTop = 0] = viewport.viewBox;
  const [ax = 0, ay = 0] = viewport.convertToViewportPoint(cropLeft + box[0], cropTop - box[1]);
  const [bx = 0, by = 0] = viewport.convertToViewportPoint(cropLeft + box[2], cropTop - box[3]);
  const left = Math.min(ax, bx);
  const top = Math.min(ay, by);
  return { left, top, width: Math.abs(bx - ax), height: Math.abs(by - ay) };
}

/** A little air around the letters, and never outside the page. */
export function padded(rectangle: Rectangle, viewport: Viewport, air: number): Rectangle {
  const left = Math.max(0, rectangle.left - air);
  const top = Math.max(0, rectangle.top - air);
  return {
    left,
    top,
    width: Math.min(viewport.width, rectangle.left + rectangle.width + air) - left,
    height: Math.min(viewport.height, rectangle.top + rectangle.height + air) - top,
  };
}

/** Where to scroll so that `rectangle` stands in the upper third of a view of `height`. */
export function scrollTarget(rectangle: Rectangle, height: number): number {
  return Math.max(0, rectangle.top - Math.max(24, (height - rectangle.height) / 3));
}
