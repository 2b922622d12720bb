/**
 * The text of a unit as blocks, by the conventions that all parsers share: one paragraph, list item or table row per line,
 * headings as `# `, items as `- ` or `1. ` with two spaces of indent per level, rows as `| a | b |`, code between lines of
 * three backticks. Every stretch of text
 * keeps its character position in the unit (Unicode scalar values), so a quotation can be found again.
 */
export interface Stretch {
  text: string;
  /** First character in the unit's text. */
  start: number;
  /** One past the last. */
  end: number;
}

export type UnitBlock =
  | { kind: "heading"; level: number; text: Stretch }
  | { kind: "paragraph"; text: Stretch }
  | { kind: "code"; text: Stretch }
  | { kind: "item"; depth: number; marker: string; text: Stretch }
  | { kind: "table"; rows: Stretch[][]; start: number; end: number };

const headingLine = /^(#{1,6}) (.*)$/u;
const itemLine = /^( *)(- |\d+[.)] )(.*)$/u;
const rowLine = /^\|.*\|$/u;
const fence = "```";
const ruleLine = /^\|(?: *:?-{3,}:? *\|)+$/u;

function length(text: string): number {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}

function stretch(text: string, start: number): Stretch {
  return { text, start, end: start + length(text) };
}

export function parseUnitText(text: string): UnitBlock[] {
  const blocks: UnitBlock[] = [];
  const lines = text.split("\n");
  let at = 0;
  let inCode = false;
  for (const [index, line] of lines.entries()) {
    const last = blocks.at(-1);
    const end = at + length(line);
    if (line === fence && (inCode || lines.includes(fence, index + 1))) {
      inCode = !inCode;
    } else if (inCode) {
      blocks.push({ kind: "code", text: stretch(line, at) });
    } else if (rowLine.test(line)) {
      if (last?.kind === "table" && last.end + 1 === at) {
        if (!(last.rows.length === 1 && ruleLine.test(line))) last.rows.push(rowCells(line, at));
        last.end = end;
      } else {
        blocks.push({ kind: "table", rows: [rowCells(line, at)], start: at, end });
      }
    } else if (line.trim() !== "") {
      blocks.push(lineBlock(line, at));
    }
    at = end + 1;
  }
  return blocks;
}

function lineBlock(line: string, at: number): UnitBlock {
  const heading = headingLine.exec(line);
  if (heading !== null) {
    const [, marks = "#", words = ""] = heading;
    return { kind: "heading", level: marks.length, text: stretch(words, at + marks.length + 1) };
  }
  const item = itemLine.exec(line);
  if (item !== null) {
    const [, indent = "", marker = "- ", words = ""] = item;
    const before = indent.length + marker.length;
    return { kind: "item", depth: Math.min(6, indent.length / 2), marker: marker.trim(), text: stretch(words, at + before) };
  }
  return { kind: "paragraph", text: stretch(line, at) };
}

function rowCells(line: string, at: number): Stretch[] {
  const cells: Stretch[] = [];
  let position = at + 1;
  for (const cell of line.slice(1, -1).split(/(?<!\\)\|/u)) {
    const lead = cell.length - cell.trimStart().length;
    cells.push(stretch(cell.trim(), position + lead));
    position += length(cell) + 1;
  }
  return cells;
}

/** A stretch cut at the quoted characters `from..to`: before, marked, after. Empty parts are left out. */
export function markRange(whole: Stretch, from: number, to: number): { text: string; marked: boolean }[] {
  const characters = [...whole.text];
  const start = Math.min(characters.length, Math.max(0, from - whole.start));
  const end = Math.min(characters.length, Math.max(start, to - whole.start));
  const parts = [
    { text: characters.slice(0, start).join(""), marked: false },
    { text: characters.slice(start, end).join(""), marked: true },
    { text: characters.slice(end).join(""), marked: false },
  ];
  return parts.filter((part) => part.text !== "");
}

/** The characters that a passage covers in a unit's text; of one that was put together from several places, the first. */
export function findWords(text: string, words: string): { start: number; end: number } | null {
  for (const wanted of [words, words.split("\n")[0] ?? ""]) {
    const at = wanted === "" ? -1 : text.indexOf(wanted);
    if (at < 0) continue;
    const start = length(text.slice(0, at));
    return { start, end: start + length(wanted) };
  }
  return null;
}
