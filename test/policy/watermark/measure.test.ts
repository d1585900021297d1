import { describe, expect, it } from "vitest";
import { labelIndex, type LabelSelector } from "../../../lib/rules/model/selector.ts";
import type {
  Answer,
  Answers,
  ApiFailure,
  MetricValue,
  MilliByResource,
  Observation,
  PodMetrics,
} from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { WatermarkMetric, WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import {
  measure,
  readyPods,
  type MeasuredSpec,
  targetPods,
} from "../../../lib/rules/policy/watermark/metrics/measure.ts";
import { gauge } from "../../../lib/rules/policy/watermark/steps/sentences.ts";
import { NOON } from "../../noon.ts";
import { observationOf, podUsage, scaleRead } from "../../observation.ts";
import { podsOf, said, wpa } from "./world.ts";
import { externalQuery } from "../../../lib/rules/sources/external.ts";
import { type AnswerParts, answersOf } from "../../answers.ts";

const BUSY: ApiFailure = { code: 503, reason: "ServiceUnavailable", message: "busy" };
const UNREADABLE: LabelSelector = {
  matchExpressions: [{ key: "app", operator: "Like", values: ["x"] }],
};

const lag: WatermarkMetric = {
  source: "External",
  name: "lag",
  selector: {},
  highMilli: 400_000n,
  lowMilli: 150_000n,
};
const cpu: WatermarkMetric = {
  source: "Resource",
  name: "cpu",
  selector: { matchLabels: { app: "web" } },
  highMilli: 800n,
  lowMilli: 400n,
};

const sample = (name: string, ...usages: readonly MilliByResource[]): PodMetrics =>
  podUsage(
    name,
    {},
    { timestampMs: NOON, containers: usages.map((usage, index) => ({ name: `c${index}`, usage })) },
  );

interface Asked {
  readonly spec?: Partial<WatermarkSpec>;
  readonly answers?: AnswerParts;
  readonly observed?: Partial<Observation>;
  readonly selector?: string;
}

const subjectOf = ({
  spec = {},
  answers = {},
  observed = {},
  selector = "app=web",
}: Asked): MeasuredSpec => {
  const read = wpa();
  const scale = scaleRead(3, { selector });
  const observation = { ...observationOf({ scale, answers }), pods: podsOf(3), ...observed };
  return { spec: { ...read, ...spec }, namespace: "shop", scale, observation, nowMs: NOON };
};

const external = (answer: Parameters<typeof answered>[0]): AnswerParts => ({
  external: answered(answer),
});
const answered = (answer: Answer<readonly MetricValue[]>): NonNullable<AnswerParts["external"]> => {
  const query = externalQuery({ name: "lag", selector: {} });
  return new Map(query ? [[queryKey(query), answer]] : []);
};
const resource = (...items: readonly ReturnType<typeof sample>[]): AnswerParts => ({
  resource: { kind: "answered", items: labelIndex(items) },
});

const ask = (metric: WatermarkMetric, asked: Asked) => measure(metric, subjectOf(asked));
const failed = (message: string) => expect.objectContaining({ kind: "failed", message });

describe("targetPods()", () => {
  it("are those that the scale's selector matches", () =>
    expect(targetPods(subjectOf({}))).toEqual({
      kind: "counted",
      value: subjectOf({}).observation.pods.all,
    }));

  it("are unknown where the selector cannot be read, and every count fails with it", () => {
    const asked = {
      selector: "app in web",
      answers: {
        ...external({ kind: "answered", items: [] }),
        ...resource(sample("web-1-0", { cpu: 1n })),
      },
    };
    const reading = targetPods(subjectOf(asked));
    expect(reading).toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/^unable to parse the selector of the scale "app in web": .+/),
    });
    expect(readyPods(subjectOf(asked))).toEqual(reading);
    expect(ask(lag, asked)).toEqual(reading);
    expect(ask(cpu, asked)).toEqual(reading);
  });
});

