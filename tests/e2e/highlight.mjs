// The words under the boxes that are drawn over a page of a PDF.
import assert from "node:assert/strict";
import { eventually } from "./wait.mjs";

/** Our boxes against PDF.js's own text layer: the words under the boxes are the quoted ones, and nothing of a box is empty. */
export async function highlightCoversQuote(desk, quote) {
  const found = await eventually(
    "a highlight on the page",
    () =>
      desk.run(`
        const marks = [...document.querySelectorAll(".highlight")].map((m) => m.getBoundingClientRect());
        const page = document.querySelector(".highlights")?.parentElement;
        const spans = page === undefined || page === null ? [] : [...page.querySelectorAll(".textLayer span")].filter((s) => s.childElementCount === 0 && s.textContent.trim() !== "");
        if (marks.length === 0 || spans.length === 0) return null;
        const range = document.createRange();
        let under = "";
        for (const span of spans) {
          const node = span.firstChild;
          for (let i = 0; i < node.length; i += 1) {
            range.setStart(node, i);
            range.setEnd(node, i + 1);
            const r = range.getBoundingClientRect();
            const x = r.left + r.width / 2, y = r.top + r.height / 2;
            if (marks.some((m) => x >= m.left && x <= m.right && y >= m.top && y <= m.bottom)) under += node.data[i];
          }
        }
        const box = document.querySelector(".pdfViewer").parentElement.getBoundingClientRect();
        const first = marks[0];
        return { under, n: marks.length, visible: first.top >= box.top && first.bottom <= box.bottom, page: Number(page.dataset.pageNumber) };`),
    30,
  );
  const tight = (text) => text.normalize("NFKC").replace(/[\s\u00ad]/gu, "");
  assert.equal(found.visible, true, "the highlight is scrolled into view");
  const [under, wanted] = [tight(found.under), tight(quote)];
  assert.ok(under.length > 0 && (under === wanted || similarity(under, wanted) > 0.9), `under the boxes: ${under}\nquoted: ${wanted}`);
  return found;
}

/** Share of common characters in order: PDF.js spreads widths evenly over a span, so an edge character may fall out. */
function similarity(a, b) {
  const row = new Array(b.length + 1).fill(0);
  for (const x of a) {
    let diagonal = 0;
    for (let j = 1; j <= b.length; j += 1) {
      const above = row[j];
      row[j] = x === b[j - 1] ? diagonal + 1 : Math.max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return row[b.length] / Math.max(a.length, b.length);
}
