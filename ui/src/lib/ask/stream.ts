/**
 * Reads an answer's stream as a pure fold over its events. Repeated or old events change nothing, nothing comes after the
 * terminal event, and `final` replaces what was written before. Reading again after a reload starts at `last_seq`.
 */
import type { Answer, AnswerEvent, EvidenceItem, Stage, Turn } from "../ipc/bindings";

export type Phase = "streaming" | "final" | "error" | "cancelled" | "incomplete" | "interrupted";

export interface RunFailure {
  code: string;
  message: string;
  hint: string | null;
  retryable: boolean;
}

export interface RunView {
  run_id: string;
  last_seq: number;
  phase: Phase;
  stages: Stage[];
  evidence: EvidenceItem[];
  revision: number;
  text: string;
  /** Evidence ids by citation number, as announced so far. */
  cited: ReadonlyMap<number, string>;
  answer: Answer | null;
  failure: RunFailure | null;
}

export function startedRun(run_id: string): RunView {
  return {
    run_id,
    last_seq: 0,
    phase: "streaming",
    stages: [],
    evidence: [],
    revision: 0,
    text: "",
    cited: new Map(),
    answer: null,
    failure: null,
  };
}

/** The view of a run as it was persisted: its stored events, read like those of a live stream. */
export function persistedRun(turn: Turn): RunView {
  const run = turn.events.reduce(applyEvent, startedRun(turn.run_id));
  if (run.phase !== "streaming" || turn.state === "running") return run;
  return { ...run, phase: turn.state === "interrupted" ? "interrupted" : "incomplete" };
}

export function applyEvent(run: RunView, event: AnswerEvent): RunView {
  if (run.phase !== "streaming" || event.seq <= run.last_seq) return run;
  const next = { ...run, last_seq: event.seq };
  switch (event.event) {
    case "run_started":
      return event.run_id === run.run_id ? next : run;
    case "status":
      return run.stages.at(-1) === event.stage ? next : { ...next, stages: [...run.stages, event.stage] };
    case "evidence_ready":
      return { ...next, evidence: event.items };
    case "text_delta":
      return applyDelta(next, event.revision, event.text);
    case "citation":
      return { ...next, cited: new Map(run.cited).set(event.n, event.evidence_id) };
    case "final":
      return {
        ...next,
        phase: event.answer.status === "cancelled" ? "cancelled" : "final",
        revision: event.revision,
        text: event.answer.text,
        answer: event.answer,
      };
    case "error": {
      const { code, message, hint, retryable } = event;
      return { ...next, phase: "error", failure: { code, message, hint, retryable } };
    }
    case "cancelled":
      return { ...next, phase: "cancelled" };
  }
}

/** A delta of a newer revision starts the text again; one of an older revision is stale. */
function applyDelta(run: RunView, revision: number, text: string): RunView {
  if (revision < run.revision) return run;
  if (revision > run.revision) return { ...run, revision, text };
  return { ...run, text: run.text + text };
}

/** The stream is over. Without a terminal event what is there is incomplete. */
export function streamEnded(run: RunView): RunView {
  return run.phase === "streaming" ? { ...run, phase: "incomplete" } : run;
}
