import { describe, expect, it } from "vitest";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import { autoscalerName } from "../../../lib/rules/model/ids.ts";
import type { Neighbour, Pod, ScaleReading } from "../../../lib/rules/model/observation.ts";
import type { Behavior, HpaMetric, HpaSpec } from "../../../lib/rules/model/spec-hpa.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { NOON } from "../../noon.ts";
import { observationOf, readyPods, scaleRead } from "../../observation.ts";
import { decideInput } from "../applied-sync.ts";
import { loadFor } from "../loop.ts";

const LOAD: HpaMetric = {
  type: "External",
  metric: { name: "load" },
  target: { type: "AverageValue", averageValueMilli: 1000n },
};
const UNASKED: HpaMetric = {
  type: "External",
  metric: { name: "other" },
  target: { type: "AverageValue", averageValueMilli: 1000n },
};

interface Given {
  readonly spec?: Partial<HpaSpec>;
  readonly replicas?: number;
  readonly scale?: ScaleReading;
  readonly selector?: string;
  readonly load?: number;
  readonly pods?: readonly Pod[];
  readonly others?: readonly Neighbour[];
  readonly windows?: Windows;
}

const hpaSpec = (more: Partial<HpaSpec>): HpaSpec => ({
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 20,
  metrics: [LOAD],
  ...more,
});

const decided = ({
  spec = {},
  replicas = 4,
  selector = "app=web",
  load = 4,
  pods = [],
  others = [],
  windows = NEW_WINDOWS,
  scale,
}: Given): Decision => {
  const observation = observationOf({
    scale: scale ?? scaleRead(replicas, { selector }),
    pods,
    answers: loadFor(load).answers,
    others,
  });
  return decide(decideInput({ spec: hpaSpec(spec), observation, windows }));
};

const neighbour = (name: string, selector: string): Neighbour => ({
  name: autoscalerName(name),
  selector,
});
const remembered = (
  more: Partial<Windows["memory"]>,
  conditions: readonly Condition[] = [],
): Windows => ({
  memory: { ...NEW_WINDOWS.memory, recommendations: [], ...more },
  status: { ...NEW_WINDOWS.status, conditions },
});
const scaledToZero = (status: "True" | "False"): Condition => ({
  type: "ScaledToZero",
  status,
  reason: "",
  message: "",
  transitionMs: 0,
});
const rules = (stabilizationWindowSeconds: number) => ({
  stabilizationWindowSeconds,
  selectPolicy: "Max" as const,
});
const behavior: Behavior = {
  scaleUp: { ...rules(60), policies: [{ type: "Pods", value: 2, periodSeconds: 60 }] },
  scaleDown: { ...rules(120), policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] },
};

