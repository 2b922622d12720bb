// tauri-driver with everything it starts (WebKitWebDriver, the program, its web process) as one process group, on ports of
// its own: no window can meet what an earlier one left behind, and closing waits until all of it has ended.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { eventually } from "./wait.mjs";

const installed = join(homedir(), ".cargo/bin/tauri-driver");

/** `n` ports that are free now. */
async function freePorts(n) {
  const servers = await Promise.all(
    Array.from({ length: n }, () => new Promise((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve(server));
    })),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** The processes of a group that still run; ended ones that nobody has asked about yet do not count. */
function running(group) {
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/u.test(entry)) return false;
    try {
      // "pid (name) state parent group …"; the name may hold anything.
      const [state, , of] = readFileSync(`/proc/${entry}/stat`, "utf8").replace(/^.*\) /su, "").split(" ");
      return Number(of) === group && state !== "Z";
    } catch {
      return false;
    }
  });
}

export class Driver {
  #process;
  #port;

  get url() {
    return `http://127.0.0.1:${this.#port}/`;
  }

  async start(env) {
    const [port, native] = await freePorts(2);
    this.#port = port;
    this.#process = spawn(existsSync(installed) ? installed : "tauri-driver", ["--port", String(port), "--native-port", String(native), "--native-driver", "/usr/bin/WebKitWebDriver"], {
      env,
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    // It answers once the driver behind it does.
    await eventually("tauri-driver answers", async () => (await fetch(`${this.url}status`)).ok, 60);
  }

  /** Ends the whole group; `seconds` is what the program has to end by itself after its window was closed. */
  async stop(seconds = 20) {
    const group = this.#process?.pid;
    if (group === undefined) return;
    const drivers = 2;
    await eventually("the program has ended", () => running(group).length <= drivers, seconds).catch((error) => console.error(error.message));
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      try {
        process.kill(-group, signal);
      } catch {
        // It has ended already.
      }
      if (await eventually("the drivers have ended", () => running(group).length === 0, 10).catch(() => false)) return;
    }
    throw new Error(`still running after SIGKILL: ${running(group).join(", ")}`);
  }
}
