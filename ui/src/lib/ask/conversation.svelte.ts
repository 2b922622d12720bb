/** The conversations, the open one, and the run that is being read. */
import { i18n } from "../i18n/index.svelte";
import { api } from "../ipc/api";
import type { AskRequest, ConversationRow } from "../ipc/bindings";
import { problemOf, type Problem } from "../ipc/errors";
import { app } from "../window/app.svelte";
import { applyEvent, persistedRun, startedRun, streamEnded, type RunView } from "./stream";

export interface TurnView {
  question: string;
  asked_ms: number;
  run: RunView;
}

/** After a stream has ended its last events may still be on their way over the bridge. */
const graceMs = 3000;
const lastKey = "zhiku.conversation";

class Conversations {
  list: ConversationRow[] = $state.raw([]);
  id: string | null = $state(null);
  turns: TurnView[] = $state([]);
  status: "ready" | "loading" | "error" = $state("ready");
  problem: Problem | null = $state(null);
  /** A question that could not be put; it stays in the composer. */
  askProblem: Problem | null = $state(null);
  draft = $state("");
  asking = $state(false);
  active = $derived(this.turns.find((turn) => turn.run.phase === "streaming"));
  #opening = 0;

  async refreshList(): Promise<void> {
    try {
      this.list = await api().conversations();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  /** After a reload: the conversation that was open. */
  async restore(): Promise<void> {
    await this.refreshList();
    const last = localStorage.getItem(lastKey);
    if (last !== null && this.list.some((row) => row.conversation_id === last)) await this.open(last);
  }

  startNew(): void {
    this.#opening += 1;
    this.id = null;
    this.turns = [];
    this.status = "ready";
    this.problem = null;
    this.askProblem = null;
    localStorage.removeItem(lastKey);
  }

  async open(id: string): Promise<void> {
    this.#opening += 1;
    const opening = this.#opening;
    this.id = id;
    this.turns = [];
    this.status = "loading";
    this.problem = null;
    localStorage.setItem(lastKey, id);
    try {
      const turns = await api().conversationTurns(id);
      if (opening !== this.#opening) return;
      this.turns = turns.map((turn) => ({ question: turn.question, asked_ms: turn.asked_ms, run: persistedRun(turn) }));
      this.status = "ready";
    } catch (thrown) {
      if (opening !== this.#opening) return;
      this.problem = problemOf(thrown);
      this.status = "error";
      return;
    }
    for (const turn of this.turns) if (turn.run.phase === "streaming") void this.#follow(turn.run.run_id);
  }

  async remove(id: string): Promise<void> {
    try {
      await api().conversationDelete(id);
      if (this.id === id) this.startNew();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    await this.refreshList();
  }

  /** Puts the question; what was typed is only cleared once it was taken. */
  async ask(question: string, documents: string[], provider: string | null): Promise<void> {
    const text = question.trim();
    if (text === "" || this.active !== undefined || this.asking) return;
    const request: AskRequest = { conversation_id: this.id, question: text, documents, provider };
    this.asking = true;
    this.askProblem = null;
    try {
      const ticket = await api().ask(request);
      this.id = ticket.conversation_id;
      localStorage.setItem(lastKey, ticket.conversation_id);
      this.turns.push({ question: text, asked_ms: Date.now(), run: startedRun(ticket.run_id) });
      this.draft = "";
      void this.refreshList();
      void this.#follow(ticket.run_id);
    } catch (thrown) {
      this.askProblem = problemOf(thrown);
    } finally {
      this.asking = false;
    }
  }

  async stop(): Promise<void> {
    const run = this.active?.run;
    if (run === undefined) return;
    try {
      await api().cancel(run.run_id);
    } catch (thrown) {
      this.askProblem = problemOf(thrown);
    }
  }

  #turn(runId: string): TurnView | undefined {
    return this.turns.find((turn) => turn.run.run_id === runId);
  }

  #update(runId: string, change: (run: RunView) => RunView): void {
    const turn = this.#turn(runId);
    if (turn === undefined) return;
    const before = turn.run;
    turn.run = change(before);
    if (turn.run !== before) announce(before, turn.run);
  }

  async #follow(runId: string): Promise<void> {
    const from = this.#turn(runId)?.run.last_seq ?? 0;
    try {
      const end = await api().subscribe(runId, from, (event) => this.#update(runId, (run) => applyEvent(run, event)));
      if (end.terminal) await this.#settle(runId);
    } catch (thrown) {
      this.askProblem = problemOf(thrown);
    }
    this.#update(runId, streamEnded);
    void this.refreshList();
  }

  /** Waits for a terminal event that is under way; if it does not come, the persisted state has it. */
  async #settle(runId: string): Promise<void> {
    const deadline = Date.now() + graceMs;
    while (this.#turn(runId)?.run.phase === "streaming" && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    if (this.#turn(runId)?.run.phase !== "streaming") return;
    const turn = await api().turn(runId);
    this.#update(runId, () => persistedRun(turn));
  }
}

function announce(before: RunView, after: RunView): void {
  const m = i18n.m.ask;
  if (after.phase === "streaming") {
    const stage = after.stages.at(-1);
    if (stage !== undefined && after.stages.length !== before.stages.length) app.say(m.stage[stage]);
    return;
  }
  if (after.phase === "final") app.say(`${m.answer_ready} ${after.text.replace(/\[\d+\]/gu, "").replace(/[#*_`|]/gu, "")}`);
  else if (after.phase === "error") app.say(m.failed);
  else if (after.phase === "cancelled") app.say(m.cancelled_empty);
  else if (after.phase === "incomplete") app.say(m.incomplete);
}

export const conversations = new Conversations();
