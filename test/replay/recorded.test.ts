import { describe, expect, it } from "vitest";
import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import type { Sample } from "../../lib/rules/model/scale-records.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import {
  countSeries,
  cutOffSeries,
  heldSeries,
  overridesIn,
  raisedWhere,
  type Recorded,
  sampledSeries,
  syncedSeries,
} from "../../lib/replay/recorded.ts";
import { besideFirst } from "../../lib/replay/comparison.ts";
import { podStartOf, podStartsOf } from "../../lib/replay/pod-starts.ts";
import { happened } from "../../lib/replay/happened.ts";
import { recordedLoads, recordedMetrics } from "../../lib/replay/recorded-metrics.ts";
import { StepReader, type Series } from "../../lib/replay/series.ts";
import { hpa, podAutoscaler, START_MS } from "./world.ts";

const specOf = (manifest: object) =>
  admitOrThrow({ where: "test", document: manifest }, { validation: "strict" }).spec;

/** A sample of each minute: three pods at 60 %, within 1 to 20. */
const sample = (minute: number, more: Partial<Sample> = {}): Sample => ({
  ...{ atMs: START_MS + minute * MINUTE_MS, current: 3, ready: 3, min: 1, max: 20 },
  ...{ metrics: [{ name: "cpu", value: "60%", target: "50%", ratio: 1.2 }], load: 1.2, reason: "" },
  ...more,
});
const recordedOf = (samples: readonly Sample[], more: Partial<Recorded> = {}): Recorded => ({
  samples,
  specs: [{ fromMs: START_MS, spec: specOf(hpa()) }],
  ...{ scales: [], calendars: [], periodMs: 15_000, untilMs: START_MS + 60 * MINUTE_MS },
  ...more,
});
const minutes = (from: number, until: number, more: Partial<Sample> = {}): Sample[] =>
  Array.from({ length: until - from }, (_, at) => sample(from + at, more));
/** The value of each minute. */
const valuesOf = (series: Series, count = 60): readonly number[] => {
  const reader = new StepReader(series);
  return Array.from({ length: count }, (_, at) => reader.seek(START_MS + at * MINUTE_MS));
};

describe("sampledSeries()", () => {
  it("holds a sample for five minutes, and no longer: nothing stands for a silence", () => {
    const samples = [...minutes(0, 10), ...minutes(14, 20), ...minutes(40, 60)];
    const known = valuesOf(syncedSeries(recordedOf(samples))).map((value) => value === 1);
    expect(known.slice(0, 20)).toEqual(Array(20).fill(true));
    expect(known.slice(20, 40)).toEqual(Array(20).fill(false));
    expect(known.slice(40)).toEqual(Array(20).fill(true));
  });

  it("is unknown where the count could not be read", () => {
    const { current: _unread, ...unread } = sample(5);
    const recorded = recordedOf([...minutes(0, 5), unread, ...minutes(6, 60)]);
    const counts = valuesOf(sampledSeries(recorded, ({ current = Number.NaN }) => current));
    expect(counts[5]).toBeNaN();
    expect(counts[6]).toBe(3);
  });
});

