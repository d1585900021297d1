import { describe, expect, it } from "vitest";
import type { Scale } from "../../../lib/rules/model/decision.ts";
import { NEW_WINDOWS } from "../../../lib/rules/model/windows.ts";
import { withoutForeignTimers } from "../../../lib/rules/policy/decide.ts";
import { afterWrite } from "../../../lib/rules/policy/dialects.ts";
import { reversalsOf } from "../../../lib/rules/policy/native/steps/flap.ts";
import { breach } from "../../../lib/rules/policy/native/steps/sustain.ts";
import { NOON } from "../../noon.ts";
import { scaleRead } from "../../observation.ts";
import { told } from "./told.ts";
import { counts, LOAD, native, pod, type Seen, scaledBefore, sync } from "./world.ts";

const lines = (spec: Readonly<Record<string, unknown>>, seen: Seen): readonly string[] =>
  told(sync(native(spec), seen).decision);
const metricLine = (spec: Readonly<Record<string, unknown>>, seen: Seen): string | undefined =>
  lines(spec, seen).find((line) => line.startsWith("metric"));

describe("a metric of the native rules", () => {
  const { target: _target, tolerance: _tolerance, ...load } = LOAD;
  it.each([
    ["below low", 63, "7875m", 8],
    ["between", 100, "12500m", 8],
    ["above high", 121, "15125m", 9],
  ])(
    "names both watermarks, whichever was crossed, and a ratio to neither: %s",
    (_, value, shown, count) => {
      const line = metricLine(
        { metrics: [{ ...load, watermarks: { low: 8, high: 15 } }] },
        { replicas: 8, values: { load: value } },
      );
      expect(line).toBe(
        `metric load External ${shown} against 8..15, ratio undefined gives ${count}`,
      );
    },
  );

  const cpu = (of: "request" | "limit", container?: string) => ({
    metrics: [
      {
        ...(container === undefined
          ? { resource: { name: "cpu", of } }
          : { containerResource: { name: "cpu", container, of } }),
        target: 30,
        tolerance: { up: "0", down: "0" },
      },
    ],
  });
  const pods = [pod("web-0", { request: 100n, limit: 200n })];
  it("gives a percentage of a resource or of one container's", () => {
    const seen = { replicas: 1, pods, usage: { "web-0": 60n } };
    expect(metricLine(cpu("request"), seen)).toBe(
      "metric cpu Resource 60% against 30%, ratio 2 gives 2",
    );
    expect(metricLine(cpu("request", "app"), seen)).toMatch(
      /^metric \S+ ContainerResource 60% against 30%, ratio 2 gives 2$/,
    );
  });

  it.each([
    ["request", "request", "limit"],
    ["limit", "limit", "request"],
  ] as const)("says in words of its own what is missing: the %s", (of, said, unsaid) => {
    const line = metricLine(cpu(of), {
      replicas: 1,
      pods: [pod("web-0")],
      usage: { "web-0": 60n },
    });
    expect(line).toContain(`missing ${said} for cpu`);
    expect(line).not.toContain(unsaid);
  });

  it("has a value for an average use beyond 64 bits, and for no use at all; not as Kubernetes 1.37 counts", () => {
    const average = {
      metrics: [
        {
          resource: { name: "cpu" },
          measure: "Average",
          target: 1,
          tolerance: { up: "0", down: "0" },
        },
      ],
    };
    const seen = { replicas: 2, pods: [pod("web-0"), pod("web-1")] };
    const huge = { ...seen, usage: { "web-0": 2n ** 62n, "web-1": 2n ** 62n } };
    expect(metricLine(average, huge)).toBe(
      "metric cpu Resource 4611686018427387904m against 1, ratio 4611686018427388 gives 2147483647",
    );
    expect(metricLine({ ...average, pods: "asHpa" }, huge)).toBe(
      "metric cpu Resource failed, UnusableValue: the value of cpu leaves the range of numbers",
    );
    expect(metricLine(average, { ...seen, usage: { "web-0": 0n, "web-1": 0n } })).toBe(
      "metric cpu Resource 0 against 1, ratio 0 gives 0",
    );
  });

  it("is missing for a use below zero, which no pod can have, and nothing shrinks on it", () => {
    const average = {
      metrics: [
        {
          resource: { name: "cpu" },
          measure: "Average",
          target: 1,
          tolerance: { up: "0", down: "0" },
        },
      ],
    };
    const seen = {
      replicas: 2,
      pods: [pod("web-0"), pod("web-1")],
      usage: { "web-0": -100n, "web-1": -100n },
    };
    expect(metricLine(average, seen)).toBe(
      "metric cpu Resource failed, UnusableValue: the value of cpu leaves the range of numbers",
    );
  });

  it("is missing for a total above the high mark where there is no pod to scale from, though the low mark needs no pod", () => {
    const marks = { metrics: [{ ...load, measure: "Total", watermarks: { low: 5, high: 10 } }] };
    expect(metricLine(marks, { replicas: 2, pods: [], values: { load: 50 } })).toMatch(
      /^metric load External failed, .*no pods returned by selector/,
    );
  });

  it("keeps the count for a total between its marks, also where there is no pod to scale from", () => {
    const marks = { metrics: [{ ...load, measure: "Total", watermarks: { low: 5, high: 10 } }] };
    expect(metricLine(marks, { replicas: 2, pods: [], values: { load: 7 } })).toBe(
      "metric load External 7 against 5..10, ratio undefined gives 2",
    );
  });

  it("keeps the count for a value above its target where no pod is ready, and does not ask for the maximum", () => {
    const unready = [pod("web-0"), pod("web-1")].map((one) => ({
      ...one,
      ready: { status: "False", transitionMs: NOON },
    }));
    const total = { metrics: [{ ...LOAD, measure: "Total", target: 10 }] };
    expect(metricLine(total, { replicas: 2, pods: unready, values: { load: 50 } })).toBe(
      "metric load External 50 against 10, ratio 5 gives 2",
    );
  });

  it("asks for no pod of a workload at rest for a value exactly at its target", () => {
    const rests = {
      idle: { afterSeconds: 60 },
      metrics: [{ ...LOAD, measure: "Total", target: 10, activation: 20 }],
    };
    expect(metricLine(rests, { replicas: 0, pods: [], values: { load: 10 } })).toBe(
      "metric load External 10 against 10, ratio 1 gives 0",
    );
  });

  it("is missing for an average below zero, which the HPA takes for an overflow and answers with the maximum; a total below zero counts", () => {
    const loadOf = (measure: string, value: number) =>
      metricLine(
        { metrics: [{ ...LOAD, measure, target: 1 }] },
        { replicas: 2, values: { load: value } },
      );
    expect(loadOf("Average", -3)).toBe(
      "metric load External failed, UnusableValue: the value of load leaves the range of numbers",
    );
    expect(loadOf("Average", 3)).toBe("metric load External 1500m against 1, ratio 1.5 gives 3");
    expect(loadOf("Total", -3)).toBe("metric load External -3 against 1, ratio -3 gives 0");
  });

  it.each([
    [
      "none of it is left in 64 bits",
      { use: 2n ** 62n, request: 1000n, replicas: 2 },
      "2147483647% against 30%, ratio 71582788.23333333 gives 143165577",
    ],
    [
      "200 TB between 4 pods, of which 64 bits keep 15.5 TB",
      { use: 50n * 10n ** 15n, request: 60n * 10n ** 15n, replicas: 4 },
      "83% against 30%, ratio 2.7666666666666666 gives 12",
    ],
    [
      "a gigabyte of one byte is more percent than 32 bits hold",
      { use: 10n ** 12n, request: 1000n, replicas: 1 },
      "2147483647% against 30%, ratio 71582788.23333333 gives 71582789",
    ],
    [
      "all that is asked for together is too much",
      { use: 2n ** 61n, request: 2n ** 62n, replicas: 2 },
      "50% against 30%, ratio 1.6666666666666667 gives 4",
    ],
  ])(
    "has a percentage that Kubernetes 1.37 cannot compute: %s",
    (_, { use, request, replicas }, line) => {
      const many = Array.from({ length: replicas }, (_pod, at) => pod(`web-${at}`, { request }));
      const usage = Object.fromEntries(many.map(({ name }) => [name, use]));
      const seen = { replicas, pods: many, usage };
      expect(metricLine(cpu("request"), seen)).toBe(`metric cpu Resource ${line}`);
      expect(metricLine({ ...cpu("request"), pods: "asHpa" }, seen)).toBe(
        "metric cpu Resource failed, UnusableValue: the value of cpu leaves the range of numbers",
      );
    },
  );

  it("computes a percentage of at most 92 TB between 4 pods", () => {
    const many = Array.from({ length: 4 }, (_pod, at) =>
      pod(`web-${at}`, { request: 23n * 10n ** 15n }),
    );
    const usage = Object.fromEntries(many.map(({ name }) => [name, 23n * 10n ** 15n]));
    expect(metricLine(cpu("request"), { replicas: 4, pods: many, usage })).toBe(
      "metric cpu Resource 100% against 30%, ratio 3.3333333333333335 gives 14",
    );
  });

  it("has a value for a whole value below zero", () =>
    expect(
      metricLine(
        { metrics: [{ ...LOAD, measure: "Total" }] },
        { replicas: 5, values: { load: -50 } },
      ),
    ).toBe("metric load External -50 against 10, ratio -5 gives 0"));

  it("asks for the maximum for a value whose count is beyond 32 bits", () =>
    expect(
      metricLine(
        { metrics: [{ namespace: { metric: "requests" }, target: 10, measure: "Average" }] },
        { replicas: 5, values: { requests: 9e12 } },
      ),
    ).toMatch(/gives 2147483647$/));

  it("that may only scale up, and asks for no more, still counts as computed", () =>
    expect(
      lines({ metrics: [{ ...LOAD, scaleUpOnly: true }] }, { replicas: 5, values: { load: 20 } }),
    ).toContain(
      "condition ScalingActive True ValidMetricFound: a count was computed from the metrics",
    ));
});

