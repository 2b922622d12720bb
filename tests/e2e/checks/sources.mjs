// Sources beside text: each citation opens at its exact place.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Key } from "selenium-webdriver";
import { eventually } from "../wait.mjs";
import { fixture } from "../window.mjs";

/** A question to one document alone: others may have their own words for the same. Its citation is open afterwards. */
async function askOnly(desk, title, question) {
  await desk.toggle(title);
  await desk.ask(question);
  await desk.toggle(title);
  assert.ok(await desk.openCitationOf(title), `an answer cites ${title}`);
}

/** The line of the citation that is open in the list of the answer's sources. */
const openLine = (desk) => desk.run(`return document.querySelector("article section button.current")?.innerText ?? ""`);

export async function sources(desk) {
  await video(desk);
  await picture(desk);
  await sheet(desk);
  await slides(desk);
  // Last: its vectors keep the machine busy for a while.
  await longSheet(desk);
}

async function video(desk) {
  await desk.check("a video opens at the second that is cited, and its words follow along", async () => {
    await desk.take([fixture("media/slides.mp4")], ["slides"]);
    await askOnly(desk, "slides", "售后流程分为几步？");
    const player = await eventually(
      "the player shows a frame",
      () => desk.run(`const v = document.querySelector("video"); return v !== null && v.readyState >= 2 && v.videoWidth > 0 && !v.seeking ? { at: v.currentTime } : null`),
      30,
    );
    assert.ok(Math.abs(player.at - 4) < 1, `the player stands at ${player.at}`);
    assert.match(await desk.run(`return document.querySelector("aside mark")?.textContent ?? ""`), /四步/u);
    assert.match(await openLine(desk), /00:00:04/u, "the citation itself says the second");
    await desk.run(`document.querySelector("aside ol button").click()`);
    await eventually("a click on a line goes to its time", () => desk.run(`return Math.abs(document.querySelector("video").currentTime - 1) < 1`));
    await desk.pictures("video");
  });
}

async function picture(desk) {
  await desk.check("a photographed page opens with the words marked in the picture", async () => {
    await desk.take([fixture("scans/clean_zh.png")], ["clean_zh"]);
    await desk.ask("货架编号M-208的承重上限是多少？");
    await (await desk.lastCitation()).click();
    const mark = await eventually("a box over the picture", () =>
      desk.run(`
        const m = document.querySelector("aside .picture .highlight"), i = document.querySelector("aside .picture img");
        if (m === null || i === null || i.naturalWidth === 0) return null;
        const a = m.getBoundingClientRect(), b = i.getBoundingClientRect();
        return { y: ((a.top + a.bottom) / 2 - b.top) / b.height * i.naturalHeight }`),
    );
    assert.ok(mark.y > 330 && mark.y < 380, `the box stands at ${mark.y}`);
    await desk.window.shot("picture-zh-light");
    await desk.axe("a picture");
  });
}

/** The texts of the cited cells that are drawn and within the grid's view. */
const citedCells = (desk) =>
  desk.run(`
    const grid = document.querySelector("aside [role=grid]");
    if (grid === null) return null;
    const box = grid.getBoundingClientRect();
    const seen = [...grid.querySelectorAll(".cited")].filter((c) => { const r = c.getBoundingClientRect(); return r.top >= box.top && r.bottom <= box.bottom; });
    const texts = seen.map((c) => c.innerText.trim());
    return texts.join("") === "" ? null : texts;`);

async function sheet(desk) {
  await desk.check("a sheet opens with the cited cells marked, and hidden sheets say so", async () => {
    await desk.take([fixture("documents/xlsx/stock.xlsx")], ["stock"]);
    await askOnly(desk, "stock", "西仓的防水涂料有多少库存？");
    assert.deepEqual(await eventually("cited cells", () => citedCells(desk)), ["西仓", "防水涂料", "45.5", "¥1,280.00", "1.6%", "2024年3月2日"]);
    assert.match(await openLine(desk), /库存 › B7:G7/u, "the citation itself says the cells");
    // Merged cells are one, and a reviewer's note stands with its cell.
    assert.equal(await desk.run(`return [...document.querySelectorAll("aside [role=gridcell]")].filter((c) => c.innerText.trim() === "东仓").length`), 1);
    await (await desk.window.find("aside [role=grid]")).click();
    for (const key of [Key.HOME, Key.ARROW_UP, Key.ARROW_UP, Key.ARROW_RIGHT, Key.ARROW_RIGHT, Key.ARROW_RIGHT]) await desk.window.keys(key);
    await eventually("the cell in use", () => desk.run(`return document.querySelector("aside .bar").innerText.includes("D5") && document.querySelector("[data-testid=cell]").innerText.includes("含破损 12 箱")`));
    const active = await desk.run(`const g = document.querySelector("aside [role=grid]"); return document.getElementById(g.getAttribute("aria-activedescendant"))?.innerText.trim()`);
    assert.equal(active, "1,200.0", "assistive technology is told the cell in use");
    await desk.pictures("sheet");
    await desk.run(`[...document.querySelectorAll("aside [role=tab]")].at(-1).click()`);
    await desk.window.sees("cost prices（隐藏）");
    await desk.window.shot("sheet-hidden-zh-light");
  });
}

async function longSheet(desk) {
  await desk.check("twenty thousand rows are as quick as twenty", async () => {
    const path = join(desk.world, "编号表.csv");
    writeFileSync(path, `编号,数量\n${Array.from({ length: 20_000 }, (_, n) => `R-${n + 1},${n % 97}`).join("\n")}\n`);
    await desk.take([path], ["编号表"], 180);
    await desk.run(`[...document.querySelectorAll("nav button.open")].find((b) => b.textContent.includes("编号表")).click()`);
    const grid = await desk.window.find("aside [role=grid][aria-rowcount='20002']");
    await grid.click();
    await desk.window.chord(Key.CONTROL, Key.END);
    await eventually("the last cell", () => desk.run(`return document.querySelector("aside .bar").innerText.includes("B20001") && document.querySelector("[data-testid=cell]").innerText.trim() === String(19999 % 97)`));
    await desk.window.keys(Key.HOME);
    await eventually("the last row", () => desk.run(`return document.querySelector("[data-testid=cell]").innerText.trim() === "R-20000"`));
    const drawn = await desk.run(`return document.querySelectorAll("aside [role=row]").length`);
    assert.ok(drawn < 100, `${drawn} rows are drawn`);
    await desk.window.shot("sheet-long-zh-light");
    await desk.axe("a long sheet");
  });
}

async function slides(desk) {
  await desk.check("a slide opens as a card, with the speaker's notes cited as such", async () => {
    await desk.take([fixture("documents/pptx/quarter.pptx")], ["quarter"]);
    await askOnly(desk, "quarter", "第一季度签约多少套？");
    assert.match(await desk.run(`return document.querySelector("aside section[aria-label='第 1 张幻灯片'] mark")?.textContent ?? ""`), /42/u);
    assert.match(await openLine(desk), /第 1 张幻灯片/u);
    await desk.pictures("slide");
    await askOnly(desk, "quarter", "三月的数字审计了吗？");
    assert.match(await desk.run(`return document.querySelector("aside section[aria-label='第 1 张幻灯片的备注'] mark")?.textContent ?? ""`), /还没有审计/u);
    assert.match(await openLine(desk), /第 1 张幻灯片的备注/u);
    await desk.pictures("slide-notes");
  });
}
