// The real window under WebDriver: a display, a session bus, tauri-driver, the program with a home of its own.
// Every call has a time limit.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Builder, By, Capabilities, until } from "selenium-webdriver";
import { Driver } from "./driver.mjs";
import { eventually, within } from "./wait.mjs";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../..");
export const fixture = (path) => join(root, "fixtures", path);
const shots = join(here, "screenshots");

export function program() {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const path = process.env.ZHIKU_DESKTOP ?? join(target, "debug/zhiku-desktop");
  if (!existsSync(path)) throw new Error(`no program at ${path}: run \`cargo build --package zhiku-desktop\` first`);
  return path;
}

export class Window {
  #process = new Driver();
  driver;

  /** A folder that is the program's whole world: its home and the desktop's folders. */
  static world() {
    const world = mkdtempSync(join(tmpdir(), "zhiku-e2e-"));
    for (const folder of ["home", "config", "data", "cache", "run"]) mkdirSync(join(world, folder), { mode: 0o700 });
    return world;
  }

  constructor(world) {
    this.world = world;
  }

  /** `args` are the program's own, for example who signs in. */
  async open(args = []) {
    const world = this.world;
    const env = {
      ...process.env,
      ZHIKU_HOME: join(world, "home"),
      XDG_CONFIG_HOME: join(world, "config"),
      XDG_DATA_HOME: join(world, "data"),
      XDG_CACHE_HOME: join(world, "cache"),
      ZHIKU_MODELS: process.env.ZHIKU_MODELS ?? join(homedir(), ".cache/zhiku/models"),
      LANG: process.env.ZHIKU_E2E_LANG ?? "zh_CN.UTF-8",
      LIBGL_ALWAYS_SOFTWARE: "1",
    };
    await this.#process.start(env);
    const capabilities = new Capabilities();
    capabilities.set("tauri:options", { application: program(), args });
    capabilities.setBrowserName("wry");
    const started = Date.now();
    this.driver = await within(
      60,
      "starting the window",
      new Builder().usingServer(this.#process.url).withCapabilities(capabilities).build(),
    );
    await this.driver.manage().setTimeouts({ pageLoad: 30_000, script: 20_000, implicit: 0 });
    return Date.now() - started;
  }

  async close() {
    if (this.driver !== undefined) await within(20, "closing the window", this.driver.quit()).catch((error) => console.error(error.message));
    this.driver = undefined;
    await this.#process.stop();
  }

  remove() {
    // The program's children may still be writing their caches; what stays is in the system's folder for such things.
    try {
      rmSync(this.world, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    } catch (error) {
      console.error(error.message);
    }
  }

  find(css, seconds = 20) {
    return within(seconds + 5, css, this.driver.wait(until.elementLocated(By.css(css)), seconds * 1000, `no ${css}`));
  }

  all(css) {
    return within(20, css, this.driver.findElements(By.css(css)));
  }

  run(script, ...args) {
    return within(25, "a script", this.driver.executeScript(script, ...args));
  }

  /** Clicks the button that carries exactly these words, or has them as its name. */
  async press(name) {
    const button = await eventually(`a button named ${name}`, () =>
      this.run(
        `return [...document.querySelectorAll("button")].find((b) => b.offsetParent !== null
           && (b.textContent.trim() === arguments[0] || b.getAttribute("aria-label") === arguments[0])) ?? null`,
        name,
      ),
    );
    await within(20, `pressing ${name}`, button.click());
  }

  /** Keys to whatever has the focus. */
  async keys(...keys) {
    await within(20, "keys", this.driver.actions().sendKeys(...keys).perform());
  }

  async chord(modifier, key) {
    await within(20, "a chord", this.driver.actions().keyDown(modifier).sendKeys(key).keyUp(modifier).perform());
  }

  text() {
    return this.run("return document.body.innerText");
  }

  sees(words, seconds = 30) {
    return eventually(`“${words}” on the screen`, async () => (await this.text()).includes(words), seconds);
  }

  size(width, height) {
    return within(20, "resizing", this.driver.manage().window().setRect({ x: 0, y: 0, width, height }));
  }

  async shot(name) {
    mkdirSync(shots, { recursive: true });
    // What is in the document is on the screen two frames later.
    await within(25, "two frames", this.driver.executeAsyncScript("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));"));
    const picture = await within(30, "a screenshot", this.driver.takeScreenshot());
    writeFileSync(join(shots, `${name}.png`), picture, "base64");
  }
}
