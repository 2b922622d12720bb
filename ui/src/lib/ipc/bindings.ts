import { invoke, type Channel } from "@tauri-apps/api/core";
import { listen, type EventCallback } from "@tauri-apps/api/event";

export const commands = {
  appInfo: (): Promise<AppInfo> => invoke("app_info"),
  settingsSave: (settings: WindowSettings): Promise<null> => invoke("settings_save", { settings }),
  models: (): Promise<ModelRow[]> => invoke("models"),
  modelFetch: (model: string): Promise<null> => invoke("model_fetch", { model }),
  providers: (): Promise<ProviderRow[]> => invoke("providers"),
  providerPresets: (): Promise<ProviderPreset[]> => invoke("provider_presets"),
  providerSave: (draft: ProviderDraft): Promise<null> => invoke("provider_save", { draft }),
  providerDelete: (provider: string): Promise<null> => invoke("provider_delete", { provider }),
  providerTest: (provider: string): Promise<ProviderTest> => invoke("provider_test", { provider }),
  keySet: (provider: string, key: string): Promise<null> => invoke("key_set", { provider, key }),
  keyDelete: (provider: string): Promise<null> => invoke("key_delete", { provider }),
  storage: (): Promise<StorageRow[]> => invoke("storage"),
  storageReveal: (): Promise<null> => invoke("storage_reveal"),
  libraryPage: (offset: number, limit: number, filter: string): Promise<LibraryPage> => invoke("library_page", { offset, limit, filter }),
  workStatus: (): Promise<WorkStatus | null> => invoke("work_status"),
  workPause: (paused: boolean): Promise<null> => invoke("work_pause", { paused }),
  importChosen: (choice: ImportChoice): Promise<ImportReceipt | null> => invoke("import_chosen", { choice }),
  documentRetry: (document: string): Promise<null> => invoke("document_retry", { document }),
  documentRemove: (document: string): Promise<null> => invoke("document_remove", { document }),
  conversations: (): Promise<ConversationRow[]> => invoke("conversations"),
  conversationTurns: (conversation: string): Promise<Turn[]> => invoke("conversation_turns", { conversation }),
  conversationDelete: (conversation: string): Promise<null> => invoke("conversation_delete", { conversation }),
  ask: (request: AskRequest): Promise<AskTicket> => invoke("ask", { request }),
  runSubscribe: (runId: string, afterSeq: number, events: Channel<AnswerEvent>): Promise<StreamEnd> => invoke("run_subscribe", { runId, afterSeq, events }),
  runTurn: (runId: string): Promise<Turn> => invoke("run_turn", { runId }),
  runCancel: (runId: string): Promise<null> => invoke("run_cancel", { runId }),
  linkOpen: (address: string): Promise<null> => invoke("link_open", { address }),
  search: (query: string, limit: number): Promise<SearchResult> => invoke("search", { query, limit }),
  sourceOpen: (document: string, version: number): Promise<Source> => invoke("source_open", { document, version }),
  sourceUnits: (document: string, version: number): Promise<SourceUnit[]> => invoke("source_units", { document, version }),
  sourcePlace: (unitId: string, charStart: number, charEnd: number): Promise<Locator> => invoke("source_place", { unitId, charStart, charEnd }),
  sourceOpenOriginal: (document: string, version: number): Promise<null> => invoke("source_open_original", { document, version }),
};

function event<T>(name: string) {
  return { listen: (callback: EventCallback<T>) => listen<T>(name, callback) };
}

export const events = {
  invalidated: event<{ tags: Tag[] }>("invalidated"),
  dropHover: event<{ active: boolean }>("drop-hover"),
  imported: event<{ receipt: ImportReceipt }>("imported"),
};

export type Tag = "library" | "work" | "conversations" | "models" | "providers" | "settings";
export type Reason = { code: string; args: { [key in string]: string } };
export type SlidePart = "body" | "notes";
export type Locator =
  | { kind: "page"; page_index: number; page_label: string; boxes: [number, number, number, number][] }
  | { kind: "section"; heading_path: string[]; char_start: number; char_end: number }
  | { kind: "slide"; index: number; part: SlidePart }
  | { kind: "cells"; sheet: string; range: string }
  | { kind: "region"; boxes: [number, number, number, number][] }
  | { kind: "time"; start_ms: number; end_ms: number }
  | { kind: "chars"; char_start: number; char_end: number };
