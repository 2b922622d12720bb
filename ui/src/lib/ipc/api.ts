/**
 * Everything the window can ask of the program, as one interface. `tauri.ts` implements it over the generated bindings;
 * `mock.ts` implements it for the gallery and the tests. Nothing else in the window knows how a call travels.
 */
import type {
  AnswerEvent,
  AppInfo,
  AskRequest,
  AskTicket,
  ConversationRow,
  ImportChoice,
  ImportReceipt,
  ImportSettings,
  LibraryPage,
  Locator,
  ModelRow,
  ProviderDraft,
  ProviderPreset,
  ProviderRow,
  ProviderTest,
  SearchResult,
  Sheet,
  SheetCells,
  Source,
  SourceUnit,
  StorageRow,
  StreamEnd,
  Tag,
  Turn,
  WatchedFolder,
  WindowSettings,
  WorkStatus,
} from "./bindings";

export interface Api {
  appInfo(): Promise<AppInfo>;
  settingsSave(settings: WindowSettings): Promise<void>;
  /** Calls back when something changed; returns how to stop listening. */
  onInvalidated(listener: (tags: Tag[]) => void): () => void;
  onDropHover(listener: (active: boolean) => void): () => void;
  onImported(listener: (receipt: ImportReceipt) => void): () => void;

  libraryPage(offset: number, limit: number, filter: string): Promise<LibraryPage>;
  workStatus(): Promise<WorkStatus | null>;
  workPause(paused: boolean): Promise<void>;
  /** Takes one document's import back; all for `null`. */
  workCancel(document: string | null): Promise<void>;
  workRetryFailed(): Promise<void>;
  /** Opens the system's dialog (or takes the sample) and imports what was chosen; `null` when nothing was. */
  importChosen(choice: ImportChoice): Promise<ImportReceipt | null>;
  documentRetry(document: string): Promise<void>;
  /** Opens a document that waits for its password; whether it was right shows in the document's state. */
  documentUnlock(document: string, password: string): Promise<void>;
  documentRemove(document: string): Promise<void>;

  conversations(): Promise<ConversationRow[]>;
  conversationTurns(conversation: string): Promise<Turn[]>;
  conversationDelete(conversation: string): Promise<void>;
  ask(request: AskRequest): Promise<AskTicket>;
  /** Reads the run's events after `afterSeq`; resolves when the stream has ended. */
  subscribe(runId: string, afterSeq: number, listener: (event: AnswerEvent) => void): Promise<StreamEnd>;
  turn(runId: string): Promise<Turn>;
  cancel(runId: string): Promise<void>;
  openLink(address: string): Promise<void>;

  search(query: string, limit: number): Promise<SearchResult>;
  sourceOpen(document: string, version: number): Promise<Source>;
  sourceUnits(document: string, version: number): Promise<SourceUnit[]>;
  /** Where some characters of a unit stand, with the boxes that cover exactly them. */
  sourcePlace(unitId: string, charStart: number, charEnd: number): Promise<Locator>;
  /** The sheets of a spreadsheet; none when it can only be shown as text. */
  sourceSheets(document: string, version: number): Promise<Sheet[]>;
  sourceCells(unitId: string): Promise<SheetCells>;
  sourceOpenOriginal(document: string, version: number): Promise<void>;
  /** The original's bytes `from..to` (end exclusive), after a check of what this person may see. */
  sourceBytes(mediaRef: string, from: number, to: number): Promise<Uint8Array>;

  models(): Promise<ModelRow[]>;
  modelFetch(id: string): Promise<void>;
  modelFetchCancel(id: string): Promise<void>;
  providers(): Promise<ProviderRow[]>;
  providerPresets(): Promise<ProviderPreset[]>;
  providerSave(draft: ProviderDraft): Promise<void>;
  providerDelete(id: string): Promise<void>;
  providerTest(id: string): Promise<ProviderTest>;
  keySet(providerId: string, key: string): Promise<void>;
  keyDelete(providerId: string): Promise<void>;
  importSettings(): Promise<ImportSettings>;
  importSettingsSave(threads: number | null, keepUsable: boolean): Promise<void>;
  watchedFolders(): Promise<WatchedFolder[]>;
  /** Opens the system's dialog; says whether a folder was chosen. */
  watchedFolderAdd(): Promise<boolean>;
  watchedFolderIgnore(id: string, ignore: string[]): Promise<void>;
  watchedFolderRemove(id: string): Promise<void>;
  storage(): Promise<StorageRow[]>;
  storageReveal(): Promise<void>;
}

let current: Api | null = null;

/** Called once, by the entry point, before anything is mounted. */
export function provideApi(api: Api): void {
  current = api;
}

export function api(): Api {
  if (current === null) throw new Error("the window was mounted before its bridge was provided");
  return current;
}
