/** An answer as plain text with its citations, for the clipboard. */
import type { Citation } from "../ipc/bindings";

export function answerForClipboard(text: string, citations: readonly Citation[], place: (citation: Citation) => string): string {
  if (citations.length === 0) return text.trim();
  const lines = citations.map((citation) => {
    const quote = citation.source_gone || citation.quote === "" ? "" : ` “${readableQuote(citation.quote)}”`;
    const where = place(citation);
    return `[${citation.n}] ${citation.title}${where === "" ? "" : `, ${where}`}${quote}`;
  });
  return `${text.trim()}\n\n${lines.join("\n")}`;
}

/** A quotation in one line, without the marks by which a unit's text carries tables, headings and lists. */
export function readableQuote(quote: string): string {
  return quote
    .split("\n")
    .map((line) => line.replace(/^\s*(?:#{1,6}|-|\d+[.)]) /u, "").trim())
    .filter((line) => line !== "" && !/^\|(?: *:?-{3,}:? *\|)+$/u.test(line))
    .map((line) => (/^\|.*\|$/u.test(line) ? line.slice(1, -1).split("|").map((cell) => cell.trim()).join(" · ") : line))
    .join(" ")
    .replace(/\s+/gu, " ")
    .trim();
}

/** Puts text on the clipboard; where the page may not do it directly, through a selection. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
