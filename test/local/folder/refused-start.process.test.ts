import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFolder } from "../../../lib/embedded/folder/data-folder.ts";
import { findFolder, holdFolder } from "../../../lib/embedded/folder/folder-lock.ts";
import { writeIdentity, writeMark } from "../../../lib/embedded/folder/identity.ts";
import { folderLayout } from "../../../lib/embedded/layout.ts";
import { saveClock } from "../../../lib/embedded/engine/clock.ts";
import { refusal, start, treeOf } from "./starting.ts";

let dir: string;
const at = (...names: readonly string[]) => join(dir, ...names);
const file = (name: string, text = "of a person") => {
  mkdirSync(join(at(name), ".."), { recursive: true });
  writeFileSync(at(name), text);
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-refused-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Starts twice, since a first refusal must not pave the way for the second start, and gives both
 * messages.
 */
const refusedUntouched = async (...args: readonly string[]) => {
  const before = treeOf(dir);
  const messages = [await refusal(...args), await refusal(...args)];
  expect(treeOf(dir)).toEqual(before);
  expect(messages[1]).toBe(messages[0]);
  return messages[0];
};

describe("a start that is refused writes nothing and deletes nothing", { timeout: 60_000 }, () => {
  it.each([
    ["a cluster of its own", ["cluster/kubeconfig"]],
    [
      "everything that a run names, made by another program",
      ["cluster/kubeconfig", "tables/CURRENT", "queue.jsonl", "schedule.json", "log.jsonl"],
    ],
    ["a clock.json of another program", ["clock.json", "cluster/a"]],
    ["a single file", ["notes.txt"]],
    ["a hidden file", [".git/HEAD"]],
    ["a folder locks with more than lock files", ["locks/mine.json"]],
    ["a draft that is none of ours", ["about.json.1.draft"]],
  ])("in a folder with %s", async (_, files) => {
    for (const name of files) file(`data/${name}`);
    expect(await refusedUntouched("--data", at("data"))).toMatch(
      /^Cannot use ".*data": it holds ".*" and is no data folder of Tidemark; name a new or an empty folder with --data$/,
    );
  });

  it("in a folder whose about.json is of another program", async () => {
    file("data/about.json", '{"name": "a package", "kind": "module"}');
    file("data/cluster/a");
    expect(await refusedUntouched("--data", at("data"))).toMatch(
      /^Cannot use ".*data": its about\.json is not of Tidemark/,
    );
  });

  it("in a folder whose first start died, when a person has put files there since", async () => {
    mkdirSync(at("data"));
    const layout = folderLayout(at("data"));
    writeMark(layout);
    saveClock(layout, { kind: "real", nowMs: 1 });
    file("data/cluster/mine.txt");
    const before = treeOf(at("data", "cluster"));
    expect(await refusal("--data", at("data"))).toMatch(
      /^Cannot use ".*": "cluster\/mine\.txt" is not of Tidemark; move it away/,
    );
    expect(treeOf(at("data", "cluster"))).toEqual(before);
  });

  it.each([
    ["a file", () => file("data"), /it is a file, and a folder is wanted$/],
    [
      "a link that leads nowhere",
      () => symlinkSync(at("none"), at("data")),
      /it is a symbolic link that leads nowhere$/,
    ],
    [
      "a link to a folder of a person",
      () => [file("mine/cluster/a"), symlinkSync(at("mine"), at("data"))],
      /it holds "cluster" and is no data folder/,
    ],
  ])("on %s", async (_, make, words) => {
    make();
    expect(await refusedUntouched("--data", at("data"))).toMatch(words);
  });

  it("in a folder that every user of the machine may write, for a run as for a command", async () => {
    await start("--data", at("data"), "--for", "1s", "--speed", "100000");
    chmodSync(at("data"), 0o777);
    const words =
      /^Cannot use ".*data": every user of this machine may write there; name a folder inside it with --data, or run "chmod o-w" on it first$/;
    expect(await refusedUntouched("--data", at("data"))).toMatch(words);
    await expect(openFolder(at("data"))).rejects.toThrow(words);
  });

  it("where a link stands in the place of a file or folder of ours, and changes nothing that the link leads to", async () => {
    await start("--data", at("whole"), "--for", "1s", "--speed", "100000");
    const places = [
      "about.json",
      "clock.json",
      "queue.jsonl",
      "schedule.json",
      "log.jsonl",
      "seal.json",
      "locks",
      "tables",
      "cluster",
    ];
    const inside = [
      "tables/CURRENT",
      "cluster/cluster-writes.jsonl",
      "cluster/cluster-credentials.json",
      "cluster/kubeconfig",
    ];
    for (const place of [...places, ...inside]) {
      rmSync(at("data"), { recursive: true, force: true });
      rmSync(at("elsewhere"), { recursive: true, force: true });
      cpSync(at("whole"), at("data"), { recursive: true, preserveTimestamps: true });
      renameSync(at("data", place), at("elsewhere"));
      symlinkSync(at("elsewhere"), at("data", place));
      const before = treeOf(at("elsewhere"));
      expect(await refusal("--data", at("data"), "--for", "1s", "--speed", "100000"), place).toBe(
        `Cannot open "${at("data", place)}": it is a symbolic link, and Tidemark follows no link in a data folder; replace it by what it links to, or name another folder with --data`,
      );
      expect(treeOf(at("elsewhere")), place).toEqual(before);
    }
  });

  it.each([
    ["/proc/tidemark", /no folder can be made there$/],
    ["/proc/self/tidemark/a/b", /no folder can be made there$/],
    ["/dev/null/tidemark", /"\/dev\/null" is a file$/],
  ])("on %s, where no folder can be made", async (path, words) => {
    expect(await refusal("--data", path)).toMatch(words);
  });

  it.each([
    ["a manifest that is not there", ["--manifest", "none.yaml"], /^Cannot read "none\.yaml"/],
    ["a trace that is not there", ["--trace", "none.csv"], /^Cannot read trace ".*none\.csv": /],
    [
      "a kubeconfig that is not there",
      ["--kubeconfig", "none"],
      /^Cannot read "none": there is no such file$/,
    ],
    ["a kubeconfig that is a folder", ["--kubeconfig", "/"], /^Cannot read "\/": it is a folder$/],
  ])("for %s, not even the folder and those above it", async (_, args, words) => {
    expect(await refusedUntouched("--data", at("a", "b", "c"), ...args)).toMatch(words);
  });

  it("for a kubeconfig that cannot be parsed or used, without a word of what it holds", async () => {
    file("broken", "users: [{name: a, user: {token: s3cret}}\n");
    expect(await refusedUntouched("--kubeconfig", at("broken"), "--data", at("data"))).toBe(
      `Cannot read kubeconfig "${at("broken")}": it is not a kubeconfig in YAML or JSON`,
    );
    file("empty", "current-context: dev\n");
    expect(await refusedUntouched("--kubeconfig", at("empty"), "--data", at("data"))).toMatch(
      /^Cannot use kubeconfig ".*empty"/,
    );
  });

  it("for a port that another process has, in a new folder and in one that was used", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { readonly port: number };
    expect(await refusedUntouched("--data", at("data"), "--metrics-port", String(port))).toMatch(
      /^Cannot listen on port/,
    );
    await start("--data", at("data"), "--for", "1s", "--speed", "100000");
    expect(await refusedUntouched("--data", at("data"), "--metrics-port", String(port))).toMatch(
      /^Cannot listen on port/,
    );
    server.close();
  });

  it("while another run has the folder", async () => {
    await start("--data", at("data"), "--for", "1s", "--speed", "100000");
    const held = await holdFolder(folderLayout(at("data")), "run", 0);
    expect(await refusedUntouched("--data", at("data"))).toMatch(
      /^Cannot use ".*": a run with pid \d+ has it since /,
    );
    held.release();
  });

  it("when the folder began at another time than --begin says, or the time is none", async () => {
    const begun = ["--data", at("data"), "--for", "1s", "--speed", "100000"];
    expect(await start(...begun, "--begin", "2026-03-29T00:30:00Z")).toContain("2026-03-29T00:30");
    expect(
      await refusedUntouched("--data", at("data"), "--begin", "2026-03-28T00:00:00Z"),
    ).toContain("it began at 2026-03-29T00:30:00Z, not at 2026-03-28T00:00:00Z");
    expect(await refusedUntouched("--data", at("data"), "--begin", "noon")).toContain(
      "Wanted a time in whole seconds",
    );
    for (const time of ["2026-03-29 00:30Z", "2026-03-29T00:30:00.5Z"])
      expect(await refusedUntouched("--data", at("data"), "--begin", time)).toContain(
        "Wanted a time in whole seconds",
      );
    const local = new Date(2026, 2, 30, 9, 30).toISOString();
    expect(await refusedUntouched("--data", at("data"), "--begin", "2026-03-30 09:30")).toContain(
      local.slice(0, "2026-03-30T09:30".length),
    );
  });

  it("when the pods of the folder are others than --capacity and --pod-start say, and for a real cluster", async () => {
    await start(
      "--data",
      at("data"),
      "--for",
      "1s",
      "--speed",
      "100000",
      "--capacity",
      "50",
      "--pod-start",
      "90s",
    );
    expect(await refusedUntouched("--data", at("data"), "--capacity", "60")).toContain(
      "its pods serve 50; for a run of its own",
    );
    expect(await refusedUntouched("--data", at("data"), "--pod-start", "40s")).toContain(
      "its pods start within 90 s; for a run of its own",
    );
    for (const option of ["--capacity", "--pod-start"])
      expect(
        await refusedUntouched(
          "--kubeconfig",
          at("none"),
          option,
          "50s".slice(0, option === "--capacity" ? 2 : 3),
        ),
      ).toContain(`Cannot use ${option} with --kubeconfig: it decides about simulated pods only`);
  });

  it("when the folder is of another run, and says the command for this one", async () => {
    file("other.yaml", MANIFEST);
    await start("--data", at("my data"), "--for", "1s", "--speed", "100000");
    const started = (args: string) =>
      `for a run of its own: npm start -- ${args} --data '${at("my data")}-2'`;
    expect(await refusedUntouched("--data", at("my data"), "--seed", "8")).toBe(
      `Cannot continue in "${at("my data")}": its seed is 1, not 8; ${started("--seed 8")}`,
    );
    expect(await refusedUntouched(`--data=${at("my data")}`, "--manifest", at("other.yaml"))).toBe(
      `Cannot continue in "${at("my data")}": its cluster has no Deployment "shop/orders"; ${started(`--manifest ${at("other.yaml")}`)}`,
    );
    file("load.csv", "timestamp,value\n1,2\n");
    expect(await refusedUntouched("--data", at("my data"), "--trace", at("load.csv"))).toContain(
      "it plays the recorded workloads of the demonstration",
    );
  });

  it("when the trace of the folder's first run has changed since, or is gone", async () => {
    file("load.csv", "timestamp,value\n1700000000,20\n1700000060,30\n");
    const args = [
      "--data",
      at("data"),
      "--trace",
      at("load.csv"),
      "--for",
      "1s",
      "--speed",
      "100000",
    ];
    await start(...args);
    file("load.csv", "timestamp,value\n1700000000,20\n1700000060,31\n");
    expect(await refusedUntouched(...args)).toMatch(/its workloads or traces are others/);
    rmSync(at("load.csv"));
    expect(await refusedUntouched(...args)).toMatch(/^Cannot read trace/);
  });
});