describe("what happened besides the policy", () => {
  it("counts a scale from its event on, before the next sample shows it", () => {
    const atMs = START_MS + 10.5 * MINUTE_MS;
    const samples = [...minutes(0, 11), ...minutes(11, 60, { current: 5 })];
    const reader = new StepReader(
      countSeries(recordedOf(samples, { scales: [{ atMs, to: 5, isOutside: false }] })),
    );
    expect([atMs - 1, atMs].map((ms) => reader.seek(ms))).toEqual([3, 5]);
  });

  it("holds every policy while another controller, a freeze or a pause did, and not by its schedule", () => {
    const samples = [
      ...minutes(0, 10),
      ...minutes(10, 20, { held: "pause", reason: "FleetFrozen" }),
      ...minutes(20, 30, { held: "rival", reason: "RivalController" }),
      ...minutes(30, 40, { held: "pause", reason: "PausedBySchedule" }),
      ...minutes(40, 60, { held: "stabilization", reason: "ScaleDownStabilized" }),
    ];
    const held = valuesOf(heldSeries(recordedOf(samples)));
    expect(held.map(Number)).toEqual([
      ...Array(10).fill(0),
      ...Array(20).fill(1),
      ...Array(30).fill(0),
    ]);
  });

  it("takes bounds that the manifest does not have for overrides of their time", () => {
    const samples = [...minutes(0, 10), ...minutes(10, 30, { min: 8 }), ...minutes(30, 60)];
    expect(overridesIn(recordedOf(samples))).toMatchObject([
      {
        set: { min: 8 },
        fromMs: START_MS + 10 * MINUTE_MS,
        untilMs: START_MS + 30 * MINUTE_MS,
      },
    ]);
  });

  it("follows an edit in the middle: bounds of the new manifest are no override", () => {
    const at = START_MS + 20 * MINUTE_MS;
    const specs = [
      { fromMs: START_MS, spec: specOf(hpa()) },
      { fromMs: at, spec: specOf(hpa({ minReplicas: 8 })) },
    ] as const;
    const samples = [...minutes(0, 20), ...minutes(20, 60, { min: 8 })];
    expect(overridesIn(recordedOf(samples, { specs }))).toEqual([]);
  });

  it("leaves out a minimum that a forecast set, for a policy that takes no advice", () => {
    const advice = { forecast: "floor", horizonMs: 0, quantile: "p90" } as const;
    const specs = [{ fromMs: START_MS, spec: { ...specOf(hpa()), advice } }] as const;
    const samples = [...minutes(0, 20), ...minutes(20, 60, { min: 8, max: 12 })];
    const recorded = recordedOf(samples, { specs });
    const setBy = (forecasts: boolean) => overridesIn(recorded, { forecasts })[0]?.set;
    expect(setBy(true)).toEqual({ min: 8, max: 12 });
    expect(setBy(false)).toEqual({ max: 12 });
  });

  it("says how long pods took by the samples around a scale", () => {
    const scales = [{ atMs: START_MS + 10 * MINUTE_MS, to: 5, isOutside: false }];
    const samples = [
      ...minutes(0, 11),
      sample(11, { current: 5, ready: 3 }),
      ...minutes(12, 60, { current: 5, ready: 5 }),
    ];
    expect(podStartOf(recordedOf(samples, { scales }))).toBe(90_000);
    expect(podStartOf(recordedOf(samples))).toBeUndefined();
  });

  it("takes half of the pods of a scale for the ones that say how long they took", () => {
    const later = (seconds: number, ready: number) =>
      sample(10, { atMs: START_MS + 10 * MINUTE_MS + seconds * 1_000, current: 9, ready });
    const samples = [...minutes(0, 11), later(15, 3), later(30, 6), later(45, 8), later(60, 9)];
    const scales = [{ atMs: START_MS + 10 * MINUTE_MS, to: 9, isOutside: false }];
    expect(podStartOf(recordedOf(samples, { scales }))).toBe(23_000);
  });

  it("says nothing of how long pods took where the samples are minutes apart", () => {
    const scales = [{ atMs: START_MS + 10 * MINUTE_MS, to: 5, isOutside: false }];
    const each = [0, 5, 10].map((minute) => sample(minute));
    const samples = [
      ...each,
      ...[15, 20].map((minute) => sample(minute, { current: 5, ready: 5 })),
    ];
    expect(podStartOf(recordedOf(samples, { scales, periodMs: 300_000 }))).toBeUndefined();
  });

  it("says how the pods of a scale differ, and nothing where the samples are too far apart", () => {
    const atMs = START_MS + 10 * MINUTE_MS;
    const scales = [{ atMs, to: 11, isOutside: false }];
    const recordedAfter = (seconds: readonly number[], ready: readonly number[]): Recorded =>
      recordedOf(
        [
          ...minutes(0, 11),
          ...seconds.map((second, at) => ({
            ...sample(10, { current: 11, ready: ready[at] ?? 0 }),
            atMs: atMs + second * 1_000,
          })),
        ],
        { scales },
      );
    // Two of eight come within the second quarter of a minute, and six within the third.
    const starts = podStartsOf(recordedAfter([15, 30, 45], [3, 5, 11]));
    const eight = [18_750, 26_250, 31_250, 33_750, 36_250, 38_750, 41_250, 43_750];
    expect([...starts.usualMs]).toEqual(eight);
    expect([...starts.scaleMs]).toEqual([atMs]);
    expect([...starts.scaleStartsMs]).toEqual(eight);
    // A minute does not say it, and two pods do not say it of others.
    expect(podStartsOf(recordedAfter([60], [11])).usualMs).toHaveLength(0);
    const few = podStartsOf(recordedAfter([15, 30, 45], [3, 3, 5]));
    expect([few.usualMs.length, few.scaleMs.length]).toEqual([0, 0]);
  });

  it("gives the pods that serve first to the scale that was first", () => {
    const at = (seconds: number, more: Partial<Sample>) =>
      sample(10, { ...more, atMs: START_MS + 10 * MINUTE_MS + seconds * 1_000 });
    const samples = [
      ...minutes(0, 11),
      at(15, { current: 5, ready: 3 }),
      at(30, { current: 6, ready: 5 }),
      at(45, { current: 6, ready: 6 }),
    ];
    const scales = [0, 15].map((seconds, which) => ({
      ...{ atMs: START_MS + 10 * MINUTE_MS + seconds * 1_000, to: 5 + which, isOutside: false },
    }));
    const { scaleEnds, scaleStartsMs } = podStartsOf(recordedOf(samples, { scales }));
    expect([...scaleEnds]).toEqual([2, 3]);
    expect([...scaleStartsMs]).toEqual([18_750, 26_250, 22_500]);
  });

  it.each([
    [300, "serve behind a use", 300],
    [15, "have no part in a use yet", 180],
  ])("takes pods that came since a sample of %i s ago to %s", (seconds, _words, load) => {
    const periodMs = seconds * 1_000;
    const samples = [sample(0), sample(0, { atMs: START_MS + periodMs, current: 5, ready: 5 })];
    const recorded = recordedOf(samples, { periodMs, untilMs: START_MS + 2 * periodMs });
    const [made] = [...recordedLoads(recorded, "shop", new Map()).loads.values()];
    // Of 60 % at least: a percentage is cut off to a whole one.
    expect(Math.floor((made?.load.values.at(-1) ?? 0) / 5) * 5).toBe(load);
  });

  it.each([
    [4, "more than served before", 240],
    [1, "no fewer than served before, because a pod without a value serves", 180],
    [9, "no more than are ready", 300],
  ])("takes %i counted pods for %s", (counted, _words, load) => {
    const later = { atMs: START_MS + 30_000, current: 5, ready: 5, counted };
    const samples = [sample(0), sample(0, later)];
    const recorded = recordedOf(samples, { untilMs: START_MS + MINUTE_MS });
    const [made] = [...recordedLoads(recorded, "shop", new Map()).loads.values()];
    expect(Math.floor((made?.load.values.at(-1) ?? 0) / 5) * 5).toBe(load);
  });
});

