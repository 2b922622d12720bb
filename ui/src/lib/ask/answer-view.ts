/** An answer prepared for drawing: blocks whose words are cut into checked sentences, and the citations they may name. */
import type { Answer, Citation, Claim, EvidenceItem, Gap, Reason } from "../ipc/bindings";
import { claimKeys, segment, type Segment } from "./claims";
import { parseMarkdown, type Block, type Run } from "./markdown";
import type { RunView } from "./stream";

const conflictCode = "sources_conflict";

export type ViewBlock =
  | { kind: "paragraph"; segments: Segment[] }
  | { kind: "quote"; segments: Segment[] }
  | { kind: "heading"; level: number; segments: Segment[] }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: { depth: number; segments: Segment[] }[] }
  | { kind: "table"; head: Segment[][]; rows: Segment[][][] }
  | { kind: "rule" };

export function viewBlocks(text: string, claims: readonly Claim[]): ViewBlock[] {
  const keys = claimKeys(claims);
  const used = new Set<number>();
  const cut = (runs: Run[]): Segment[] => segment(runs, keys, used);
  return parseMarkdown(text).map((block: Block): ViewBlock => {
    switch (block.kind) {
      case "paragraph":
      case "quote":
        return { kind: block.kind, segments: cut(block.runs) };
      case "heading":
        return { kind: "heading", level: block.level, segments: cut(block.runs) };
      case "list":
        return { ...block, items: block.items.map((item) => ({ depth: item.depth, segments: cut(item.runs) })) };
      case "table":
        return { kind: "table", head: block.head.map(cut), rows: block.rows.map((row) => row.map(cut)) };
      case "code":
      case "rule":
        return block;
    }
  });
}

/** The citations of a run as far as they are known: the final ones, or those announced while it is being written. */
export function citationsOf(run: RunView): Citation[] {
  if (run.answer !== null) return run.answer.citations.toSorted((a, b) => a.n - b.n);
  const byId = new Map(run.evidence.map((item) => [item.evidence_id, item]));
  return [...run.cited]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([n, id]) => {
      const item = byId.get(id);
      return item === undefined ? [] : [provisional(n, item)];
    });
}

function provisional(n: number, item: EvidenceItem): Citation {
  const { evidence_id, document, version, title, unit_id, char_start, char_end, locator, text } = item;
  return { n, evidence_id, document, version, title, unit_id, char_start, char_end, locator, quote: text, source_gone: false };
}

/** What an answer lacks, apart from the disagreements. */
export function gapsOf(answer: Answer): Gap[] {
  return answer.gaps.filter((gap) => gap.reason.code !== conflictCode);
}

/** Parts of the question on which the sources disagree. */
export function conflictsOf(answer: Answer): Gap[] {
  return answer.gaps.filter((gap) => gap.reason.code === conflictCode);
}

/** Sentences that their own sources contradict. */
export function contradictedOf(answer: Answer): Claim[] {
  return answer.claims.filter((claim) => claim.support === "contradicted");
}

/**
 * The text without its closing paragraph about gaps and conflicts, which have blocks of their own here. A paragraph that
 * cites anything, or that does not speak of every gap, is left alone.
 */
export function withoutLimits(answer: Answer): string {
  const at = answer.text.lastIndexOf("\n\n");
  const last = at < 0 ? "" : answer.text.slice(at);
  if (last === "" || answer.gaps.length === 0 || /\[\d+\]/u.test(last)) return answer.text;
  const told = answer.gaps.every((gap) => {
    const words = gap.reason.code === conflictCode ? (gap.reason.args["a"] ?? "") : gap.sub_query.trim().replace(/[?？。.]+$/u, "");
    return words !== "" && last.includes(words);
  });
  return told ? answer.text.slice(0, at) : answer.text;
}

/** A note about how the answer came about that a reader should see. */
export function noteOf(answer: Answer): Reason | null {
  return answer.status !== "completed" || ["answered", "small_talk"].includes(answer.reason.code) ? null : answer.reason;
}
