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
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { startWholeCluster } from "../control-plane/cluster.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { watchReplicas } from "../control-plane/watch.ts";
import { KINDS, workloadObject } from "../real-server/objects.ts";

/**
 * How long a workload at zero waits from its first message to the PUT that scales it: with a wake
 * over HTTP, and with the planned syncs of each 15 s. Each run is a process of its own at the speed
 * of the clock, and asks a stand-in of Prometheus here, which says at once what this bench fills.
 * The PUT counts when the simulated cluster has it on the disk, or when a watch of the real API
 * server reports it. `WAKE_WORKLOADS=20` of them fill one after the other; the rows are played side
 * by side. Without the programs of the control plane the row of the real API server is left out,
 * with the reason.
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

const NAMESPACE = "shop";
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

const manifestOf = (at: number): string => `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata:
  name: ${nameOf(at)}
  namespace: ${NAMESPACE}
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

/** The cluster of a run: how the run is told of it, and when a workload of it was first scaled. */
interface Place {
  readonly cluster: string;
  readonly options: readonly string[];
  /** Real time, or undefined so far. */
  readonly scaledMs: (name: string) => number | undefined;
  readonly close: () => Promise<void>;
}

const simulated = async (data: string): Promise<Place> => {
  const writes = join(folderLayout(data).cluster, "cluster-writes.jsonl");
  const seen = (name: string) =>
    existsSync(writes) && readFileSync(writes, "utf8").includes(`"name":"${name}"`);
  return {
    cluster: "local",
    options: [],
    scaledMs: (name) => (seen(name) ? Date.now() : undefined),
    close: () => Promise.resolve(),
  };
};

/** Deployments of no pod on a real API server, with the controllers of Kubernetes. */
const realServer =
  (binaries: string) =>
  async (data: string): Promise<Place> => {
    const { plane, tidemarkToken, close } = await startWholeCluster(binaries);
    try {
      const post = async (path: string, body: object): Promise<void> => {
        const { status, body: answer } = await plane.call("POST", path, body);
        if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${answer}`);
      };
      await post("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
      for (let at = 0; at < WORKLOADS; at++)
        await post(
          DEPLOYMENTS,
          workloadObject({ ...KINDS.Deployment, name: nameOf(at), replicas: 0 }),
        );
      const kubeconfig = `${data}.kubeconfig`;
      writeFileSync(kubeconfig, kubeconfigText(plane, { token: tidemarkToken }), { mode: 0o600 });
      const scaled = new Map<string, number>();
      const watch = watchReplicas(plane, DEPLOYMENTS, (name, replicas) => {
        if (replicas > 0 && !scaled.has(name)) scaled.set(name, Date.now());
      });
      await watch.ready;
      return {
        // Named by the context of the kubeconfig.
        cluster: "control-plane",
        options: ["--kubeconfig", kubeconfig],
        scaledMs: (name) => scaled.get(name),
        close: async () => {
          watch.stop();
          await close();
        },
      };
    } catch (error) {
      await close();
      throw error;
    }
  };

interface OpenRun {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const startRun = async (
  data: string,
  prometheus: string,
  options: readonly string[],
): Promise<OpenRun> => {
  const manifest = `${data}.yaml`;
  writeFileSync(
    manifest,
    Array.from({ length: WORKLOADS }, (_, at) => manifestOf(at)).join("---\n"),
  );
  const words = ["start", "--data", data, "--manifest", manifest, "--source-url", prometheus];
  const child = spawn(
    process.execPath,
    [join(ROOT, "bin/tidemark.js"), ...words, ...options, "--wake-port", "0", "--utc"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  return {
    url: await wakeUrl(child),
    stop: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
};

/** Real time when the workload was first scaled. */
const scaled = async ({ scaledMs }: Place, name: string): Promise<number> => {
  const untilMs = Date.now() + WAIT_MAX_MS;
  for (;;) {
    const atMs = scaledMs(name);
    if (atMs !== undefined) return atMs;
    if (Date.now() > untilMs) throw new Error(`${name} was not scaled in ${WAIT_MAX_MS} ms`);
    await wait(LOOK_MS);
  }
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

type MakePlace = (data: string) => Promise<Place>;

/** Real milliseconds from each fill to the PUT. */
const played = async (makePlace: MakePlace, wakes: boolean): Promise<readonly number[]> => {
  const dir = mkdtempSync(join(tmpdir(), "wake-bench-"));
  const data = join(dir, "data");
  const filled = new Set<string>();
  const prometheus = await startPrometheus(filled);
  const place = await makePlace(data);
  try {
    const run = await startRun(data, prometheus.url, place.options);
    try {
      await wait(2 * PAUSE_MS);
      const took: number[] = [];
      for (let at = 0; at < WORKLOADS; at++) {
        await wait(PAUSE_MS + (at % STEPS) * STEP_MS);
        const filledMs = Date.now();
        filled.add(queryOf(at));
        if (wakes) await wake(run.url, place.cluster, nameOf(at));
        took.push((await scaled(place, nameOf(at))) - filledMs);
      }
      return took;
    } finally {
      await run.stop();
    }
  } finally {
    await place.close();
    await prometheus.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

const wake = async (url: string, cluster: string, name: string): Promise<void> => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      cluster,
      namespace: NAMESPACE,
      names: [name],
      reason: "bench",
    }),
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
  const binaries = controlPlaneBinaries();
  const rows: readonly (readonly [string, MakePlace, boolean])[] = [
    ["a wake over HTTP to the PUT", simulated, true],
    ["a filled queue to the PUT, without a wake", simulated, false],
    ...(binaries.kind === "found"
      ? ([["the same wake, on a real API server", realServer(binaries.folder), true]] as const)
      : []),
  ];
  // All end before the first failure is thrown: none leaves programs behind.
  const results = await Promise.allSettled(rows.map(([, place, wakes]) => played(place, wakes)));
  for (const [at, result] of results.entries()) {
    if (result.status === "rejected") throw result.reason;
    const words = rows[at]?.[0];
    const sorted = result.value.toSorted((one, other) => one - other);
    const figures = [0.5, 0.95, 1].map((share) => seconds(quantile(sorted, share)));
    table.push([words, String(sorted.length), ...figures]);
  }
  process.stdout.write(`${table.toString()}\n`);
  if (binaries.kind === "missing")
    process.stdout.write(`The real API server is left out: ${binaries.message}\n`);
};
