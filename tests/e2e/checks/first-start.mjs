// First start, and files dropped on the window.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { eventually } from "../wait.mjs";
import { fixture } from "../window.mjs";

const folder = (desk) => join(desk.world, "documents");

/** The rule as it lies in the person's own folder, where a new version may take its place. */
export const rule = (desk) => join(folder(desk), "售后服务规定.pdf");

/** The files are dropped from a folder of their own, so that one of them can change. */
function documents(desk) {
  mkdirSync(folder(desk));
  return ["stories/renovation/售后服务规定.pdf", "stories/renovation/案例-海棠A户型.docx", "documents/text/rules_gbk.txt", "stories/travel/Travel Policy.pdf"].map((path) => {
    const to = join(folder(desk), basename(path));
    copyFileSync(fixture(path), to);
    return to;
  });
}

export async function firstStart(desk) {
  await desk.check("first start shows three steps that can be skipped", async () => {
    await desk.window.press("English");
    await desk.window.sees("Welcome to Zhiku");
    await desk.axe("first start");
    await desk.fits("first start");
    await desk.window.shot("first-start-en-light");
    await desk.window.press("中文");
    await desk.window.sees("欢迎使用知库");
    await desk.window.shot("first-start-zh-light");
    await desk.window.press("以后再说");
    await desk.window.sees("还没有资料");
    await desk.axe("empty library");
    await desk.window.shot("empty-zh-light");
  });

  await desk.check("files dropped on the window are taken in", async () => {
    await desk.drop(documents(desk));
    await desk.window.sees("案例-海棠A户型");
    await desk.window.shot("importing-zh-light");
    await eventually(
      "all four documents are searchable",
      () => desk.run(`return document.querySelectorAll('nav input[type="checkbox"]:not(:disabled)').length === 4`),
      120,
    );
    const text = await desk.window.text();
    assert.ok(!text.includes(desk.world), "no path reaches the page");
  });
}
