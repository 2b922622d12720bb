// Every view in both languages and themes, in small windows and with large text.
import { Key } from "selenium-webdriver";
import { eventually } from "../wait.mjs";

export async function views(desk) {
  await desk.check("every view is whole in both languages and themes", async () => {
    for (const [language, theme] of [["zh", "dark"], ["en", "dark"], ["zh", "light"]]) {
      await desk.look(language, theme);
      await (await desk.run(`return document.querySelector("[data-citation]")`))?.click();
      await desk.sourceDrawn();
      await desk.window.shot(`window-${language}-${theme}`);
      await desk.axe(`the window in ${language}, ${theme}`);
      await desk.fits(`the window in ${language}, ${theme}`);
    }
    await desk.window.chord(Key.CONTROL, ",");
    const pages = await desk.window.all("nav .entry");
    for (const [index, page] of pages.entries()) {
      await page.click();
      await eventually("the page is there", () => desk.run(`return document.querySelector(".page .skeleton") === null`));
      await desk.window.shot(`settings-${index}-zh-light`);
      await desk.axe(`settings ${index}`);
      await desk.fits(`settings ${index}`);
    }
    await desk.window.keys(Key.ESCAPE);
  });
}

export async function smallAndLarge(desk) {
  await desk.check("small windows and large text lose nothing", async () => {
    await desk.window.size(960, 640);
    await (await desk.run(`return document.querySelector("[data-citation]")`)).click();
    await desk.sourceDrawn();
    await desk.window.shot("small-zh-light");
    await desk.fits("960 × 640");
    await desk.window.chord(Key.CONTROL, ",");
    await desk.window.press("通用");
    await desk.setting("text-size", "200");
    await desk.window.shot("settings-200-zh-light");
    await desk.fits("settings at 200 %");
    await desk.window.keys(Key.ESCAPE);
    await desk.sourceDrawn();
    await desk.window.shot("large-text-zh-light");
    await desk.fits("200 %");
    await desk.axe("200 %");
    await desk.window.chord(Key.CONTROL, ",");
    await desk.setting("text-size", "100");
    await desk.window.keys(Key.ESCAPE);
    await desk.window.size(1280, 820);
  });
}
