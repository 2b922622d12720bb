/**
 * Which panes are shown and how wide. The sizes are remembered in the window's own storage; they are no secret and no setting
 * of the vault.
 */
import { fit, least, type Pane, type Wish } from "./fit";

interface Widths {
  library: number;
  source: number;
}

const storageKey = "zhiku.layout";

interface Stored {
  widths: Widths;
  library: boolean;
}

function stored(): Stored {
  const fallback: Stored = { widths: { library: 16.25, source: 34 }, library: true };
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    if (typeof value !== "object" || value === null) return fallback;
    const { widths, library } = value as Partial<Stored>;
    return {
      widths: {
        library: Number(widths?.library) || fallback.widths.library,
        source: Number(widths?.source) || fallback.widths.source,
      },
      library: library !== false,
    };
  } catch {
    return fallback;
  }
}

class Layout {
  #stored = stored();
  windowWidth = $state(window.innerWidth);
  rem = $state(16);
  widths: Widths = $state(this.#stored.widths);
  wish: Wish = $state({ library: this.#stored.library, source: false });
  focus: Pane = $state("conversation");
  shown = $derived(fit(this.windowWidth / this.rem, this.wish, this.focus));
  /** Only one pane fits: the bar switches between them. */
  single = $derived(this.windowWidth / this.rem < least.conversation + least.library);

  /** Pane widths in pixels, limited so that the middle keeps its least width. */
  library = $derived.by(() => {
    if (this.single) return this.windowWidth;
    const spare = this.windowWidth / this.rem - least.conversation - (this.shown.source ? least.source : 0);
    return Math.max(least.library, Math.min(this.widths.library, spare)) * this.rem;
  });
  source = $derived.by(() => {
    if (this.single) return this.windowWidth;
    const others = least.conversation * this.rem + (this.shown.library ? this.library : 0);
    return Math.max(Math.min(least.source * this.rem, this.windowWidth - others), Math.min(this.widths.source * this.rem, this.windowWidth - others));
  });

  measure(): void {
    this.windowWidth = window.innerWidth;
    this.rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  }

  show(pane: Pane): void {
    if (pane === "library") this.wish.library = true;
    if (pane === "source") this.wish.source = true;
    this.focus = pane;
    this.#save();
  }

  hide(pane: "library" | "source"): void {
    this.wish[pane] = false;
    if (this.focus === pane) this.focus = "conversation";
    this.#save();
  }

  toggle(pane: "library" | "source"): void {
    if (this.shown[pane]) this.hide(pane);
    else this.show(pane);
  }

  resize(pane: "library" | "source", pixels: number): void {
    const rem = pixels / this.rem;
    this.widths[pane] = Math.min(90, Math.max(least[pane], rem));
    this.#save();
  }

  #save(): void {
    localStorage.setItem(storageKey, JSON.stringify({ widths: this.widths, library: this.wish.library }));
  }
}

export const layout = new Layout();
