// A key in the keychain, a cloud model that streams.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Key } from "selenium-webdriver";
import { scriptedModel } from "../model.mjs";
import { eventually } from "../wait.mjs";

/** Files below `dir` that hold these bytes. */
function filesWith(dir, words) {
  const wanted = Buffer.from(words);
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(wanted));
}

export async function models(desk) {
  await desk.check("a key goes into the keychain and nowhere else", async () => {
    const key = `sk-e2e-${"0123456789abcdef".repeat(2)}`;
    await desk.window.chord(Key.CONTROL, ",");
    await desk.window.press("云端模型与密钥");
    await desk.window.press("添加模型服务");
    await (await desk.window.find("#provider-key")).sendKeys(key);
    await desk.window.press("保存");
    await desk.window.sees("已存入系统密钥串");
    await desk.window.shot("provider-zh-light");
    await desk.axe("a stored key");
    assert.ok(!(await desk.run("return document.documentElement.outerHTML")).includes(key), "the page does not keep the key");
    assert.ok(!JSON.stringify(await desk.run("return { ...localStorage }")).includes(key), "the window's storage does not keep the key");
    assert.deepEqual(filesWith(desk.world, key), [], "no file of the program holds the key");
    await desk.window.press("删除密钥");
    await desk.window.sees("未设置密钥");
    await desk.window.press("删除");
    await (await desk.window.find(".confirm button")).click();
    await eventually("the service is gone", () => desk.run(`return document.querySelectorAll(".page li").length === 0`));
    await desk.window.keys(Key.ESCAPE);
  });

  await desk.check("a model's answer streams, can be stopped with Esc, and cites", async () => {
    const model = await scriptedModel(() => "防水工程的保修期为八年 [1]。");
    try {
      await desk.useModel(model);
      const field = await desk.window.find("textarea");
      await field.sendKeys("防水的保修期是多长？", Key.ENTER);
      await eventually("words arrive while it streams", () =>
        desk.run(`const a = [...document.querySelectorAll("article")].at(-1); return a.querySelector("[aria-busy=true]")?.textContent.includes("防水") === true`),
      );
      await desk.window.shot("streaming-zh-light");
      await desk.window.keys(Key.ESCAPE);
      await eventually("it has stopped", () => desk.run(`return [...document.querySelectorAll("article")].at(-1).innerText.includes("已停止")`), 5);
      model.pace = 5;
      await desk.ask("防水工程的保修期有几年？");
      assert.match(await desk.lastAnswer(), /八年/u);
      await (await desk.lastCitation()).click();
      await desk.sourceDrawn();
      await desk.window.shot("model-answer-zh-light");
    } finally {
      model.close();
      await desk.withoutModel();
    }
  });
}