describe("a day that is missing", () => {
  it("is in no share, and in no comparison of days", () => {
    const days = 3 * 1_440;
    const samples = minutes(0, days).filter((_, at) => at < 1_440 || at >= 2_880);
    const recorded = recordedOf(samples, { untilMs: START_MS + days * MINUTE_MS });
    const span = { fromMs: START_MS, untilMs: recorded.untilMs };
    const load = sampledSeries(recorded, () => 180);
    const real = happened(recorded, [{ load, perPod: 50 }], span);
    const [one, other] = besideFirst([real, real], span);
    expect(one.figures.coverage).toBeCloseTo(2 / 3, 2);
    expect(one.figures.aboveTarget).toBe(1);
    expect(one.days.map(({ figures }) => Math.round(figures.coverage))).toEqual([1, 0, 1]);
    expect(other?.wins?.days).toBe(3 - 1);
    // Three pods, on the two days that are known: a sample says something for a minute.
    expect(one.figures.replicaHours).toBeCloseTo(2 * 24 * 3, 0);
    expect(one.days.map(({ figures }) => Math.round(figures.replicaHours))).toEqual([72, 0, 72]);
  });
});

describe("demand that was cut off", () => {
  const samples = [
    ...minutes(0, 20),
    ...minutes(20, 40, { current: 20, ready: 20, load: 1.4 }),
    ...minutes(40, 60, { current: 20, ready: 20, load: 1 }),
  ];

  it("is where the count was at its maximum and the load above the target", () => {
    const cutOff = valuesOf(cutOffSeries(recordedOf(samples)));
    expect(cutOff).toEqual([...Array(20).fill(0), ...Array(20).fill(1), ...Array(20).fill(0)]);
  });

  it("is where the pods used all that they ask for, because many may use no more", () => {
    const metrics = [{ name: "cpu", value: "103%", target: "50%", ratio: 2.06 }];
    const busy = recordedOf([
      ...minutes(0, 10),
      ...minutes(10, 20, { metrics }),
      ...minutes(20, 60),
    ]);
    const cutOff = valuesOf(cutOffSeries(busy));
    expect([cutOff[9], cutOff[10], cutOff[19], cutOff[20]]).toEqual([0, 1, 1, 0]);
  });

  it("is raised there only", () => {
    const raised = valuesOf(raisedWhere(cutOffSeries(recordedOf(samples)), 1.5));
    expect([raised[19], raised[20], raised[39], raised[40]]).toEqual([1, 1.5, 1.5, 1]);
  });
});