describe("a start", { timeout: 60_000 }, () => {
  it("takes an empty folder, a link to one, and a new volume with lost+found", async () => {
    mkdirSync(at("real", "lost+found"), { recursive: true });
    symlinkSync(at("real"), at("data"));
    expect(await start("--data", at("data"), "--for", "1s", "--speed", "100000")).toMatch(
      /^Began at /m,
    );
    expect(await start("--data", at("data"), "--for", "1s", "--speed", "100000")).toMatch(
      /^Resumed at /m,
    );
  });

  it("goes on by itself where the one before was killed at any point before its first sync", async () => {
    const layout = folderLayout(at("data"));
    const begin = () => start("--data", at("data"), "--for", "1s", "--speed", "100000");
    const leftovers: readonly (() => void)[] = [
      () => file("data/about.json.7.draft", '{"format":"tide'),
      () =>
        file("data/locks/999999-00000000-0000-4000-8000-000000000000.json.999999.draft", '{"pi'),
      () => writeMark(layout),
      () => [
        writeMark(layout),
        saveClock(layout, { kind: "real", nowMs: 1 }),
        file("data/clock.json.7.draft", "{"),
      ],
      () => [
        writeMark(layout),
        file("data/cluster/cluster-writes.jsonl", ""),
        file("data/cluster/kubeconfig.7.draft", "x"),
      ],
      () => [
        writeMark(layout),
        file("data/tables/CURRENT", "MANIFEST-1"),
        file("data/tables/000001.dbtmp", ""),
        file("data/queue.jsonl", "half"),
      ],
    ];
    for (const leave of leftovers) {
      rmSync(at("data"), { recursive: true, force: true });
      mkdirSync(at("data"));
      leave();
      expect(await begin()).toMatch(/^Began at /m);
    }
  });
});

