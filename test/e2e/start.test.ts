import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { livingRun } from "../../lib/embedded/folder/folder-lock.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { exportedEvents, replicasNow, type Started, startRun, tidemark } from "./start-process.ts";

const CHECKOUT = fileURLToPath(new URL("../../examples/checkout.yaml", import.meta.url));
const SEED = ["--seed", "7"];
const FAST = [...SEED, "--speed", "100000"];
let dir: string;
const folder = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-e2e-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Waits until a run prints such a line. */
const printed = (run: Started, line: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let out = "";
    run.child.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8");
      if (line.test(out)) resolve(out);
    });
    run.ended.then(
      ({ err }) => reject(new Error(`The run ended before it printed ${line}: ${err}`)),
      reject,
    );
  });

describe("npm start", { timeout: 120_000 }, () => {
  it("plays 20 minutes into a pipe: plain lines, a summary, exit code 0, and events for the command", async () => {
    const { code, out, err } = await startRun(
      ["--data", folder("piped"), "--for", "20m", ...FAST],
      { FORCE_COLOR: "0" },
    ).ended;
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Began at 2026-01-05T08:00:00Z virtual time, seed 7");
    expect(out).toMatch(/^2026-01-05T08:\d\d:\d\dZ {2}shop\/daily 2 → 3 applied: \w+, /m);
    expect(out).not.toContain("\u001b");
    for (const line of [
      /^played +20 min in /m,
      /^scale events +\d/m,
      /^syncs +80$/m,
      /^writes per sync +\d/m,
      /^wall time per sync +p50 .* p99 /m,
      /^memory +\d+ MiB at most$/m,
      /^disk +\d[\d.]* MiB: tables \d[\d.]* MiB, logs \d[\d.]* MiB$/m,
    ]) {
      expect(out).toMatch(line);
    }
    expect(out).toMatch(/^shop\/crowd +\d+\.\d replica-hours, .* above target, .* not served/m);
    const events = await exportedEvents(folder("piped"));
    expect(events.length).toBeGreaterThan(5);
    expect(Object.keys(events[0] ?? {})).toEqual(
      expect.arrayContaining([
        "id",
        "at",
        "cluster",
        "namespace",
        "name",
        "from",
        "to",
        "reason",
        "outcome",
      ]),
    );
  });

  it("gives the same events, to the byte of their export, at another speed", async () => {
    const { code } = await startRun([
      "--data",
      folder("slower"),
      "--for",
      "20m",
      ...SEED,
      "--speed",
      "300",
    ]).ended;
    expect(code).toBe(0);
    const [one, other] = await Promise.all(
      ["piped", "slower"].map((name) =>
        tidemark(["events", "--all", "-o", "jsonl", "--data", folder(name)]),
      ),
    );
    expect(other?.out).toBe(one?.out);
  });

  it("serves commands while it runs, refuses a second run, ends on Ctrl-C with its summary, and goes on where it was", async () => {
    const data = mkdtempSync(folder("long-"));
    const run: Started = startRun(["--data", data, ...SEED]);
    const first = await printed(run, /^\S+ {2}shop\/crowd \d+ → \d+ applied/m);
    const [, page = "", token = ""] = /^See .*: (http:\S+)\/#token=(\S+)\n/.exec(first) ?? [];
    const rows = await fetch(`${page}/v1/rows`, { headers: { "x-tidemark-token": token } });
    expect([rows.status, await rows.text()]).toEqual([200, expect.stringContaining('"crowd"')]);
    const decided = await tidemark(["get", "--data", data]);
    expect([decided.code, decided.out]).toEqual([0, expect.stringMatching(/daily +\d+% .*\/60%/)]);
    const { seriesUrl = "" } = livingRun(folderLayout(data)) ?? {};
    const scraped = await (await fetch(seriesUrl)).text();
    expect(scraped).toMatch(
      /^tidemark_current_replicas\{cluster="[^"]+",namespace="shop",name="daily",.*\} [1-9]/m,
    );
    expect((await tidemark(["series", "--data", data])).out.replace(/ \d+$/gm, "")).toBe(
      scraped.replace(/ \d+$/gm, ""),
    );
    const second = await startRun(["--data", data, ...SEED]).ended;
    expect(second.code).toBe(1);
    expect(second.err).toMatch(
      new RegExp(
        `^error: Cannot use ".*long-.*": a run with pid ${run.child.pid} has it since .*\n$`,
      ),
    );
    const scaled = printed(run, /^\S+ {2}shop\/checkout \d+ → \d+ applied/m);
    const applied = await tidemark(["apply", "-f", CHECKOUT, "--data", data]);
    expect([applied.code, applied.out]).toEqual([0, expect.stringContaining("created")]);
    await scaled;
    expect((await exportedEvents(data)).find(({ name }) => name === "checkout")).toMatchObject({
      name: "checkout",
      from: 2,
      outcome: "applied",
    });
    run.child.kill("SIGINT");
    const { code, out } = await run.ended;
    expect(code).toBe(0);
    expect(out).toContain(`\nSeries for Prometheus at ${seriesUrl}\n`);
    expect(out).toMatch(/^scale events +\d+$/m);
    expect(readdirSync(join(data, "locks"))).toEqual([]);

    const before = await tidemark(["get", "--data", data]);
    await wait(300);
    expect((await tidemark(["get", "--data", data])).out).toBe(before.out);
    const other = await startRun(["--data", data, "--seed", "8"]).ended;
    expect([other.code, other.err]).toEqual([
      1,
      `error: Cannot continue in "${data}": its seed is 7, not 8; for a run of its own: npm start -- --seed 8 --data ${data}-2\n`,
    ]);
    const resumed = await startRun(["--data", data, "--for", "1m", "--speed", "100000"]).ended;
    expect(resumed.code).toBe(0);
    expect(resumed.out).toMatch(/^Resumed at 2026-01-05T08:\d\d:\d\dZ virtual time, /m);
    expect(resumed.out).not.toContain("created");
  });

  it("plays a trace of one's own under manifests of one's own", async () => {
    const rows = Array.from(
      { length: 30 },
      (_, minute) => `${1_700_000_000 + 60 * minute},${minute < 3 ? 10 : 100}`,
    );
    writeFileSync(
      folder("jump.csv"),
      `# source: made up; unit: orders per minute\ntimestamp,value\n${rows.join("\n")}\n`,
    );
    writeFileSync(folder("orders.yaml"), manifest("orders"));
    const args = [
      "--data",
      folder("own"),
      "--trace",
      folder("jump.csv"),
      "--manifest",
      folder("orders.yaml"),
      "--for",
      "8m",
      ...FAST,
    ];
    const { code, out } = await startRun(args).ended;
    expect(code).toBe(0);
    expect(out).toMatch(/of the demand not served \(\d+ orders\)/);
    const events = await exportedEvents(folder("own"));
    expect(events.length).toBeGreaterThan(0);
    expect(new Set(events.map(({ name }) => name))).toEqual(new Set(["orders"]));
    expect((await replicasNow(folder("own")))["orders"]).toBe(events.at(-1)?.to);
  });

  it.each([
    [
      "a duration that is none",
      ["--for", "soon"],
      /^error: Option "--for <duration>" argument "soon" is invalid\. Wanted a duration like /m,
    ],
    [
      "an unknown option",
      ["--sped", "60"],
      /^error: Unknown option "--sped", did you mean ".*speed.*"\?$/m,
    ],
    [
      "an option given twice",
      ["--trace", "a.csv", "--trace", "b.csv"],
      /^error: Option "--trace <file>" argument "b\.csv" is invalid\. It was given twice$/m,
    ],
    [
      "a context without a kubeconfig",
      ["--context", "dev"],
      /^error: Cannot use --context without --kubeconfig: /m,
    ],
    [
      "manifests beside made clusters",
      ["--clusters", "2", "--manifest", "web.yaml"],
      /^error: Cannot use --manifest with --clusters or --autoscalers: /m,
    ],
    [
      "more clusters than autoscalers",
      ["--clusters", "5", "--autoscalers", "4"],
      /^error: Cannot make 4 autoscalers in 5 clusters: each cluster has one at least$/m,
    ],
    [
      "a trace that is not there",
      ["--trace", "/none.csv"],
      /^error: Cannot read trace ".*none\.csv": /m,
    ],
    [
      "a manifest that is not there",
      ["--manifest", "none.yaml"],
      /^error: Cannot read "none\.yaml": there is no such file$/m,
    ],
    [
      "a kubeconfig that is not there",
      ["--kubeconfig", "/none"],
      /^error: Cannot read "\/none": there is no such file$/m,
    ],
  ])("refuses %s with exit code 1 in one line, and writes nothing", async (_, args, words) => {
    const { code, err } = await startRun(["--data", folder("refused"), ...args]).ended;
    expect(code).toBe(1);
    expect(err).toMatch(words);
    expect(existsSync(folder("refused"))).toBe(false);
  });

  it("refuses a manifest with a wrong field, with file, line and path of the field", async () => {
    writeFileSync(
      folder("wrong.yaml"),
      manifest("orders").replace("minReplicas: 2", "minReplicas: two"),
    );
    const { code, err } = await startRun([
      "--data",
      folder("refused"),
      "--manifest",
      folder("wrong.yaml"),
      "--for",
      "1m",
    ]).ended;
    expect(code).toBe(1);
    expect(err).toMatch(/^error: Cannot accept ".*wrong\.yaml.*spec\.minReplicas/m);
  });

  it("makes clusters, workloads and autoscalers of its own, the same at every start, and goes on with them", async () => {
    const made = ["--clusters", "2", "--autoscalers", "40", ...FAST];
    const [one, other] = [folder("made"), folder("made-again")];
    // A second attempt begins anew.
    for (const data of [one, other]) rmSync(data, { recursive: true, force: true });
    const { code, err, out } = await startRun(["--data", one, ...made, "--for", "3m"]).ended;
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Making 40 autoscalers and their workloads in 2 simulated clusters\n");
    expect(out).toMatch(/^workloads +40, \d/m);
    const listed = (
      await tidemark(["get", "-A", "--clusters", "*", "-o", "name", "--data", one])
    ).out
      .trimEnd()
      .split("\n");
    expect(listed).toHaveLength(40);
    expect(new Set(listed.map((line) => line.split("/")[0]))).toEqual(
      new Set(["local-1", "local-2"]),
    );
    await startRun(["--data", other, ...made, "--for", "3m"]).ended;
    const [first = "", second] = await Promise.all(
      [one, other].map(
        async (data) => (await tidemark(["events", "--all", "-o", "jsonl", "--data", data])).out,
      ),
    );
    expect(first.split("\n").length).toBeGreaterThan(10);
    expect(second).toBe(first);
    const refused = await startRun(["--data", one, "--clusters", "3", "--autoscalers", "40"]).ended;
    expect(refused.err).toContain(
      "it simulates 40 autoscalers in 2 clusters, not 40 autoscalers in 3 clusters; for a run of its own: ",
    );
    const resumed = await startRun(["--data", one, "--for", "1m", "--speed", "100000"]).ended;
    expect([resumed.code, resumed.err]).toEqual([0, ""]);
    rmSync(join(one, "cluster", "local-2", "cluster-writes.jsonl"));
    expect((await startRun(["--data", one, "--for", "1m"]).ended).err).toContain(
      "cluster/local-2/cluster-writes.jsonl is missing",
    );
  });

  it("applies more manifests than one step has from several files, and says of a file with more how to divide it", async () => {
    const many = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => manifest(`web-${from + at}`)).join("---\n");
    writeFileSync(folder("a.yaml"), many(0, 600));
    writeFileSync(folder("b.yaml"), many(600, 1_001));
    writeFileSync(folder("all.yaml"), many(0, 1_001));
    const files = ["--manifest", folder("a.yaml"), "--manifest", folder("b.yaml")];
    const { code, err, out } = await startRun([
      "--data",
      folder("many"),
      ...files,
      "--for",
      "1s",
      ...FAST,
    ]).ended;
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("1001 autoscalers: 1001 created\n");
    const refused = await startRun(["--data", folder("refused"), "--manifest", folder("all.yaml")])
      .ended;
    expect(refused.err).toMatch(
      /^error: Cannot read ".*all\.yaml.*": one step has more than 1000 manifests; divide it into several files, each with a --manifest of its own$/m,
    );
  });

  it("logs one structured line and one set of embedded metrics per sync, as CloudWatch would receive them", () => {
    const lines = readFileSync(join(folder("piped"), "log.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const parsed = lines.map((line): Record<string, unknown> => JSON.parse(line));
    expect(
      parsed.filter(({ outcome }) => outcome === "completed" || outcome === "done"),
    ).toHaveLength(80);
    expect(parsed.filter((line) => "_aws" in line && "SyncDuration" in line)).toHaveLength(80);
    // The virtual clock stands still during a sync; what the sync took in real time is beside it.
    for (const { tookMs, realMs } of parsed.filter(({ outcome }) => outcome === "completed")) {
      expect(tookMs).toBe(0);
      expect(realMs).toBeGreaterThan(0);
    }
  });
});

const manifest = (name: string): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 2
  maxReplicas: 30
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]
`;
