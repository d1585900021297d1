import { describe, expect, it } from "vitest";
import { NOON } from "../../noon.ts";
import { told } from "./told.ts";
import { counts, LOAD, native, type Seen, scaledBefore, sync } from "./world.ts";

const READ = "condition AbleToScale True SucceededGetScale: the scale of the target was read";
const COMPUTED = (name: string): string =>
  `condition ScalingActive True ValidMetricFound: a count was computed from ${name}`;
const INSIDE =
  "condition ScalingLimited False DesiredWithinRange: the wanted count is within minReplicas and maxReplicas";
const BREACHES = (up: boolean, down: boolean): readonly string[] => [
  `condition BreachAbove ${up ? "True Breached: the metrics ask" : "False Within: the metrics do not ask"} for more pods`,
  `condition BreachBelow ${down ? "True Breached: the metrics ask" : "False Within: the metrics do not ask"} for fewer pods`,
];
const UNSEEN = ["BreachAbove", "BreachBelow"].map(
  (type) =>
    `condition ${type} Unknown NotMeasured: the metrics were not looked at, so that a breach is not known to last`,
);
const GONE = (metric: string): string =>
  `FailedGetExternalMetric: unable to get external metric shop/${metric}/nil: unable to fetch metrics from external metrics API: no metrics`;
const SHOWN = (metric: string, value: string): string =>
  `{"type":"External","external":{"metric":{"name":"${metric}"},"current":{"averageValue":"${value}"}}}`;
const STEPS = ["sustain", "stabilize", "round", "limit", "clamp", "cool down", "flap"];
const passed = (from: number, to: number): readonly string[] => [
  `step combine ${from} to ${to}`,
  ...STEPS.map((step) => `step ${step} ${to} to ${to}`),
];

const linesOf = (spec: Readonly<Record<string, unknown>>, seen: Seen): readonly string[] =>
  told(sync(native(spec), seen).decision);
/** What was done and why, and the steps that a limit changed. */
const limitsOf = (spec: ReturnType<typeof native>, seen: Seen): readonly string[] =>
  told(sync(spec, seen).decision).filter(
    (line, index) => index < 2 || (line.startsWith("step") && line.includes("[")),
  );
const named = (name: string, more: object = {}) => ({
  ...LOAD,
  name,
  external: { metric: name },
  ...more,
});

