// What is left of a removed document.
import assert from "node:assert/strict";
import { eventually, within } from "../wait.mjs";

export async function removal(desk) {
  await desk.check("a removed document's source is gone from old answers", async () => {
    await desk.run(`[...document.querySelectorAll("nav li")].find((li) => li.textContent.includes("售后服务规定")).querySelector(".actions button:last-child").click()`);
    await desk.window.press("确认移除");
    await eventually("the row is gone", async () => !(await desk.run(`return document.querySelector("nav").innerText`)).includes("售后服务规定"));
    await within(30, "reloading", desk.window.driver.navigate().refresh());
    await desk.window.sees("来源已删除");
    await desk.window.shot("source-gone-zh-light");
  });
}
