/**
 * The gallery, a page of the development server: components in all their states (`gallery.html`), or the whole window over a
 * scripted program (`gallery.html?window`, with `&lang=en`, `&theme=dark`, `&size=200`, `&documents=0`, `&first`, `&many`, `&pdf`).
 */
import "../lib/ui/tokens.css";
import "../lib/ui/base.css";
import { mount } from "svelte";
import pdfUrl from "../../../fixtures/documents/pdf/after_sales_rules.pdf?url";
import { provideApi } from "../lib/ipc/api";
import type { Language, Theme } from "../lib/ipc/bindings";
import { mockApi } from "../lib/ipc/mock";
import { app } from "../lib/window/app.svelte";
import Window from "../lib/window/Window.svelte";
import Gallery from "./Gallery.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("the page has no place for the gallery");
const query = new URLSearchParams(location.search);
const api = mockApi({
  pdf: query.has("pdf") ? pdfUrl : null,
  boxes: [[72, 161.7, 523, 178.3], [72, 179.7, 302, 196.3]],
  started: !query.has("first"), 
  documents: Number(query.get("documents") ?? (query.has("many") ? 100_000 : 12)),
});
const info = await api.appInfo();
const settings = {
  ...info.settings,
  language: (query.get("lang") ?? "zh") as Language,
  theme: (query.get("theme") ?? "light") as Theme,
  text_size: Number(query.get("size") ?? 100),
};
await api.settingsSave(settings);
provideApi(api);
if (query.has("window")) {
  mount(Window, { target });
} else {
  app.settings = settings;
  app.applySettings();
  mount(Gallery, { target });
}