describe("readyPods()", () => {
  it("are counted among the target's pods, or taken from the count", () => {
    const observed = { pods: podsOf(3, 2) };
    expect(readyPods(subjectOf({ observed }))).toEqual({ kind: "counted", value: 2 });
    expect(readyPods(subjectOf({ observed, spec: { counts: "current" } }))).toEqual({
      kind: "counted",
      value: 3,
    });
  });
});

describe("measure(), an External metric", () => {
  it("adds up its series", () =>
    expect(
      ask(lag, {
        answers: external({
          kind: "answered",
          items: [
            { milli: 300_000n, timestampMs: NOON },
            { milli: 500_000n, timestampMs: NOON },
          ],
        }),
      }),
    ).toMatchObject({
      kind: "counted",
      value: {
        replicas: 6,
        utilisation: 800_000n,
        ready: 3,
        above: true,
        below: false,
        zero: false,
      },
    }));

  it("that is zero and not tolerated asks for the ready pods", () =>
    expect(
      ask(lag, {
        answers: external({ kind: "answered", items: [{ milli: 0n, timestampMs: NOON }] }),
        observed: { pods: podsOf(3, 2) },
      }),
    ).toEqual({
      kind: "counted",
      value: {
        replicas: 2,
        utilisation: 0n,
        ready: 2,
        above: false,
        below: false,
        details: "",
        zero: true,
        notes: [],
      },
    }));

  it("that is zero and tolerated shrinks like any value", () =>
    expect(
      ask(lag, {
        answers: external({ kind: "answered", items: [{ milli: 0n, timestampMs: NOON }] }),
        spec: { tolerateZero: true },
      }),
    ).toMatchObject({ kind: "counted", value: { replicas: 1, below: true, zero: false } }));

  it.each([
    [
      "failed",
      { kind: "failed", failure: BUSY } as const,
      "unable to fetch metrics from external metrics API: busy",
    ],
    [
      "has no series",
      { kind: "answered", items: [] } as const,
      "no metrics returned from external metrics API",
    ],
  ])("fails where its answer %s", (_, answer, cause) =>
    expect(ask(lag, { answers: external(answer) })).toEqual(
      failed(`unable to get external metric shop/lag: ${cause}`),
    ),
  );

  it("fails where its selector cannot be read", () =>
    expect(ask({ ...lag, selector: UNREADABLE }, {})).toEqual(
      failed("unable to get external metric shop/lag: its selector cannot be read"),
    ));

  it("that was not asked for is a programmer's mistake", () =>
    expect(() => ask(lag, {})).toThrow(
      new RangeError('The external metric "lag" was not asked for before the decision'),
    ));

  it("that fails takes its series away, of this sync and of those before", () => {
    const measured = ask(lag, { answers: external({ kind: "failed", failure: BUSY }) });
    const notes = measured.kind === "failed" ? (measured.notes ?? []) : [];
    expect(said([gauge("value", 5, { metric_name: "lag" }), ...notes]).gauges).toEqual([
      { name: "value", labels: { metric_name: "lag" }, value: null },
      { name: "restricted_scaling", labels: { reason: "downscale_capping" }, value: null },
      { name: "restricted_scaling", labels: { reason: "upscale_capping" }, value: null },
      { name: "restricted_scaling", labels: { reason: "within_bounds" }, value: null },
    ]);
  });
});

