// Questions in both languages, their citations opened at the quoted words, versions, refusals, the keyboard.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { Key } from "selenium-webdriver";
import { highlightCoversQuote } from "../highlight.mjs";
import { eventually, within } from "../wait.mjs";
import { fixture } from "../window.mjs";
import { rule } from "./first-start.mjs";

export async function answers(desk) {
  await desk.check("a Chinese question is answered and its citation opens at the quoted words", async () => {
    await desk.ask("防水的保修期是多长？");
    await desk.window.shot("answer-zh-light");
    const answer = await desk.lastAnswer();
    assert.match(answer, /五年/u);
    await (await desk.lastCitation()).click();
    const quote = await desk.lastQuote();
    const found = await highlightCoversQuote(desk, quote);
    assert.equal(found.page, 2);
    await eventually("the page's number is shown", async () => /第 2 页/u.test(await desk.run(`return document.querySelector('[data-testid="page"]')?.textContent ?? ""`)));
    await desk.window.shot("source-zh-light");
    await desk.axe("conversation with a PDF");
    await desk.fits("conversation with a PDF");
  });

  await desk.check("an English question is answered and its citation opens at the quoted words", async () => {
    await desk.look("en", "light");
    await desk.ask("What is the hotel limit per night in Shanghai?");
    await (await desk.lastCitation()).click();
    const quote = await desk.lastQuote();
    await highlightCoversQuote(desk, quote);
    await desk.window.shot("source-en-light");
  });

  await desk.check("a source without pages opens with its words marked", async () => {
    await desk.ask("病假超过三天要提交什么？");
    await (await desk.lastCitation()).click();
    const marked = await eventually("a mark", () => desk.run(`return [...document.querySelectorAll("aside mark")].map((m) => m.textContent).join("")`));
    assert.match(marked, /证明/u);
    await desk.window.shot("text-source-en-light");
  });

  await desk.check("a new version is cited by the next answer, and the old answer still opens the old one", async () => {
    copyFileSync(fixture("stories/renovation/v2/售后服务规定.pdf"), rule(desk));
    await desk.drop([rule(desk)]);
    await eventually("the second version is there", () => desk.run(`return document.querySelector("nav .version")?.textContent === "v2"`), 120);
    await desk.ask("防水的保修期是多长？");
    assert.match(await desk.lastAnswer(), /八年/u);
    await (await desk.run(`return document.querySelector("article [data-citation]")`)).click();
    await desk.window.sees("A newer version exists (version 2)");
    await highlightCoversQuote(desk, await desk.run(`return document.querySelector("article section .quote").textContent`));
    await desk.window.shot("newer-version-en-light");
    await (await desk.lastCitation()).click();
    await eventually("the new version is open", async () => !(await desk.window.text()).includes("A newer version exists"));
  });

  await desk.check("what the documents do not say is refused", async () => {
    await desk.ask("What is the policy on parental leave?");
    await desk.window.shot("refusal-en-light");
    await desk.axe("refusal");
  });

  await desk.check("the main job works by keyboard alone", async () => {
    await desk.window.chord(Key.CONTROL, "n");
    await eventually("the composer has the focus", () => desk.run(`return document.activeElement?.tagName === "TEXTAREA"`));
    await desk.window.keys("接到报修后多久上门？", Key.ENTER);
    await desk.answered("接到报修后多久上门？");
    let reached = false;
    for (let step = 0; step < 40 && !reached; step += 1) {
      await desk.window.chord(Key.SHIFT, Key.TAB);
      reached = await desk.run(`return document.activeElement?.hasAttribute("data-citation") === true`);
    }
    assert.ok(reached, "Tab reaches a citation");
    assert.ok(await desk.run(`return document.activeElement.matches(":focus-visible")`), "the focus is visible");
    await desk.window.keys(Key.ENTER);
    await eventually("the source is open", () => desk.run(`return document.querySelector("aside") !== null`));
    await desk.window.chord(Key.ALT, Key.ARROW_DOWN);
    await desk.window.chord(Key.CONTROL, "k");
    await desk.window.find("dialog [role=combobox]");
    await desk.window.keys("hotel Shanghai");
    await desk.window.find("dialog [role=option]");
    await desk.window.shot("search-en-light");
    await desk.axe("search");
    await desk.window.keys(Key.ENTER);
    await eventually("the search is closed", () => desk.run(`return document.querySelector("dialog") === null`));
    await desk.window.keys(Key.F1);
    await desk.window.find("dialog dl");
    await desk.window.shot("shortcuts-en-light");
    await desk.window.keys(Key.ESCAPE);
    await eventually("the list is closed", () => desk.run(`return document.querySelector("dialog") === null`));
  });

  await desk.check("a reload loses nothing", async () => {
    const before = await desk.run(`return document.querySelectorAll("article").length`);
    await within(30, "reloading", desk.window.driver.navigate().refresh());
    await eventually("the conversation is back", () => desk.run(`return document.querySelectorAll("article").length === arguments[0]`, before));
  });
}
