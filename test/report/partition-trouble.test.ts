import { describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import { troubleOf } from "../../lib/stack/report/partition-trouble.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const LOST =
  'the HPA controller was unable to get the target\'s current scale: Cannot GET deployments.apps of cluster "eu-1": no answer within 900 ms';
const REFUSED =
  'the scale of the target cannot be read: deployments.apps "web" is forbidden: User "tidemark" cannot get resource';
const METRICS_REFUSED =
  "unable to fetch metrics from resource metrics API: pods.metrics.k8s.io is forbidden: no";
const FROZEN = { reason: "FleetFrozen", message: "the fleet was frozen by ada: drill" };

let uids = 0;
const evaluation = (more: Partial<Evaluation>): Evaluation => ({
  uid: autoscalerUid(`uid-${++uids}`),
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  kind: "hold",
  failed: true,
  because: { reason: "FailedGetScale", message: LOST },
  metrics: [],
  steps: [],
  events: [],
  ...more,
});
const fine = evaluation({
  failed: false,
  from: 3,
  because: { reason: "DesiredWithinRange", message: "" },
});
const because = (message: string, reason = "FailedGetScale") => ({ because: { reason, message } });
const since = (transitionMs: number): Partial<Evaluation> => ({
  status: {
    conditions: [
      {
        type: "AbleToScale",
        status: "False",
        reason: "FailedGetScale",
        message: LOST,
        transitionMs,
      },
    ],
    currentReplicas: 0,
    desiredReplicas: 0,
    currentMetrics: null,
  },
});

describe("what evaluations say of their cluster", () => {
  it.each<[string, readonly Evaluation[], object]>([
    ["nothing without any", [], { state: "ok", silent: true }],
    ["that it is well", [fine], { state: "ok", silent: false }],
    ["that nothing was read", [evaluation({})], { state: "unreachable", error: LOST }],
    [
      "that one was read, and one was not",
      [fine, evaluation({})],
      { state: "partly failing", error: `autoscaler "shop/web": ${LOST}` },
    ],
    [
      "that it refuses us",
      [evaluation({ ...because(REFUSED), failedRead: { of: "scale", code: 403 } })],
      { state: "forbidden", error: REFUSED },
    ],
    [
      "that it refuses us its metrics",
      [
        evaluation({
          from: 3,
          ...because(METRICS_REFUSED, "FailedGetResourceMetric"),
          failedRead: { of: "metric", code: 403 },
        }),
      ],
      { state: "forbidden" },
    ],
    [
      "that there are no metrics",
      [evaluation({ from: 3, ...because("no metrics returned", "FailedGetResourceMetric") })],
      { state: "failing" },
    ],
    [
      "that it refuses us, whatever its words are",
      [evaluation({ ...because("nope"), failedRead: { of: "scale", code: 401 } })],
      { state: "forbidden" },
    ],
    [
      "that a workload is not there",
      [evaluation({ ...because("nope"), failedRead: { of: "scale", code: 404 } })],
      { state: "partly failing" },
    ],
    [
      "that it is lost, though its words speak of rights",
      [evaluation({ ...because(REFUSED), failedRead: { of: "scale", code: 0 } })],
      { state: "unreachable" },
    ],
    [
      "that it is too busy to answer",
      [evaluation({ ...because("slow down"), failedRead: { of: "scale", code: 429 } })],
      { state: "unreachable" },
    ],
    [
      "that it is lost, behind a freeze",
      [evaluation({ because: FROZEN, withoutHold: because(LOST) })],
      { state: "unreachable", error: LOST },
    ],
    [
      "that it is lost, behind a freeze and a pause",
      [
        evaluation({
          because: FROZEN,
          withoutHold: because("paused by ada", "AutoscalerPaused"),
          ...since(7),
        }),
      ],
      { state: "unreachable", error: LOST, sinceMs: 7 },
    ],
    [
      "nothing where a manifest is not understood, beside one that was not read",
      [
        evaluation(because("the stored manifest cannot be converted", "InvalidSpec")),
        evaluation({}),
      ],
      { state: "unreachable", error: LOST },
    ],
    [
      "nothing where only a manifest is not understood",
      [evaluation(because("the stored manifest cannot be converted", "InvalidSpec"))],
      { state: "partly failing", silent: true },
    ],
  ])("%s", (_says, evaluations, trouble) => {
    expect(troubleOf(evaluations)).toMatchObject(trouble);
  });

  it("name the first autoscaler that holds because a right was lost, also behind a pause, and how many there are", () => {
    const lost = { reason: "RivalsUnknown", message: "no ScaledObject can be looked for any more" };
    const held = [
      evaluation({
        failed: false,
        because: { reason: "AutoscalerPaused", message: "" },
        withoutHold: { because: lost },
      }),
      evaluation({ failed: false, because: lost }),
      evaluation({ failed: false }),
    ];
    expect(troubleOf(held)).toMatchObject({
      state: "ok",
      holds: [
        { reason: "RivalsUnknown", autoscaler: "shop/web", message: lost.message, autoscalers: 2 },
      ],
    });
  });

  it("name the first autoscaler whose object cannot be read, as where its definition was deleted", () => {
    const unread = { reason: "SpecUnknown", message: "the definition of the kind is not there" };
    expect(troubleOf([evaluation({ failed: false, because: unread })])).toMatchObject({
      holds: [
        { reason: "SpecUnknown", autoscaler: "shop/web", message: unread.message, autoscalers: 1 },
      ],
    });
  });

  it("date an outage by most of them: one that failed long before or came later does not date an outage, and of equal groups the later one does", () => {
    expect(troubleOf([1, 50, 50, 90].map((ms) => evaluation(since(ms)))).sinceMs).toBe(50);
    expect(troubleOf([90, 50].map((ms) => evaluation(since(ms)))).sinceMs).toBe(90);
  });

  it("are told in words of a bounded length that a terminal does not obey", () => {
    const { error = "" } = troubleOf([evaluation(because(`\u001B[2J${"x".repeat(5_000)}`))]);
    expect(error.length).toBeLessThanOrEqual(256);
    expect(error.startsWith("\\u{1b}[2J")).toBe(true);
  });
});

describe("what refused scales say of their cluster", () => {
  const refused = (code: number) =>
    evaluation({
      kind: "scale",
      failed: false,
      from: 2,
      to: 5,
      refused: { code, message: "no right" },
    });
  const made = evaluation({ kind: "scale", failed: false, from: 2, to: 5 });
  it.each<[string, readonly Evaluation[], object]>([
    [
      "that it refuses us, where every scale is answered with 403",
      [fine, refused(403)],
      { state: "forbidden" },
    ],
    [
      "that it fails, where every scale is refused otherwise",
      [fine, refused(422)],
      { state: "failing" },
    ],
    [
      "that it fails in part, where another scale was made",
      [made, refused(403)],
      { state: "partly failing" },
    ],
    ["nothing, where a scale met a conflict", [fine, refused(409)], { state: "ok" }],
  ])("%s", (_says, evaluations, trouble) => {
    expect(troubleOf(evaluations)).toMatchObject(trouble);
  });
  it("in the words of the API server, with both counts", () => {
    expect(troubleOf([refused(403)]).error).toBe("the scale from 2 to 5 was refused: no right");
  });
});