export type AnswerStatus = "completed" | "needs_input" | "insufficient_evidence" | "denied" | "exhausted" | "cancelled" | "failed";
export type Support = "supported" | "partly" | "contradicted" | "unsupported" | "unchecked";
export type Confidence = "high" | "medium" | "low" | "none";
export type Stage = "planning" | "retrieving" | "reranking" | "writing" | "verifying";
export type Claim = { text: string; citations: number[]; support: Support; reason: Reason };
export type Citation = { n: number; evidence_id: string; document: string; version: number; title: string; locator: Locator; quote: string; char_start: number; char_end: number; unit_id: string; source_gone: boolean };
export type Gap = { sub_query: string; reason: Reason };
export type Usage = { model_calls: number; input_tokens: number; output_tokens: number };
export type Answer = { status: AnswerStatus; text: string; citations: Citation[]; claims: Claim[]; gaps: Gap[]; confidence: Confidence; usage: Usage; reason: Reason };
export type Process = "text" | "ocr" | "asr" | "caption" | "graph" | "web";
export type Trust = "normal" | "hidden_text" | "instructions_found";
export type EvidenceItem = { evidence_id: string; document: string; version: number; title: string; unit_id: string; text: string; char_start: number; char_end: number; locator: Locator; process: Process; trust: Trust };
export type AnswerEvent =
  | { event: "run_started"; seq: number; run_id: string }
  | { event: "status"; seq: number; stage: Stage }
  | { event: "evidence_ready"; seq: number; items: EvidenceItem[] }
  | { event: "text_delta"; seq: number; revision: number; text: string }
  | { event: "citation"; seq: number; n: number; evidence_id: string }
  | { event: "final"; seq: number; revision: number; replace: boolean; answer: Answer }
  | { event: "error"; seq: number; code: string; message: string; hint: string | null; retryable: boolean }
  | { event: "cancelled"; seq: number };
export type StreamEnd = { last_seq: number; terminal: boolean };
export type AskRequest = { conversation_id: string | null; question: string; documents: string[]; provider: string | null };
export type AskTicket = { conversation_id: string; run_id: string };
export type ConversationRow = { conversation_id: string; title: string; updated_ms: number };
export type RunState = "running" | "interrupted" | "ended";
export type Turn = { run_id: string; question: string; asked_ms: number; state: RunState; events: AnswerEvent[] };
export type DocumentKind = "pdf" | "docx" | "markdown" | "html" | "text" | "csv";
export type DocumentState = "queued" | "parsing" | "indexing" | "ready" | "published" | "failed" | "superseded" | "deleted";
export type Searchable = "lexical" | "hybrid";
export type JobStage = "detect" | "parse" | "chunk" | "publish_lexical" | "embed" | "publish" | "done";
export type Failure = { reason: Reason; retryable: boolean };
export type DocumentRow = { document: string; title: string; kind: DocumentKind; version: number; state: DocumentState; searchable: Searchable | null; stage: JobStage | null; done: number; total: number; failure: Failure | null; warnings: number; size_bytes: number; updated_ms: number };
export type LibraryPage = { total: number; offset: number; rows: DocumentRow[] };
export type WorkStatus = { files_left: number; current_title: string | null; stage: JobStage | null; done: number; total: number; per_second: number | null; seconds_left: number | null; paused: boolean };
export type RejectedFile = { name: string; reason: Reason };
export type ImportReceipt = { accepted: number; rejected: RejectedFile[] };
export type Source = { document: string; version: number; latest_version: number; title: string; kind: DocumentKind; size_bytes: number; warnings: SourceWarning[]; media_ref: string | null };
export type SourceWarning = { reason: Reason; locator: Locator | null };
export type SourceUnit = { unit_id: string; locator: Locator; text: string; heading_path: string[]; trust: Trust };
export type SearchHit = { document: string; version: number; title: string; unit_id: string; locator: Locator; text: string };
export type SearchResult = { hits: SearchHit[]; took_ms: number; degraded: Reason[] };
export type Language = "system" | "zh" | "en";
export type Theme = "system" | "light" | "dark";
export type WindowSettings = { version: number; language: Language; theme: Theme; text_size: number; provider: string | null; started: boolean };
export type AppInfo = { version: string; vault_name: string; profile_name: string; settings: WindowSettings; degraded: Reason[] };
export type ModelState = "installed" | "missing" | "damaged" | "fetching";
export type ModelRow = { id: string; role: string; name: string; size_bytes: number; licence: string; state: ModelState; done_bytes: number };
export type ProviderKind = "openai_compatible" | "anthropic";
export type ProviderRow = { id: string; name: string; kind: ProviderKind; base_url: string; model: string; key: KeyState };
export type KeyState = "stored" | "not_stored" | "unavailable";
export type ProviderPreset = { id: string; name: string; kind: ProviderKind; base_url: string; model: string };
export type ImportChoice = "files" | "folder" | "sample";
export type ProviderDraft = { id: string; kind: ProviderKind; base_url: string; model: string };
export type ProviderTest = { took_ms: number; model: string };
export type StorageRow = { part: string; size_bytes: number };
export type Fault = "user" | "environment" | "bug";
export type ErrorCode = "not_found" | "denied" | "invalid_input" | "vault_locked" | "vault_too_new" | "model_missing" | "model_damaged" | "model_crashed" | "password_required" | "unsupported_format" | "damaged_file" | "key_missing" | "key_rejected" | "rate_limited" | "timeout" | "network" | "cancelled" | "budget_exhausted" | "keychain_unavailable" | "internal";
export type IpcError = { code: ErrorCode; message: string; hint: string | null; fault: Fault; retryable: boolean };
