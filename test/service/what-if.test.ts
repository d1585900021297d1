import { describe, expect, it } from "vitest";
import { stepView } from "../../lib/answers/service/views/event-view.ts";
import type { MetricOutcome, StepOutcome } from "../../lib/rules/model/decision.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NO_WINDOWS } from "../../lib/answers/service/explain/describe.ts";
import { whatIf } from "../../lib/answers/service/explain/what-if.ts";
import { timesTarget } from "../../lib/answers/service/explain/leading-metric.ts";
import type { WindowsView } from "../../lib/answers/views/windows.ts";
import { hpa } from "../policy/multi-threshold/world.ts";
import { specOf } from "../policy/spec-of.ts";
import { wpa } from "../policy/watermark/world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const measured = (
  proposal: number,
  more: { readonly name?: string; readonly value?: string; readonly target?: string } = {},
): MetricOutcome => ({
  kind: "measured",
  type: "Resource",
  name: "cpu",
  value: "90%",
  target: "60%",
  proposal,
  ...more,
});
const failed: MetricOutcome = {
  kind: "failed",
  type: "Pods",
  name: "pods metric queue",
  reason: "FailedGetPodsMetric",
  message: "gone",
};
const limited = (reason: string, before: number, after: number, value = after): StepOutcome => ({
  step: "limit",
  before,
  after,
  limit: { reason, value, message: `${reason} bit` },
});

const sentences = (
  metrics: readonly MetricOutcome[],
  steps: readonly StepOutcome[] = [],
  windows: WindowsView = NO_WINDOWS,
  spec?: AutoscalerSpec,
  bounds?: Evaluation["bounds"],
): readonly string[] => {
  const evaluation: Evaluation = {
    uid: autoscalerUid("u"),
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    kind: (steps.at(-1)?.after ?? 9) === 9 ? "hold" : "scale",
    failed: false,
    from: 9,
    because: { reason: "r", message: "m" },
    metrics,
    steps,
    events: [],
    ...(bounds && { bounds }),
  };
  return whatIf({ evaluation, settings: DEFAULT_SETTINGS, windows, ...(spec && { spec }) });
};

const SPEC: AutoscalerSpec = {
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 20,
  metrics: [],
};

describe("otherwise() on metrics", () => {
  it.each([
    [
      "inside the tolerance",
      measured(9, { value: "62%" }),
      "cpu is at 62% against 60%: above 66% it would ask for more than 9, below 54% for fewer",
    ],
    [
      "above it",
      measured(14),
      "cpu is at 90% against 60% and asks for 14: at or below 66% it would ask for no more than 9",
    ],
    [
      "below it",
      measured(4, { value: "20%" }),
      "cpu is at 20% against 60% and asks for 4: at or above 54% it would ask for no fewer than 9",
    ],
  ])("names the values that would change the outcome, %s", (_where, metric, sentence) => {
    expect(sentences([metric])).toEqual([sentence]);
  });

  it("of several metrics speaks of the one that asks for most", () => {
    expect(
      sentences([measured(4), measured(12, { name: "memory", value: "2Gi", target: "1Gi" })]),
    ).toEqual([
      "memory decides, because it asks for most; it is at 2Gi against 1Gi and asks for 12: at or below 1.1Gi it would ask for no more than 9",
    ]);
  });

  it("says that a failed metric forbids to shrink, and that all failed ones forbid everything", () => {
    expect(sentences([failed, measured(12)])[0]).toBe(
      "The count cannot fall while a metric cannot be read: pods metric queue",
    );
    expect(sentences([failed])).toEqual([
      "No decision is possible until a metric can be read: pods metric queue",
    ]);
  });
});

describe("otherwise() without an evaluation", () => {
  it("says what stands in its way", () => {
    const evaluation: Evaluation = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      kind: "hold",
      failed: true,
      because: { reason: "AutoscalerPaused", message: "the autoscaler was paused by ada" },
      metrics: [],
      steps: [],
      events: [],
    };
    expect(whatIf({ evaluation, settings: DEFAULT_SETTINGS, windows: NO_WINDOWS })).toEqual([
      "No decision is possible: the autoscaler was paused by ada",
    ]);
  });
});