describe("decide()", () => {
  it("holds inside the tolerance, and says so", () => {
    expect(decided({ load: 4 })).toMatchObject({
      kind: "hold",
      failed: false,
      from: 4,
      because: { reason: "DesiredWithinRange", message: "recommended size matches current size" },
      metrics: [
        {
          kind: "measured",
          name: "external metric load(nil)",
          type: "External",
          value: "1",
          target: "1",
          ratio: 1,
          proposal: 4,
        },
      ],
    });
  });

  it("scales up with the metric as the reason", () => {
    const decision = decided({ load: 6 });
    expect(decision).toMatchObject({
      kind: "scale",
      from: 4,
      to: 6,
      trigger: "external metric load(nil) above target",
    });
    expect(decision.because).toEqual({
      reason: "MetricAboveTarget",
      message: "load 1500m of 1 asks for 6",
    });
    expect(decision.steps).toStrictEqual([
      { step: "propose", before: 4, after: 6 },
      { step: "stabilize", before: 6, after: 6 },
      { step: "limit", before: 6, after: 6 },
    ]);
  });

  it("scales down once no window holds it", () => {
    expect(decided({ load: 2, windows: remembered({}) })).toMatchObject({
      kind: "scale",
      to: 2,
      because: { reason: "AllMetricsBelowTarget", message: "load 500m of 1 asks for 2" },
    });
  });

  it("says why it scales, and then what limited it: the growth of one sync", () => {
    const decision = decided({ load: 19 });
    expect(decision).toMatchObject({
      kind: "scale",
      to: 8,
      trigger: "external metric load(nil) above target",
    });
    expect(decision.because).toEqual({
      reason: "MetricAboveTarget",
      message: "load 4750m of 1 asks for 19; the rate limit allowed 8",
    });
    expect(decision.steps.at(-1)).toMatchObject({
      step: "limit",
      before: 19,
      after: 8,
      limit: { reason: "ScaleUpLimit", value: 8 },
    });
  });

  it("names what was wanted before, when, and until when it counts", () => {
    const recommendations = [{ replicas: 6, firstMs: NOON - 200_000, lastMs: NOON - 100_000 }];
    const { steps, because } = decided({ load: 2, windows: remembered({ recommendations }) });
    expect(because).toEqual({
      reason: "WantedBefore",
      message:
        "6 was wanted at 2026-03-01T11:58:20Z, inside the stabilization window; load 500m of 1 asks for 2; stabilization allowed 6",
    });
    expect(steps[1]).toMatchObject({
      step: "stabilize",
      before: 2,
      after: 6,
      limit: { reason: "ScaleDownStabilized", value: 6, untilMs: NOON + 200_000 },
    });
  });

  it("names the window that holds a higher count than the current one, though the metrics want this one", () => {
    const recommendations = [{ replicas: 6, firstMs: NOON - 100_000, lastMs: NOON - 100_000 }];
    const message =
      "6 was wanted at 2026-03-01T11:58:20Z, inside the stabilization window; load 1 of 1 asks for 4; stabilization allowed 6";
    expect(decided({ load: 4, windows: remembered({ recommendations }) })).toMatchObject({
      kind: "scale",
      to: 6,
      trigger: "",
      because: { reason: "WantedBefore", message },
    });
  });

  it("names the latest record of those that hold a count, and none that does not", () => {
    const at = (replicas: number, agoMs: number) => ({
      replicas,
      firstMs: NOON - agoMs,
      lastMs: NOON - agoMs,
    });
    const recommendations = [at(6, 200_000), at(6, 150_000), at(3, 50_000)];
    expect(decided({ load: 2, windows: remembered({ recommendations }) }).steps[1]).toMatchObject({
      limit: { value: 6, untilMs: NOON + 150_000 },
    });
    const rising = [at(4, 50_000), at(4, 45_000), at(7, 10_000)];
    const upward = decided({
      load: 8,
      spec: { behavior },
      windows: remembered({ recommendations: rising }),
    });
    expect(upward.steps[1]).toMatchObject({ limit: { value: 4, untilMs: NOON + 15_000 } });
  });

  it("names the upward window of a behavior, and until when", () => {
    const recommendations = [
      { replicas: 9, firstMs: NOON - 50_000, lastMs: NOON - 50_000 },
      { replicas: 4, firstMs: NOON - 40_000, lastMs: NOON - 40_000 },
    ];
    const decision = decided({
      load: 8,
      spec: { behavior },
      windows: remembered({ recommendations }),
    });
    expect(decision.kind).toBe("hold");
    expect(decision.steps[1]).toMatchObject({
      before: 8,
      after: 4,
      limit: { reason: "ScaleUpStabilized", value: 4, untilMs: NOON + 20_000 },
    });
  });

  it("names the downward window of a behavior that the cluster's setting fills", () => {
    const { stabilizationWindowSeconds: _, ...scaleDown } = behavior.scaleDown;
    const recommendations = [{ replicas: 5, firstMs: NOON - 290_000, lastMs: NOON - 290_000 }];
    const decision = decided({
      load: 2,
      spec: { behavior: { ...behavior, scaleDown } },
      windows: remembered({ recommendations }),
    });
    expect(decision.steps[1]).toMatchObject({
      before: 2,
      after: 4,
      limit: { reason: "ScaleDownStabilized", untilMs: NOON + 10_000 },
    });
  });

  it("names the rate of a behavior", () => {
    expect(decided({ load: 9, spec: { behavior } }).steps[1]).toMatchObject({
      limit: { reason: "ScaleUpStabilized" },
    });
    const fast = decided({
      load: 9,
      spec: { behavior },
      windows: remembered({ scaleUps: [{ change: 1, atMs: NOON - 1000 }] }),
    });
    expect(fast).toMatchObject({
      kind: "scale",
      to: 5,
      because: {
        reason: "MetricAboveTarget",
        message: expect.stringMatching(/; the rate limit allowed 5$/),
      },
    });
  });

  it.each([
    [
      "above maxReplicas goes to it",
      { replicas: 30 },
      20,
      "AboveMaxReplicas",
      "Current number of replicas above Spec.MaxReplicas",
      "30 is outside 1 to 20",
    ],
    [
      "below minReplicas goes to it",
      { spec: { minReplicas: 6 } },
      6,
      "BelowMinReplicas",
      "Current number of replicas below Spec.MinReplicas",
      "4 is outside 6 to 20",
    ],
  ])("a count %s without asking the metrics", (_, given, to, reason, trigger, found) => {
    const decision = decided({ ...given, load: 99 });
    expect(decision).toMatchObject({
      kind: "scale",
      to,
      trigger,
      because: { reason },
      metrics: [],
    });
    expect(decision.windows.status.currentMetrics).toBeNull();
    expect(decision.steps).toEqual([
      {
        step: "bounds",
        before: expect.any(Number),
        after: to,
        limit: { reason, value: to, message: expect.any(String) },
      },
    ]);
    expect(decision.because.message).toBe(`${trigger}: ${found}`);
  });

  it("holds a workload at zero that this autoscaler did not put there", () => {
    expect(decided({ replicas: 0, spec: { minReplicas: 0 } })).toMatchObject({
      kind: "hold",
      failed: false,
      because: { reason: "ScalingDisabled" },
    });
    expect(
      decided({ replicas: 0, windows: remembered({}, [scaledToZero("False")]) }),
    ).toMatchObject({ because: { reason: "ScalingDisabled" } });
  });

  it("wakes a workload that it had scaled to zero, with at least a raised minReplicas", () => {
    const windows = remembered({}, [scaledToZero("True")]);
    expect(decided({ replicas: 0, load: 2, spec: { minReplicas: 0 }, windows })).toMatchObject({
      kind: "scale",
      to: 2,
    });
    expect(decided({ replicas: 0, load: 0, spec: { minReplicas: 0 }, windows })).toMatchObject({
      kind: "hold",
      failed: false,
    });
    const raised = decided({ replicas: 0, load: 0, spec: { minReplicas: 3, behavior }, windows });
    expect(raised).toMatchObject({
      kind: "scale",
      to: 3,
      trigger: "Current number of replicas below Spec.MinReplicas",
    });
    expect(raised.steps.at(-1)).toMatchObject({
      step: "resume",
      before: 0,
      after: 3,
      limit: { reason: "BelowMinReplicas", value: 3 },
    });
  });

  it("wakes it without a word of minReplicas when that much is wanted", () => {
    const windows = remembered({}, [scaledToZero("True")]);
    const woken = decided({
      replicas: 0,
      load: 3,
      spec: {
        minReplicas: 3,
        behavior: {
          ...behavior,
          scaleUp: {
            selectPolicy: "Max",
            policies: [{ type: "Pods", value: 9, periodSeconds: 60 }],
          },
        },
      },
      windows,
    });
    expect(woken).toMatchObject({
      kind: "scale",
      to: 3,
      trigger: "external metric load(nil) above target",
    });
    expect(woken.steps.map(({ step }) => step)).toEqual(["propose", "stabilize", "limit"]);
  });

  it("wakes on one External metric among others", () => {
    const cpu: HpaMetric = {
      type: "Resource",
      name: "cpu",
      target: { type: "Utilization", averageUtilization: 50 },
    };
    const spec = { minReplicas: 0, metrics: [cpu, LOAD] };
    expect(
      decided({ replicas: 0, load: 2, spec, windows: remembered({}, [scaledToZero("True")]) }),
    ).toMatchObject({ kind: "scale", to: 2 });
  });

  it("leaves a workload at zero that nothing could wake", () => {
    const cpu: HpaMetric = {
      type: "Resource",
      name: "cpu",
      target: { type: "Utilization", averageUtilization: 50 },
    };
    const windows = remembered({}, [scaledToZero("True")]);
    expect(
      decided({ replicas: 0, spec: { minReplicas: 0, metrics: [cpu] }, windows }),
    ).toMatchObject({ because: { reason: "ScalingDisabled" } });
  });

  it("holds when the scale cannot be read, and touches the conditions alone", () => {
    const windows = remembered({ recommendations: null, scaleUps: [{ change: 1, atMs: 5 }] });
    const decision = decided({
      scale: { kind: "failed", failure: { code: 404, reason: "NotFound", message: "gone" } },
      windows,
    });
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "FailedGetScale" },
      events: [{ reason: "FailedGetScale", message: "gone" }],
    });
    expect(decision.from).toBeUndefined();
    expect(decision.windows).toEqual({
      memory: windows.memory,
      status: {
        ...windows.status,
        conditions: [
          expect.objectContaining({ type: "AbleToScale", status: "False", transitionMs: NOON }),
        ],
      },
    });
  });

  it("never shrinks without every metric, and grows with those it has", () => {
    expect(decided({ load: 2, spec: { metrics: [LOAD, UNASKED] } })).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "FailedGetExternalMetric" },
      metrics: [{ kind: "measured" }, { kind: "failed", reason: "FailedGetExternalMetric" }],
    });
    expect(decided({ load: 6, spec: { metrics: [UNASKED, LOAD] } })).toMatchObject({
      kind: "scale",
      to: 6,
    });
  });

  it("holds without any metric", () => {
    expect(decided({ spec: { metrics: [] } })).toMatchObject({
      kind: "hold",
      failed: true,
      because: {
        reason: "InvalidMetrics",
        message: "the HPA was unable to compute the replica count: there is no metric",
      },
      events: [
        {
          reason: "FailedComputeMetricsReplicas",
          message: "invalid metrics (0 invalid out of 0), first error is: there is no metric",
        },
      ],
    });
  });

  it("fails a metric whose query was not asked, and holds", () => {
    const metrics: readonly HpaMetric[] = [
      UNASKED,
      {
        type: "Pods",
        metric: { name: "p" },
        target: { type: "AverageValue", averageValueMilli: 1n },
      },
      {
        type: "Object",
        metric: { name: "o" },
        describedObject: { kind: "Service", name: "s" },
        target: { type: "Value", valueMilli: 1n },
      },
      { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
    ];
    const decision = decided({ spec: { metrics } });
    expect(decision).toMatchObject({ kind: "hold", failed: true });
    expect(
      decision.metrics.map(
        (metric) =>
          metric.kind === "failed" &&
          metric.message.endsWith("the metric was not asked for in this sync"),
      ),
    ).toEqual([true, true, true, true]);
  });

  it("takes the last name of nothing but zeros, and the first of equal counts", () => {
    const named = (name: string): HpaMetric => ({ ...LOAD, metric: { name } }) as HpaMetric;
    const answers = (milli: bigint) => ({
      custom: new Map(),
      external: new Map(
        ["a", "b"].map((name) => [
          JSON.stringify(["external", name, ""]),
          { kind: "answered" as const, items: [{ milli, timestampMs: 0 }] },
        ]),
      ),
    });
    const active = (milli: bigint): string | undefined => {
      const observation = observationOf({ scale: scaleRead(4), answers: answers(milli) });
      const spec = hpaSpec({ minReplicas: 0, maxReplicas: 9, metrics: [named("a"), named("b")] });
      return decide(decideInput({ spec, observation })).windows.status.conditions.find(
        ({ type }) => type === "ScalingActive",
      )?.message;
    };
    expect(active(0n)).toMatch(/from external metric b\(nil\)$/);
    expect(active(8000n)).toMatch(/from external metric a\(nil\)$/);
  });

  it("leaves a ratio out that says nothing", () => {
    const scale = scaleRead(1, { statusReplicas: 0 });
    expect(decided({ scale, load: 0 }).metrics).toEqual([
      {
        name: "external metric load(nil)",
        type: "External",
        kind: "measured",
        value: "0",
        target: "1",
        proposal: 0,
      },
    ]);
  });

  it("says a total whole where no replica shares it, and beyond 32 bits what 1.37 makes of it", () => {
    const none = scaleRead(1, { statusReplicas: 0 });
    expect(decided({ scale: none, load: 7 }).metrics[0]).toMatchObject({ value: "7", proposal: 7 });
  });
});

