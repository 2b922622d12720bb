/**
 * Finds the sentences that were checked inside a rendered answer, so that each can carry its support mark. Claims come as
 * text; they are matched by their letters and digits alone, because marks, emphasis and white space differ.
 */
import type { Claim } from "../ipc/bindings";
import type { Run } from "./markdown";

export interface Segment {
  /** The index into the answer's claims, or `null` for words between them. */
  claim: number | null;
  runs: Run[];
}

const letters = /[\p{L}\p{N}]/u;

/** The letters and digits of a text, folded, and where each stands in it (by UTF-16 index). */
function skeleton(text: string): { key: string; at: number[] } {
  let key = "";
  const at: number[] = [];
  let index = 0;
  for (const character of text) {
    if (letters.test(character)) {
      for (const folded of character.normalize("NFKC").toLowerCase()) {
        key += folded;
        for (let unit = 0; unit < folded.length; unit += 1) at.push(index);
      }
    }
    index += character.length;
  }
  return { key, at };
}

function claimKey(claim: Claim): string {
  return skeleton(claim.text.replace(/\[\d{1,3}(?:\s*[,，、]\s*\d{1,3})*\]/gu, "")).key;
}

interface Span {
  claim: number;
  start: number;
  end: number;
}

/** Which stretch of `text` each claim covers; each claim is used once, in the order of the answer. */
function locate(text: string, keys: readonly string[], used: Set<number>): Span[] {
  const { key, at } = skeleton(text);
  const spans: Span[] = [];
  let from = 0;
  keys.forEach((wanted, claim) => {
    if (used.has(claim) || wanted === "") return;
    const found = key.indexOf(wanted, from);
    if (found < 0) return;
    const last = at[found + wanted.length - 1] ?? 0;
    const lastLength = String.fromCodePoint(text.codePointAt(last) ?? 0).length;
    spans.push({ claim, start: at[found] ?? 0, end: last + lastLength });
    used.add(claim);
    from = found + wanted.length;
  });
  return spans;
}

/** A sign of a unit belongs to its figure. */
const closing = /^[%％‰°℃℉²³€。！？!?.．；;，,、：:…)）\]】」』”"’'》〉]+/u;

/** Splits a block's runs at the claims in it. Closing punctuation and the marks that follow stay with their sentence. */
export function segment(runs: Run[], keys: readonly string[], used: Set<number>): Segment[] {
  const text = runs.map((run) => (run.kind === "text" ? run.text : "")).join("");
  const spans = locate(text, keys, used);
  if (spans.length === 0) return [{ claim: null, runs }];
  for (const [index, span] of spans.entries()) {
    const limit = spans[index + 1]?.start ?? text.length;
    const tail = closing.exec(text.slice(span.end, limit));
    if (tail !== null) span.end += tail[0].length;
    const head = /[「『“"‘'（(《〈【[]+$/u.exec(text.slice(spans[index - 1]?.end ?? 0, span.start));
    if (head !== null) span.start -= head[0].length;
  }
  return gather(cut(runs, spans));
}

/** What belongs to a sentence but follows its words: its citation marks, and the full stop after them. */
function gather(segments: Segment[]): Segment[] {
  for (const [index, sentence] of segments.entries()) {
    const rest = segments[index + 1];
    if (sentence.claim === null || rest === undefined || rest.claim !== null) continue;
    while (takesFirst(rest.runs)) sentence.runs.push(...rest.runs.splice(0, 1));
    const [first] = rest.runs;
    if (first?.kind !== "text") continue;
    const tail = closing.exec(first.text)?.[0] ?? "";
    if (tail === "" || sentence.runs.at(-1)?.kind !== "cite") continue;
    sentence.runs.push({ ...first, text: tail });
    rest.runs[0] = { ...first, text: first.text.slice(tail.length) };
  }
  return segments.filter((part) => part.runs.some((run) => run.kind !== "text" || run.text !== ""));
}

/** A citation mark, or the white space before one. */
function takesFirst([first, second]: readonly Run[]): boolean {
  if (first?.kind === "cite") return true;
  return first?.kind === "text" && /^\s+$/u.test(first.text) && second?.kind === "cite";
}

function cut(runs: Run[], spans: readonly Span[]): Segment[] {
  const segments: Segment[] = [];
  const add = (claim: number | null, run: Run): void => {
    const last = segments.at(-1);
    if (last !== undefined && last.claim === claim) last.runs.push(run);
    else segments.push({ claim, runs: [run] });
  };
  let position = 0;
  for (const run of runs) {
    if (run.kind !== "text") {
      // A mark or line break belongs to the words right before it.
      add(segments.at(-1)?.claim ?? null, run);
      continue;
    }
    let rest = run.text;
    while (rest !== "") {
      const inside = spans.find((span) => span.start <= position && position < span.end);
      const next = inside?.end ?? spans.find((span) => span.start > position)?.start ?? Number.POSITIVE_INFINITY;
      const part = rest.slice(0, Math.min(rest.length, next - position));
      add(inside?.claim ?? null, { ...run, text: part });
      position += part.length;
      rest = rest.slice(part.length);
    }
  }
  return segments;
}

export function claimKeys(claims: readonly Claim[]): string[] {
  return claims.map(claimKey);
}