describe("the steps of the native rules at their edges", () => {
  it("are named alike, whether they change the count or let it pass", () => {
    const spec = native({
      scaleUp: { sustainSeconds: 30, forbiddenAfterEventSeconds: 60 },
      flapBudget: { reversals: 2, periodSeconds: 600 },
    });
    const { windows } = sync(spec, {
      replicas: 5,
      values: { load: 90 },
      windows: scaledBefore(spec, 30, 4, 5),
    });
    const names = (load: number): readonly string[] =>
      sync(spec, {
        replicas: 5,
        values: { load },
        nowMs: NOON + 30_000,
        windows,
      }).decision.steps.map(({ step }) => step);
    const all = ["combine", "sustain", "stabilize", "round", "limit", "clamp", "cool down", "flap"];
    expect([names(90), names(20)]).toEqual([all, all]);
    const bounded = native({
      maxReplicas: 7,
      scaleUp: { policies: [{ type: "Pods", value: 2, periodSeconds: 60 }] },
    });
    expect(
      sync(bounded, { replicas: 5, values: { load: 90 } }).decision.steps.map(({ step }) => step),
    ).toEqual(all);
  });

  it("a wanted count exactly at a bound is within the bounds", () => {
    const bounded = { minReplicas: 2, maxReplicas: 9 };
    const inside =
      "condition ScalingLimited False DesiredWithinRange: the wanted count is within minReplicas and maxReplicas";
    for (const load of [20, 90])
      expect(lines(bounded, { replicas: 5, values: { load } })).toContain(inside);
  });

  it("a direction without sustainSeconds never waits, also where the clock was set back since its breach began", () => {
    const conditions = [{ ...breach("up", "True"), transitionMs: NOON + 10_000 }];
    const windows = { ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, conditions } };
    expect(sync(native(), { replicas: 9, values: { load: 120 }, windows }).count).toBe(12);
  });

  it("a step down after a step down is no reversal", () => {
    const spec = native({ flapBudget: { reversals: 1, periodSeconds: 600 } });
    expect(
      sync(spec, { replicas: 5, values: { load: 20 }, windows: scaledBefore(spec, 8, 9, 5) }).count,
    ).toBe(2);
  });

  it("a pod that is starting has no part in a resource's use on the way up", () => {
    const spec = native({
      metrics: [{ resource: { name: "cpu" }, target: 50, tolerance: { up: "0", down: "0" } }],
    });
    const starting = {
      ...pod("web-1", { request: 100n }),
      startMs: NOON - 10_000,
      ready: { status: "False", transitionMs: NOON - 10_000 } as const,
    };
    const seen = { replicas: 2, usage: { "web-0": 60n, "web-1": 90n } };
    expect(sync(spec, { ...seen, pods: [pod("web-0", { request: 100n }), starting] }).count).toBe(
      2,
    );
    expect(
      sync(spec, {
        ...seen,
        pods: [pod("web-0", { request: 100n }), pod("web-1", { request: 100n })],
      }).count,
    ).toBe(3);
  });

  it("a breach down lasts from its own beginning", () =>
    expect(
      counts(native({ scaleDown: { sustainSeconds: 30 } }), 5, [
        [0, { load: 50 }],
        [15, { load: 20 }],
        [30, { load: 20 }],
        [45, { load: 20 }],
      ]),
    ).toEqual([5, 5, 5, 2]));

  it("a count at the maximum is inside", () =>
    expect(counts(native({ maxReplicas: 5 }), 5, [[0, { load: 20 }]])).toEqual([2]));

  it.each([
    [
      "up",
      { scaleUp: { policies: [{ type: "Pods", value: 4, periodSeconds: 60 }] } },
      90,
      "because MetricAboveTarget: load 18 of 10 asks for 9",
    ],
    [
      "down",
      { scaleDown: { policies: [{ type: "Pods", value: 3, periodSeconds: 60 }] } },
      20,
      "because MetricsBelowTarget: load 4 of 10 asks for 2",
    ],
  ])("what the policies just allow is not limited: %s", (_, spec, load, because) =>
    expect(lines(spec, { replicas: 5, values: { load } })[1]).toBe(because),
  );

  it.each([
    [
      "down to the multiple above what is allowed",
      12,
      10,
      { scaleDown: { replicaModulo: 4 } },
      5,
      8,
    ],
    [
      "not down, where the next multiple is farther",
      12,
      10,
      { scaleDown: { replicaModulo: 4 } },
      3,
      12,
    ],
    ["up to the multiple below what is allowed", 8, 200, { scaleUp: { replicaModulo: 4 } }, 7, 12],
    ["not up, where the next multiple is farther", 8, 200, { scaleUp: { replicaModulo: 4 } }, 3, 8],
  ])("policies and modulo: %s", (_, replicas, load, rules, value, count) => {
    const policies = [{ type: "Pods", value, periodSeconds: 60 }];
    const [[direction, rule] = ["scaleUp", {}]] = Object.entries(rules);
    expect(
      counts(native({ [direction]: { ...rule, policies } }), replicas, [[0, { load }]]),
    ).toEqual([count]);
  });

  it("the multiple above never turns a step down into one up", () =>
    expect(counts(native({ scaleDown: { replicaModulo: 4 } }), 7, [[0, { load: 50 }]])).toEqual([
      7,
    ]));

  it("a forbidden window is no reason where nothing is wanted", () => {
    const spec = native({
      scaleUp: { forbiddenAfterEventSeconds: 60 },
      scaleDown: { forbiddenAfterEventSeconds: 60 },
    });
    const { because, steps } = sync(spec, {
      replicas: 5,
      values: { load: 50 },
      windows: scaledBefore(spec, 10, 4, 5),
    }).decision;
    expect(because.reason).toBe("WithinTarget");
    expect(steps.filter(({ limit }) => limit)).toEqual([]);
  });

  it("a spent flap budget is no reason where nothing is wanted", () => {
    const spec = native({ flapBudget: { reversals: 1, periodSeconds: 600 } });
    const windows = scaledBefore(spec, 4, 2, 5, scaledBefore(spec, 8, 9, 2));
    expect(told(sync(spec, { replicas: 5, values: { load: 50 }, windows }).decision)[1]).toBe(
      "because WithinTarget: no metric asks for another count",
    );
  });

  it.each([
    [[], 0],
    [[true, true], 0],
    [[true, false], 1],
    [[false, true, true, false], 2],
  ])("reversalsOf(%j) is %d", (ups, reversals) => expect(reversalsOf(ups)).toBe(reversals));

  describe("stabilization", () => {
    const spec = native({
      scaleUp: { stabilizationWindowSeconds: 60 },
      scaleDown: { stabilizationWindowSeconds: 120 },
    });
    const told3 = (
      replicas: number,
      loads: readonly [number, number, number],
    ): string | undefined => {
      const first = sync(spec, { replicas, values: { load: loads[0] } });
      const second = sync(spec, {
        replicas,
        values: { load: loads[1] },
        nowMs: NOON + 15_000,
        windows: first.windows,
      });
      const third = sync(spec, {
        replicas,
        values: { load: loads[2] },
        nowMs: NOON + 30_000,
        windows: second.windows,
      });
      return told(third.decision).find((line) => line.startsWith("step stabilize"));
    };
    it("holds upwards until the lowest count leaves the window", () =>
      expect(told3(5, [60, 80, 90])).toBe(
        "step stabilize 9 to 5 [ScaleUpStabilized 5 until +60 s: a lower count was wanted inside the window]",
      ));
    it("holds downwards until the highest count leaves the window", () =>
      expect(told3(9, [60, 50, 40])).toBe(
        "step stabilize 4 to 9 [ScaleDownStabilized 9 until +120 s: a higher count was wanted inside the window]",
      ));
    it("holds until the last of equal counts has left", () =>
      expect(told3(5, [50, 50, 90])).toBe(
        "step stabilize 9 to 5 [ScaleUpStabilized 5 until +75 s: a lower count was wanted inside the window]",
      ));
  });
});

