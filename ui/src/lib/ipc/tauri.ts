/** The interface over the generated bindings: the only place that calls commands and listens to events. */
import { Channel, convertFileSrc } from "@tauri-apps/api/core";
import type { Api } from "./api";
import { commands, events, type AnswerEvent, type IpcError } from "./bindings";
import { BridgeError } from "./errors";

function isIpcError(thrown: unknown): thrown is IpcError {
  return typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown;
}

/** Commands answer with an `IpcError`; what else is thrown is a fault of the bridge itself. */
async function call<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (thrown) {
    throw isIpcError(thrown) ? new BridgeError(thrown) : thrown;
  }
}

/** Listening begins asynchronously; stopping before it has begun stops it as soon as it has. */
function listening(started: Promise<() => void>): () => void {
  return () => void started.then((stop) => stop());
}

async function nothing(command: Promise<unknown>): Promise<void> {
  await call(command);
}

export const tauriApi: Api = {
  appInfo: () => call(commands.appInfo()),
  settingsSave: (settings) => nothing(commands.settingsSave(settings)),
  onInvalidated: (listener) => listening(events.invalidated.listen(({ payload }) => listener(payload.tags))),
  onDropHover: (listener) => listening(events.dropHover.listen(({ payload }) => listener(payload.active))),
  onImported: (listener) => listening(events.imported.listen(({ payload }) => listener(payload.receipt))),

  libraryPage: (offset, limit, filter) => call(commands.libraryPage(offset, limit, filter)),
  workStatus: () => call(commands.workStatus()),
  workPause: (paused) => nothing(commands.workPause(paused)),
  workCancel: (document) => nothing(commands.workCancel(document)),
  workRetryFailed: () => nothing(commands.workRetryFailed()),
  importChosen: (choice) => call(commands.importChosen(choice)),
  documentRetry: (document) => nothing(commands.documentRetry(document)),
  documentUnlock: (document, password) => nothing(commands.documentUnlock(document, password)),
  documentRemove: (document) => nothing(commands.documentRemove(document)),

  conversations: () => call(commands.conversations()),
  conversationTurns: (conversation) => call(commands.conversationTurns(conversation)),
  conversationDelete: (conversation) => nothing(commands.conversationDelete(conversation)),
  ask: (request) => call(commands.ask(request)),
  subscribe(runId, afterSeq, listener) {
    const channel = new Channel<AnswerEvent>();
    channel.onmessage = listener;
    return call(commands.runSubscribe(runId, afterSeq, channel));
  },
  turn: (runId) => call(commands.runTurn(runId)),
  cancel: (runId) => nothing(commands.runCancel(runId)),
  openLink: (address) => nothing(commands.linkOpen(address)),

  search: (query, limit) => call(commands.search(query, limit)),
  sourceOpen: (document, version) => call(commands.sourceOpen(document, version)),
  sourceUnits: (document, version) => call(commands.sourceUnits(document, version)),
  sourcePlace: (unitId, charStart, charEnd) => call(commands.sourcePlace(unitId, charStart, charEnd)),
  sourceSheets: (document, version) => call(commands.sourceSheets(document, version)),
  sourceCells: (unitId) => call(commands.sourceCells(unitId)),
  sourceOpenOriginal: (document, version) => nothing(commands.sourceOpenOriginal(document, version)),
  async sourceBytes(mediaRef, from, to) {
    const response = await fetch(convertFileSrc(mediaRef, "vault"), { headers: { Range: `bytes=${from}-${to - 1}` } });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    const gone = response.status === 404;
    throw new BridgeError({
      code: gone ? "not_found" : "internal",
      message: `the original could not be read (${response.status})`,
      hint: null,
      fault: gone ? "user" : "bug",
      retryable: !gone,
    });
  },

  models: () => call(commands.models()),
  modelFetch: (id) => nothing(commands.modelFetch(id)),
  modelFetchCancel: (id) => nothing(commands.modelFetchCancel(id)),
  providers: () => call(commands.providers()),
  providerPresets: () => call(commands.providerPresets()),
  providerSave: (draft) => nothing(commands.providerSave(draft)),
  providerDelete: (id) => nothing(commands.providerDelete(id)),
  providerTest: (id) => call(commands.providerTest(id)),
  keySet: (providerId, key) => nothing(commands.keySet(providerId, key)),
  keyDelete: (providerId) => nothing(commands.keyDelete(providerId)),
  importSettings: () => call(commands.importSettings()),
  importSettingsSave: (threads, keepUsable) => nothing(commands.importSettingsSave(threads, keepUsable)),
  watchedFolders: () => call(commands.watchedFolders()),
  watchedFolderAdd: () => call(commands.watchedFolderAdd()),
  watchedFolderIgnore: (id, ignore) => nothing(commands.watchedFolderIgnore(id, ignore)),
  watchedFolderRemove: (id) => nothing(commands.watchedFolderRemove(id)),
  storage: () => call(commands.storage()),
  storageReveal: () => nothing(commands.storageReveal()),
};
