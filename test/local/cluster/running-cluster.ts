import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import type { WorkloadDefinition } from "../../../lib/embedded/cluster/definition.ts";
import { HPA_KIND } from "../../../lib/embedded/cluster/objects/custom-objects.ts";
import type {
  ClusterOptions,
  SimulatedCluster,
} from "../../../lib/embedded/cluster/simulated-cluster.ts";
import { type FaultyCluster, startFaultyCluster } from "./faulty-cluster.ts";

export const START_MS = Date.UTC(2026, 0, 5, 8);
const MEBIBYTE = 2 ** 20;

/** One sample per minute. */
export const constantTrace = (...values: readonly number[]) => ({
  points: values.map((value, minute) => ({ atMs: minute * 60_000, value })),
  unit: "calls per minute",
  stepMs: 60_000,
});

/** Carries 30 calls per minute at 60 % of its request, 59.5 at its limit. */
export const workload = (changes: Partial<WorkloadDefinition> = {}): WorkloadDefinition => ({
  namespace: "shop",
  name: "web",
  trace: constantTrace(60),
  initialReplicas: 2,
  cpuMillicoresPerUnit: 10,
  requests: { cpuMillicores: 500, memoryBytes: 128 * MEBIBYTE },
  limits: { cpuMillicores: 600, memoryBytes: 512 * MEBIBYTE },
  targetCpuPercent: 60,
  ...changes,
});

export interface RunningCluster extends FaultyCluster {
  readonly dataDir: string;
  readonly time: { nowMs: number };
  readonly kubeConfig: KubeConfig;
  /** A plain HTTPS request with the folder's CA and token. */
  fetch(path: string, options?: FetchOptions): Promise<Fetched>;
  /** Closes and removes the folder. */
  remove(): Promise<void>;
}

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Ends the request before that. */
  readonly signal?: AbortSignal;
}

export interface Fetched {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  /** The parsed body of a JSON answer. */
  readonly json: unknown;
}

/** Puts an HPA of CPU at 60 % into a cluster, as a person does. */
export const putHpa = (
  cluster: Pick<SimulatedCluster, "putObject">,
  namespace: string,
  name: string,
  target = "web",
): void => {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: target };
  const metrics = [
    {
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
    },
  ];
  const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics };
  cluster.putObject(HPA_KIND, {
    apiVersion: HPA_KIND.apiVersion,
    kind: HPA_KIND.kind,
    metadata: { namespace, name },
    spec,
  });
};

/**
 * Starts a cluster on a folder of its own, or on the given one, with a clock that only the test
 * moves.
 */
export const runCluster = async (
  options: Partial<ClusterOptions> = {},
): Promise<RunningCluster> => {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "tidemark-cluster-")));
  const time = { nowMs: START_MS };
  const cluster = await startFaultyCluster({
    clock: () => time.nowMs,
    seed: 1,
    workloads: [workload()],
    ...options,
    dataDir,
  });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(cluster.kubeconfigPath);
  const credentials = JSON.parse(await readFile(join(dataDir, "cluster-credentials.json"), "utf8"));
  return {
    ...cluster,
    dataDir,
    time,
    kubeConfig,
    fetch: (path, fetchOptions = {}) =>
      httpsRequest(`${cluster.url}${path}`, credentials, fetchOptions),
    remove: async () => {
      await cluster.close();
      await rm(dataDir, { recursive: true });
    },
  };
};

export const httpsRequest = async (
  url: string,
  { caPem, token }: { caPem: string; token: string },
  options: FetchOptions,
): Promise<Fetched> => {
  const { method = "GET", headers, body, timeoutMs = 5000, signal } = options;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const sent = request(url, {
    method,
    ca: caPem,
    agent: false,
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    headers: {
      authorization: `Bearer ${token}`,
      ...(text !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      }),
      ...headers,
    },
  });
  sent.end(text);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  const isJson =
    response.headers["content-type"] === "application/json" &&
    response.headers["content-encoding"] === undefined;
  const { statusCode: code = 0, headers: received } = response;
  // A watch has lines of JSON, which its test reads.
  const isStream = new URL(url).searchParams.has("watch") && code === 200;
  return {
    code,
    headers: received,
    bytes,
    json: isJson && !isStream ? JSON.parse(bytes.toString()) : undefined,
  };
};
