import { admit } from "../../../lib/manifest/admit.ts";
import { autoscalerName, namespace } from "../../../lib/model/ids.ts";
import { labelIndex } from "../../../lib/model/label-index.ts";
import type { Answer, CustomMetricValue, ExternalMetricValue, Observation, Pod, PodMetrics } from "../../../lib/model/observation.ts";
import { queryKey } from "../../../lib/model/query.ts";
import { type ControllerSettings, DEFAULT_SETTINGS } from "../../../lib/model/settings.ts";
import type { AutoscalerSpec } from "../../../lib/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/model/windows.ts";
import { afterWrite } from "../../../lib/policy/after-write.ts";
import { decide } from "../../../lib/policy/decide.ts";
import { questions } from "../../../lib/policy/questions.ts";
import { NOON, podsOf, scaleOf } from "../watermark/world.ts";

/** A HorizontalPodAutoscaler of 1 to 100 replicas. */
export const hpa = (spec: Readonly<Record<string, unknown>>, apiVersion = "autoscaling/v2") => ({
  apiVersion,
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, minReplicas: 1, maxReplicas: 100, ...spec },
});

export const specOf = (manifest: unknown): AutoscalerSpec => {
  const admission = admit(manifest);
  if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
  return admission.spec;
};

export const faults = (manifest: unknown): readonly string[] => {
  const admission = admit(manifest);
  return admission.ok ? [] : admission.problems.map(({ field, detail }) => `${field}: ${detail}`);
};

/** What one sync finds: whole units; `undefined` for a metric that cannot be read. */
export interface Step {
  readonly at: number;
  /** Of every External and Object metric. */
  readonly value?: number | undefined;
  /** Of each pod: its custom metric, and its CPU in millicores. */
  readonly perPod?: number;
  /** Pods that give no sample. */
  readonly silent?: number;
}

export interface Life {
  readonly replicas: number;
  readonly windows?: Windows;
  readonly settings?: Partial<ControllerSettings>;
}

/** The counts after each sync, every PUT applied at once. */
export const counts = (spec: AutoscalerSpec, { replicas, windows = NEW_WINDOWS, settings = {} }: Life, steps: readonly Step[]): readonly number[] => {
  let [count, kept] = [replicas, windows];
  return steps.map((step) => {
    const decision = decisionOf(spec, count, kept, step, settings);
    const atMs = NOON + step.at * 1000;
    if (decision.kind === "hold") kept = decision.windows;
    else {
      kept = afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs }).windows;
      count = decision.to;
    }
    return count;
  });
};

export const decisionOf = (spec: AutoscalerSpec, count: number, windows: Windows, step: Step, settings: Partial<ControllerSettings> = {}) =>
  decide({
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    spec,
    settings: { ...DEFAULT_SETTINGS, ...settings },
    observation: observed(spec, count, step),
    windows,
    nowMs: NOON + step.at * 1000,
  });

const observed = (spec: AutoscalerSpec, count: number, { value, perPod = 0, silent = 0, at }: Step): Observation => {
  const scale = scaleOf(count, count);
  const asked = questions(spec, "shop", scale);
  const pods = podsOf(count);
  const times = { timestampMs: NOON + at * 1000, windowMs: 60_000 };
  const all: readonly Pod[] = pods.select([]);
  const heard = all.slice(silent).map(({ name }) => name);
  const failure = { code: 503, reason: "ServiceUnavailable", message: "no metrics" };
  const milli = value === undefined ? undefined : BigInt(Math.round(value * 1000));
  const external: Answer<readonly ExternalMetricValue[]> =
    milli === undefined ? { kind: "failed", failure } : { kind: "answered", items: [{ milli, timestampMs: NOON }] };
  const custom = (query: { readonly for: "pods" | "object" }): Answer<readonly CustomMetricValue[]> => {
    if (query.for === "pods") return { kind: "answered", items: heard.map((describes) => ({ describes, milli: BigInt(perPod * 1000), ...times })) };
    return milli === undefined ? { kind: "failed", failure } : { kind: "answered", items: [{ describes: "front", milli, ...times }] };
  };
  const usage: readonly PodMetrics[] = heard.map((name) => ({
    name,
    labels: { app: "web" },
    ...times,
    containers: [{ name: "app", usage: { cpu: BigInt(perPod) } }],
  }));
  return {
    scale,
    pods: labelIndex(all.map((pod) => ({ ...pod, containers: [{ name: "app", requests: { cpu: 100n }, limits: {}, restartable: false }] }))),
    answers: {
      external: new Map(asked.external.map((query) => [queryKey(query), external])),
      custom: new Map(asked.custom.map((query) => [queryKey(query), custom(query)])),
      resource: { kind: "answered", items: labelIndex(usage) } as const,
    },
    others: [],
  };
};
