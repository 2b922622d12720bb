/** A scripted program behind the window, for the gallery and the tests. It is no part of the shipped application. */
import type { Api } from "./api";
import type {
  Answer,
  AnswerEvent,
  Citation,
  DocumentRow,
  ModelRow,
  ProviderRow,
  Reason,
  SourceUnit,
  Tag,
  Turn,
  WatchedFolder,
  WindowSettings,
} from "./bindings";
import { BridgeError } from "./errors";

const reason = (code: string, args: Record<string, string> = {}): Reason => ({ code, args });
const hour = 3_600_000;

export const sampleText = `# 海棠 A 户型案例\n\n## 卫生间防水\n\n卫生间墙地面使用聚氨酯防水涂料（型号 M-208），涂刷两遍，总厚度不小于 1.5 毫米。\n\n- 墙面高度：淋浴区 1.8 米\n  - 其他区域 0.3 米\n- 闭水试验：48 小时\n\n## 材料与供应商\n\n| 材料 | 型号 | 供应商 |\n| --- | --- | --- |\n| 防水涂料 | M-208 | 宏达建材 |\n| 瓷砖 | T-600 | 东岭陶瓷 |\n\n供应商的联系方式见采购部的名录。`;

const quote = "卫生间墙地面使用聚氨酯防水涂料（型号 M-208），涂刷两遍，总厚度不小于 1.5 毫米。";
const at = (text: string, part: string): [number, number] => {
  const start = [...text.slice(0, text.indexOf(part))].length;
  return [start, start + [...part].length];
};

const cite = (n: number, part: string, change: Partial<Citation> = {}): Citation => {
  const [char_start, char_end] = at(sampleText, part);
  return {
    n,
    evidence_id: `D${n}`,
    document: "doc-0",
    version: 1,
    title: "海棠 A 户型案例.docx",
    locator: { kind: "section", heading_path: ["海棠 A 户型案例", "卫生间防水"], char_start, char_end },
    quote: part,
    char_start,
    char_end,
    unit_id: "unit-0",
    source_gone: false,
    ...change,
  };
};

export const sampleAnswer: Answer = {
  status: "completed",
  text: "海棠 A 的卫生间使用**聚氨酯防水涂料**，型号 M-208 [1]。涂刷两遍，总厚度不小于 1.5 毫米 [1]。\n\n- 防水涂料由宏达建材供应 [2]。\n- 售后流程要求在 48 小时内上门 [3]。\n- 质保期为十年 [3]。",
  citations: [
    cite(1, quote),
    cite(2, "| 防水涂料 | M-208 | 宏达建材 |", { locator: { kind: "section", heading_path: ["海棠 A 户型案例", "材料与供应商"], char_start: 0, char_end: 1 } }),
    cite(3, "闭水试验：48 小时", {
      title: "售后服务制度.pdf",
      version: 2,
      locator: { kind: "page", page_index: 11, page_label: "iv", boxes: [[72, 120, 300, 134]] },
      source_gone: true,
      quote: "",
    }),
  ],
  claims: [
    { text: "海棠 A 的卫生间使用聚氨酯防水涂料，型号 M-208。", citations: [1], support: "supported", reason: reason("words_agree", { percent: "92" }) },
    { text: "涂刷两遍，总厚度不小于 1.5 毫米。", citations: [1], support: "supported", reason: reason("words_agree", { percent: "92" }) },
    { text: "防水涂料由宏达建材供应。", citations: [2], support: "partly", reason: reason("words_agree", { percent: "92" }) },
    { text: "售后流程要求在 48 小时内上门。", citations: [3], support: "unsupported", reason: reason("words_agree", { percent: "92" }) },
    { text: "质保期为十年。", citations: [3], support: "contradicted", reason: reason("words_agree", { percent: "92" }) },
  ],
  gaps: [{ sub_query: "培训视频里哪里提到？", reason: reason("nothing_found") }],
  confidence: "medium",
  usage: { model_calls: 0, input_tokens: 0, output_tokens: 0 },
  reason: reason("answered"),
};

