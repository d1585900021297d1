import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Table from "cli-table3";
import { Bench } from "tinybench";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import type { Observation } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { HpaMetric } from "../../lib/rules/model/spec-hpa.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { type DecideInput, decide } from "../../lib/rules/policy/decide.ts";
import { readCustomValues, readExternalValues, readPodMetrics } from "../answers.ts";
import { NOON } from "../noon.ts";
import { observationOf, scaleRead } from "../observation.ts";
import { readPods } from "../cluster/read/answers.ts";

/**
 * Decisions per second and bytes allocated for one autoscaler with 1 to 1,000 pods: `decide` alone
 * on an observation that stands ready (what the Go controller does in memory, its informers being
 * filled), and the same with everything before it, from the JSON texts of the API's answers on.
 */
const PODS = [1, 10, 100, 1000] as const;

/**
 * Figures of the original Go controller on one core of a cloud VM, one Resource metric, µs: whole
 * reconcile in memory; the same through its REST client and JSON.
 */
const GO_MEMORY_US: Readonly<Record<number, number>> = { 10: 36, 100: 136 };
const GO_JSON_US: Readonly<Record<number, number>> = { 10: 256, 100: 1490 };

const METRICS: readonly HpaMetric[] = [
  { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
  {
    type: "Resource",
    name: "memory",
    target: { type: "AverageValue", averageValueMilli: 600n * 1024n * 1024n * 1000n },
  },
  {
    type: "Pods",
    metric: { name: "requests" },
    target: { type: "AverageValue", averageValueMilli: 120_000n },
  },
  {
    type: "External",
    metric: { name: "lag", selector: { matchLabels: { queue: "a" } } },
    target: { type: "AverageValue", averageValueMilli: 100_000n },
  },
];

const isoAt = (ageSeconds: number): string => new Date(NOON - ageSeconds * 1000).toISOString();

/** Answers of the API as text, for this many pods near their targets. */
const answers = (pods: number) => {
  const names = Array.from(
    { length: pods },
    (_, at) => `web-7d4b9c6f5-${at.toString(36).padStart(5, "0")}`,
  );
  const labels = { app: "web", "pod-template-hash": "7d4b9c6f5" };
  const podList = names.map((name) => ({
    metadata: {
      name,
      namespace: "shop",
      labels,
      ownerReferences: [{ kind: "ReplicaSet", name: "web-7d4b9c6f5" }],
    },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "250m", memory: "512Mi" } } }],
    },
    status: {
      phase: "Running",
      startTime: isoAt(7200),
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: isoAt(7000) }],
    },
  }));
  const podMetrics = names.map((name, at) => ({
    metadata: { name, labels },
    timestamp: isoAt(20),
    window: "15s",
    containers: [
      { name: "app", usage: { cpu: `${170_000_000 + at * 997}n`, memory: `${520_000 + at}Ki` } },
    ],
  }));
  const custom = names.map((name, at) => ({
    describedObject: { kind: "Pod", name },
    timestamp: isoAt(20),
    value: `${110 + (at % 10)}`,
  }));
  const external = [
    { metricName: "lag", metricLabels: {}, timestamp: isoAt(10), value: `${95 * pods}` },
  ];
  return {
    pods: JSON.stringify({ items: podList }),
    podMetrics: JSON.stringify({ items: podMetrics }),
    custom: JSON.stringify({ items: custom }),
    external: JSON.stringify({ items: external }),
  };
};

const itemsOf = (text: string): unknown => (JSON.parse(text) as { items: unknown }).items;

const observe = (
  texts: ReturnType<typeof answers>,
  replicas: number,
  metrics: readonly HpaMetric[],
): Observation => {
  const asked = (type: HpaMetric["type"]): boolean =>
    metrics.some((metric) => metric.type === type);
  const pods = queryKey({
    for: "pods",
    metric: "requests",
    metricSelector: "",
    podSelector: "app=web",
  });
  const external = queryKey({ for: "external", metric: "lag", metricSelector: "queue=a" });
  return observationOf({
    scale: scaleRead(replicas),
    pods: readPods(itemsOf(texts.pods)),
    answers: {
      resource: { kind: "answered", items: labelIndex(readPodMetrics(itemsOf(texts.podMetrics))) },
      custom: new Map(asked("Pods") ? [[pods, readCustomValues(itemsOf(texts.custom))]] : []),
      external: new Map(
        asked("External") ? [[external, readExternalValues(itemsOf(texts.external))]] : [],
      ),
    },
  });
};

const inputFor = (
  pods: number,
  metrics: readonly HpaMetric[],
  observation: Observation,
): DecideInput => ({
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  spec: {
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 2 * pods,
    metrics,
  },
  settings: DEFAULT_SETTINGS,
  observation,
  windows: NEW_WINDOWS,
  nowMs: NOON,
});

const collector = (): (() => void) => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
};

/**
 * Bytes on the heap per call, over so few calls that nothing is collected in between; the median of
 * several rounds.
 */
const bytesPerCall = (collect: () => void, call: () => unknown): number => {
  const rounds = Array.from({ length: 9 }, () => {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let calls = 0; calls < 4; calls++) call();
    return (process.memoryUsage().heapUsed - before) / 4;
  });
  return rounds.sort((one, other) => one - other)[4] ?? Number.NaN;
};

const measured = async (call: () => unknown): Promise<number> => {
  const bench = new Bench({ time: 250, warmupTime: 150 });
  bench.add("call", call);
  const [task] = await bench.run();
  const result = task?.result;
  if (result?.state !== "completed")
    throw new Error(`Cannot measure: the task is ${result?.state ?? "missing"}`);
  return result.latency.p50 * 1000;
};

const rows = async (collect: () => void): Promise<readonly (readonly string[])[]> => {
  const all: string[][] = [];
  for (const metrics of [METRICS.slice(0, 1), METRICS])
    for (const pods of PODS) {
      const texts = answers(pods);
      const input = inputFor(pods, metrics, observe(texts, pods, metrics));
      const decision = decide(input);
      if (decision.kind !== "hold" || decision.failed)
        throw new Error(`Cannot measure: the decision is ${JSON.stringify(decision.because)}`);
      const memoryUs = await measured(() => decide(input));
      const jsonUs = await measured(() =>
        decide(inputFor(pods, metrics, observe(texts, pods, metrics))),
      );
      const bytes = bytesPerCall(collect, () => decide(input));
      const go = metrics.length === 1 ? [GO_MEMORY_US[pods], GO_JSON_US[pods]] : [];
      all.push([
        String(pods),
        String(metrics.length),
        memoryUs.toFixed(1),
        String(go[0] ?? ""),
        Math.round(1e6 / memoryUs).toLocaleString("en"),
        Math.round(bytes).toLocaleString("en"),
        jsonUs.toFixed(0),
        String(go[1] ?? ""),
      ]);
    }
  return all;
};

export const run = async (): Promise<void> => {
  const table = new Table({
    head: [
      "pods",
      "metrics",
      "decide µs",
      "Go µs",
      "decisions/s",
      "bytes",
      "JSON to decision µs",
      "Go µs",
    ],
    style: { head: [], border: [] },
    colAligns: Array.from({ length: 8 }, () => "right" as const),
  });
  table.push(...(await rows(collector())).map((row) => [...row]));
  process.stdout.write(
    `${table.toString()}\nmedians on Node ${process.versions.node}; Go: kube-controller-manager v1.37.1 on another machine, see docs\n`,
  );
};