describe("a whole decision of the native rules", () => {
  it("grows on a value above the target", () =>
    expect(linesOf({}, { replicas: 5, values: { load: 90 } })).toEqual([
      "scale 5 to 9, load above target",
      "because MetricAboveTarget: load 18 of 10 asks for 9",
      "metric load External 18 against 10, ratio 1.8 gives 9",
      ...passed(5, 9),
      READ,
      COMPUTED("load"),
      ...BREACHES(true, false),
      INSIDE,
      `status 5, wanted 0, [${SHOWN("load", "18")}]`,
    ]));

  it("shrinks on a value below the target", () =>
    expect(linesOf({}, { replicas: 5, values: { load: 20 } })).toEqual([
      "scale 5 to 2, load below target",
      "because MetricsBelowTarget: load 4 of 10 asks for 2",
      "metric load External 4 against 10, ratio 0.4 gives 2",
      ...passed(5, 2),
      READ,
      COMPUTED("load"),
      ...BREACHES(false, true),
      INSIDE,
      `status 5, wanted 0, [${SHOWN("load", "4")}]`,
    ]));

  it("stays on a value at the target", () =>
    expect(linesOf({}, { replicas: 5, values: { load: 50 } })).toEqual([
      "hold 5",
      "because WithinTarget: no metric asks for another count",
      "metric load External 10 against 10, ratio 1 gives 5",
      ...passed(5, 5),
      READ,
      COMPUTED("load"),
      ...BREACHES(false, false),
      INSIDE,
      `status 5, wanted 5, [${SHOWN("load", "10")}]`,
    ]));

  it.each([
    [
      "above",
      { minReplicas: 2, maxReplicas: 4 },
      4,
      "AboveMaxReplicas",
      "the count of 5 is outside 2 to 4",
    ],
    [
      "below",
      { minReplicas: 6, maxReplicas: 8 },
      6,
      "BelowMinReplicas",
      "the count of 5 is outside 6 to 8",
    ],
  ])(
    "goes straight to its bounds when it is %s them, and asks no metric",
    (_, spec, to, reason, message) =>
      expect(linesOf(spec, { replicas: 5, values: { load: 50 } })).toEqual([
        `scale 5 to ${to}, ${message}`,
        `because ${reason}: ${message}`,
        `step bounds 5 to ${to} [${reason} ${to}: ${message}]`,
        READ,
        ...UNSEEN,
        "status 5, wanted 0, null",
      ]),
  );

  it("is disabled at 0 where the spec has no idle count", () => {
    const message =
      "ScalingDisabled: the count is 0 and no idle count is given: the workload was stopped by a person or another program";
    expect(linesOf({}, { replicas: 0, values: { load: 50 } })).toEqual([
      "hold 0",
      `because ${message}`,
      READ,
      `condition ScalingActive False ${message}`,
      ...UNSEEN,
      "status 0, wanted 0, null",
    ]);
  });

  it("holds without its metric", () => {
    const missing = GONE("load").replace("FailedGetExternalMetric: ", "load is missing: ");
    expect(linesOf({}, { replicas: 5 })).toEqual([
      "hold 5, failed",
      `because MetricMissing: ${missing}`,
      `metric load External failed, ${GONE("load")}`,
      `step combine 5 to 5 [MetricMissing 5: ${missing}]`,
      `event Warning ${GONE("load")}`,
      `event Warning FailedComputeMetricsReplicas: ${missing}`,
      READ,
      `condition MetricMissing:load True ${GONE("load")}`,
      `condition ScalingActive False MetricMissing: ${missing}`,
      ...UNSEEN,
      'status 5, wanted 5, [{"type":""}]',
    ]);
  });

  const upOnly = { metrics: [named("a", { onMissing: { action: "scaleUpOnly" } }), named("b")] };
  it("grows on another metric while one is missing that leaves the way up open", () =>
    expect(linesOf(upOnly, { replicas: 5, values: { b: 90 } })).toEqual([
      "scale 5 to 9, b above target",
      "because MetricAboveTarget: b 18 of 10 asks for 9",
      `metric a External failed, ${GONE("a")}`,
      "metric b External 18 against 10, ratio 1.8 gives 9",
      ...passed(5, 9),
      `event Warning ${GONE("a")}`,
      READ,
      `condition MetricMissing:a True ${GONE("a")}`,
      COMPUTED("b"),
      ...BREACHES(true, false),
      INSIDE,
      `status 5, wanted 0, [{"type":""},${SHOWN("b", "18")}]`,
    ]));

  it("shrinks nothing while a metric is missing that leaves the way up open", () => {
    const message = "a metric is missing, and no other one asks for more pods";
    expect(linesOf(upOnly, { replicas: 5, values: { b: 20 } })).toEqual([
      "hold 5, failed",
      `because MetricMissing: ${message}`,
      `metric a External failed, ${GONE("a")}`,
      "metric b External 4 against 10, ratio 0.4 gives 2",
      `step combine 5 to 5 [MetricMissing 5: ${message}]`,
      `event Warning ${GONE("a")}`,
      `event Warning FailedComputeMetricsReplicas: ${message}`,
      READ,
      `condition MetricMissing:a True ${GONE("a")}`,
      `condition ScalingActive False MetricMissing: ${message}`,
      ...UNSEEN,
      `status 5, wanted 5, [{"type":""},${SHOWN("b", "4")}]`,
    ]);
  });

  it("remembers a count that is wanted while another metric is missing, as the HPA does", () => {
    const spec = native({
      metrics: [named("a", { onMissing: { action: "scaleUpOnly" } }), named("b")],
      scaleDown: { stabilizationWindowSeconds: 60 },
    });
    const wanted = { a: 20, b: 50 };
    const fewer = { a: 20, b: 20 };
    expect(
      counts(spec, 5, [
        [0, wanted],
        [60, { b: 50 }],
        [119, fewer],
        [120, fewer],
      ]),
    ).toEqual([5, 5, 5, 2]);
    expect(
      counts(spec, 5, [
        [0, wanted],
        [60, { b: 20 }],
        [119, fewer],
      ]),
    ).toEqual([5, 5, 2]);
  });

  it("takes the fallback of a metric that is missing for long enough", () => {
    const spec = native({
      metrics: [
        named("a", { onMissing: { action: "fallback", replicas: 8, afterSeconds: 60 } }),
        named("b"),
      ],
    });
    const { windows } = sync(spec, { replicas: 5, values: { b: 20 } });
    const at = (afterMs: number) =>
      limitsOf(spec, { replicas: 5, values: { b: 20 }, nowMs: NOON + afterMs, windows });
    expect(at(59_999)[0]).toBe("hold 5, failed");
    expect(at(60_000)).toEqual([
      "scale 5 to 8, the fallback of a above target",
      "because MetricAboveTarget: the fallback of a above target",
    ]);
  });

  it.each([
    ["Mean", "scale 5 to 8, a, b above target", "a, b"],
    ["Min", "scale 5 to 6, b above target", "b"],
    ["Max", "scale 5 to 9, a above target", "a"],
  ])("names whose count it is: %s", (combine, moved, names) => {
    const lines = linesOf(
      { combine, metrics: [named("a"), named("b")] },
      { replicas: 5, values: { a: 90, b: 60 } },
    );
    expect(lines[0]).toBe(moved);
    expect(lines).toContain(COMPUTED(names));
  });
});