describe("measure(), a Resource metric", () => {
  const SAMPLES = resource(
    sample("web-1-0", { cpu: 300n }, { cpu: 400n }),
    sample("web-1-1", { cpu: 500n }),
    sample("web-1-2", { cpu: 600n }),
  );

  it("adds up its pods, and each pod's containers", () =>
    expect(ask(cpu, { answers: SAMPLES })).toMatchObject({
      kind: "counted",
      value: { utilisation: 1_800n, ready: 3, replicas: 7, above: true },
    }));

  it.each([
    ["a container lacks the resource", sample("web-1-2", { cpu: 600n }, { memory: 1n })],
    ["it has no container", sample("web-1-2")],
    ["the resource has the name of an inherited member", sample("web-1-2", {})],
  ])("has no sample of a pod where %s", (_, other) => {
    const metric = { ...cpu, name: other.containers.length === 1 ? "toString" : "cpu" };
    const one = sample("web-1-0", { cpu: 300n, toString: 300n } as Record<string, bigint>);
    expect(ask(metric, { answers: resource(one, other) })).toMatchObject({
      kind: "counted",
      value: { utilisation: 300n, ready: 1 },
    });
  });

  it("takes the later of two samples of a pod", () =>
    expect(
      ask(cpu, {
        answers: resource(sample("web-1-0", { cpu: 300n }), sample("web-1-0", { cpu: 500n })),
      }),
    ).toMatchObject({
      value: { utilisation: 500n },
    }));

  it("of the document counts every sample, whatever pods there are", () =>
    expect(
      ask(cpu, {
        answers: SAMPLES,
        spec: { counts: "current", average: true },
        observed: { pods: podsOf(0) },
      }),
    ).toMatchObject({
      kind: "counted",
      value: { utilisation: 600n, ready: 3 },
    }));

  it("of the document fails without a sample that has the resource", () =>
    expect(
      ask(cpu, {
        answers: resource(sample("web-1-0", { memory: 1n })),
        spec: { counts: "current" },
      }),
    ).toEqual(failed("no sample has the resource cpu")));

  it("fails without a pod of the target", () =>
    expect(ask(cpu, { answers: SAMPLES, observed: { pods: podsOf(0) } })).toEqual(
      failed("no pods returned by selector while calculating replica count"),
    ));

  it("fails where every pod is still starting", () =>
    expect(ask(cpu, { answers: SAMPLES, observed: { pods: podsOf(3, 0) } })).toEqual(
      failed("every one of the 3 pods is ignored, holding"),
    ));

  it("fails where all its samples are of pods that are ignored", () =>
    expect(
      ask(cpu, {
        answers: resource(sample("web-1-2", { cpu: 600n })),
        observed: { pods: podsOf(3, 2) },
      }),
    ).toEqual(failed("did not receive metrics for any ready pods")));

  it("counts from a share of ready pods on", () => {
    const observed = { pods: podsOf(3) };
    const answers = resource(sample("web-1-0", { cpu: 300n }));
    expect(ask(cpu, { answers, observed, spec: { minAvailableReplicaPercentage: 33 } }).kind).toBe(
      "counted",
    );
    expect(ask(cpu, { answers, observed, spec: { minAvailableReplicaPercentage: 34 } })).toEqual(
      failed("33 % of the pods are unready, will not autoscale shop/web"),
    );
  });

  it.each([
    [
      "all failed",
      { resource: { kind: "failed", failure: BUSY } } as const,
      "unable to fetch metrics from resource metrics API: busy",
    ],
    ["nothing matches", resource(), "no metrics returned from resource metrics API"],
  ])("fails where its samples cannot be read: %s", (_, answers, cause) =>
    expect(ask(cpu, { answers })).toEqual(
      failed(`unable to get resource metric shop/cpu: ${cause}`),
    ),
  );

  it("fails where its own label query failed, and is not touched by the failure of another one", () => {
    const failing = (selector: string) =>
      new Map([
        ...answersOf(SAMPLES),
        [JSON.stringify(["resource", selector]), { kind: "failed", failure: BUSY }],
      ]) as Answers;
    expect(ask(cpu, { observed: { answers: failing("app=web") } })).toEqual(
      failed(
        "unable to get resource metric shop/cpu: unable to fetch metrics from resource metrics API: busy",
      ),
    );
    expect(ask(cpu, { observed: { answers: failing("app=other") } }).kind).toBe("counted");
  });

  it("fails where its selector cannot be read", () =>
    expect(ask({ ...cpu, selector: UNREADABLE }, { answers: SAMPLES })).toEqual(
      failed(
        'unable to get resource metric shop/cpu: "Like" is not a valid label selector operator',
      ),
    ));

  it("that was not asked for is a programmer's mistake", () =>
    expect(() => ask(cpu, {})).toThrow(
      new RangeError("Pod metrics were not asked for before the decision"),
    ));
});
