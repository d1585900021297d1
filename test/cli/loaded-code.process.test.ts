import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../local/folder/starting.ts";

const COMMAND = join(import.meta.dirname, "../../bin/tidemark.js");
/** Prints every file that the process loads, one line each, on standard error. */
const TRACE = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (url.startsWith("file:") && process.stderr.write(url + "\\n"), next(url, context)) });`;

let dir: string;
let data: string;
/** As a run leaves it: with the summaries that its syncs have written. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-loaded-"));
  data = join(dir, "data");
  await start("--data", data, "--for", "5m", "--speed", "100000");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const loadedBy = (...args: readonly string[]): readonly string[] => {
  const traced = ["--import", `data:text/javascript,${encodeURIComponent(TRACE)}`, COMMAND, ...args, "--data", data];
  const { stderr, status } = spawnSync(process.execPath, traced, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tidemark ${args.join(" ")} ended with ${status}: ${stderr}`);
  return stderr.split("\n").filter((line) => line.startsWith("file:"));
};

const own = (loaded: readonly string[]): readonly string[] => loaded.filter((url) => url.includes("/lib/") && !url.includes("/node_modules/"));
const kib = (loaded: readonly string[]): number => Math.round(loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0) / 1_024);

/**
 * What a command loads decides how long a person waits for it: a file takes a third of a millisecond. Times depend on the machine; files do not. The limits are a tenth above what there is.
 */
describe("the code that a command loads", () => {
  it.each<[string, { readonly files: number; readonly kib: number }, ...string[]]>([
    ["get", { files: 131, kib: 760 }, "get"],
    ["get shop/daily", { files: 278, kib: 1_500 }, "get", "shop/daily"],
    ["describe", { files: 309, kib: 1_700 }, "describe", "shop/daily"],
    ["explain", { files: 290, kib: 1_580 }, "explain", "shop/daily"],
    ["events", { files: 119, kib: 670 }, "events", "--all"],
    ["timeline", { files: 141, kib: 880 }, "timeline", "shop/daily"],
    ["the completion of a name", { files: 127, kib: 720 }, "__complete", "describe", ""],
  ])("is little for %s", (_name, most, ...args) => {
    const loaded = own(args[0] === "__complete" ? completing(args) : loadedBy(...args));
    expect(loaded.length).toBeGreaterThan(100);
    expect({ files: loaded.length, kib: kib(loaded) }).toEqual({
      files: expect.toSatisfy(atMost(most.files)),
      kib: expect.toSatisfy(atMost(most.kib)),
    });
  });

  it("has no rule, no manifest and no YAML where a list, events or the names of a completion are printed", () => {
    for (const args of [["get"], ["get", "-o", "name"], ["events", "--all"], ["timeline", "shop/daily"]])
      expect([args, loadedBy(...args).filter((url) => FOR_OTHERS.test(url))]).toEqual([args, []]);
    expect(completing(["__complete", "describe", ""]).filter((url) => FOR_OTHERS.test(url))).toEqual([]);
  });
});

const FOR_OTHERS = /lib\/policy\/(hpa|native|watermark)\/|lib\/manifest\/(hpa|native|watermark)\/|node_modules\/(yaml|csv-parse)\//;
const atMost = (limit: number) => (value: number) => value <= limit;

/** Everything behind `__complete` is a word of the line that is completed. */
const completing = ([first = "", ...words]: readonly string[]): readonly string[] => {
  const traced = ["--import", `data:text/javascript,${encodeURIComponent(TRACE)}`, COMMAND, first, "--data", data, ...words];
  const { stderr, stdout } = spawnSync(process.execPath, traced, { encoding: "utf8" });
  if (!stdout.includes("shop/daily")) throw new Error(`the completion has no names: ${stdout}${stderr}`);
  return stderr.split("\n").filter((line) => line.startsWith("file:"));
};
