// One window with what every check does in it: ask, look, wait until it is at rest, and hold the page against its rules.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import assert from "node:assert/strict";
import { Key } from "selenium-webdriver";
import { eventually, within } from "./wait.mjs";
import { here, Window } from "./window.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export class Desk {
  failures = 0;
  window = new Window(Window.world());

  get world() {
    return this.window.world;
  }

  run(script, ...args) {
    return this.window.run(script, ...args);
  }

  /** One check: its failure is told with a picture and does not stop the others. */
  async check(name, body) {
    const started = Date.now();
    try {
      await within(240, name, body());
      await this.noViolations();
      console.log(`ok    ${name} (${Date.now() - started} ms)`);
    } catch (error) {
      this.failures += 1;
      const shown = await this.run(`return document.URL + "\\n" + document.body.innerText.slice(0, 2000)`).catch((unseen) => unseen.message);
      console.error(`FAILED ${name}: ${error.stack ?? error}\nThe window shows: ${shown}`);
      await this.window.shot(`failed-${name.replace(/\W+/gu, "-")}`).catch(() => undefined);
    }
  }

  drop(paths) {
    return within(40, "the drop", promisify(execFile)(process.env.ZHIKU_PYTHON ?? "python3", [join(here, "drop.py"), "知库", ...paths]));
  }

  /** Drops files and waits until the library can be asked about each of these titles. */
  async take(paths, titles, seconds = 120) {
    await this.drop(paths);
    for (const title of titles) {
      await eventually(
        `${title} is searchable`,
        () => this.run(`return [...document.querySelectorAll("nav button.open:not(:disabled)")].some((b) => b.textContent.includes(arguments[0]))`, title),
        seconds,
      );
    }
  }

  /** Narrows the question to the document with this title, or takes that back. */
  toggle(title) {
    return this.run(`[...document.querySelectorAll("nav input[type=checkbox]")].find((box) => box.title.includes(arguments[0])).click()`, title);
  }

  async ask(question) {
    const field = await this.window.find("textarea");
    await field.click();
    await field.sendKeys(question);
    await field.sendKeys(Key.ENTER);
    await this.answered(question);
  }

  /** The last turn has its answer: the question stands there and nothing streams any more. */
  async answered(question) {
    await eventually(
      `an answer to ${question}`,
      () =>
        this.run(
          `const turn = [...document.querySelectorAll("article")].at(-1);
           return turn !== undefined && turn.getAttribute("aria-label") === arguments[0] && turn.querySelector("footer") !== null`,
          question,
        ),
      90,
    );
    await this.settled();
  }

  /** Nothing moves any more: two looks at the scrolled places are the same. */
  async settled() {
    let before = "";
    await eventually("the page is at rest", async () => {
      const now = await this.run(`return JSON.stringify([...document.querySelectorAll("[tabindex='0'][role=region]")].map((e) => [e.scrollTop, e.scrollHeight]))`);
      const same = now === before;
      before = now;
      return same;
    });
  }

  lastAnswer() {
    return this.run(`return [...document.querySelectorAll("article")].at(-1).innerText`);
  }

  lastCitation() {
    return this.run(`return [...document.querySelectorAll("article")].at(-1).querySelector("[data-citation]")`);
  }

  lastQuote() {
    return this.run(`return [...document.querySelectorAll("article")].at(-1).querySelector("section .quote")?.textContent`);
  }

  /** Opens the first citation of the last answer whose source has this title; `null` when none has. */
  async openCitationOf(title) {
    const n = await this.run(`return [...document.querySelectorAll("article")].at(-1).querySelectorAll("[data-citation]").length`);
    for (let i = 0; i < n; i += 1) {
      await this.run(`[...document.querySelectorAll("article")].at(-1).querySelectorAll("[data-citation]")[arguments[0]].click()`, i);
      await this.settled();
      const at = await eventually("the source is open", () => this.run(`return document.querySelector("aside h2")?.textContent ?? null`));
      if (at.includes(title)) return i + 1;
    }
    return null;
  }

  sourceDrawn() {
    return eventually("the source is drawn", () => this.run(`return document.querySelector(".highlight, aside mark") !== null`));
  }

  async setting(id, value) {
    await this.run(`const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event("change", { bubbles: true }));`, id, value);
  }

  async look(language, theme) {
    await this.window.chord(Key.CONTROL, ",");
    await this.window.find("#language");
    await this.setting("language", language);
    await this.setting("theme", theme);
    await this.window.keys(Key.ESCAPE);
    await this.window.find("textarea");
  }

  /** Answers are written by this model on loopback from now on. */
  async useModel({ port }) {
    await this.window.chord(Key.CONTROL, ",");
    await this.window.press("云端模型与密钥");
    await this.window.press("添加模型服务");
    await this.setting("preset", "");
    await (await this.window.find("#provider-name")).sendKeys("scripted");
    await (await this.window.find("#provider-url")).sendKeys(`http://127.0.0.1:${port}/v1`);
    await (await this.window.find("#provider-model")).sendKeys("scripted-1");
    await this.window.press("保存");
    await this.window.press("测试连接");
    await this.window.sees("连接正常");
    await this.setting("answers-by", "scripted");
    await this.window.keys(Key.ESCAPE);
    await this.window.find("textarea");
  }

  async withoutModel() {
    await this.run(`const s = document.querySelector("textarea").closest(".box").querySelector("select"); s.value = ""; s.dispatchEvent(new Event("change", { bubbles: true }));`);
  }

  /** Pictures of what is open in both languages and themes; ends as it began, in Chinese and light. */
  async pictures(name) {
    for (const [language, theme] of [["en", "light"], ["en", "dark"], ["zh", "dark"], ["zh", "light"]]) {
      await this.look(language, theme);
      await this.sourceDrawn();
      await this.settled();
      await this.window.shot(`${name}-${language}-${theme}`);
      await this.axe(`${name} in ${language}, ${theme}`);
      await this.fits(`${name} in ${language}, ${theme}`);
    }
  }

  async axe(view) {
    await this.run(`if (window.axe === undefined) { ${axeSource} }`);
    const found = await within(
      60,
      "axe",
      this.window.driver.executeAsyncScript(
        `const done = arguments[arguments.length - 1];
         window.axe.run(document, { resultTypes: ["violations"] }).then(
           (r) => done(r.violations.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.map((n) => n.target.join(" ") + " :: " + n.failureSummary) }))),
           (e) => done([{ id: "axe", impact: "critical", nodes: [String(e)] }]));`,
      ),
    );
    const serious = found.filter((each) => each.impact === "serious" || each.impact === "critical");
    assert.deepEqual(serious, [], `axe found in ${view}: ${JSON.stringify(serious, null, 1)}`);
  }

  /** Nothing wider than the window and no text cut off without an ellipsis. */
  async fits(view) {
    const cut = await this.run(`
      const wide = document.documentElement.scrollWidth > innerWidth + 1 ? ["the page is wider than the window"] : [];
      for (const e of document.querySelectorAll("[role=region], nav, aside, dialog")) {
        if (e.querySelector(".pdfViewer") === null && e.scrollWidth > e.clientWidth + 1) wide.push("sideways: " + (e.getAttribute("aria-label") ?? e.tagName));
      }
      const cut = [...document.querySelectorAll("button, label, h1, h2, h3, p, dt, li > span")].filter((e) => {
        if (e.offsetParent === null || e.closest(".pdfViewer, .truncate, .quote, .text, .visually-hidden") !== null) return false;
        const style = getComputedStyle(e);
        return e.scrollWidth > e.clientWidth + 2 && style.overflow === "hidden" && style.textOverflow !== "ellipsis";
      }).map((e) => e.textContent.trim().slice(0, 60));
      return [...wide, ...cut];`);
    assert.deepEqual(cut, [], `cut off in ${view}`);
  }

  /** What the page tried against its own policy since the last look. */
  async noViolations() {
    const found = await this.run(`
      if (window.violations === undefined) {
        window.violations = [];
        document.addEventListener("securitypolicyviolation", (e) => window.violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));
      }
      return window.violations`);
    assert.deepEqual(found, [], "violations of the content security policy");
  }
}
