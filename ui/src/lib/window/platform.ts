/** What the window runs on, as far as it matters to the keyboard. */
import { isMac } from "./keys";

export const mac = isMac(navigator.platform);
