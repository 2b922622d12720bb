/** An answer prepared for drawing: blocks whose words are cut into checked sentences, and the citations they may name. */
import type { Citation, Claim, EvidenceItem } from "../ipc/bindings";
import { claimKeys, segment, type Segment } from "./claims";
import { parseMarkdown, type Block, type Run } from "./markdown";
import type { RunView } from "./stream";

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
  return { ...item, n, quote: item.text, source_gone: false };
}

/** Sentences that their own sources contradict. */
export function conflictsOf(run: RunView): Claim[] {
  return run.answer?.claims.filter((claim) => claim.support === "contradicted") ?? [];
}
