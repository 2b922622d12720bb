/**
 * PDF.js, loaded when the first PDF is opened, and the way its bytes come: in ranges, over the bridge, each after a check of
 * what this person may see. Nothing is fetched from a network; fonts and character maps are part of the application.
 */
import type * as PdfLib from "pdfjs-dist/legacy/build/pdf.mjs";
import type * as PdfViewerLib from "pdfjs-dist/legacy/web/pdf_viewer.mjs";
import workerUrl from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?url";
import { api } from "../ipc/api";

export interface Pdf {
  lib: typeof PdfLib;
  viewer: typeof PdfViewerLib;
}

let loading: Promise<Pdf> | null = null;

export function pdf(): Promise<Pdf> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Pdf> {
  iterableStreams();
  const lib = await import("pdfjs-dist/legacy/build/pdf.mjs");
  lib.GlobalWorkerOptions.workerSrc = workerUrl;
  // The viewer takes the library from the global object, so it must come second.
  const viewer = await import("pdfjs-dist/legacy/web/pdf_viewer.mjs");
  return { lib, viewer };
}

/** WebKitGTK has no asynchronous iteration of streams, which `getTextContent` needs. Remove when it has. */
function iterableStreams(): void {
  const prototype = ReadableStream.prototype as { [Symbol.asyncIterator]?: () => AsyncIterator<unknown> };
  if (prototype[Symbol.asyncIterator] !== undefined) return;
  prototype[Symbol.asyncIterator] = async function* values(this: ReadableStream<unknown>) {
    const reader = this.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      reader.releaseLock();
    }
  } as () => AsyncIterator<unknown>;
}

const firstBytes = 65_536;

/** Opens an original; `onfailure` hears of bytes that could not be read later (the document was removed meanwhile). */
export async function openPdf(
  { lib }: Pdf,
  mediaRef: string,
  size: number,
  onfailure: (thrown: unknown) => void,
): Promise<PdfLib.PDFDocumentLoadingTask> {
  const initial = await api().sourceBytes(mediaRef, 0, Math.min(size, firstBytes));

  class Ranges extends lib.PDFDataRangeTransport {
    override requestDataRange(begin: number, end: number): void {
      api()
        .sourceBytes(mediaRef, begin, end)
        .then((bytes) => this.onDataRange(begin, bytes))
        .catch(onfailure);
    }
  }

  const table = (folder: string): string => new URL(`pdfjs/${folder}/`, document.baseURI).href;
  return lib.getDocument({
    range: new Ranges(size, initial),
    rangeChunkSize: firstBytes,
    disableAutoFetch: true,
    disableStream: true,
    cMapUrl: table("cmaps"),
    cMapPacked: true,
    standardFontDataUrl: table("standard_fonts"),
    wasmUrl: table("wasm"),
    useWorkerFetch: false,
    enableXfa: false,
    verbosity: 0,
  });
}
