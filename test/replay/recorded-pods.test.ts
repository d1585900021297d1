import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { happened } from "../../lib/replay/happened.ts";
import { podStartsOf } from "../../lib/replay/pod-starts.ts";
import { InStep, podsSeen } from "../../lib/replay/recorded-pods.ts";
import type { Recorded } from "../../lib/replay/recorded.ts";
import { recordedLoads, recordedMetrics } from "../../lib/replay/recorded-metrics.ts";
import { replay } from "../../lib/replay/replay.ts";
import { constantSeries } from "../../lib/replay/series.ts";
import { hpa, START_MS } from "./world.ts";

const { spec } = admitOrThrow({
  where: "test",
  document: hpa({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } }),
});

/** A sample of six pods at 66 %, which asks for eight. */
const sampleAt = (seconds: number, more: Partial<Sample> = {}): Sample => ({
  ...{ atMs: START_MS + seconds * SECOND_MS, current: 6, ready: 6, counted: 6, wanted: 8 },
  ...{ min: 1, max: 20, metrics: [{ name: "cpu", value: "66%", target: "50%" }], reason: "" },
  ...more,
});
const recordedOf = (samples: readonly Sample[], more: Partial<Recorded> = {}): Recorded => ({
  ...{ samples, specs: [{ fromMs: START_MS, spec }], scales: [], calendars: [] },
  ...{ periodMs: 15_000, untilMs: START_MS + MINUTE_MS },
  ...more,
});

/** What the unchanged policy does in a replay of a history. */
const scalesOf = (recorded: Recorded): readonly (readonly [number, number])[] => {
  const made = recordedMetrics(spec, recordedLoads(recorded, "shop", new Map()), "shop");
  if ("refused" in made) throw new Error(made.refused.map(({ why }) => why).join());
  const pod = { requests: { cpu: 100_000n }, limits: { cpu: 100_000n }, startMs: 30_000 };
  const { scales } = replay(
    {
      ...{ namespace: namespace("shop"), name: autoscalerName("web"), settings: DEFAULT_SETTINGS },
      specs: [{ fromMs: 0, spec, metrics: made.metrics }],
    },
    {
      pods: { ...pod, target: spec.target, container: "app", starts: podStartsOf(recorded) },
      ...{ initialReplicas: 6, target: [], seen: podsSeen(recorded) },
    },
    { fromMs: START_MS, untilMs: recorded.untilMs, periodMs: recorded.periodMs },
  );
  return scales.map(({ atMs, to }) => [(atMs - START_MS) / SECOND_MS, to]);
};

describe("pods of a recorded sync", () => {
  // Of 100 % each: (6 × 1 % + 2 × 100 %) ÷ 8 is 25 %, half of the target for eight pods.
  it.each([
    [0, "have not started", 1],
    [1, "differ", 3],
    [2, "run and give no sample", 4],
  ])("are as they were: with %i without a sample, two new pods %s", (missing, _words, to) => {
    const idle = { value: "1%", average: "10m", target: "50%", name: "cpu" };
    const later = { current: 8, ready: 6, counted: 6, missing, wanted: to, metrics: [idle] };
    const scales = [{ atMs: START_MS, to: 8, isOutside: false }];
    const recorded = recordedOf([sampleAt(0), sampleAt(15, later)], {
      scales,
      untilMs: START_MS + 20 * SECOND_MS,
    });
    expect(scalesOf(recorded)).toEqual([
      [0, 8],
      [15, to],
    ]);
  });

  it("are nothing to a replay that has another count, until all pods of both serve", () => {
    const samples = [
      sampleAt(0),
      sampleAt(15, { current: 8, ready: 6, missing: 1 }),
      sampleAt(30, { current: 8, ready: 8, counted: 8 }),
    ];
    const inStep = new InStep(podsSeen(recordedOf(samples)));
    const at = (seconds: number, count: number, ready: number, changedSeconds: number) =>
      inStep.at(START_MS + seconds * SECOND_MS, {
        ...{ count, ready, changedMs: START_MS + changedSeconds * SECOND_MS },
      });
    expect(at(0, 6, 6, -100)).toMatchObject({ current: 6, counted: 6, missing: 0 });
    expect(at(15, 8, 6, 0)).toMatchObject({ current: 8, counted: 6, missing: 1 });
    expect(at(30, 7, 7, 20)).toBeUndefined();
    expect(at(45, 8, 7, 30)).toBeUndefined();
    expect(at(50, 8, 8, 45)).toBeUndefined();
    expect(at(59, 8, 8, 29)).toMatchObject({ current: 8, counted: 8 });
  });

  it("are read no more in a silence, and again after it", () => {
    const samples = [sampleAt(0), sampleAt(600)];
    const inStep = new InStep(
      podsSeen(recordedOf(samples, { untilMs: START_MS + 11 * MINUTE_MS })),
    );
    const pods = { count: 6, ready: 6, changedMs: 0 };
    const known = [0, 300, 601].map((seconds) => inStep.at(START_MS + seconds * SECOND_MS, pods));
    expect(known.map((row) => row?.current)).toEqual([6, undefined, 6]);
  });
});

describe("pods that served", () => {
  const readyMsOf = (samples: readonly Sample[], scales: Recorded["scales"]): number => {
    const recorded = recordedOf(samples, { scales });
    const load = constantSeries(1, podsSeen(recorded).count);
    const span = { fromMs: START_MS, untilMs: recorded.untilMs };
    return happened(recorded, [{ load, perPod: 1 }], span).readyMs[0] ?? 0;
  };

  it("serve no longer when a scale took them away, though a sample shows it later", () => {
    const scales = [{ atMs: START_MS + 10_000, to: 4, isOutside: false }];
    const samples = [sampleAt(0), sampleAt(40, { current: 4, ready: 4, counted: 4 })];
    expect(readyMsOf(samples, scales)).toBe(6 * 10_000 + 4 * 50_000);
  });

  it("began to serve half-way between two samples", () => {
    const samples = [sampleAt(0, { current: 8 }), sampleAt(30, { current: 8, ready: 8 })];
    expect(readyMsOf(samples, [])).toBe(6 * 15_000 + 8 * 45_000);
  });
});