describe("decide() beside other autoscalers", () => {
  const pods = [
    ...readyPods(1, 100n),
    ...readyPods(1, 100n).map((pod) => ({
      ...pod,
      name: "web-9",
      labels: { app: "web", tier: "x" },
    })),
  ];

  it.each<[string, readonly Neighbour[]]>([
    ["one that asks for the same", [neighbour("rival", "app=web")]],
    ["one that asks for one of many values", [neighbour("rival", "app in (web,api)")]],
    ["one that takes everything labelled", [neighbour("rival", "app")]],
    ["one that shares a single pod, not the first", [neighbour("rival", "tier=x")]],
    [
      "one whose label others ask for as well",
      [neighbour("rival", "app=web"), neighbour("near", "app=web,tier=none")],
    ],
    [
      "one among many",
      [
        neighbour("web", "app=web"),
        neighbour("far", "app=api"),
        neighbour("bad", "app in"),
        neighbour("rival", "app in (web)"),
      ],
    ],
  ])("holds when its pods are selected by %s", (_, others) => {
    expect(decided({ load: 9, pods, others })).toMatchObject({
      kind: "hold",
      failed: true,
      because: {
        reason: "AmbiguousSelector",
        message:
          "pods by selector app=web are controlled by more than one HPA (e.g. [shop/rival shop/web])",
      },
    });
  });

  it.each<[string, readonly Neighbour[]]>([
    ["no other autoscaler", []],
    ["itself", [neighbour("web", "app=web")]],
    [
      "one of other pods",
      [neighbour("far", "app=api"), neighbour("away", "app=web,tier=y"), neighbour("not", "!app")],
    ],
    ["one whose selector cannot be read", [neighbour("bad", "app in")]],
  ])("goes on beside %s", (_, others) => {
    expect(decided({ load: 6, pods, others })).toMatchObject({ kind: "scale", to: 6 });
  });

  it("goes on while there are no pods to fight about", () => {
    expect(decided({ load: 6, others: [neighbour("rival", "app=web")] })).toMatchObject({
      kind: "scale",
      to: 6,
    });
  });

  it("remembers its selector as soon as it could be read, also when it is shared", () => {
    expect(decided({ pods, others: [neighbour("rival", "app=web")] }).windows.memory.selector).toBe(
      "app=web",
    );
    expect(
      decided({ selector: "app in", windows: remembered({ selector: "app=old" }) }).windows.memory
        .selector,
    ).toBe("app=old");
    expect(decided({ selector: "" }).windows.memory).not.toHaveProperty("selector");
  });
});
