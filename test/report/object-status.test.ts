import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { type StatusContext, objectStatus } from "../../lib/stack/report/objects/object-status.ts";
import { conditionObjectEvents, movedOf } from "../../lib/stack/report/objects/object-events.ts";
import type { MetricPods } from "../../lib/rules/model/decision.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const AT = Date.parse("2030-01-31T08:00:00.500Z");
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const evaluation: Evaluation = {
  uid: autoscalerUid("object-web"),
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  kind: "hold",
  failed: false,
  from: 4,
  because: { reason: "WithinTarget", message: "no metric asks for another count" },
  metrics: [
    { name: "cpu", type: "Resource", kind: "measured", value: "41%", target: "60%", proposal: 3 },
    {
      name: "lag",
      type: "External",
      kind: "failed",
      reason: "FailedGetExternalMetric",
      message: "no answer",
    },
  ],
  steps: [],
  events: [],
  status: {
    conditions: [
      {
        type: "AbleToScale",
        status: "True",
        reason: "ReadyForNewScale",
        message: "ready",
        transitionMs: AT - HOUR_MS,
      },
    ],
    currentReplicas: 4,
    desiredReplicas: 4,
    lastScaleMs: AT - MINUTE_MS,
    currentMetrics: null,
  },
};
const context = (parts: Partial<StatusContext> = {}): StatusContext => ({
  generation: 7,
  nowMs: AT,
  listed: {},
  scales: 0,
  ownPodsOnly: false,
  ...parts,
});

describe("the status of a PodAutoscaler", () => {
  it("says counts, metrics, the last scale and why, each condition with the generation that was decided on", () => {
    expect(objectStatus("PodAutoscaler", evaluation, context())).toEqual({
      observedGeneration: 7,
      currentReplicas: 4,
      desiredReplicas: 4,
      lastScaleTime: "2030-01-31T07:59:00Z",
      targets: "cpu: 41%/60%, lag: <unknown>",
      metrics: [
        { name: "cpu", value: "41%", target: "60%", proposal: 3 },
        { name: "lag", reason: "FailedGetExternalMetric", message: "no answer" },
      ],
      metricsTime: "2030-01-31T08:00:00Z",
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "WithinTarget",
          message: "no metric asks for another count",
          lastTransitionTime: "2030-01-31T08:00:00Z",
          observedGeneration: 7,
        },
        {
          type: "AbleToScale",
          status: "True",
          reason: "ReadyForNewScale",
          message: "ready",
          lastTransitionTime: "2030-01-31T07:00:00Z",
          observedGeneration: 7,
        },
      ],
    });
  });

  it("is not ready while nothing could be decided, or something beside the rules holds it", () => {
    const ready = (parts: Partial<Evaluation>) =>
      objectStatus("PodAutoscaler", { ...evaluation, ...parts }, context());
    expect(ready({ failed: true })).toMatchObject({
      conditions: [{ type: "Ready", status: "False" }, {}],
    });
    const frozen = { reason: "Frozen", message: "the fleet is frozen" };
    expect(
      ready({ because: frozen, withoutHold: { because: evaluation.because, to: 5 } }),
    ).toMatchObject({
      conditions: [
        { type: "Ready", status: "False", reason: "Frozen", message: "the fleet is frozen" },
        {},
      ],
    });
    const held = { reason: "HeldByOverride", message: "held by an override" };
    expect(ready({ because: held })).toMatchObject({
      conditions: [{ type: "Ready", status: "False", reason: "HeldByOverride" }, {}],
    });
    const own = { reason: "PausedBySchedule", message: "paused by the schedule" };
    expect(ready({ because: own })).toMatchObject({
      conditions: [{ type: "Ready", status: "True", reason: "PausedBySchedule" }, {}],
    });
  });

  it("is not ready while the API server refuses the scale, says why, and shows the count that is wanted", () => {
    const scale = { ...evaluation, kind: "scale", from: 4, to: 6 } as const;
    const status = (code: number) =>
      objectStatus(
        "PodAutoscaler",
        { ...scale, refused: { code, message: "no right to scale" } },
        context(),
      );
    const message = "the scale from 4 to 6 was refused: no right to scale";
    expect(status(403)).toMatchObject({
      desiredReplicas: 6,
      conditions: [{ type: "Ready", status: "False", reason: "ScaleForbidden", message }, {}],
    });
    expect(status(422)).toMatchObject({
      conditions: [{ type: "Ready", status: "False", reason: "ScaleRefused" }, {}],
    });
    expect(status(409)).toMatchObject({ conditions: [{ type: "Ready", status: "True" }, {}] });
  });

  it("keeps the time of its last change from the object itself, so that nothing is stored for it", () => {
    const listed = {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2030-01-01T00:00:00Z" }],
    };
    expect(objectStatus("PodAutoscaler", evaluation, context({ listed }))).toMatchObject({
      conditions: [{ type: "Ready", lastTransitionTime: "2030-01-01T00:00:00Z" }, {}],
    });
    expect(
      objectStatus("PodAutoscaler", { ...evaluation, failed: true }, context({ listed })),
    ).toMatchObject({
      conditions: [{ type: "Ready", lastTransitionTime: "2030-01-31T08:00:00Z" }, {}],
    });
  });

  it("of an invalid object has the reason alone", () => {
    const { status: _none, ...unevaluated } = evaluation;
    const invalid = {
      ...unevaluated,
      failed: true,
      metrics: [],
      because: { reason: "InvalidSpec", message: "spec.maxReplicas is required" },
    };
    expect(objectStatus("PodAutoscaler", invalid, context())).toEqual({
      observedGeneration: 7,
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "InvalidSpec",
          message: "spec.maxReplicas is required",
          lastTransitionTime: "2030-01-31T08:00:00Z",
          observedGeneration: 7,
        },
      ],
    });
  });
});