describe("otherwise() of what something beside the rules holds", () => {
  const because = { reason: "FleetFrozen", message: "the fleet was frozen by ada: incident" };
  const held = (withoutHold: Evaluation["withoutHold"]) => {
    const named = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
    };
    const found = {
      kind: "hold",
      failed: false,
      from: 4,
      because,
      metrics: [],
      steps: [],
      events: [],
    } as const;
    return whatIf({
      evaluation: { ...named, ...found, ...(withoutHold && { withoutHold }) },
      settings: DEFAULT_SETTINGS,
      windows: NO_WINDOWS,
    })[0];
  };

  it("says which count there would be without it", () => {
    expect(
      held({ to: 9, because: { reason: "MetricAboveTarget", message: "cpu is above its target" } }),
    ).toBe(
      "Held because the fleet was frozen by ada: incident; without this hold the count would be 9",
    );
  });

  it("says why there would be no other count without it", () => {
    expect(
      held({
        because: { reason: "RivalController", message: 'the workload is also scaled by HPA "web"' },
      }),
    ).toBe(
      'Held because the fleet was frozen by ada: incident; without this hold the rules would hold as well: the workload is also scaled by HPA "web"',
    );
  });
});

describe("otherwise() on limits", () => {
  it.each([
    [
      limited("TooManyReplicas", 14, 10),
      "maxReplicas is 10, 14 was wanted: a higher maxReplicas would allow more",
    ],
    [
      limited("TooFewReplicas", 1, 2),
      "minReplicas is 2, 1 was wanted: a lower minReplicas would allow fewer",
    ],
    [limited("ScaleUpLimit", 20, 13), "Scaling up is limited to 13 in this sync, 20 was wanted"],
    [
      limited("Cooldown", 4, 9),
      "limit: Cooldown bit; without it the count would be 4 instead of 9",
    ],
  ])("names each with its value", (step, sentence) => {
    expect(sentences([], [step])).toEqual([sentence]);
  });

  it("says when the next scale event leaves its period", () => {
    const events = [
      { change: 2, at: "2026-03-01T11:59:30.000Z", leaves: "2026-03-01T12:00:30.000Z" },
      { change: 2, at: "2026-03-01T11:59:10.000Z", leaves: "2026-03-01T12:00:10.000Z" },
    ];
    const rate = {
      direction: "scaleUp",
      type: "Pods",
      value: 4,
      periodSeconds: 60,
      added: 4,
      removed: 0,
      events,
    } as const;
    expect(
      sentences([], [limited("ScaleUpLimit", 20, 13)], { ...NO_WINDOWS, rates: [rate] }),
    ).toEqual([
      "Scaling up is limited to 13 in this sync, 20 was wanted: the next scale event leaves its period at 2026-03-01T12:00:10.000Z",
    ]);
  });

  const rules = { ...SPEC, minReplicas: 2, maxReplicas: 10 };
  it.each([
    [
      "at the maximum blames the maximum",
      limited("ScaleUpLimit", 20, 10),
      ["maxReplicas is 10, 20 was wanted: a higher maxReplicas would allow more"],
    ],
    [
      "at the minimum blames the minimum",
      limited("ScaleDownLimit", 1, 2),
      ["minReplicas is 2, 1 was wanted: a lower minReplicas would allow fewer"],
    ],
    [
      "below the maximum says where the rate leads",
      limited("ScaleUpLimit", 20, 8),
      [
        "Scaling up is limited to 8 in this sync, 20 was wanted",
        "The count can grow to 10 at most: maxReplicas is 10",
      ],
    ],
    [
      "above the minimum says where the rate leads",
      limited("ScaleDownLimit", 1, 4),
      [
        "Scaling down is limited to 4 in this sync, 1 was wanted",
        "The count can fall to 2 at least: minReplicas is 2",
      ],
    ],
    [
      "inside the bounds speaks of the rate alone",
      limited("ScaleUpLimit", 10, 8),
      ["Scaling up is limited to 8 in this sync, 10 was wanted"],
    ],
  ])("of a rate %s", (_what, step, expected) => {
    expect(sentences([], [step], NO_WINDOWS, rules)).toEqual(expected);
  });

  it("is never empty", () => {
    expect(sentences([])).toEqual(["No metric was measured, and no limit applied"]);
  });
});

