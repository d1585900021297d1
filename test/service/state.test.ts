import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { autoscalerRow } from "../../lib/command/output/autoscaler-rows.ts";
import { describeSheet } from "../../lib/command/output/describe-sheet.ts";
import { explainSheet } from "../../lib/command/output/explain-sheet.ts";
import { painter } from "../../lib/command/io.ts";
import { viewedMetric } from "../../lib/embedded/view/plain-view.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS, type Status } from "../../lib/rules/model/windows.ts";
import { heldBy } from "../../lib/stack/report/evaluation-state.ts";
import { line } from "../../lib/stack/report/printed.ts";
import { NO_WINDOWS } from "../../lib/answers/service/explain/describe.ts";
import type { AutoscalerSnapshot } from "../../lib/answers/service/partitions/partition-data.ts";
import { autoscalerView } from "../../lib/answers/service/views/autoscaler-view.ts";
import { tableRowOf } from "../../lib/answers/service/views/row-view.ts";
import type { AutoscalerView } from "../../lib/answers/views/autoscaler.ts";
import { NOON } from "../noon.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const HOLDS = join(import.meta.dirname, "../../lib/stack/report/holds.ts");
const plain = painter(false);

const CLUSTER: ClusterRecord = {
  name: clusterName("eu-1"),
  uid: "uid-of-cluster",
  syncPeriodMs: 15_000,
  partitions: [],
  settings: DEFAULT_SETTINGS,
  version: 1,
};
const RECORD = {
  cluster: CLUSTER.name,
  namespace: namespace("shop"),
  name: autoscalerName("web"),
  uid: autoscalerUid("u"),
  generation: 1,
  manifest: "{}",
  createdMs: NOON,
  updatedMs: NOON,
  updatedBy: "ada",
};
const SPEC = {
  dialect: "hpa",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 10,
  metrics: [
    { type: "Resource", name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
  ],
} as const;

const evaluated = (more: Partial<Evaluation>): Evaluation => ({
  uid: RECORD.uid,
  namespace: RECORD.namespace,
  name: RECORD.name,
  kind: "hold",
  failed: false,
  from: 4,
  because: { reason: "DesiredWithinRange", message: "recommended size matches current size" },
  metrics: [],
  steps: [],
  events: [],
  ...more,
});

const known = (evaluation: Evaluation): AutoscalerSnapshot => ({
  cluster: CLUSTER,
  record: RECORD,
  fleet: {},
  spec: { kind: "spec", spec: SPEC },
  evaluated: { atMs: NOON - 15_000, evaluation },
  syncedMs: NOON - 15_000,
  nowMs: NOON,
});
const viewOf = (more: Partial<Evaluation>) => autoscalerView(known(evaluated(more)));
const rowOf = (view: AutoscalerView) =>
  autoscalerRow(tableRowOf(view), NOON, plain).map((cell) => line(cell).written());
const stateCell = (more: Partial<Evaluation>) => rowOf(viewOf(more))[9];
const because = (reason: string) => ({ because: { reason, message: "m" } });

describe("the state of an autoscaler", () => {
  it.each([
    ["shadow", because("RivalController")],
    ["held: other stack", because("OtherStack")],
    ["held: shared target", because("TargetShared")],
    ["held: monitor", because("DatadogMonitorNotOK")],
    ["held: monitor", because("FailedGetDatadogMonitor")],
    ["held: unsettled scale", because("ScaleUnsettled")],
    ["held: dry run", because("DryRun")],
    ["held: manifest pause", because("Paused")],
    ["held: too many scales", because("TooManyScales")],
    ["active", {}],
    ["failing", { failed: true, ...because("FailedGetScale") }],
  ] as const)("is %s, also where the metrics ask for no other count: %j", (state, more) => {
    expect(stateCell(more)).toBe(state);
  });

  it("says what holds it as a field of its own, so that programs need not read a sentence", () => {
    expect(viewOf(because("RivalController"))).toMatchObject({ state: "shadow", heldBy: "rival" });
    expect(viewOf({})).not.toHaveProperty("heldBy");
  });
});

it("The first decision of the watermark rules has words in explain too, as its event has", () => {
  const first = {
    kind: "scale",
    from: 4,
    to: 4,
    because: { reason: "FirstDecision", message: "" },
  };
  expect(viewOf(first as Partial<Evaluation>).decision?.message).toBe(
    "the first decision of a WatermarkPodAutoscaler writes the count that there is, 4",
  );
});

const unread = (status: Partial<Status>): Partial<Evaluation> => {
  const { from: _none, ...rest } = evaluated({
    failed: true,
    because: { reason: "FailedGetScale", message: "no answer" },
    status: { ...NEW_WINDOWS.status, ...status },
  });
  return rest;
};
const FAILED_SINCE = [
  {
    type: "AbleToScale",
    status: "False",
    reason: "FailedGetScale",
    message: "no answer",
    transitionMs: NOON - 300_000,
  },
] as const;

describe("a count that the newest sync could not read", () => {
  const viewOfUnread = (status: Partial<Status>) => {
    const { from: _none, ...evaluation } = { ...evaluated({}), ...unread(status) };
    return autoscalerView(known(evaluation));
  };

  it("is never shown as 0 of 0", () => {
    const view = viewOfUnread({ conditions: FAILED_SINCE });
    expect(view).not.toHaveProperty("currentReplicas");
    expect(view).not.toHaveProperty("desiredReplicas");
    expect(rowOf(view).slice(7, 10)).toEqual(["<unknown>", "<unknown>", "failing"]);
  });

  it("is shown as it was read last, with its age", () => {
    const view = viewOfUnread({ currentReplicas: 9, desiredReplicas: 9, conditions: FAILED_SINCE });
    expect(view.lastKnown).toEqual({ replicas: 9, at: "2026-03-01T11:55:00.000Z" });
    expect(rowOf(view).slice(7, 10)).toEqual(["9 (5m ago)", "<unknown>", "failing"]);
    const sheet = describeSheet(
      { ...view, windows: NO_WINDOWS, events: [] },
      NOON,
      plain,
    ).written();
    expect(sheet).toContain("Deployment replicas:  cannot be read; last known: 9 (5m ago)\n");
  });
});

describe("a percentage", () => {
  const metric = {
    name: "cpu",
    type: "Resource",
    kind: "measured",
    value: "40%",
    target: "60%",
    proposal: 3,
  } as const;
  const slot = {
    type: "Resource",
    resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "200m" } },
  };
  const view = viewOf({
    metrics: [metric],
    status: {
      ...NEW_WINDOWS.status,
      currentReplicas: 4,
      desiredReplicas: 4,
      currentMetrics: [slot],
    },
  });

  it("is shown with the amount per pod that it was made of: in get, describe, explain and the live view", () => {
    expect(view.metrics).toMatchObject([{ value: "40%", average: "200m" }]);
    expect(rowOf(view)[4]).toBe("40% (200m)/60%");
    expect(
      describeSheet({ ...view, windows: NO_WINDOWS, events: [] }, NOON, plain).written(),
    ).toMatch(/cpu: +40% \(200m\) \/ 60%\n/);
    const decision = {
      at: "2026-03-01T11:59:45.000Z",
      kind: "hold",
      from: 4,
      reason: "r",
      message: "m",
      failed: false,
    } as const;
    const place = { cluster: "eu-1", namespace: "shop", name: "web", ageSeconds: 15 };
    const explanation = {
      ...place,
      stored: "evaluation" as const,
      decision,
      metrics: view.metrics,
      steps: [],
      windows: NO_WINDOWS,
      windowsPartial: false,
      otherwise: [],
    };
    expect(explainSheet(explanation, NOON, plain).written()).toMatch(/ cpu +40% \(200m\) +60% /);
    expect(view.metrics.map(viewedMetric)).toEqual(["cpu 40% (200m) of 60%"]);
  });

  it("stands alone where no amount was stored with it", () => {
    expect(rowOf(viewOf({ metrics: [metric] }))[4]).toBe("40%/60%");
  });
});

describe("every hold beside the rules", () => {
  it("has its words for the state", () => {
    const reasons = [...readFileSync(HOLDS, "utf8").matchAll(/reason: "(\w+)"/g)].map(
      ([, reason = ""]) => reason,
    );
    expect(reasons.length).toBeGreaterThan(10);
    // Those of a switch have a state of their own; behind the others nothing is evaluated, so that
    // it is failing.
    const others = new Set([
      "FleetFrozen",
      "ClusterPaused",
      "AutoscalerPaused",
      "InvalidSpec",
      "RuleFailed",
      "UnreadableAutoscaler",
      "UnreadableWindows",
    ]);
    expect(
      reasons.filter(
        (reason) => !others.has(reason) && heldBy(evaluated(because(reason))) === undefined,
      ),
    ).toEqual([]);
  });
});
