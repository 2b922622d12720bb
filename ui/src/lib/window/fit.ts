/** Which panes fit, decided in text sizes rather than pixels, so that large text folds panes before it cuts words. */
export type Pane = "library" | "conversation" | "source";

export interface Wish {
  library: boolean;
  source: boolean;
}

/** The narrowest useful panes, in rem. */
export const least = { library: 14, conversation: 24, source: 22 } as const;

/** What is shown of what the reader wants: the middle always, unless only one pane fits. `focus` wins when space is short. */
export function fit(widthRem: number, wish: Wish, focus: Pane): Record<Pane, boolean> {
  const three = least.library + least.conversation + least.source;
  if (widthRem < least.conversation + least.library) {
    const pane = (focus === "library" && wish.library) || (focus === "source" && wish.source) ? focus : "conversation";
    return { library: pane === "library", conversation: pane === "conversation", source: pane === "source" };
  }
  if (widthRem >= three || !(wish.library && wish.source)) {
    return { library: wish.library, conversation: true, source: wish.source };
  }
  return { library: focus === "library", conversation: true, source: focus !== "library" };
}
