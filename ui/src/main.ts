/** The application's entry: the real bridge, then the window. */
import "./lib/ui/tokens.css";
import "./lib/ui/base.css";
import { mount } from "svelte";
import { provideApi } from "./lib/ipc/api";
import { tauriApi } from "./lib/ipc/tauri";
import Window from "./lib/window/Window.svelte";

const target = document.getElementById("app");
if (target === null) throw new Error("the page has no place for the window");
provideApi(tauriApi);
mount(Window, { target });