describe("timesTarget()", () => {
  it.each([
    ["60%", 1.1, "66%"],
    ["75%", 0.9, "67.5%"],
    ["500m", 1.1, "550m"],
    ["100", 0.9, "90"],
    ["some words", 1.1000000000000001, "1.1 times its target"],
  ])("%s by %d is %s", (target, factor, text) => {
    expect(timesTarget(target, factor)).toBe(text);
  });
});

describe("otherwise() on watermarks", () => {
  const at = (spec: AutoscalerSpec, value: string, proposal: number): string | undefined => {
    const evaluation: Evaluation = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      kind: "hold",
      failed: false,
      from: 9,
      because: { reason: "r", message: "m" },
      metrics: [
        { kind: "measured", type: "External", name: "lag", value, target: "5..10", proposal },
      ],
      steps: [],
      events: [],
    };
    return whatIf({ evaluation, spec, settings: DEFAULT_SETTINGS, windows: NO_WINDOWS })[0];
  };
  const marks = { highWatermark: "10", lowWatermark: "5" };
  it.each([
    [
      "between them",
      wpa({}, marks),
      "7",
      "lag is at 7, between its marks 5..10, widened by 10 %: above them it would ask for more than 9, below them for fewer",
    ],
    [
      "a zero that is not tolerated",
      wpa({}, marks),
      "0",
      "lag is at 0, below its marks 5..10, widened by 10 %: a value of 0 only counts with tolerateZero: true",
    ],
    [
      "below them by less than one of its replicas",
      wpa({ tolerateZero: true }, marks),
      "4450m",
      "lag is at 4450m, below its marks 5..10, widened by 10 %: the share of 9 that it asks for rounds to no fewer",
    ],
    [
      "above them, where the pods that are ready need no more",
      wpa({}, marks),
      "12",
      "lag is at 12, above its marks 5..10, widened by 10 %: the share of 9 that it asks for rounds to no more",
    ],
    [
      "between the marks of an HPA, with a tolerance of one direction",
      specOf(
        hpa({
          metrics: [{ type: "External", external: { metricName: "lag", ...marks } }],
          behavior: { scaleUp: { tolerance: "0.5" } },
        }),
      ),
      "12",
      "lag is at 12, between its marks 5..10, widened by 50 % above and 10 % below: above them it would ask for more than 9, below them for fewer",
    ],
  ])("says where the value is: %s", (_, spec, value, sentence) =>
    expect(at(spec, value, 9)).toBe(sentence),
  );
});

describe("otherwise() under a schedule or an override", () => {
  it("speaks of the bounds in force, and not of the manifest's", () => {
    const raised = { min: 1, max: 200 };
    expect(sentences([], [limited("ScaleUpLimit", 300, 40)], NO_WINDOWS, SPEC, raised)).toEqual([
      "Scaling up is limited to 40 in this sync, 300 was wanted",
      "The count can grow to 200 at most: maxReplicas is 200",
    ]);
    expect(sentences([], [limited("TooManyReplicas", 300, 200)], NO_WINDOWS, SPEC, raised)).toEqual(
      ["maxReplicas is 200, 300 was wanted: a higher maxReplicas would allow more"],
    );
    expect(
      sentences([], [limited("ScaleUpLimit", 30, 8)], NO_WINDOWS, SPEC, { min: 1, max: 10 }),
    ).toEqual([
      "Scaling up is limited to 8 in this sync, 30 was wanted",
      "The count can grow to 10 at most: maxReplicas is 10",
    ]);
  });
});

it("a step says the selector of a metric as people write it", () => {
  const limit = {
    reason: "MetricMissing",
    value: 2,
    message: "jobs is missing: unable to get external metric shop/jobs/nil: no metrics",
  };
  expect(stepView({ step: "combine", before: 2, after: 2, limit }).limit?.message).toBe(
    "jobs is missing: unable to get external metric shop/jobs: no metrics",
  );
});
