/** An answer as plain text with its citations, for the clipboard. */
import type { Citation } from "../ipc/bindings";

export function answerForClipboard(text: string, citations: readonly Citation[], place: (citation: Citation) => string): string {
  if (citations.length === 0) return text.trim();
  const lines = citations.map((citation) => {
    const quote = citation.source_gone || citation.quote === "" ? "" : ` “${citation.quote.replace(/\s+/gu, " ").trim()}”`;
    const where = place(citation);
    return `[${citation.n}] ${citation.title}${where === "" ? "" : `, ${where}`}${quote}`;
  });
  return `${text.trim()}\n\n${lines.join("\n")}`;
}
