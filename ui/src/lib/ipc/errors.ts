/** Errors as they come over the bridge. */
import type { IpcError } from "./bindings";

export class BridgeError extends Error {
  readonly code: string;
  readonly hint: string | null;
  readonly retryable: boolean;

  constructor(error: IpcError) {
    super(error.message);
    this.name = "BridgeError";
    this.code = error.code;
    this.hint = error.hint;
    this.retryable = error.retryable;
  }
}

/** What a view shows: a code it has words for, and the technical message for those who want it. */
export interface Problem {
  code: string;
  detail: string;
  retryable: boolean;
}

export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof BridgeError) {
    return { code: thrown.code, detail: thrown.message, retryable: thrown.retryable };
  }
  return { code: "internal", detail: thrown instanceof Error ? thrown.message : String(thrown), retryable: false };
}
