import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../local/folder/starting.ts";

const COMMAND = join(import.meta.dirname, "../../bin/tidemark.js");
/** Prints every module that the process loads, one line each, on standard error. */
const TRACE = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (process.stderr.write(url + "\\n"), next(url, context)) });`;

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
  const traced = [
    "--import",
    `data:text/javascript,${encodeURIComponent(TRACE)}`,
    COMMAND,
    ...args,
    "--data",
    data,
  ];
  const { stderr, status } = spawnSync(process.execPath, traced, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tidemark ${args.join(" ")} ended with ${status}: ${stderr}`);
  return stderr.split("\n").filter((line) => line.startsWith("file:"));
};

const own = (loaded: readonly string[]): readonly string[] =>
  loaded.filter((url) => url.includes("/lib/") && !url.includes("/node_modules/"));
const kib = (loaded: readonly string[]): number =>
  Math.round(loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0) / 1_024);

/**
 * What a command loads decides how long a person waits for it: a file takes a third of a
 * millisecond. Times depend on the machine; files do not. The limits are a tenth above what there
 * was; the arithmetic of a second release of the HPA took some 5 KiB of what reads evaluations, and
 * the short forms of the journal, and its readers in a room of their own, five files and 12 KiB.
 * What a warm reader compares after a restore took 2 KiB. The partitions of AWS have a file of
 * their own. The leases of the fleet, which a move claims, took three files and 15 KiB.
 */
describe("the code that a command loads", () => {
  it.each<[string, { readonly files: number; readonly kib: number }, ...string[]]>([
    ["get", { files: 154, kib: 995 }, "get"],
    ["get shop/daily", { files: 333, kib: 1_820 }, "get", "shop/daily"],
    ["describe", { files: 367, kib: 2_035 }, "describe", "shop/daily"],
    ["explain", { files: 344, kib: 1_880 }, "explain", "shop/daily"],
    ["events", { files: 130, kib: 830 }, "events", "--all"],
    ["timeline", { files: 164, kib: 1_070 }, "timeline", "shop/daily"],
  ])("is little for %s", (_name, most, ...args) => {
    const loaded = own(loadedBy(...args));
    expect(loaded.length).toBeGreaterThan(100);
    expect({ files: loaded.length, kib: kib(loaded) }).toEqual({
      files: expect.toSatisfy(atMost(most.files)),
      kib: expect.toSatisfy(atMost(most.kib)),
    });
  });

  it("has no rule, no manifest and no YAML where a list or events are printed", () => {
    for (const args of [
      ["get"],
      ["get", "-o", "name"],
      ["events", "--all"],
      ["timeline", "shop/daily"],
    ])
      expect([args, loadedBy(...args).filter((url) => FOR_OTHERS.test(url))]).toEqual([args, []]);
  });

  it("has no AWS SDK, no schema and no tables where a shell completes a word, so that it answers within a quarter of a second", () => {
    // The names of a folder at rest are in its seal, and a run is asked for them without the SDK.
    // WebSocket comes with every import of node:http.
    for (const words of [
      ["describe", ""],
      ["get", "-n", ""],
      ["get", "--cluster", ""],
      ["cluster", "describe", ""],
      ["override", "clear", ""],
      ["des"],
      ["get", "--o"],
    ]) {
      const loaded = completing("--data", data, ...words);
      expect([
        words,
        loaded.filter((url) => url.includes("/node_modules/") && !SMALL.test(url)),
      ]).toEqual([words, []]);
      expect([words, loaded.filter((url) => url === "node:http")]).toEqual([words, []]);
      expect([words, own(loaded).length, kib(own(loaded))]).toEqual([
        words,
        expect.toSatisfy(atMost(90)),
        expect.toSatisfy(atMost(435)),
      ]);
      expect(own(loaded).length).toBeGreaterThan(50);
    }
  });
});

const FOR_OTHERS =
  /lib\/rules\/policy\/(hpa|native|watermark)\/|lib\/rules\/manifest\/(hpa|native|watermark)\/|node_modules\/(yaml|csv-parse)\//;
/** The parser of the command line, and what limits parallel calls. */
const SMALL = /\/node_modules\/(?:commander|p-limit|yocto-queue)\//;
const atMost = (limit: number) => (value: number) => value <= limit;

/** What is loaded to complete the last word. */
const completing = (...words: readonly string[]): readonly string[] => {
  const traced = [
    "--import",
    `data:text/javascript,${encodeURIComponent(TRACE)}`,
    COMMAND,
    "__complete",
    ...words,
  ];
  const { stderr, stdout } = spawnSync(process.execPath, traced, { encoding: "utf8" });
  const wanted = WORDS[words.slice(2).join(" ")];
  if (wanted === undefined || !stdout.split(/\s/).includes(wanted))
    throw new Error(
      `the completion of "${words.join(" ")}" has no "${wanted}": ${stdout}${stderr}`,
    );
  return stderr.split("\n").filter((line) => line.startsWith("file:") || line.startsWith("node:"));
};

const WORDS: Readonly<Record<string, string>> = {
  "describe ": "shop/daily",
  "get -n ": "shop",
  "get --cluster ": "local",
  "cluster describe ": "local",
  "override clear ": ":4",
  des: "describe",
  "get --o": "--output",
};
