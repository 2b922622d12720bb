/** The keyboard map. One place says which keys do what; the window, the hints and the list of shortcuts read it. */
export type Action = "search" | "new_conversation" | "import" | "library" | "settings" | "stop" | "previous_citation" | "next_citation" | "map";

/** The part of a keyboard event that decides. */
export interface Stroke {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  isComposing: boolean;
  keyCode: number;
}

/** An input method is composing: its keys are its own. 229 is what WebKit reports for the key that ends a composition. */
export function isComposing(stroke: Stroke): boolean {
  return stroke.isComposing || stroke.keyCode === 229;
}

export function actionOf(stroke: Stroke, mac: boolean): Action | null {
  if (isComposing(stroke)) return null;
  const command = mac ? stroke.metaKey && !stroke.ctrlKey : stroke.ctrlKey && !stroke.metaKey;
  if (command && !stroke.altKey && !stroke.shiftKey) {
    switch (stroke.key.toLowerCase()) {
      case "k":
        return "search";
      case "n":
        return "new_conversation";
      case "o":
        return "import";
      case "b":
        return "library";
      case ",":
        return "settings";
    }
    return null;
  }
  if (stroke.ctrlKey || stroke.metaKey) return null;
  if (stroke.altKey) {
    if (stroke.key === "ArrowUp") return "previous_citation";
    if (stroke.key === "ArrowDown") return "next_citation";
    return null;
  }
  if (stroke.key === "Escape") return "stop";
  if (stroke.key === "F1") return "map";
  return null;
}

/** What Enter does in the composer: nothing of ours during composition. */
export function composerKey(stroke: Stroke): "send" | null {
  if (stroke.key !== "Enter" || isComposing(stroke)) return null;
  return stroke.shiftKey || stroke.altKey || stroke.ctrlKey || stroke.metaKey ? null : "send";
}

export function isMac(platform: string): boolean {
  return /mac|iphone|ipad/iu.test(platform);
}

/** Keys as they are printed: `Ctrl K`, `⌘K`. */
export function keysFor(name: "search" | "new_conversation" | "import" | "library" | "settings", mac: boolean): string {
  const letters = { search: "K", new_conversation: "N", import: "O", library: "B", settings: "," };
  return mac ? `⌘${letters[name]}` : `Ctrl ${letters[name]}`;
}
