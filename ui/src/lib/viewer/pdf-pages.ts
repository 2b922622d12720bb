/** One opened PDF in one element: PDF.js's viewer, the highlighted place, the page that is in view. */
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { EventBus, PDFViewer } from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import { scrollTarget, type Box, type Viewport } from "./geometry";
import { clearHighlights, drawHighlights } from "./highlights";
import { openPdf, pdf, type Pdf } from "./pdf";

export interface PageInView {
  index: number;
  label: string;
  total: number;
}

/** A file that its password opens; `wrong` after one that did not. */
export interface Lock {
  wrong: boolean;
  open: (password: string) => void;
}

export interface Target {
  page_index: number;
  boxes: readonly Box[];
}

/** What is used of PDF.js's `PDFPageView`, which it does not describe. */
interface PageView {
  div: HTMLDivElement;
  viewport: Viewport;
  renderingState: number;
}
interface PageRendered {
  pageNumber: number;
  source: PageView;
}

const finished = 3;

export class PdfPages {
  readonly #container: HTMLDivElement;
  readonly #onpage: (page: PageInView) => void;
  readonly #task: PDFDocumentLoadingTask;
  readonly #document: PDFDocumentProxy;
  readonly #viewer: PDFViewer;
  readonly #bus: EventBus;
  readonly #labels: string[] | null;
  readonly #observer: ResizeObserver;
  #target: Target | null = null;
  /** The place was asked for and its page is not drawn yet. */
  #pending = false;

  /** `null` when it is no longer `wanted` once it has come: two viewers in one element draw over each other. */
  static async open(
    container: HTMLDivElement,
    mediaRef: string,
    size: number,
    onpage: (page: PageInView) => void,
    onfailure: (thrown: unknown) => void,
    onlocked: (lock: Lock) => void,
    wanted: () => boolean,
  ): Promise<PdfPages | null> {
    const library = await pdf();
    const task = await openPdf(library, mediaRef, size, onfailure);
    const wrong = library.lib.PasswordResponses.INCORRECT_PASSWORD;
    task.onPassword = (open: Lock["open"], why: number) => onlocked({ wrong: why === wrong, open });
    const opened = await task.promise;
    const labels = await opened.getPageLabels();
    if (wanted()) return new PdfPages(library, container, task, opened, labels, onpage);
    void task.destroy();
    return null;
  }

  private constructor(
    { viewer }: Pdf,
    container: HTMLDivElement,
    task: PDFDocumentLoadingTask,
    opened: PDFDocumentProxy,
    labels: string[] | null,
    onpage: (page: PageInView) => void,
  ) {
    this.#container = container;
    this.#onpage = onpage;
    this.#task = task;
    this.#document = opened;
    this.#labels = labels;
    this.#bus = new viewer.EventBus();
    const links = new viewer.PDFLinkService({ eventBus: this.#bus });
    // A document's links lead nowhere from here: the reader opens addresses, not the page.
    links.externalLinkEnabled = false;
    this.#viewer = new viewer.PDFViewer({
      container,
      eventBus: this.#bus,
      linkService: links,
      annotationEditorMode: -1,
      removePageBorders: true,
      maxCanvasPixels: 2 ** 24,
    });
    links.setViewer(this.#viewer);
    this.#bus.on("pagesinit", () => {
      this.#viewer.currentScaleValue = "page-width";
      this.#reveal();
    });
    this.#bus.on("pagerendered", ({ pageNumber, source }: PageRendered) => this.#drawn(pageNumber, source));
    this.#bus.on("pagechanging", ({ pageNumber }: { pageNumber: number }) => this.#tell(pageNumber));
    this.#viewer.setDocument(opened);
    links.setDocument(opened);
    this.#observer = new ResizeObserver(() => this.#fitAgain());
    this.#observer.observe(container);
    this.#tell(1);
  }

  /** Shows a place: its page, its boxes, scrolled into view. Nothing to show clears the boxes. */
  show(target: Target | null): void {
    const before = this.#target;
    if (before !== null) {
      const view = this.#view(before.page_index);
      if (view !== undefined) clearHighlights(view.div);
    }
    this.#target = target === null ? null : { ...target, page_index: Math.min(target.page_index, this.#document.numPages - 1) };
    this.#pending = this.#target !== null;
    this.#reveal();
  }

  zoom(by: number): void {
    const scale = this.#viewer.currentScale * by;
    this.#viewer.currentScaleValue = String(Math.min(5, Math.max(0.25, scale)));
  }

  fitWidth(): void {
    this.#viewer.currentScaleValue = "page-width";
  }

  rotate(): void {
    this.#viewer.pagesRotation = (this.#viewer.pagesRotation + 90) % 360;
  }

  close(): void {
    this.#observer.disconnect();
    this.#viewer.cleanup();
    // Takes its pages out of the element; PDF.js does not describe that it may be nothing.
    this.#viewer.setDocument(null as unknown as PDFDocumentProxy);
    void this.#task.destroy();
  }

  #view(index: number): PageView | undefined {
    return this.#viewer.getPageView(index) as unknown as PageView | undefined;
  }

  #reveal(): void {
    const target = this.#target;
    if (target === null || !this.#pending || this.#viewer.pagesCount === 0) return;
    const view = this.#view(target.page_index);
    if (view === undefined) return;
    if (view.renderingState === finished) this.#place(target, view);
    else this.#viewer.scrollPageIntoView({ pageNumber: target.page_index + 1 });
  }

  #drawn(pageNumber: number, view: PageView): void {
    const target = this.#target;
    if (target === null || target.page_index !== pageNumber - 1) return;
    if (this.#pending) this.#place(target, view);
    else drawHighlights(view.div, target.boxes, view.viewport);
  }

  #place(target: Target, view: PageView): void {
    const first = drawHighlights(view.div, target.boxes, view.viewport);
    this.#pending = false;
    const top = view.div.offsetTop + (first === null ? 0 : scrollTarget(first, this.#container.clientHeight));
    const left = first === null ? 0 : Math.max(0, view.div.offsetLeft + first.left + first.width - this.#container.clientWidth + 24);
    this.#container.scrollTo({ top, left });
    this.#tell(target.page_index + 1);
  }

  #fitAgain(): void {
    if (this.#container.clientWidth === 0) return;
    const value = this.#viewer.currentScaleValue;
    if (value === "page-width") this.#viewer.currentScaleValue = value;
    this.#viewer.update();
  }

  #tell(pageNumber: number): void {
    const index = pageNumber - 1;
    this.#onpage({ index, label: this.#labels?.[index] ?? "", total: this.#document.numPages });
  }
}
