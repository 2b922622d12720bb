// From nothing by the shortest way: the sample.
import { eventually } from "../wait.mjs";

export async function sample(desk) {
  await desk.check("the sample can be tried from the first start", async () => {
    await desk.window.press("中文");
    await desk.window.press("试试示例资料");
    await desk.window.sees("已添加 5 个文件");
    await desk.window.press("开始使用");
    await eventually("all five are searchable", () => desk.run(`return document.querySelectorAll('nav input[type="checkbox"]:not(:disabled)').length === 5`), 120);
  });
}