export const refusedAnswer: Answer = {
  ...sampleAnswer,
  status: "insufficient_evidence",
  text: "",
  citations: [],
  claims: [],
  gaps: [{ sub_query: "What did we pay for it?", reason: reason("nothing_found") }],
  confidence: "none",
  reason: reason("nothing_found"),
};

export function sampleDocument(index: number, change: Partial<DocumentRow> = {}): DocumentRow {
  const kinds = ["docx", "pdf", "text", "markdown", "html", "csv"] as const;
  const names = ["海棠 A 户型案例", "售后服务制度（2024 年修订版，含附件与流程图）", "供应商名录", "Travel policy", "Onboarding handbook", "材料清单"];
  const kind = kinds[index % kinds.length] ?? "text";
  return {
    document: `doc-${index}`,
    title: `${names[index % names.length] ?? ""}${index >= names.length ? ` ${index}` : ""}`,
    kind,
    version: index === 1 ? 2 : 1,
    state: "published",
    searchable: "hybrid",
    stage: null,
    done: 0,
    total: 0,
    failure: null,
    warnings: 0,
    source_missing: false,
    size_bytes: 48_000 * (index + 1),
    updated_ms: Date.now() - index * hour,
    ...change,
  };
}

/** The events of the sample answer. */
function* script(): Generator<AnswerEvent> {
  let seq = 1;
  yield { event: "status", seq: seq++, stage: "planning" };
  yield { event: "status", seq: seq++, stage: "retrieving" };
  yield { event: "status", seq: seq++, stage: "writing" };
  for (const piece of sampleAnswer.text.match(/.{1,6}/gsu) ?? []) yield { event: "text_delta", seq: seq++, revision: 1, text: piece };
  yield { event: "status", seq: seq++, stage: "verifying" };
  yield { event: "final", seq: seq++, revision: 2, replace: true, answer: sampleAnswer };
}

export interface MockOptions {
  documents: number;
  started: boolean;
  /** Milliseconds between the events of an answer. */
  pace: number;
  /** Where the bytes of the PDF documents are. */
  pdf: string | null;
  /** Boxes on the PDF's first page that the sample citation covers. */
  boxes: [number, number, number, number][];
}

