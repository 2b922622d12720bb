import { describe, expect, it } from "vitest";
import { applyEvent, persistedRun, startedRun, streamEnded } from "../src/lib/ask/stream";
import type { Answer, AnswerEvent, Turn } from "../src/lib/ipc/bindings";

const answer = (text: string, status: Answer["status"] = "completed"): Answer => ({
  status,
  text,
  citations: [],
  claims: [],
  gaps: [],
  confidence: "high",
  usage: { model_calls: 0, input_tokens: 0, output_tokens: 0 },
  reason: { code: "answered", args: {} },
});
const delta = (seq: number, text: string, revision = 1): AnswerEvent => ({ event: "text_delta", seq, revision, text });
const final = (seq: number, text: string): AnswerEvent => ({ event: "final", seq, revision: 1, replace: true, answer: answer(text) });
const read = (events: AnswerEvent[]) => events.reduce(applyEvent, startedRun("r"));

describe("the stream reader", () => {
  it("appends deltas in order", () => {
    expect(read([{ event: "run_started", seq: 1, run_id: "r" }, delta(2, "海棠"), delta(3, " A")]).text).toBe("海棠 A");
  });

  it("drops repeated and old events", () => {
    const run = read([delta(2, "a"), delta(2, "a"), delta(1, "x"), delta(3, "b")]);
    expect([run.text, run.last_seq]).toEqual(["ab", 3]);
  });

  it("lets final replace what was written", () => {
    const run = read([delta(1, "a draft with [9]"), final(2, "the answer [1]")]);
    expect([run.phase, run.text]).toEqual(["final", "the answer [1]"]);
  });

  it("drops everything after the terminal event", () => {
    const done = read([delta(1, "a"), { event: "cancelled", seq: 2 }]);
    expect(applyEvent(done, final(3, "late"))).toBe(done);
    expect(applyEvent(done, delta(4, "late"))).toBe(done);
  });

  it("starts the text again with a new revision and ignores an old one", () => {
    expect(read([delta(1, "first", 1), delta(2, "second", 2), delta(3, " stale", 1), delta(4, "!", 2)]).text).toBe("second!");
  });

  it("shows a stream without a terminal event as incomplete", () => {
    expect(streamEnded(read([delta(1, "half")])).phase).toBe("incomplete");
    expect(streamEnded(read([final(1, "whole")])).phase).toBe("final");
  });

  it("continues after a reload from the last event it has", () => {
    const before = read([delta(1, "a"), delta(2, "b")]);
    const after = [delta(2, "b"), delta(3, "c"), final(4, "abc")].reduce(applyEvent, before);
    expect([after.phase, after.text]).toEqual(["final", "abc"]);
  });

  it("keeps steps and announced citations", () => {
    const run = read([
      { event: "status", seq: 1, stage: "planning" },
      { event: "status", seq: 2, stage: "planning" },
      { event: "status", seq: 3, stage: "retrieving" },
      { event: "citation", seq: 4, n: 1, evidence_id: "D3" },
    ]);
    expect(run.stages).toEqual(["planning", "retrieving"]);
    expect([...run.cited]).toEqual([[1, "D3"]]);
  });

  it("keeps an error's code for the reader's language", () => {
    const run = read([{ event: "error", seq: 1, code: "key_rejected", message: "401", hint: null, retryable: false }]);
    expect([run.phase, run.failure?.code]).toEqual(["error", "key_rejected"]);
  });
});

describe("a persisted run", () => {
  const turn = (change: Partial<Turn>): Turn => ({ run_id: "r", question: "q", asked_ms: 0, state: "ended", events: [], ...change });

  it("is read from its stored events like a live one", () => {
    expect(persistedRun(turn({ events: [delta(1, "a"), final(2, "b")] })).text).toBe("b");
    expect(persistedRun(turn({ events: [delta(1, "a"), { event: "cancelled", seq: 2 }] })).phase).toBe("cancelled");
  });

  it("keeps what an interrupted run had, and goes on while it runs", () => {
    const interrupted = persistedRun(turn({ state: "interrupted", events: [delta(1, "half")] }));
    expect([interrupted.phase, interrupted.text]).toEqual(["interrupted", "half"]);
    const running = persistedRun(turn({ state: "running", events: [delta(1, "half")] }));
    expect([running.phase, running.last_seq]).toEqual(["streaming", 1]);
  });
});