describe("findFolder()", () => {
  const here = process.cwd();
  beforeEach(() => process.chdir(dir));
  afterEach(() => process.chdir(here));
  const run = (name: string) => {
    mkdirSync(at(name));
    writeIdentity(folderLayout(at(name)), {
      kind: "simulated",
      seed: 1,
      startMs: 0,
      deployments: [],
    });
  };

  it("is .tidemark where there is none, the only one where there is one, and none of several", () => {
    expect(findFolder()).toEqual({ kind: "one", dir: ".tidemark" });
    file(".tidemark-notes", "a file is no folder");
    run(".tidemark-dev");
    expect(findFolder()).toEqual({ kind: "one", dir: ".tidemark-dev" });
    run(".tidemark");
    const several = { kind: "several", dirs: [".tidemark", ".tidemark-dev"], alive: false };
    expect(findFolder()).toEqual({ ...several, last: ".tidemark" });
    writeFileSync(folderLayout(".tidemark-dev").clock, "{}");
    expect(findFolder()).toEqual({ ...several, last: ".tidemark-dev" });
  });

  it("is the one on which a run is alive, and none of two such", async () => {
    for (const name of [".tidemark", ".tidemark-dev", ".tidemark-prod"]) run(name);
    const dev = await holdFolder(folderLayout(".tidemark-dev"), "run", 0);
    const prod = await holdFolder(folderLayout(".tidemark-prod"), "command", 0);
    expect(findFolder()).toEqual({ kind: "one", dir: ".tidemark-dev" });
    prod.release();
    const second = await holdFolder(folderLayout(".tidemark-prod"), "run", 0);
    expect(findFolder()).toEqual({
      kind: "several",
      dirs: [".tidemark-dev", ".tidemark-prod"],
      alive: true,
      last: ".tidemark-dev",
    });
    for (const held of [dev, second]) held.release();
  });
});

const MANIFEST = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: orders, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: orders }
  maxReplicas: 30
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]
`;
