import { describe, expect, it } from "vitest";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import { resourceReady } from "../../../lib/rules/policy/watermark/metrics/pods.ts";
import {
  type WatermarkProposal,
  proposeFromValue,
  withinNote,
} from "../../../lib/rules/policy/watermark/metrics/propose.ts";
import {
  combine,
  metricName,
  type ProposalSource,
  proposalSources,
} from "../../../lib/rules/policy/watermark/steps/combine.ts";
import { NOON } from "../../noon.ts";
import { observationOf, podUsage, scaleRead } from "../../observation.ts";
import { podsOf, said, scaledAt, sync, wpa } from "./world.ts";
import { answersOf } from "../../answers.ts";

const PROPOSAL: WatermarkProposal = {
  replicas: 3,
  utilisation: 1_500n,
  ready: 2,
  above: false,
  below: false,
  details: "",
  zero: false,
  notes: [],
};
const source = (name: string, proposal: Partial<WatermarkProposal>): ProposalSource => ({
  name,
  seriesName: name,
  type: "External",
  failedReason: "FailedGetExternalMetric",
  failedAs: "failed",
  propose: () => ({ kind: "counted", value: { ...PROPOSAL, ...proposal } }),
  status: () => ({ type: name }),
  marks: { highMilli: 2_000n, lowMilli: 1_000n },
});

describe("combine()", () => {
  it("asks for nothing without a source, and is stable", () =>
    expect(combine([]).counted).toStrictEqual({
      kind: "counted",
      value: { replicas: 0, name: "", ready: 0, zero: false, stable: true, statuses: [] },
    }));

  it("takes the first of the largest, with its name, ready pods and words, and shows all", () => {
    const sources = [
      source("small", { replicas: 2, details: "small words" }),
      source("large", { replicas: 5, ready: 4, details: "large words", zero: true }),
      source("equal", { replicas: 5, ready: 1, details: "equal words" }),
    ];
    const { counted, notes } = combine(sources);
    expect(counted).toStrictEqual({
      kind: "counted",
      value: {
        replicas: 5,
        name: "large",
        ready: 4,
        zero: true,
        stable: true,
        statuses: [{ type: "small" }, { type: "large" }, { type: "equal" }],
      },
    });
    expect(said(notes).conditions.find(({ type }) => type === "ScalingActive")?.message).toBe(
      "the WPA was able to successfully calculate a replica count from large because: large words",
    );
  });

  it.each([
    ["zero", 0],
    ["below zero", -3],
  ])("takes a first proposal of %s", (_, replicas) =>
    expect(combine([source("only", { replicas })]).counted).toMatchObject({
      value: { name: "only", replicas },
    }),
  );

  it.each([
    ["above", true, false],
    ["below", false, true],
    ["both at once", true, true],
  ])("is not stable where one metric is %s", (_, above, below) => {
    const { counted, notes } = combine([
      source("a", { above }),
      source("b", { below }),
      source("c", {}),
    ]);
    expect(counted).toMatchObject({ value: { stable: false } });
    const statuses = Object.fromEntries(
      said(notes).conditions.map(({ type, status }) => [type, status]),
    );
    expect(statuses).toMatchObject({
      AboveHighWatermark: above ? "True" : "False",
      BelowLowWatermark: below ? "True" : "False",
    });
  });
});

describe("restricted_scaling, by which a band is watched", () => {
  const inside = { notes: [withinNote(true)] };
  it.each([
    ["1 while every metric is inside its marks", [inside, inside], 1],
    ["0 where an earlier metric is above its high mark", [{ above: true }, inside], 0],
    ["0 where an earlier metric is below its low mark", [{ below: true }, inside], 0],
    ["0 where an earlier metric says nothing, because it is 0", [{ zero: true }, inside], 0],
    ["0 where a later metric says nothing, because it is 0", [inside, { zero: true }], 0],
  ])("is %s", (_, proposals, value) => {
    const { notes } = combine(proposals.map((proposal, at) => source(`metric ${at}`, proposal)));
    expect(said(notes).gauges).toContainEqual({
      name: "restricted_scaling",
      labels: { reason: "within_bounds" },
      value,
    });
  });
});