describe("the status of a WatermarkPodAutoscaler", () => {
  it("has the fields of its own definition, and the later ones only where the object has them", () => {
    const status = objectStatus("WatermarkPodAutoscaler", evaluation, context());
    expect(Object.keys(status)).toEqual([
      "observedGeneration",
      "currentReplicas",
      "desiredReplicas",
      "lastScaleTime",
      "conditions",
    ]);
    const listed = {
      scalingEventsCount: 3,
      lastConditionType: "DryRun",
      lastConditionState: "False",
    };
    expect(
      objectStatus("WatermarkPodAutoscaler", evaluation, context({ listed, scales: 1 })),
    ).toMatchObject({
      scalingEventsCount: 4,
      lastConditionType: "Ready",
      lastConditionState: "True",
    });
  });

  it("names the condition that the rules set last", () => {
    const listed = { lastConditionType: "DryRun", lastConditionState: "False" };
    const lastCondition = { type: "ScalingLimited", status: "False" } as const;
    expect(
      objectStatus("WatermarkPodAutoscaler", evaluation, context({ listed, lastCondition })),
    ).toMatchObject({
      lastConditionType: "ScalingLimited",
      lastConditionState: "False",
    });
  });
});

describe("what has moved since the LIST", () => {
  const status = objectStatus("PodAutoscaler", evaluation, context());

  it("is nothing where the cluster has the same, in whatever order its members stand", () => {
    const shuffled = JSON.parse(
      JSON.stringify(
        status,
        Object.keys(status)
          .toReversed()
          .concat(
            "name",
            "value",
            "target",
            "proposal",
            "reason",
            "message",
            "type",
            "status",
            "lastTransitionTime",
          ),
      ),
    );
    expect(movedOf(status, shuffled)).toBe("nothing");
  });

  it("writes values that stay the same again after five minutes, with the time at which they were measured", () => {
    const later = (ms: number) =>
      objectStatus("PodAutoscaler", evaluation, context({ listed: status, nowMs: AT + ms }));
    expect(movedOf(later(5 * MINUTE_MS - 1_000), status)).toBe("nothing");
    expect(movedOf(later(5 * MINUTE_MS), status)).toBe("values");
    const { metricsTime: _time, ...earlier } = status;
    expect(movedOf(later(HOUR_MS), earlier)).toBe("nothing");
  });

  it.each([
    ["the count", { status: { ...evaluation.status, currentReplicas: 5 } }, "state"],
    ["a reason", { because: { reason: "ScaleUpLimit", message: "" } }, "state"],
    ["a value", { metrics: evaluation.metrics.slice(1) }, "values"],
    ["a sentence", { because: { reason: "WithinTarget", message: "another" } }, "values"],
  ] as const)("tells %s from what moves with every value", (_what, parts, moved) => {
    expect(
      movedOf(
        objectStatus(
          "PodAutoscaler",
          { ...evaluation, ...parts } as Evaluation,
          context({ listed: status }),
        ),
        status,
      ),
    ).toBe(moved);
  });

  it("tells nothing of the pause that comes after every scale", () => {
    const able = (state: string, reason: string) => ({
      conditions: [{ type: "AbleToScale", status: state, reason, message: "" }],
    });
    expect(
      conditionObjectEvents(
        "object-web",
        able("False", "BackoffBoth"),
        able("True", "ReadyForScale"),
        AT,
      ),
    ).toEqual([]);
    expect(
      conditionObjectEvents(
        "object-web",
        able("True", "ReadyForScale"),
        able("False", "BackoffBoth"),
        AT,
      ),
    ).toEqual([]);
    expect(
      conditionObjectEvents(
        "object-web",
        able("False", "FailedGetScale"),
        able("True", "ReadyForScale"),
        AT,
      ),
    ).toMatchObject([{ type: "Warning" }]);
  });

  it("tells of a condition with another status once an hour, and not of the first status of an object", () => {
    const failed = objectStatus(
      "PodAutoscaler",
      { ...evaluation, failed: true },
      context({ listed: status }),
    );
    expect(conditionObjectEvents("object-web", failed, {}, AT)).toEqual([]);
    const [event] = conditionObjectEvents("object-web", failed, status, AT);
    expect(event).toMatchObject({
      type: "Warning",
      reason: "WithinTarget",
      note: "Ready is False: no metric asks for another count",
    });
    expect(conditionObjectEvents("object-web", failed, status, AT + MINUTE_MS)[0]?.id).toBe(
      event?.id,
    );
    expect(conditionObjectEvents("object-web", failed, status, AT + HOUR_MS)[0]?.id).not.toBe(
      event?.id,
    );
  });
});