describe("rest", () => {
  const resting = {
    minReplicas: 2,
    idle: { afterSeconds: 60 },
    metrics: [{ ...LOAD, activation: 5 }],
  };

  it("is forgotten with the idle count", () => {
    const { windows } = sync(native(resting), { replicas: 2, values: { load: 5 } });
    expect(windows.status.conditions.some(({ type }) => type === "Idle")).toBe(true);
    const { idle: _, ...awake } = resting;
    const after = sync(native(awake), {
      replicas: 2,
      values: { load: 5 },
      nowMs: NOON + 30_000,
      windows,
    });
    expect(after.windows.status.conditions.some(({ type }) => type === "Idle")).toBe(false);
    const again = sync(native(resting), {
      replicas: 2,
      values: { load: 5 },
      nowMs: NOON + 60_000,
      windows: after.windows,
    });
    expect(again.count).toBe(2);
  });

  it("does not begin while one metric with a threshold is missing, whatever the others say", () => {
    const [load, jobs] = ["load", "jobs"].map((metric) => ({
      ...LOAD,
      name: metric,
      external: { metric },
      activation: 5,
      onMissing: { action: "scaleUpOnly" },
    }));
    const spec = native({ minReplicas: 2, idle: { afterSeconds: 0 }, metrics: [load, jobs] });
    expect(sync(spec, { replicas: 2, values: { load: 5 } }).count).toBe(2);
    expect(sync(spec, { replicas: 2, values: { load: 5, jobs: 5 } }).count).toBe(0);
  });

  it("does not begin for an autoscaler whose metrics have no threshold", () => {
    const spec = native(resting);
    if (spec.dialect !== "native") throw new Error("not a native spec");
    const without = {
      ...spec,
      metrics: spec.metrics.map(({ activationMilli: _, ...metric }) => metric),
    };
    const { windows } = sync(without, { replicas: 2, values: { load: 5 } });
    expect(
      sync(without, { replicas: 2, values: { load: 5 }, nowMs: NOON + 600_000, windows }).count,
    ).toBe(2);
  });
});

