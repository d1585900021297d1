import { describe, expect, it } from "vitest";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Pod, PodMetrics } from "../../../lib/rules/model/observation.ts";
import type { HpaMetric } from "../../../lib/rules/model/spec-hpa.ts";
import { measureMarked } from "../../../lib/rules/policy/multi-threshold/steps/measure.ts";
import { NO_METRICS, podUsage, readyPod, readyPods } from "../../observation.ts";
import { answersOf } from "../../answers.ts";

/** 100m to 200m: a sum of 100m or more is in the band. */
const MARKS = { lowMilli: 100n, highMilli: 200n };
const target = { type: "Value" };
const CPU: HpaMetric = { type: "Resource", name: "cpu", target };
const CPU_OF_APP: HpaMetric = { type: "ContainerResource", name: "cpu", container: "app", target };
const CPU_OF_PROXIES: HpaMetric = { ...CPU, selector: { matchLabels: { app: "proxy" } } };
const UNREADABLE = { matchExpressions: [{ key: "app", operator: "Sort" }] };

interface Seen {
  readonly pods?: readonly Pod[];
  readonly usages?: readonly PodMetrics[];
}

/** One metric of four pods of "web". */
const measured = (metric: HpaMetric, { pods = readyPods(4), usages }: Seen) =>
  measureMarked(metric, MARKS, {
    namespace: "shop",
    currentReplicas: 4,
    statusReplicas: 4,
    podSelector: [{ key: "app", operator: "=", values: ["web"] }],
    pods,
    answers: answersOf({
      resource: usages ? { kind: "answered", items: labelIndex(usages) } : NO_METRICS,
    }),
    tolerance: { up: 0, down: 0 },
    readiness: { nowMs: 0, cpuInitializationPeriodMs: 0, initialReadinessDelayMs: 0 },
  });
const usagesOf = (count: number, milli: bigint): readonly PodMetrics[] =>
  Array.from({ length: count }, (_, at) => podUsage(`web-${at}`, { cpu: milli }));

describe("the CPU of pods against two watermarks (proposals.md §5)", () => {
  it("is the sum over the pods of the target, and of no others", () => {
    const usages = [
      ...usagesOf(4, 10n),
      podUsage("proxy-0", { cpu: 900n }, { labels: { app: "proxy" } }),
    ];
    expect(measured(CPU, { usages })).toMatchObject({
      kind: "measured",
      value: "40m",
      proposal: 1,
    });
  });

  it("is that of one container where the metric names one", () => {
    const containers = [
      { name: "app", usage: { cpu: 30n } },
      { name: "proxy", usage: { cpu: 500n } },
    ];
    const usages = readyPods(4).map(({ name }) => podUsage(name, {}, { containers }));
    expect(measured(CPU_OF_APP, { usages })).toMatchObject({ value: "120m", proposal: 4 });
    expect(measured(CPU, { usages })).toMatchObject({ value: "2120m", proposal: 43 });
  });

  it.each([
    ["runs", {}, 4],
    ["does not run yet", { phase: "Pending" }, 1],
    ["has ended", { phase: "Succeeded" }, 1],
    ["is being deleted", { deleting: true }, 1],
  ])(
    "lets nothing shrink while a pod without a sample %s: the count is %3$i",
    (_, more, proposal) => {
      const pods = [...readyPods(3), readyPod("web-3", 100n, more)];
      for (const metric of [CPU, CPU_OF_APP])
        expect(measured(metric, { pods, usages: usagesOf(3, 10n) })).toMatchObject({
          value: "30m",
          proposal,
        });
    },
  );

  it("is that of other pods where the metric has a selector of its own; none of them is known to be missing", () => {
    const usages = [
      ...usagesOf(2, 500n),
      podUsage("proxy-0", { cpu: 50n }, { labels: { app: "proxy" } }),
    ];
    expect(measured(CPU_OF_PROXIES, { usages })).toMatchObject({ value: "50m", proposal: 2 });
  });

  it.each<[string, HpaMetric, Seen, string]>([
    [
      "its selector cannot be read",
      { ...CPU, selector: UNREADABLE },
      { usages: usagesOf(4, 10n) },
      '"Sort" is not a valid label selector operator',
    ],
    [
      "there is no answer",
      CPU,
      {},
      "unable to fetch metrics from resource metrics API: no metrics",
    ],
    [
      "no pod has the resource",
      { ...CPU, name: "memory" },
      { usages: usagesOf(4, 10n) },
      "no pod gave a sample",
    ],
  ])("fails where %s", (_, metric, seen, message) => {
    const name = `${metric.type === "Resource" ? metric.name : ""} resource`;
    expect(measured(metric, seen)).toMatchObject({
      kind: "failed",
      reason: "FailedGetResourceMetric",
      message: `failed to get ${name}: ${message}`,
    });
  });
});

it("a metric of pods fails where its selector cannot be read, and says so", () => {
  const jobs: HpaMetric = { type: "Pods", metric: { name: "jobs", selector: UNREADABLE }, target };
  expect(measured(jobs, {})).toMatchObject({
    kind: "failed",
    message: 'failed to get pods metric jobs: "Sort" is not a valid label selector operator',
  });
});
