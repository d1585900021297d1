import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inside } from "../../cli/inside.ts";
import { refusal, start, treeOf } from "./starting.ts";

let dir: string;
/** A folder that a run closed in good order, and the same as a `kill -9` would have left it. */
let closed: string;
let data: string;
const at = (...names: readonly string[]) => join(data, ...names);
const table = (ending: string) => {
  const name = readdirSync(at("tables")).find((file) => file.endsWith(ending));
  if (name === undefined) throw new Error(`tables has no ${ending}`);
  return at("tables", name);
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-damaged-"));
  closed = join(dir, "closed");
  // The second run finds a whole LevelDB: tables that are merged, and a log.
  for (let runs = 0; runs < 2; runs++)
    await start("--data", closed, "--for", "2m", "--speed", "100000");
}, 60_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(() => {
  data = join(dir, "data");
  cpSync(closed, data, { recursive: true, preserveTimestamps: true });
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const gone = (path: string) => rmSync(path, { recursive: true });
const cut = (path: string) => truncateSync(path, Math.floor(readFileSync(path).length / 2));
const flipped = (path: string) => {
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(path, bytes);
};
const garbage = (path: string) => writeFileSync(path, "garbage");

const refusedUntouched = async () => {
  const before = treeOf(data);
  const message = await refusal("--data", data, "--for", "1s");
  expect(treeOf(data)).toEqual(before);
  return message;
};

/**
 * What a command needs is refused by commands as well: history or time would be gone there, too.
 */
const COMMAND = true;
const RUN_ONLY = false;

describe("a data folder that was closed in good order", { timeout: 60_000 }, () => {
  it.each([
    ["clock.json is missing", () => gone(at("clock.json")), COMMAND],
    ["clock.json is not as the last run left it", () => cut(at("clock.json")), COMMAND],
    ["seal.json does not hold what was written there", () => garbage(at("seal.json")), COMMAND],
    ["tables is missing", () => gone(at("tables")), COMMAND],
    ["tables/CURRENT is missing", () => gone(at("tables", "CURRENT")), COMMAND],
    [/tables\/MANIFEST-\d+ is missing/, () => gone(table(MANIFEST())), COMMAND],
    [
      /tables\/MANIFEST-\d+ is not as the last run left it/,
      () => garbage(table(MANIFEST())),
      COMMAND,
    ],
    [/tables\/\d+\.ldb is missing/, () => gone(table(".ldb")), COMMAND],
    [/tables\/\d+\.ldb is not as the last run left it/, () => cut(table(".ldb")), COMMAND],
    [/tables\/\d+\.ldb is not as the last run left it/, () => flipped(table(".ldb")), COMMAND],
    [/tables\/\d+\.log is missing/, () => gone(table(".log")), COMMAND],
    [/tables\/\d+\.log is not as the last run left it/, () => cut(table(".log")), COMMAND],
    [/tables\/\d+\.log is not as the last run left it/, () => flipped(table(".log")), COMMAND],
    ["queue.jsonl is missing", () => gone(at("queue.jsonl")), RUN_ONLY],
    ["queue.jsonl is not as the last run left it", () => cut(at("queue.jsonl")), RUN_ONLY],
    ["schedule.json is missing", () => gone(at("schedule.json")), RUN_ONLY],
    [
      "cluster/cluster-writes.jsonl is missing, cluster/cluster-credentials.json is missing",
      () => gone(at("cluster")),
      RUN_ONLY,
    ],
    [
      "cluster/cluster-writes.jsonl is missing",
      () => gone(at("cluster", "cluster-writes.jsonl")),
      RUN_ONLY,
    ],
    [
      "cluster/cluster-writes.jsonl is not as the last run left it",
      () => cut(at("cluster", "cluster-writes.jsonl")),
      RUN_ONLY,
    ],
    [
      "cluster/cluster-credentials.json is missing",
      () => gone(at("cluster", "cluster-credentials.json")),
      RUN_ONLY,
    ],
  ])(
    "is not resumed when %s: it is kept, and what to do is said",
    async (problem, damage, forCommands) => {
      damage();
      const message = await refusedUntouched();
      expect(message).toMatch(
        /^Cannot continue in ".*data": .*; nothing was changed; put it back from a copy, or begin anew with --data .*data-2 and keep this folder$/,
      );
      expect(message).toMatch(problem);
      const { code, err } = await inside(["get", "--data", data]);
      expect([code, err.split("\n").length]).toEqual(forCommands ? [1, 2] : [0, 1]);
      if (forCommands) expect(err).toMatch(problem);
    },
  );

  it.each([
    ["is missing", () => gone(at("about.json")), /: about\.json is missing; nothing was changed/],
    [
      "holds something else",
      () => garbage(at("about.json")),
      /: about\.json does not hold what was written there; nothing was changed/,
    ],
  ])("is not taken for a new one when about.json %s", async (_, damage, words) => {
    damage();
    expect(await refusedUntouched()).toMatch(words);
    expect((await inside(["get", "--data", data])).err).toMatch(words);
  });

  it("is resumed when a person has removed the log, the locks or the kubeconfig, which are made anew", async () => {
    gone(at("log.jsonl"));
    gone(at("locks"));
    gone(at("cluster", "kubeconfig"));
    expect(await start("--data", data, "--for", "1s")).toMatch(/^Resumed at /m);
  });

  it("is resumed after it was copied without its times, and after commands have edited it", async () => {
    const copy = join(dir, "copy");
    cpSync(data, copy, { recursive: true });
    expect(await start("--data", copy, "--for", "1s")).toMatch(/^Resumed at /m);
    expect((await inside(["pause", "daily", "--data", copy])).code).toBe(0);
    expect((await inside(["get", "--data", copy])).code).toBe(0);
    expect(await start("--data", copy, "--for", "1s")).toMatch(/^Resumed at /m);
    flipped(join(copy, "queue.jsonl"));
    expect(await refusal("--data", copy)).toContain("queue.jsonl is not as the last run left it");
    rmSync(copy, { recursive: true });
  });
});

describe("a data folder whose run was killed", { timeout: 60_000 }, () => {
  beforeEach(() => gone(at("seal.json")));

  it("is resumed, also where its files end in half a line", async () => {
    appendFileSync(at("queue.jsonl"), '{"put": {"id"');
    appendFileSync(at("cluster", "cluster-writes.jsonl"), '{"atMs":');
    expect(await start("--data", data, "--for", "1s")).toMatch(/^Resumed at /m);
  });

  it.each([
    ["clock.json is missing", () => gone(at("clock.json"))],
    [
      /Cannot read ".*clock\.json": it does not hold what was written there/,
      () => garbage(at("clock.json")),
    ],
    ["tables is missing", () => gone(at("tables"))],
    ["tables/CURRENT is missing", () => gone(at("tables", "CURRENT"))],
    [/Cannot read the queue: line 1 of/, () => writeFileSync(at("queue.jsonl"), "garbage\n")],
    [
      /Cannot continue the simulated cluster: line 1 of/,
      () => writeFileSync(at("cluster", "cluster-writes.jsonl"), "garbage\n"),
    ],
  ])("is not resumed when %s", async (problem, damage) => {
    damage();
    expect(await refusedUntouched()).toMatch(problem);
  });
});

const MANIFEST = () => readFileSync(at("tables", "CURRENT"), "utf8").trim();