describe("metricName()", () => {
  it("sorts the labels by key", () =>
    expect(metricName({ name: "lag", selector: { matchLabels: { b: "2", a: "1", c: "3" } } })).toBe(
      "lag{map[a:1 b:2 c:3]}",
    ));
});

describe("an autoscaler on a resource", () => {
  const spec = wpa({
    metrics: [
      {
        type: "Resource",
        resource: {
          name: "cpu",
          metricSelector: { matchLabels: { app: "web" } },
          highWatermark: "800m",
          lowWatermark: "400m",
        },
      },
    ],
  });
  const LONG_AGO = scaledAt(NOON - 3_600_000);
  const items = labelIndex(
    ["web-1-0", "web-1-1"].map((name) => podUsage(name, { cpu: 500n }, { timestampMs: NOON })),
  );
  const observed = { answers: answersOf({ resource: { kind: "answered", items } }) };

  it("shows the sum as average value", () => {
    const { decision } = sync(spec, { replicas: 2, windows: LONG_AGO, observed });
    expect(decision.metrics).toStrictEqual([
      {
        name: "cpu{map[app:web]}",
        type: "Resource",
        kind: "measured",
        value: "1",
        target: "400m..800m",
        proposal: 3,
      },
    ]);
    expect(decision.windows.status.currentMetrics).toStrictEqual([
      { type: "Resource", resource: { name: "cpu", currentAverageValue: "1" } },
    ]);
  });

  it("names the resource that cannot be read", () => {
    const failure = { code: 503, reason: "", message: "busy" };
    const answers = answersOf({ resource: { kind: "failed", failure } });
    const { decision } = sync(spec, { replicas: 2, windows: LONG_AGO, observed: { answers } });
    const message =
      "unable to get resource metric shop/cpu: unable to fetch metrics from resource metrics API: busy";
    expect(decision.because.message).toBe(
      `failed to compute replicas based on resource metric cpu: ${message}`,
    );
    expect(decision.metrics).toStrictEqual([
      {
        name: "cpu{map[app:web]}",
        type: "Resource",
        kind: "failed",
        reason: "FailedGetResourceMetric",
        message,
      },
    ]);
  });

  it("hands its metric over as counted", () => {
    const scale = scaleRead(2);
    const [metric] = proposalSources({
      spec,
      namespace: "shop",
      scale,
      observation: { ...observationOf({ scale }), pods: podsOf(2), ...observed },
      nowMs: NOON,
    });
    expect(metric?.propose().kind).toBe("counted");
  });
});

describe("resourceReady()", () => {
  it("is counted with the pods that are ignored", () => {
    const rules = {
      readinessDelaySeconds: 0,
      skipOwnerCheck: true,
      minAvailableReplicaPercentage: 0,
      target: { name: "web" },
    };
    expect(
      resourceReady(
        podsOf(3, 2).all,
        { resource: "cpu", hasSample: () => true },
        rules,
        "shop/web",
      ),
    ).toStrictEqual({
      kind: "counted",
      value: { ready: 2, ignored: new Set(["web-1-2"]) },
    });
  });
});

describe("proposeFromValue(), converging to the low mark", () => {
  const read = wpa({ convergeTowardsWatermark: "lowwatermark", tolerance: "1" });
  const ask = (current: number, sum: bigint, lowMilli: bigint, minReplicas: number) =>
    proposeFromValue(
      sum,
      { highMilli: 400_000n, lowMilli },
      { current, ready: 1 },
      { ...read, minReplicas },
    ).replicas;

  it("never predicts fewer than one pod, even without a minimum", () =>
    expect(ask(0, 0n, 150_000n, 0)).toBe(1));
  it("without a low mark stays, even below the minimum", () => expect(ask(1, 1n, 0n, 5)).toBe(1));
});