const cool = {
  scaleUp: { forbiddenAfterEventSeconds: 60 },
  scaleDown: { forbiddenAfterEventSeconds: 120 },
};
const pods = [{ type: "Pods", value: 2, periodSeconds: 60 }];
const UP = "load above target";
const DOWN = "load below target";
const LIMITED_BY: Readonly<Record<string, string>> = {
  ReplicaModulo: "the modulo made it",
  ScaleUpLimit: "the rate limit allowed",
  ScaleDownLimit: "the rate limit allowed",
  TooManyReplicas: "maxReplicas allowed",
  TooFewReplicas: "minReplicas allowed",
};

describe("a limit of the native rules", () => {
  it.each([
    [
      { scaleUp: { sustainSeconds: 30 } },
      5,
      90,
      "hold 5",
      UP,
      "sustain 9 to 5 [NotSustained 30 until +30 s: the breach has not lasted 30 s]",
    ],
    [
      { scaleDown: { sustainSeconds: 30 } },
      5,
      20,
      "hold 5",
      DOWN,
      "sustain 2 to 5 [NotSustained 30 until +30 s: the breach has not lasted 30 s]",
    ],
    [
      { scaleUp: { stepMinimum: 3 } },
      5,
      70,
      "hold 5",
      UP,
      "round 7 to 5 [StepMinimum 3: a change of fewer than 3 pods is not made]",
    ],
    [
      { scaleUp: { replicaModulo: 4 } },
      5,
      70,
      `scale 5 to 8, ${UP}`,
      UP,
      "round 7 to 8 [ReplicaModulo 4: counts are multiples of 4]",
    ],
    [
      { scaleDown: { replicaModulo: 4 } },
      9,
      50,
      `scale 9 to 8, ${DOWN}`,
      DOWN,
      "round 5 to 8 [ReplicaModulo 4: counts are multiples of 4]",
    ],
    [
      { scaleUp: { policies: pods } },
      5,
      90,
      `scale 5 to 7, ${UP}`,
      UP,
      "limit 9 to 7 [ScaleUpLimit 7: the policies allow 7 for now]",
    ],
    [
      { scaleDown: { policies: pods } },
      5,
      20,
      `scale 5 to 3, ${DOWN}`,
      DOWN,
      "limit 2 to 3 [ScaleDownLimit 3: the policies allow 3 for now]",
    ],
    [
      { scaleUp: { selectPolicy: "Disabled" } },
      5,
      90,
      "hold 5",
      UP,
      "limit 9 to 5 [DirectionDisabled 5: scaling up is disabled]",
    ],
    [
      { scaleDown: { selectPolicy: "Disabled" } },
      5,
      20,
      "hold 5",
      DOWN,
      "limit 2 to 5 [DirectionDisabled 5: scaling down is disabled]",
    ],
    [
      { maxReplicas: 7 },
      5,
      90,
      `scale 5 to 7, ${UP}`,
      UP,
      "clamp 9 to 7 [TooManyReplicas 7: 9 is above maxReplicas, which is 7]",
    ],
    [
      { maxReplicas: 7, scaleUp: { policies: pods } },
      5,
      90,
      `scale 5 to 7, ${UP}`,
      UP,
      "clamp 9 to 7 [TooManyReplicas 7: 9 is above maxReplicas, which is 7]",
    ],
    [
      { minReplicas: 3, scaleDown: { policies: pods } },
      5,
      20,
      `scale 5 to 3, ${DOWN}`,
      DOWN,
      "clamp 2 to 3 [TooFewReplicas 3: 2 is below minReplicas, which is 3]",
    ],
    [
      {
        minReplicas: 5,
        scaleUp: {
          selectPolicy: "Min",
          policies: [{ type: "Percent", value: 20, periodSeconds: 60 }],
        },
      },
      5,
      90,
      `scale 5 to 6, ${UP}`,
      UP,
      "limit 9 to 6 [ScaleUpLimit 6: the policies allow 6 for now]",
    ],
    [
      { minReplicas: 4 },
      5,
      20,
      `scale 5 to 4, ${DOWN}`,
      DOWN,
      "clamp 2 to 4 [TooFewReplicas 4: 2 is below minReplicas, which is 4]",
    ],
    [
      { pausedUntil: "2026-03-01T12:00:30Z" },
      5,
      90,
      "hold 5",
      UP,
      "override 9 to 5 [Paused 5 until +30 s: paused by the manifest, the count would be 9]",
    ],
    [
      { dryRun: true },
      5,
      90,
      "hold 5",
      UP,
      "override 9 to 5 [DryRun 5: dry run, the count would be 9]",
    ],
  ])(
    "says what it is, and its step, with %j from %d at a load of %d",
    (spec, replicas, load, moved, trigger, step) => {
      const [, reason = "", message] = /\[(\w+) .*?: (.*)\]/.exec(step) ?? [];
      const after = /^[a-z]+ \d+ to (\d+)/.exec(step)?.[1];
      const scaled = trigger === UP ? "MetricAboveTarget: load" : "MetricsBelowTarget: load";
      const [, because = ""] = limitsOf(native(spec), { replicas, values: { load } });
      if (moved.startsWith("hold"))
        expect(because).toBe(`because ${reason}: ${trigger}: ${message}`);
      else
        expect(because).toMatch(
          new RegExp(
            `^because ${scaled} \\S+ of 10 asks for \\d+; ${LIMITED_BY[reason]} ${after}$`,
          ),
        );
      expect(limitsOf(native(spec), { replicas, values: { load } })).toEqual([
        moved,
        because,
        `step ${step}`,
      ]);
    },
  );

  it.each([
    [
      90,
      UP,
      "cool down 9 to 5 [ForbiddenWindow 60 until +50 s: scaling up is forbidden for 60 s after any scale]",
    ],
    [
      20,
      DOWN,
      "cool down 2 to 5 [ForbiddenWindow 120 until +110 s: scaling down is forbidden for 120 s after any scale]",
    ],
  ])("names a forbidden window at a load of %d", (load, trigger, step) => {
    const spec = native(cool);
    const lines = limitsOf(spec, {
      replicas: 5,
      values: { load },
      windows: scaledBefore(spec, 10, 4, 5),
    });
    expect(lines).toEqual([
      "hold 5",
      `because ForbiddenWindow: ${trigger}: ${step.slice(step.indexOf(": ") + 2, -1)}`,
      `step ${step}`,
    ]);
  });

  it("names a clamp in its condition", () => {
    expect(linesOf({ maxReplicas: 7 }, { replicas: 5, values: { load: 90 } })).toContain(
      "condition ScalingLimited True TooManyReplicas: 9 is above maxReplicas, which is 7",
    );
    expect(linesOf({ minReplicas: 4 }, { replicas: 5, values: { load: 20 } })).toContain(
      "condition ScalingLimited True TooFewReplicas: 2 is below minReplicas, which is 4",
    );
  });

  it.each([
    [
      90,
      "stabilize 9 to 5 [ScaleUpStabilized 5 until +60 s: a lower count was wanted inside the window]",
    ],
    [
      20,
      "stabilize 2 to 5 [ScaleDownStabilized 5 until +60 s: a higher count was wanted inside the window]",
    ],
  ])("names a stabilization window at a load of %d", (load, step) => {
    const spec = native({
      scaleDown: { stabilizationWindowSeconds: 60 },
      scaleUp: { stabilizationWindowSeconds: 60 },
    });
    const { windows } = sync(spec, { replicas: 5, values: { load: 50 } });
    expect(
      limitsOf(spec, { replicas: 5, values: { load }, nowMs: NOON + 15_000, windows })[2],
    ).toBe(`step ${step}`);
  });
});

