import { autoscalerName, clusterName, namespace } from "../../../lib/rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../lib/rules/model/records.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import type { ServiceContext } from "../../../lib/answers/service/context.ts";
import { openService } from "../../../lib/answers/service/open.ts";
import { getAutoscaler } from "../../../lib/stack/store/records/autoscalers.ts";
import { NOON } from "../../noon.ts";
import { BEHAVIOR, hpa } from "./manifests.ts";
import { type Outcome, storeEvents, storeSync } from "./synced.ts";

export const CPU = "cpu resource utilization (percentage of request)";
const EU = clusterName("eu-1");
const ago = (seconds: number): number => NOON - seconds * 1000;

export const recordOf = async (
  { tables }: ServiceContext,
  name: string,
  inside = "shop",
  cluster = EU,
): Promise<AutoscalerRecord> => {
  const record = await getAutoscaler(tables, {
    cluster,
    namespace: namespace(inside),
    name: autoscalerName(name),
  });
  if (!record) throw new Error(`${name} is not stored`);
  return record;
};

const WINDOWS: Windows = {
  memory: {
    recommendations: [
      { replicas: 9, firstMs: ago(400), lastMs: ago(200) },
      { replicas: 6, firstMs: ago(185), lastMs: ago(30) },
    ],
    scaleUps: [{ change: 3, atMs: ago(45), eventId: "uid-1:2" }],
    scaleDowns: [],
  },
  status: {
    conditions: [
      {
        type: "AbleToScale",
        status: "True",
        reason: "ScaleDownStabilized",
        message: "recent recommendations were higher",
        transitionMs: ago(900),
      },
    ],
    currentReplicas: 9,
    desiredReplicas: 9,
    lastScaleMs: ago(45),
    currentMetrics: null,
  },
};

export const held = (record: AutoscalerRecord): Outcome => ({
  record,
  windows: WINDOWS,
  evaluation: {
    kind: "hold",
    failed: false,
    from: 9,
    because: {
      reason: "ScaleDownStabilized",
      message:
        "recent recommendations were higher than current one, applying the highest recent recommendation",
    },
    metrics: [
      {
        name: CPU,
        type: "Resource",
        kind: "measured",
        value: "40%",
        target: "60%",
        ratio: 0.667,
        proposal: 6,
        pods: { matched: 9, owned: 9, counted: 9, oldestSeconds: 21 },
        turns: { value: "40.6%", above: { value: "54%", asks: "same" } },
      },
    ],
    steps: [
      { step: "propose", before: 9, after: 6 },
      {
        step: "stabilize",
        before: 6,
        after: 9,
        limit: {
          reason: "ScaleDownStabilized",
          value: 9,
          message: "9 was recommended within 300 s",
          untilMs: ago(-100),
        },
      },
    ],
    events: [],
  },
});

const failing = (record: AutoscalerRecord): Outcome => ({
  record,
  windows: {
    ...NEW_WINDOWS,
    status: { ...NEW_WINDOWS.status, currentReplicas: 3, desiredReplicas: 3 },
  },
  evaluation: {
    kind: "hold",
    failed: true,
    from: 3,
    because: {
      reason: "FailedGetResourceMetric",
      message: "no metrics returned from resource metrics API",
    },
    metrics: [
      {
        name: CPU,
        type: "Resource",
        kind: "failed",
        reason: "FailedGetResourceMetric",
        message: "no metrics returned from resource metrics API",
      },
    ],
    steps: [],
    events: [],
  },
});

/**
 * Two clusters at noon: `eu-1` was synced a minute and 15 s ago, where "shop/web" is held by
 * stabilization, "shop/api" has no metrics and the others came later; `us-1` was never synced, but
 * has an event.
 */
export const fillShop = async (world: {
  readonly context: ServiceContext;
  readonly set: (nowMs: number) => void;
}): Promise<void> => {
  const { context } = world;
  const service = openService(context);
  // Long before: no event is from before its cluster.
  world.set(ago(60 * 86_400));
  for (const name of ["eu-1", "us-1"])
    await service.addCluster({ name, connection: { kind: "kubeconfig", path: "/kube/config" } });
  world.set(ago(3600));
  for (const [cluster, name, inside] of [
    ["eu-1", "web", "shop"],
    ["eu-1", "api", "shop"],
    ["eu-1", "late", "shop"],
    ["eu-1", "web", "infra"],
    ["us-1", "jobs", "batch"],
  ] as const) {
    await service.apply(
      [{ file: "a.yaml", text: hpa(name, { namespace: inside, more: BEHAVIOR }) }],
      { cluster, dryRun: false },
    );
  }
  const web = await recordOf(context, "web");
  const earlier = {
    ...held(web).evaluation,
    because: { reason: "Earlier", message: "an earlier sync" },
  };
  await storeSync(context, EU, ago(60), [{ ...held(web), evaluation: earlier }]);
  await storeSync(context, EU, ago(15), [held(web), failing(await recordOf(context, "api"))]);
  await storeEvents(context.insert, web, NOON, [
    [7200, 2, 4],
    [3000, 4, 6, "refused"],
    [45, 6, 9],
  ]);
  await storeEvents(
    context.insert,
    await recordOf(context, "jobs", "batch", clusterName("us-1")),
    NOON,
    [[60, 1, 2, "unknown"]],
  );
  world.set(NOON);
};
