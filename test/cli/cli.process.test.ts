import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdFolder } from "../../lib/embedded/folder/folder-lock.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { breakSeal } from "../../lib/embedded/folder/seal.ts";
import { startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { hpa } from "../service/world/manifests.ts";
import { type Folder, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const ROOT = join(import.meta.dirname, "../..");

let folder: Folder;
beforeAll(async () => {
  folder = await shopFolder();
});
afterAll(() => folder.remove());

describe("the tidemark command as a process", () => {
  it("exits with 0 and prints plain text where the output is no terminal", async () => {
    const { code, out, err } = await folder.tidemark(["get", "shop/web"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^CLUSTER .*\neu-1 +shop +web /);
    expect(out).not.toContain("\u001b");
  });

  it("exits with 1 on an operating error and when called wrongly, one line each", async () => {
    const lost = join(folder.data, "nowhere");
    expect(await folder.tidemark(["get", "--data", lost], { bare: true })).toEqual({
      code: 1,
      out: "",
      err: `error: No data in "${lost}": start a run first\n`,
    });
    expect(existsSync(lost)).toBe(false);
    expect(await folder.tidemark(["gett"], { bare: true })).toEqual({
      code: 1,
      out: "",
      err: 'error: Unknown command "gett", did you mean "get"?\n',
    });
    expect(await folder.tidemark(["get", "--outptu", "json"])).toEqual({
      code: 1,
      out: "",
      err: 'error: Unknown option "--outptu", did you mean "--output"?\n',
    });
  });

  it.each([
    [["help"], "Usage: tidemark [options] [command]"],
    [["help", "get"], "Usage: tidemark get [options] [names...]"],
    [["help", "cluster", "add"], "Usage: tidemark cluster add [options] <name>"],
    [["cluster", "help", "add"], "Usage: tidemark cluster add [options] <name>"],
    [["get", "--help"], "Usage: tidemark get [options] [names...]"],
  ])("prints the help that is asked for and exits with 0: %j", async (args, first) => {
    const { code, out, err } = await inside(args);
    expect([code, out.split("\n")[0], err]).toEqual([0, first, ""]);
  });

  it("exits with 1 for help on an unknown command, and prints the help without a command, as kubectl", async () => {
    expect(await inside(["help", "gett"])).toEqual({
      code: 1,
      out: "",
      err: 'error: Unknown command "gett", did you mean "get"?\n',
    });
    for (const [args, usage] of [
      [[], "Usage: tidemark [options] [command]"],
      [["cluster"], "Usage: tidemark cluster [options] [command]"],
    ] as const) {
      const { code, out, err } = await inside(args);
      expect([code, out.split("\n")[0], err]).toEqual([0, usage, ""]);
    }
  });

  it("reads manifests from standard input, and records who applied them", async () => {
    const { code, out } = await folder.tidemark(["apply", "-f", "-", "--cluster", "us-1"], {
      stdin: hpa("piped"),
    });
    expect([code, out]).toEqual([
      0,
      'HorizontalPodAutoscaler "piped" in namespace "default" of cluster "us-1" created\n',
    ]);
    const { out: view } = await inside(["get", "piped", "-o", "json", "--data", folder.data]);
    expect(JSON.parse(view).status.updatedBy).not.toBe("ada");
    expect(JSON.parse(view).status.updatedBy).not.toBe("");
  });

  it("ends quietly when its reader goes away", async () => {
    const command = `"${process.execPath}" bin/tidemark.js events --all -o jsonl --data "${folder.data}"`;
    const shell = spawn("sh", ["-c", `{ ${command}; echo "exit $?" >&2; } | head -c 1`], {
      cwd: ROOT,
    });
    const [out, err] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    expect({ out, err }).toEqual({ out: "{", err: "exit 0\n" });
  });

  it("works beside a run that is alive, through the tables that the run serves", async () => {
    const layout = folderLayout(folder.data);
    const held = await holdFolder(layout, "run", 1_000);
    breakSeal(layout, "run");
    const engine = await startTables(layout.tables);
    held.publish({ tablesEndpoint: engine.endpoint });
    try {
      const { code, out } = await folder.tidemark(["get", "shop/web", "-o", "json"]);
      expect([code, JSON.parse(out).status.currentReplicas]).toEqual([0, 9]);
    } finally {
      await engine.close();
      held.release();
    }
  });
});

describe("npx tidemark", () => {
  it("needs no build step and no network, and runs on the pinned Node whatever Node npx runs on", async () => {
    const cache = mkdtempSync(join(tmpdir(), "tidemark-npx-"));
    // As a shell has it: without the folder that npm puts in front for its scripts.
    const path = (process.env["PATH"] ?? "")
      .split(":")
      .filter((entry) => !entry.includes("node_modules"));
    const env = {
      ...process.env,
      PATH: path.join(":"),
      npm_config_cache: cache,
      npm_config_offline: "true",
      NODE_OPTIONS: "--trace-uncaught",
    };
    const child = spawn("npx", ["tidemark", "get", "--data", folder.data], { cwd: ROOT, env });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    rmSync(cache, { recursive: true, force: true });
    expect({
      code,
      err: err.split("\n").filter((line) => line !== "" && !line.startsWith("npm ")),
    }).toEqual({
      code: 0,
      err: [`In folder ${folder.data}, no run is alive:`],
    });
    expect(out).toMatch(/^CLUSTER +NAMESPACE +NAME /);
  });
});

describe("output whose reader has gone", () => {
  it("stops reading events: nothing more is asked of the tables", async () => {
    const child = spawn(process.execPath, [
      "-e",
      "process.stdin.once('data', () => process.exit(0)).once('end', () => process.exit(0))",
    ]);
    const ended = once(child, "close");
    const { main } = await import("../../lib/command/main.ts");
    const { openTarget: openPlace } = await import("../../lib/command/session.ts");
    let taken = 0;
    const code = await main(["events", "--all", "-o", "jsonl", "--data", folder.data], {
      stdin: process.stdin,
      stdout: child.stdin,
      stderr: process.stderr,
      colours: false,
      by: "ada",
      open: async (place, by) => {
        const session = await openPlace(place, by);
        const [first] = await Array.fromAsync(session.service.events({ name: "shop/web" }));
        if (!first) throw new Error("the folder has no events");
        const endless = async function* () {
          for (;;) {
            taken++;
            // A reader that takes its time to go: real streams tell of it only between turns of the
            // loop.
            if (taken % 1_000 === 0) await new Promise(setImmediate);
            yield first;
          }
        };
        return { ...session, service: { ...session.service, events: endless } };
      },
    });
    child.stdin.end();
    await ended;
    expect(code).toBe(0);
    expect(taken).toBeGreaterThan(0);
  });
});