describe("a workload with an idle count says whether it is in use", () => {
  const spec = {
    minReplicas: 2,
    idle: { afterSeconds: 60 },
    metrics: [{ ...LOAD, activation: 5 }],
  };
  const BELOW =
    "condition Idle True BelowActivation: every metric with an activation threshold is at or below it";

  it("goes to rest at the threshold after its time", () => {
    const { windows } = sync(native(spec), { replicas: 2, values: { load: 5 } });
    const message = "no metric was above its activation threshold for 60 s";
    const lines = linesOf(spec, {
      replicas: 2,
      values: { load: 5 },
      nowMs: NOON + 60_000,
      windows,
    });
    expect(lines.slice(0, 6)).toEqual([
      `scale 2 to 0, ${message}`,
      `because MetricsBelowTarget: ${message}`,
      "metric load External 2500m against 10, ratio 0.25 gives 1",
      "step idle 2 to 0",
      "step cool down 0 to 0",
      "step flap 0 to 0",
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([BELOW, `condition ScalingActive True ValidMetricFound: ${message}`]),
    );
    expect(
      limitsOf(native(spec), {
        replicas: 2,
        values: { load: 5 },
        nowMs: NOON + 59_999,
        windows,
      })[0],
    ).toBe("hold 2");
  });

  it("stays at rest at the threshold", () =>
    expect(linesOf(spec, { replicas: 0, values: { load: 5 } })).toEqual([
      "hold 0",
      "because Idle: no metric is above its activation threshold",
      "metric load External 5 against 10, ratio 0.5 gives 0",
      READ,
      BELOW,
      "condition ScalingActive True Idle: no metric is above its activation threshold",
      ...UNSEEN,
      `status 0, wanted 0, [${SHOWN("load", "5")}]`,
    ]));

  it("stays at rest while its use is unknown", () => {
    const message =
      "ActivationUnknown: whether the workload is in use is not known: a metric is missing";
    expect(linesOf(spec, { replicas: 0 })).toEqual([
      "hold 0, failed",
      `because ${message}`,
      `metric load External failed, ${GONE("load")}`,
      `event Warning ${GONE("load")}`,
      READ,
      `condition MetricMissing:load True ${GONE("load")}`,
      "condition Idle Unknown NotMeasured: a metric with an activation threshold is missing",
      `condition ScalingActive False ${message}`,
      ...UNSEEN,
      'status 0, wanted 0, [{"type":""}]',
    ]);
  });

  it("goes straight to the minimum above the threshold", () => {
    const message = "a metric is above its activation threshold";
    expect(linesOf(spec, { replicas: 0, values: { load: 6 } })).toEqual([
      `scale 0 to 2, ${message}`,
      `because Activated: ${message}`,
      "metric load External 6 against 10, ratio 0.6 gives 0",
      `step idle 0 to 2 [Activated 2: ${message}]`,
      READ,
      `condition Idle False InUse: ${message}`,
      `condition ScalingActive True Activated: ${message}`,
      ...UNSEEN,
      `status 0, wanted 0, [${SHOWN("load", "6")}]`,
    ]);
  });
});
