import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import Table from "cli-table3";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { ROOT } from "../architecture/source.ts";

/**
 * How long a workload at zero waits from its first message to the PUT that scales it: with a wake
 * over HTTP, and with the planned syncs of each 15 s. The run is a process of its own at the speed
 * of the clock, and asks a stand-in of Prometheus here, which says at once what this bench fills.
 * The PUT counts when the simulated cluster has it on the disk. `WAKE_WORKLOADS=20` of them fill
 * one after the other.
 */
const WORKLOADS = Number(process.env["WAKE_WORKLOADS"] ?? 20);
const SECOND_MS = 1_000;
/** Longer than wakes are apart, and no divisor of the period: they fill at every place of it. */
const PAUSE_MS = 7 * SECOND_MS;
const STEP_MS = 1_700;
const STEPS = 8;
const LOOK_MS = 5;
const WAIT_MAX_MS = 60_000;
const FILLED = 50;

const nameOf = (at: number): string => `orders-${at}`;
const queryOf = (at: number): string => `orders_${at}`;

const manifestOf = (at: number): string => `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata:
  name: ${nameOf(at)}
  namespace: shop
  annotations: { tidemark.dev/simulated-trace: azurefn-squarewave-1m, tidemark.dev/simulated-replicas: "0" }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${nameOf(at)} }
  minReplicas: 1
  maxReplicas: 10
  metrics: [{ prometheus: { source: main, query: ${queryOf(at)} }, measure: Average, target: 20, activation: 0 }]
  idle: { replicas: 0, afterSeconds: 300 }
`;

/** Answers each query with one value: whether the queue of its name was filled. */
const startPrometheus = async (filled: ReadonlySet<string>) => {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const asked = new URL(request.url ?? "", "http://127.0.0.1").searchParams.get("query");
      const query = asked ?? new URLSearchParams(body).get("query") ?? "";
      const value = String(filled.has(query) ? FILLED : 0);
      const result = [{ metric: {}, value: [Date.now() / SECOND_MS, value] }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
    });
  });
  return { url: await listenOnLoopback(server), close: () => closeServer(server) };
};

interface OpenRun {
  readonly url: string;
  /** Real time when the workload was first scaled. */
  readonly scaled: (name: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

const startRun = async (dir: string, prometheus: string): Promise<OpenRun> => {
  const manifest = join(dir, "manifest.yaml");
  writeFileSync(
    manifest,
    Array.from({ length: WORKLOADS }, (_, at) => manifestOf(at)).join("---\n"),
  );
  const data = join(dir, "data");
  const words = ["start", "--data", data, "--manifest", manifest, "--source-url", prometheus];
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/tidemark.js"), ...words, "--wake-port", "0", "--utc"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const url = await wakeUrl(child);
  const writes = join(folderLayout(data).cluster, "cluster-writes.jsonl");
  return {
    url,
    scaled: async (name) => {
      const untilMs = Date.now() + WAIT_MAX_MS;
      for (;;) {
        if (existsSync(writes) && readFileSync(writes, "utf8").includes(`"name":"${name}"`))
          return Date.now();
        if (Date.now() > untilMs) throw new Error(`${name} was not scaled in ${WAIT_MAX_MS} ms`);
        await wait(LOOK_MS);
      }
    },
    stop: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
};

const wakeUrl = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (part: Buffer) => {
      said = `${said}${part.toString()}`.slice(-SAID_MAX);
      const url = /Wakes are taken at (\S+)\n/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", () => reject(new Error(`the run ended before it took wakes: ${said}`)));
  });
const SAID_MAX = 10_000;

/** Real milliseconds from each fill to the PUT. */
const played = async (wakes: boolean): Promise<readonly number[]> => {
  const dir = mkdtempSync(join(tmpdir(), "wake-bench-"));
  const filled = new Set<string>();
  const prometheus = await startPrometheus(filled);
  const run = await startRun(dir, prometheus.url);
  try {
    await wait(2 * PAUSE_MS);
    const took: number[] = [];
    for (let at = 0; at < WORKLOADS; at++) {
      await wait(PAUSE_MS + (at % STEPS) * STEP_MS);
      const filledMs = Date.now();
      filled.add(queryOf(at));
      if (wakes) await wake(run.url, nameOf(at));
      took.push((await run.scaled(nameOf(at))) - filledMs);
    }
    return took;
  } finally {
    await run.stop();
    await prometheus.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

const wake = async (url: string, name: string): Promise<void> => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ cluster: "local", namespace: "shop", names: [name], reason: "bench" }),
  });
  if (!answer.ok) throw new Error(`the wake was refused: ${answer.status} ${await answer.text()}`);
};

const seconds = (ms: number): string => (ms / SECOND_MS).toFixed(2);
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;

export const run = async (): Promise<void> => {
  const table = new Table({
    head: ["of a workload at zero", "n", "median s", "p95 s", "longest s"],
  });
  for (const [words, wakes] of [
    ["a wake over HTTP to the PUT", true],
    ["a filled queue to the PUT, without a wake", false],
  ] as const) {
    const took = (await played(wakes)).toSorted((one, other) => one - other);
    table.push([
      words,
      String(took.length),
      ...[0.5, 0.95, 1].map((share) => seconds(quantile(took, share))),
    ]);
  }
  process.stdout.write(`${table.toString()}\n`);
};