describe("the memory of the native rules", () => {
  it("has the count that was found, the selector and the recommendation", () => {
    const { decision } = sync(native({ scaleDown: { stabilizationWindowSeconds: 60 } }), {
      replicas: 5,
      values: { load: 90 },
    });
    expect(decision.windows.memory).toMatchObject({
      selector: "app=web",
      recommendations: [
        { replicas: 5, firstMs: NOON, lastMs: NOON },
        { replicas: 9, firstMs: NOON, lastMs: NOON },
      ],
    });
  });

  it("has no selector where none was read", () => {
    const scale = {
      kind: "failed",
      failure: { code: 404, reason: "NotFound", message: "gone" },
    } as const;
    const { decision } = sync(native(), { replicas: 5, observed: { scale } });
    expect(decision.windows.memory).toStrictEqual(NEW_WINDOWS.memory);
    const { conditions, ...status } = decision.windows.status;
    expect({ ...status, conditions: [] }).toStrictEqual(NEW_WINDOWS.status);
    expect(conditions[0]).toMatchObject({
      type: "AbleToScale",
      status: "False",
      reason: "FailedGetScale",
    });
    const unselected = sync(native({ minReplicas: 6 }), { replicas: 5, values: { load: 5 } })
      .decision.windows.memory;
    expect("selector" in unselected).toBe(false);
  });

  const report = () => {
    const { decision } = sync(native(), { replicas: 5, values: { load: 90 } });
    const event = { type: "Warning", reason: "Earlier", message: "of the decision" } as const;
    return {
      spec: native(),
      decision: { ...(decision as Scale), events: [event] },
      outcome: { kind: "applied" } as const,
      atMs: NOON,
    };
  };
  it("has the earliest time of a scale and its event, where they are known", () => {
    const known = afterWrite({ ...report(), earliestMs: NOON - 500, eventId: "e" });
    expect(known.windows.memory.scaleUps).toStrictEqual([
      { change: 4, atMs: NOON, earliestMs: NOON - 500, eventId: "e" },
    ]);
    expect(afterWrite(report()).windows.memory.scaleUps).toStrictEqual([{ change: 4, atMs: NOON }]);
  });

  it("says whether the last write was made", () => {
    const condition = (outcome: Parameters<typeof afterWrite>[0]["outcome"]) =>
      afterWrite({ ...report(), outcome }).windows.status.conditions.find(
        ({ type }) => type === "AbleToScale",
      );
    const message = "the scale of the target could not be written: no";
    expect(condition({ kind: "applied" })).toMatchObject({
      status: "True",
      reason: "SucceededRescale",
      message: "the scale of the target was set to 9",
    });
    expect(condition({ kind: "refused", message: "no" })).toMatchObject({
      status: "False",
      reason: "FailedUpdateScale",
      message,
    });
  });

  it("says that pods could not be told apart", () => {
    const scale = scaleRead(5, { selector: "" });
    const { conditions } = sync(native(), { replicas: 5, observed: { scale } }).decision.windows
      .status;
    expect(conditions.find(({ type }) => type === "ScalingActive")).toMatchObject({
      status: "False",
      reason: "InvalidSelector",
    });
  });

  it("tells the events of the decision before that of the write", () =>
    expect(afterWrite(report()).events.map(({ reason }) => reason)).toEqual([
      "Earlier",
      "SuccessfulRescale",
    ]));

  it("withoutForeignTimers() takes only the timed conditions of other rules away", () => {
    const at = (report_: ReturnType<typeof breach>) => ({ ...report_, transitionMs: NOON });
    const able = at({ type: "AbleToScale", status: "True", reason: "r", message: "m" });
    const conditions = [able, at(breach("up", "True")), at(breach("down", "False"))];
    const windows = { ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, conditions } };
    expect(withoutForeignTimers(windows, { name: "hpa" }).status.conditions).toEqual([able]);
    expect(withoutForeignTimers(windows, { name: "native" })).toBe(windows);
  });
});