export function mockApi(options: Partial<MockOptions> = {}): Api {
  const { documents, started, pace, pdf, boxes } = { documents: 12, started: true, pace: 120, pdf: null, boxes: [], ...options };
  const file = pdf === null ? null : fetch(pdf).then(async (response) => new Uint8Array(await response.arrayBuffer()));
  let settings: WindowSettings = { version: 1, language: "zh", theme: "light", text_size: 100, provider: null, started };
  let rows = Array.from({ length: documents }, (_, index) => sampleDocument(index));
  if (rows.length > 6) {
    rows[2] = sampleDocument(2, { state: "indexing", stage: "embed", done: 48, total: 130, searchable: "lexical" });
    rows[3] = sampleDocument(3, { state: "failed", searchable: null, failure: { reason: reason("password_required", { name: "Travel policy.pdf" }), retryable: true } });
    rows[4] = sampleDocument(4, { warnings: 1 });
    rows[5] = sampleDocument(5, { state: "queued", searchable: null });
  }
  let models: ModelRow[] = [
    { id: "e5", role: "embedding", name: "multilingual-e5-small", size_bytes: 118e6, licence: "MIT", state: "installed", done_bytes: 0 },
    { id: "ort", role: "onnx_runtime", name: "ONNX Runtime 1.24", size_bytes: 22e6, licence: "MIT", state: "installed", done_bytes: 0 },
    { id: "ocr", role: "pdfium", name: "PDFium", size_bytes: 16e6, licence: "Apache-2.0", state: "missing", done_bytes: 0 },
  ];
  let providers: ProviderRow[] = [
    { id: "p1", name: "Anthropic", kind: "anthropic", base_url: "https://api.anthropic.com", model: "claude-sonnet-4-5", key: "stored" },
  ];
  let paused = false;
  let governor: { threads: number | null; keep_usable: boolean } = { threads: null, keep_usable: true };
  let folders: WatchedFolder[] = [
    { id: "f1", name: "项目资料", present: true, ignore: ["*.log"] },
    { id: "f2", name: "移动硬盘", present: false, ignore: [] },
  ];
  const turns = new Map<string, Turn[]>([
    ["c1", [{ run_id: "r1", question: "海棠 A 用了哪种防水，谁供应的？售后怎么说明？", asked_ms: Date.now(), state: "ended", events: [...script()] }]],
  ]);
  const listeners = new Set<(tags: Tag[]) => void>();
  const tell = (...tags: Tag[]): void => listeners.forEach((listener) => listener(tags));
  const cancelled = new Set<string>();
  let nextRun = 2;

  return {
    appInfo: async () => ({ version: "0.1.0", vault_name: "装修公司", profile_name: "me", settings, degraded: [] }),
    settingsSave: async (next) => void (settings = next),
    onInvalidated(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onDropHover: () => () => undefined,
    onImported: () => () => undefined,
    async libraryPage(offset, limit, filter) {
      const found = rows.filter((row) => row.title.toLowerCase().includes(filter.toLowerCase()));
      const retryable = rows.filter((row) => row.state === "failed" && row.failure?.retryable === true).length;
      return { total: found.length, retryable, offset, rows: found.slice(offset, offset + limit) };
    },
    workStatus: async () =>
      rows.some((row) => row.state === "indexing")
        ? { files_left: 2, current_title: "供应商名录", stage: "embed", done: 48, total: 130, per_second: 6.4, seconds_left: 74, paused, waits: null }
        : null,
    workPause: async (wanted) => void (paused = wanted),
    async workCancel(document) {
      const ended = (row: DocumentRow): boolean => ["queued", "parsing", "indexing"].includes(row.state) && (document === null || row.document === document);
      rows = rows.map((row) =>
        ended(row) ? { ...row, state: "failed", stage: null, failure: { reason: reason("cancelled"), retryable: true } } : row,
      );
      tell("library", "work");
    },
    async workRetryFailed() {
      rows = rows.map((row) => (row.failure?.retryable === true ? { ...row, state: "queued", failure: null } : row));
      tell("library", "work");
    },
    async importChosen() {
      rows = [...rows, sampleDocument(rows.length)];
      return { accepted: 1, n_rejected: 1, rejected: [{ name: "archive.zip", reason: reason("format_unsupported", { name: "archive.zip", format: "ZIP" }) }] };
    },
    documentRetry: async () => tell("library"),
    async documentUnlock(document, password) {
      const failure = { reason: reason("wrong_password", { name: "Travel policy.pdf" }), retryable: true };
      rows = rows.map((row) => {
        if (row.document !== document) return row;
        return password === "sesame" ? { ...row, state: "published", searchable: "hybrid", failure: null } : { ...row, failure };
      });
    },
    async documentRemove(document) {
      rows = rows.filter((row) => row.document !== document);
    },
    conversations: async () => [...turns].map(([conversation_id, [first]]) => ({ conversation_id, title: first?.question ?? "", updated_ms: first?.asked_ms ?? 0 })),
    conversationTurns: async (id) => turns.get(id) ?? [],
    conversationDelete: async (id) => void turns.delete(id),
    async ask(request) {
      const conversation_id = request.conversation_id ?? `c${nextRun}`;
      const run_id = `r${nextRun++}`;
      const turn: Turn = { run_id, question: request.question, asked_ms: Date.now(), state: "ended", events: [...script()] };
      turns.set(conversation_id, [...(turns.get(conversation_id) ?? []), turn]);
      return { conversation_id, run_id };
    },
    async subscribe(runId, afterSeq, listener) {
      let last = afterSeq;
      for (const event of script()) {
        await new Promise((resolve) => setTimeout(resolve, pace));
        last = event.seq;
        if (cancelled.has(runId)) {
          listener({ event: "cancelled", seq: last });
          break;
        }
        if (event.seq > afterSeq) listener(event);
      }
      return { last_seq: last, terminal: true };
    },
    async turn(runId) {
      const found = [...turns.values()].flat().find((turn) => turn.run_id === runId);
      if (found === undefined) throw new BridgeError({ code: "not_found", message: "no such run", hint: null, fault: "user", retryable: false });
      return found;
    },
    cancel: async (runId) => void cancelled.add(runId),
    openLink: async () => undefined,
    async search(query) {
      const hit = { document: "doc-0", version: 1, title: "海棠 A 户型案例", unit_id: "unit-0", locator: cite(1, quote).locator, text: quote };
      return { hits: query.includes("无") ? [] : [hit, { ...hit, title: "售后服务制度" }], took_ms: 3, degraded: [] };
    },
    async sourceOpen(document, version) {
      const bytes = await file;
      const source = { document, version, title: "海棠 A 户型案例", size_bytes: bytes?.length ?? 1000, warnings: [] };
      return { ...source, latest_version: document === "doc-0" ? 2 : version, kind: pdf === null ? "docx" : "pdf", media_ref: pdf, media_url: null };
    },
    sourceUnits: async (): Promise<SourceUnit[]> => [
      { unit_id: "unit-0", locator: cite(1, quote).locator, text: sampleText, heading_path: [], trust: "normal", process: "text", timing: [] },
    ],
    sourcePlace: async () => (pdf === null ? cite(1, quote).locator : { kind: "page", page_index: 0, page_label: "1", boxes }),
    sourceSheets: async () => [],
    sourceCells: async () => ({ cells: [], merged: [] }),
    sourceOpenOriginal: async () => undefined,
    // A copy: PDF.js gives the bytes away to its worker.
    sourceBytes: async (_, from, to) => ((await file) ?? new Uint8Array()).slice(from, to),
    models: async () => models,
    async modelFetch(id) {
      models = models.map((row) => (row.id === id ? { ...row, state: "fetching", done_bytes: row.size_bytes / 3 } : row));
    },
    async modelFetchCancel(id) {
      models = models.map((row) => (row.id === id ? { ...row, state: "missing", done_bytes: 0 } : row));
    },
    providers: async () => providers,
    providerPresets: async () => [
      { id: "anthropic", name: "Anthropic", kind: "anthropic", base_url: "https://api.anthropic.com", model: "claude-sonnet-4-5" },
      { id: "ollama", name: "Ollama", kind: "openai_compatible", base_url: "http://127.0.0.1:11434/v1", model: "" },
    ],
    async providerSave(draft) {
      providers = [...providers.filter((each) => each.id !== draft.id), { ...draft, name: draft.id, key: "not_stored" }];
    },
    providerDelete: async (id) => void (providers = providers.filter((row) => row.id !== id)),
    providerTest: async () => {
      throw new BridgeError({ code: "key_rejected", message: "HTTP 401 from api.anthropic.com", hint: null, fault: "user", retryable: false });
    },
    keySet: async (id) => void (providers = providers.map((row) => (row.id === id ? { ...row, key: "stored" } : row))),
    keyDelete: async (id) => void (providers = providers.map((row) => (row.id === id ? { ...row, key: "not_stored" } : row))),
    importSettings: async () => ({ ...governor, processors: 4 }),
    importSettingsSave: async (threads, keep_usable) => void (governor = { threads, keep_usable }),
    watchedFolders: async () => folders,
    async watchedFolderAdd() {
      folders = [...folders, { id: `f${folders.length + 1}`, name: "合同", present: true, ignore: [] }];
      tell("folders");
      return true;
    },
    async watchedFolderIgnore(id, ignore) {
      folders = folders.map((folder) => (folder.id === id ? { ...folder, ignore } : folder));
    },
    async watchedFolderRemove(id) {
      folders = folders.filter((folder) => folder.id !== id);
      tell("folders");
    },
    storage: async () => [
      { part: "originals", size_bytes: 128e6 },
      { part: "database", size_bytes: 14e6 },
      { part: "index", size_bytes: 9e6 },
      { part: "vectors", size_bytes: 33e6 },
      { part: "models", size_bytes: 140e6 },
    ],
    storageReveal: async () => undefined,
  };
}
