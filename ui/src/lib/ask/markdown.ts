/**
 * The little Markdown that answers are written in, as data: paragraphs, headings, lists, tables, code, emphasis, and the
 * citation marks `[n]`. Deliberately absent: images, raw HTML, automatic links. A link is kept as text with an address that
 * the reader may choose to open. The result is rendered node by node, so nothing in an answer can become markup.
 */
export type Run =
  | { kind: "text"; text: string; strong: boolean; emphasis: boolean; code: boolean; href: string | null }
  | { kind: "cite"; n: number }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; runs: Run[] }
  | { kind: "heading"; level: number; runs: Run[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; runs: Run[] }
  | { kind: "list"; ordered: boolean; start: number; items: ListItem[] }
  | { kind: "table"; head: Run[][]; rows: Run[][][] }
  | { kind: "rule" };

export interface ListItem {
  depth: number;
  runs: Run[];
}

const bullet = /^(\s*)(?:[-*+•]|(\d{1,4})[.)、])\s+(.*)$/u;
const heading = /^(#{1,6})\s+(.*)$/u;
const tableRow = /^\s*\|.*\|\s*$/u;
const tableRule = /^\s*\|(?:\s*:?-{2,}:?\s*\|)+\s*$/u;

export function parseMarkdown(source: string): Block[] {
  const lines = source.replace(/\r\n?/gu, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
    } else if (line.trimStart().startsWith("```")) {
      const end = closingFence(lines, at + 1);
      blocks.push({ kind: "code", text: lines.slice(at + 1, end).join("\n") });
      at = end + 1;
    } else if (/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/u.test(line)) {
      blocks.push({ kind: "rule" });
      at += 1;
    } else if (heading.test(line)) {
      const [, marks = "#", text = ""] = heading.exec(line) ?? [];
      blocks.push({ kind: "heading", level: marks.length, runs: parseInline(text) });
      at += 1;
    } else if (tableRow.test(line) && tableRule.test(lines[at + 1] ?? "")) {
      const end = endOf(lines, at + 2, (row) => tableRow.test(row));
      blocks.push({ kind: "table", head: cells(line), rows: lines.slice(at + 2, end).map(cells) });
      at = end;
    } else if (bullet.test(line)) {
      const end = endOf(lines, at, (row) => bullet.test(row) || /^\s{2,}\S/u.test(row));
      blocks.push(parseList(lines.slice(at, end)));
      at = end;
    } else if (line.startsWith(">")) {
      const end = endOf(lines, at, (row) => row.startsWith(">"));
      const text = lines.slice(at, end).map((row) => row.replace(/^>\s?/u, "")).join("\n");
      blocks.push({ kind: "quote", runs: parseInline(text) });
      at = end;
    } else {
      const end = Math.max(at + 1, endOf(lines, at, (row) => row.trim() !== "" && !startsBlock(row)));
      blocks.push({ kind: "paragraph", runs: parseInline(lines.slice(at, end).join("\n")) });
      at = end;
    }
  }
  return blocks;
}

function startsBlock(line: string): boolean {
  return heading.test(line) || bullet.test(line) || line.startsWith(">") || line.trimStart().startsWith("```");
}

function endOf(lines: string[], from: number, belongs: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && belongs(lines[at] ?? "")) at += 1;
  return at;
}

function closingFence(lines: string[], from: number): number {
  return endOf(lines, from, (line) => !line.trimStart().startsWith("```"));
}

function cells(line: string): Run[][] {
  return line
    .trim()
    .replace(/^\||\|$/gu, "")
    .split(/(?<!\\)\|/u)
    .map((cell) => parseInline(cell.trim().replaceAll("\\|", "|")));
}

function parseList(lines: string[]): Block {
  const items: { depth: number; text: string }[] = [];
  let ordered = false;
  let start = 1;
  for (const line of lines) {
    const match = bullet.exec(line);
    if (match === null) {
      const last = items.at(-1);
      if (last !== undefined) last.text += `\n${line.trim()}`;
      continue;
    }
    const [, indent = "", number, text = ""] = match;
    if (items.length === 0) {
      ordered = number !== undefined;
      start = ordered ? Number(number) : 1;
    }
    items.push({ depth: Math.min(4, Math.floor(indent.replaceAll("\t", "  ").length / 2)), text });
  }
  return { kind: "list", ordered, start, items: items.map(({ depth, text }) => ({ depth, runs: parseInline(text) })) };
}

interface Style {
  strong: boolean;
  emphasis: boolean;
}

const tokens =
  /(?<code>`+)(?<codeText>[^`]+?)\k<code>|!?\[(?<label>[^\]\n]*)\]\((?<href>[^()\s]+)\)|\[(?<cites>\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]|(?<strong>\*\*|__)|(?<emphasis>(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}]))|\\(?<escaped>[\\`*_[\]()#|>-])|(?<newline>\n)/gu;

export function parseInline(source: string): Run[] {
  const runs: Run[] = [];
  const style: Style = { strong: false, emphasis: false };
  let at = 0;
  const push = (text: string, extra: { code?: boolean; href?: string } = {}): void => {
    if (text === "") return;
    runs.push({ kind: "text", text, ...style, code: extra.code ?? false, href: extra.href ?? null });
  };
  for (const match of source.matchAll(tokens)) {
    push(source.slice(at, match.index));
    at = match.index + match[0].length;
    const groups = match.groups ?? {};
    if (groups["code"] !== undefined) push(groups["codeText"] ?? "", { code: true });
    else if (groups["href"] !== undefined) pushLink(groups["label"] ?? "", groups["href"], match[0], push);
    else if (groups["cites"] !== undefined) {
      for (const n of groups["cites"].split(/[,，、]/u)) runs.push({ kind: "cite", n: Number(n) });
    } else if (groups["strong"] !== undefined) style.strong = !style.strong;
    else if (groups["emphasis"] !== undefined) style.emphasis = !style.emphasis;
    else if (groups["escaped"] !== undefined) push(groups["escaped"]);
    else runs.push({ kind: "break" });
  }
  push(source.slice(at));
  return runs;
}

/** An image becomes its description, an address other than http(s) or mailto becomes plain text. */
function pushLink(label: string, href: string, whole: string, push: (text: string, extra?: { href?: string }) => void): void {
  const image = whole.startsWith("!");
  if (!image && /^(?:https?:\/\/|mailto:)/iu.test(href)) push(label === "" ? href : label, { href });
  else push(label);
}

/** The words of a block's runs, without marks: what a reader would copy as plain text. */
export function plainText(runs: Run[]): string {
  return runs.map((run) => (run.kind === "text" ? run.text : run.kind === "break" ? "\n" : "")).join("");
}
