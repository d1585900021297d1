import { admitOrThrow } from "../../lib/rules/manifest/admit.ts";
import { autoscalerName, namespace } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import type { Minutes } from "../../lib/replay/minutes.ts";
import type { PodStarts } from "../../lib/replay/pod-starts.ts";
import type { PodTemplate } from "../../lib/replay/pods.ts";
import {
  type Policy,
  type ReplayedWorkload,
  type ReplayOptions,
  replay,
} from "../../lib/replay/replay.ts";
import { type Series, stepSeries } from "../../lib/replay/series.ts";
import {
  capacityOf,
  type LoadedPod,
  targetOf,
  type TracedLoad,
  tracedMetrics,
} from "../../lib/replay/traced.ts";

/** One core asked for, nothing without load, and 10m for each unit: 100 units are 100 %. */
export const POD: LoadedPod = {
  requestMilli: 1_000,
  limitMilli: 2_000,
  idleMilli: 0,
  eachMilli: 10,
};

/** A Monday at 00:00 UTC. */
export const START_MS = Date.UTC(2026, 0, 5);

/** A load that is as many units from each minute on. */
export const loadOf = (steps: Readonly<Record<number, number>>, minutes: number): Series =>
  stepSeries(
    Object.entries(steps).map(([minute, value]) => [START_MS + Number(minute) * MINUTE_MS, value]),
    START_MS + minutes * MINUTE_MS,
  );

const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};

export const hpa = (spec: object = {}) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 20,
    metrics: [CPU],
    ...spec,
  },
});

export const podAutoscaler = (spec: object) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 20,
    ...spec,
  },
});

export const tracedOf = (load: Series, more: Partial<TracedLoad> = {}): TracedLoad => ({
  ...{ load, stepMs: MINUTE_MS, pod: POD, own: new Map(), models: new Map() },
  ...more,
});

export const policyOf = (manifest: object, traced: TracedLoad): Policy => {
  const { spec } = admitOrThrow({ where: "test", document: manifest }, { validation: "strict" });
  const made = tracedMetrics(spec, traced);
  if ("refused" in made) throw new Error(made.refused.map(({ why }) => why).join());
  return {
    ...{ namespace: namespace("shop"), name: autoscalerName("web") },
    ...{ settings: DEFAULT_SETTINGS, specs: [{ fromMs: 0, spec, metrics: made.metrics }] },
  };
};

const NONE = new Float64Array();
/** Pods that take as long, whenever they start. */
const usualStarts = (startsMs: readonly number[]): PodStarts => ({
  ...{ usualMs: Float64Array.from(startsMs), scaleMs: NONE, scaleEnds: NONE, scaleStartsMs: NONE },
});

/** Plays a manifest on a load, with pods that take half a minute, and a sync every 15 s. */
export const played = (
  manifest: object,
  load: Series,
  more: Partial<TracedLoad> &
    Partial<
      Pick<ReplayedWorkload, "initialReplicas"> &
        Pick<PodTemplate, "startMs"> & {
          readonly startsMs: readonly number[];
          readonly starts: PodStarts;
        }
    > &
    Partial<Pick<ReplayOptions, "periodMs" | "everySync">> & { readonly at?: "once" } = {},
): Minutes => {
  const { initialReplicas = 2, startMs = 30_000, periodMs = 15_000, ...others } = more;
  const { everySync, at, startsMs, starts = startsMs && usualStarts(startsMs), ...traced } = others;
  const on = tracedOf(load, traced);
  const policy = policyOf(manifest, on);
  const [{ spec, metrics }] = policy.specs;
  const workload: ReplayedWorkload = {
    pods: {
      target: spec.target,
      container: "app",
      requests: { cpu: BigInt(on.pod.requestMilli) },
      limits: { cpu: BigInt(on.pod.limitMilli) },
      startMs,
      ...(starts && { starts }),
    },
    initialReplicas,
    target: targetOf(metrics, on),
    served: { load, perPod: capacityOf(on.pod) },
  };
  const asRecorded = metrics.map(({ level, model }) => ({
    level,
    model: at && model.kind === "shared" ? { ...model, at } : model,
  }));
  return replay({ ...policy, specs: [{ fromMs: 0, spec, metrics: asRecorded }] }, workload, {
    ...{ fromMs: START_MS, untilMs: load.endMs, periodMs },
    ...(everySync && { everySync }),
  });
};
