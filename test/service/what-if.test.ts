import { describe, expect, it } from "vitest";
import { stepView } from "../../lib/answers/service/views/event-view.ts";
import type { MetricOutcome, StepOutcome } from "../../lib/rules/model/decision.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { metricsInDetail } from "../../lib/rules/policy/decide.ts";
import { NO_WINDOWS } from "../../lib/answers/service/explain/describe.ts";
import { whatIf } from "../../lib/answers/service/explain/what-if.ts";
import type { WindowsView } from "../../lib/answers/views/windows.ts";
import { sync, wpa } from "../policy/watermark/world.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const measured = (
  proposal: number,
  more: Partial<Extract<MetricOutcome, { readonly kind: "measured" }>> = {},
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
  return whatIf({ evaluation, windows, ...(spec && { spec }) });
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
      measured(9, {
        value: "62%",
        turns: {
          value: "62.4%",
          below: { value: "54%", asks: "fewer" },
          above: { value: "67%", asks: "more" },
        },
      }),
      "cpu is at 62.4% against 60%: from 67% it would ask for more than 9, below 54% for fewer",
    ],
    [
      "above it",
      measured(14, { turns: { value: "90%", below: { value: "67%", asks: "same" } } }),
      "cpu is at 90% against 60% and asks for 14: below 67% it would ask for no more than 9",
    ],
    [
      "below it",
      measured(4, { value: "20%", turns: { value: "20%", above: { value: "54%", asks: "same" } } }),
      "cpu is at 20% against 60% and asks for 4: from 54% it would ask for no fewer than 9",
    ],
    [
      "with pods that are not ready",
      measured(9, {
        value: "91%",
        pods: { matched: 9, owned: 9, counted: 5, unready: 3, missing: 1 },
        assumed: { pods: 4, as: "0", value: "50%" },
        turns: { value: "91%", above: { value: "120.6%", asks: "more" } },
      }),
      "cpu is at 91% against 60%: from 120.6% it would ask for more than 9; 3 of 9 pods are not ready and 1 of 9 pods gave no sample: counted as 0, the value is 50%",
    ],
    [
      "with pods that gave no sample",
      measured(9, {
        value: "20%",
        pods: { matched: 9, counted: 8, missing: 1 },
        assumed: { pods: 1, as: "100%", value: "29%" },
      }),
      "cpu is at 20% against 60%; 1 of 9 pods gave no sample: counted as 100%, the value is 29%",
    ],
    [
      "where few pods are ready, and more load would ask for fewer pods",
      measured(9, { turns: { value: "60%", above: { value: "67%", asks: "fewer" } } }),
      "cpu is at 60% against 60%: from 67% it would ask for fewer than 9",
    ],
  ])("names the values that would change the outcome, %s", (_where, metric, sentence) => {
    expect(sentences([metric])).toEqual([sentence]);
  });

  it("of several metrics speaks of the one that asks for most", () => {
    expect(
      sentences([
        measured(4),
        measured(12, {
          name: "memory",
          value: "2Gi",
          target: "1Gi",
          turns: { value: "2Gi", below: { value: "1.2Gi", asks: "same" } },
        }),
      ]),
    ).toEqual([
      "memory decides, because it asks for most; it is at 2Gi against 1Gi and asks for 12: below 1.2Gi it would ask for no more than 9",
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
    expect(whatIf({ evaluation, windows: NO_WINDOWS })).toEqual([
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

describe("otherwise() on watermarks", () => {
  const at = (spec: AutoscalerSpec, milli: bigint): string | undefined => {
    const { input, decision } = sync(spec, { replicas: 9, milli });
    const evaluation: Evaluation = {
      uid: autoscalerUid("u"),
      namespace: namespace("shop"),
      name: autoscalerName("web"),
      kind: "hold",
      failed: false,
      from: 9,
      because: decision.because,
      metrics: metricsInDetail(decision, input),
      steps: [],
      events: [],
    };
    return whatIf({ evaluation, spec, windows: NO_WINDOWS })[0];
  };
  const marks = { highWatermark: "10", lowWatermark: "5" };
  it.each([
    [
      "between them",
      wpa({}, marks),
      7_000n,
      "lag is at 7 against 5..10: from 11.01 it would ask for more than 9, below 4.5 for fewer",
    ],
    [
      "a zero that is not tolerated",
      wpa({}, marks),
      0n,
      "lag is at 0 against 5..10; a value of 0 only counts with tolerateZero: true",
    ],
    [
      "below them",
      wpa({ tolerateZero: true }, marks),
      4_450n,
      "lag is at 4.45 against 5..10 and asks for 8: from 4.5 it would ask for no fewer than 9",
    ],
    [
      "above them",
      wpa({}, marks),
      12_000n,
      "lag is at 12 against 5..10 and asks for 11: below 11.01 it would ask for no more than 9",
    ],
  ])("says where the count turns: %s", (_, spec, milli, sentence) =>
    expect(at(spec, milli)).toBe(sentence),
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

describe("otherwise() on a stabilized count", () => {
  const at = (secondsAgo: number): string =>
    new Date(Date.parse("2026-03-01T12:00:00Z") - secondsAgo * 1_000).toISOString();
  const held = (
    direction: "scaleUp" | "scaleDown",
    before: number,
    after: number,
  ): StepOutcome => ({
    step: "stabilize",
    before,
    after,
    limit: {
      reason: direction === "scaleDown" ? "ScaleDownStabilized" : "ScaleUpStabilized",
      value: after,
      message: "",
    },
  });
  const windowsOf = (
    direction: "scaleUp" | "scaleDown",
    runs: readonly (readonly [replicas: number, lastSecondsAgo: number])[],
  ): WindowsView => {
    const [first] = runs;
    return {
      ...NO_WINDOWS,
      recommendations: runs.map(([replicas, ago]) => ({ replicas, first: at(ago), last: at(ago) })),
      stabilization: [
        {
          direction,
          windowSeconds: 300,
          held: { replicas: first?.[0] ?? 0, until: at((first?.[1] ?? 0) - 300) },
        },
      ],
    };
  };

  it("says what is wanted once the recommendation that holds is too old, where no other holds then", () => {
    const windows = windowsOf("scaleDown", [
      [17, 180],
      [16, 190],
      [15, 0],
    ]);
    expect(sentences([], [held("scaleDown", 15, 17)], windows)).toEqual([
      `Stabilization holds 17 until ${at(-120)}: then it allows 15, if the recommendations stay as they are`,
    ]);
  });

  it("says first what a younger recommendation holds then, in both directions", () => {
    const down = windowsOf("scaleDown", [
      [17, 180],
      [16, 120],
      [15, 0],
    ]);
    expect(sentences([], [held("scaleDown", 15, 17)], down)).toEqual([
      `Stabilization holds 17 until ${at(-120)}: then it allows 16, and 15 from 2026-03-01T12:03:00.000Z on, if the recommendations stay as they are`,
    ]);
    const up = windowsOf("scaleUp", [
      [4, 180],
      [6, 60],
      [9, 0],
    ]);
    expect(sentences([], [held("scaleUp", 9, 4)], up)).toEqual([
      `Stabilization holds 4 until ${at(-120)}: then it allows 6, and 9 from 2026-03-01T12:04:00.000Z on, if the recommendations stay as they are`,
    ]);
  });
});
