// Screenshots of the gallery and of the whole window over a scripted program, in both languages and themes.
// Needs no application: the development server and the system's WebKit are enough.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Builder, Capabilities } from "selenium-webdriver";

const here = dirname(fileURLToPath(import.meta.url));
const shots = join(here, "screenshots", "gallery");
const only = process.argv[2];
mkdirSync(shots, { recursive: true });

const views = [
  ["components-zh-light", "", 1280, 1600],
  ["components-en-dark", "lang=en&theme=dark", 1280, 1600],
  ["window-zh-light", "window", 1440, 900, "open"],
  ["pdf-zh-light", "window&pdf", 1440, 900, "open"],
  ["pdf-en-dark", "window&pdf&lang=en&theme=dark", 1440, 900, "open"],
  ["window-en-dark", "window&lang=en&theme=dark", 1440, 900, "open"],
  ["window-en-small", "window&lang=en", 960, 640, "open"],
  ["window-zh-200", "window&size=200", 960, 640, "open"],
  ["empty-zh-light", "window&documents=0", 960, 640],
  ["first-zh-light", "window&first", 960, 640],
  ["first-en-dark-200", "window&first&lang=en&theme=dark&size=200", 960, 640],
  ...["general", "models", "providers", "privacy", "storage", "about"].map((page, index) => [
    `settings-${page}`,
    index % 2 === 0 ? "window&lang=en" : "window&theme=dark",
    960,
    640,
    "settings",
    index,
  ]),
  ["search-zh-dark", "window&theme=dark", 1200, 800, "search"],
  ["map-en-light", "window&lang=en", 960, 640, "map"],
];

const processes = [];
function start(command, args, options) {
  const child = spawn(command, args, { stdio: "ignore", ...options });
  processes.push(child);
  return child;
}

async function reachable(url, seconds) {
  for (let left = seconds * 10; left > 0; left -= 1) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`${url} did not answer within ${seconds} s`);
}

try {
  start("node", ["node_modules/vite/bin/vite.js"], { cwd: join(here, "../../ui") });
  start("WebKitWebDriver", ["--port=4466"]);
  await reachable("http://localhost:5317/gallery.html", 30);
  await reachable("http://127.0.0.1:4466/status", 10);
  const capabilities = new Capabilities({
    browserName: "MiniBrowser",
    "webkitgtk:browserOptions": { binary: "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", args: ["--automation"] },
  });
  const driver = await new Builder().usingServer("http://127.0.0.1:4466").withCapabilities(capabilities).build();
  await driver.manage().setTimeouts({ pageLoad: 60_000, script: 20_000 });
  try {
    for (const [name, query, width, height, act, page] of views) {
      if (only !== undefined && !name.includes(only)) continue;
      await driver.manage().window().setRect({ x: 0, y: 0, width, height: height + 40 });
      await driver.get(`http://localhost:5317/gallery.html?${query}`);
      await driver.executeScript("localStorage.setItem('zhiku.conversation', arguments[0])", act === undefined ? "" : "c1");
      await driver.navigate().refresh();
      await driver.sleep(2500);
      if (act === "open") await driver.executeScript("document.querySelector('[data-citation]')?.click()");
      if (act === "settings") {
        await driver.executeScript("window.dispatchEvent(new KeyboardEvent('keydown',{key:',',ctrlKey:true}))");
        await driver.sleep(300);
      }
      if (act === "settings") await driver.executeScript("document.querySelectorAll('nav .entry')[arguments[0]]?.click()", page);
      if (act === "search") {
        await driver.executeScript("window.dispatchEvent(new KeyboardEvent('keydown',{key:'k',ctrlKey:true}))");
        await driver.sleep(300);
        await driver.executeScript("const i=document.querySelector('[role=combobox]');i.value='聚氨酯防水';i.dispatchEvent(new Event('input',{bubbles:true}))");
      }
      if (act === "map") await driver.executeScript("window.dispatchEvent(new KeyboardEvent('keydown',{key:'F1'}))");
      await driver.sleep(query.includes("pdf") ? 6000 : 900);
      writeFileSync(join(shots, `${name}.png`), await driver.takeScreenshot(), "base64");
      console.log(name);
    }
  } finally {
    await driver.quit();
  }
} finally {
  for (const child of processes) child.kill();
}
