// The main job in the real window, each start with a home of its own: first start, real drops, questions and their sources,
// versions, models, the stories. Run it through run.sh, which brings display, session bus and keychain.
// `bash run.sh run.mjs sources` runs one part of it.
import { answers } from "./checks/answers.mjs";
import { firstStart } from "./checks/first-start.mjs";
import { models } from "./checks/models.mjs";
import { removal } from "./checks/removal.mjs";
import { sample } from "./checks/sample.mjs";
import { sources } from "./checks/sources.mjs";
import { asOwner, asSales, prepare } from "./checks/story.mjs";
import { smallAndLarge, views } from "./checks/views.mjs";
import { Desk } from "./desk.mjs";

let failures = 0;

/** Opens a window and runs these checks in it, one after the other. */
async function session(desk, args, ...parts) {
  try {
    const startMs = await desk.window.open(args);
    await desk.noViolations();
    console.log(`      the window was there after ${startMs} ms`);
    await desk.window.size(1280, 820);
    for (const part of parts) await part(desk);
  } finally {
    await desk.window.close();
    failures += desk.failures;
    desk.failures = 0;
  }
}

async function home(work) {
  const desk = new Desk();
  try {
    await work(desk);
  } finally {
    desk.window.remove();
  }
}

const parts = {
  main: () => home((desk) => session(desk, [], firstStart, answers, views, models, smallAndLarge, removal)),
  sources: () => home((desk) => session(desk, [], firstStart, sources)),
  sample: () => home((desk) => session(desk, [], sample)),
  story: () =>
    home(async (desk) => {
      prepare(desk);
      await session(desk, ["--as", "sales", "--vault", "company"], asSales);
      await session(desk, ["--as", "owner", "--vault", "company"], asOwner);
    }),
};

const only = process.argv[2];
for (const [name, part] of Object.entries(parts)) if (only === undefined || only === name) await part();
console.log(failures === 0 ? "all checks passed" : `${failures} checks failed`);
process.exitCode = failures === 0 ? 0 : 1;