describe("what an object says of its pods", () => {
  const [first] = evaluation.metrics;
  const withPods = (pods: MetricPods): Evaluation => ({
    ...evaluation,
    metrics: first?.kind === "measured" ? [{ ...first, pods }] : [],
  });
  const usual = objectStatus("PodAutoscaler", withPods({ matched: 4, owned: 4 }), context());
  const foreign = objectStatus("PodAutoscaler", withPods({ matched: 6, owned: 2 }), context());

  it.each(["PodAutoscaler", "WatermarkPodAutoscaler"] as const)(
    "%s: a condition while pods count that are not the target's",
    (kind) => {
      const said = objectStatus(kind, withPods({ matched: 6, owned: 2 }), context());
      expect(said["conditions"]).toContainEqual(
        expect.objectContaining({ type: "PodsCounted", status: "False", reason: "ForeignPods" }),
      );
      expect(JSON.stringify(usual)).not.toContain("PodsCounted");
    },
  );

  it("an Event when it begins, a warning; a rollout is none", () => {
    expect(conditionObjectEvents("u", foreign, usual, AT)).toMatchObject([
      {
        type: "Warning",
        reason: "ForeignPods",
        note: "PodsCounted is False: 6 pods match the selector and 2 belong to the target: the rules do not leave out the others",
      },
    ]);
    expect(conditionObjectEvents("u", foreign, foreign, AT)).toEqual([]);
    expect(conditionObjectEvents("u", usual, foreign, AT)).toEqual([]);
    const rollout = withPods({ matched: 5, owned: 5, otherRevision: 1 });
    const during = objectStatus("PodAutoscaler", rollout, context());
    expect(conditionObjectEvents("u", during, usual, AT)).toMatchObject([
      { type: "Normal", reason: "RolloutUnderWay" },
    ]);
  });
});