describe("when a recorded value began", () => {
  const cpuOf = (percent: number, more: Partial<Sample> = {}): Partial<Sample> => ({
    metrics: [{ name: "cpu", value: `${percent}%`, target: "50%", ratio: percent / 50 }],
    wanted: 3,
    ...more,
  });
  const loadOf = (samples: readonly Sample[]): Series => {
    const { loads } = recordedLoads(recordedOf(samples), "shop", new Map());
    const [load] = [...loads.values()];
    if (!load) throw new Error("no load");
    return load.load;
  };
  const at = (minute: number): number => START_MS + minute * MINUTE_MS;
  const beginOf = (samples: readonly Sample[], percent: number): number => {
    const { times, values } = loadOf(samples);
    return times[values.indexOf((percent + 0.5) * 3)] ?? Number.NaN;
  };

  it("is half-way where the wish stayed as it was, because no sync stored its begin", () => {
    const samples = [...minutes(0, 10, cpuOf(48)), ...minutes(10, 60, cpuOf(52))];
    expect(beginOf(samples, 52)).toBe(at(9.5));
  });

  it.each([
    ["the wish is another one", { wanted: 4 }, 10],
    ["the pods are others", { current: 4, ready: 3 }, 10],
  ])("is its own sample where %s", (_what, more, minute) => {
    const samples = [...minutes(0, 10, cpuOf(48)), ...minutes(10, 60, cpuOf(52, more))];
    expect(beginOf(samples, 52)).toBe(at(minute));
  });

  it("is its own sample after minutes without one, and where one stands for five minutes", () => {
    const samples = [...minutes(0, 10, cpuOf(48)), ...minutes(13, 60, cpuOf(52))];
    expect(beginOf(samples, 52)).toBe(at(13));
  });
});

describe("what pods use without a load", () => {
  it("is in no load, and each pod of the replay has its own", () => {
    const recorded = recordedOf(minutes(0, 60));
    const made = recordedMetrics(
      specOf(hpa()),
      recordedLoads(recorded, "shop", new Map(), 2),
      "shop",
    );
    const [metric] = "metrics" in made ? made.metrics : [];
    if (metric?.model.kind !== "shared") throw new Error("not shared");
    expect(metric.model.load.values[0]).toBe((60.5 - 2) * 3);
    expect(metric.model.idleMilli / metric.model.eachMilli).toBe(2);
  });
});

describe("recordedMetrics()", () => {
  const native = (metric: object) => specOf(podAutoscaler({ metrics: [metric] }));
  const of = (spec: Recorded["specs"][0]["spec"], wanted = spec, models = new Map()) => {
    const recorded = recordedOf(minutes(0, 60), { specs: [{ fromMs: START_MS, spec }] });
    return recordedMetrics(wanted, recordedLoads(recorded, "shop", models), "shop");
  };

  it("gives a utilisation times the pods that served, for every target of it", () => {
    const made = of(specOf(hpa()), native({ resource: { name: "cpu" }, target: 80 }));
    if (!("metrics" in made)) throw new Error("refused");
    const [metric] = made.metrics;
    expect(metric && valuesOf(metric.model.load)[30]).toBe(181.5);
  });

  const cpu = { resource: { name: "cpu" }, target: 50 };
  it.each([
    ["memory", { resource: { name: "memory" }, target: 50 }, "does not follow from a load"],
    [
      "a delay",
      { external: { metric: "request_latency_p95" }, target: 50 },
      "a delay does not follow from a load",
    ],
    [
      "a queue",
      { sqs: { source: "aws", queue: "orders" }, target: 50, measure: "Average" },
      "what waits is recorded, and not what arrives",
    ],
  ])("refuses %s, with the reason", (_what, metric, why) => {
    const made = of(native(metric));
    expect("refused" in made && made.refused.map((each) => each.why).join()).toContain(why);
  });

  it("refuses an amount where a percentage was recorded: nobody knows what the pods ask for", () => {
    const made = of(
      native(cpu),
      native({ resource: { name: "cpu" }, measure: "Average", target: "300m" }),
    );
    expect(made).toEqual({
      refused: [{ of: "cpu", why: expect.stringContaining("what the pods ask for is not stored") }],
    });
  });

  it.each([
    ["stayed as it was when the pods changed", () => "100", true],
    ["fell when pods were added", (pods: number) => String(Math.round(1_200 / pods)), false],
  ])("takes a value for shared unless it %s", (_what, valueFor, isRefused) => {
    const total = native({ external: { metric: "inflight" }, measure: "Total", target: 50 });
    const samples = Array.from({ length: 60 }, (_, at) => {
      const ready = at % 10 < 5 ? 3 : 6;
      const metrics = [{ name: "inflight", value: valueFor(ready), target: "50", ratio: 2 }];
      return sample(at, { current: ready, ready, metrics });
    });
    const recorded = recordedOf(samples, { specs: [{ fromMs: START_MS, spec: total }] });
    const made = recordedMetrics(total, recordedLoads(recorded, "shop", new Map()), "shop");
    expect("refused" in made).toBe(isRefused);
    if ("refused" in made)
      expect(made.refused[0]?.why).toContain(
        "its value stayed as it was in 11 changes of the pods",
      );
  });

  it("takes what it refuses by default where a person chooses the model", () => {
    const delay = native({ external: { metric: "request_latency_p95" }, target: 50 });
    expect("metrics" in of(delay, delay, new Map([["request_latency_p95", "shared"]]))).toBe(true);
  });
});
