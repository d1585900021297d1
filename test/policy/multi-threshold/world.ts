import { admit } from "../../../lib/rules/manifest/admit.ts";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Answer, MetricValue, Observation } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { ControllerSettings } from "../../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { questions } from "../../../lib/rules/policy/dialects.ts";
import { NOON } from "../../noon.ts";
import { NO_METRICS, observationOf, podUsage, scaleRead } from "../../observation.ts";
import { type AppliedSync, appliedSync, decideInput, type SyncParts } from "../applied-sync.ts";
import { podsOf } from "../watermark/world.ts";
import { askedOf, type CustomQuery } from "../../answers.ts";

/** A HorizontalPodAutoscaler of 1 to 100 replicas. */
export const hpa = (spec: Readonly<Record<string, unknown>>, apiVersion = "autoscaling/v2") => ({
  apiVersion,
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 100,
    ...spec,
  },
});

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
export const counts = (
  spec: AutoscalerSpec,
  { replicas, windows = NEW_WINDOWS, settings }: Life,
  steps: readonly Step[],
): readonly number[] => {
  let state: Pick<AppliedSync, "count" | "windows"> = { count: replicas, windows };
  return steps.map((step) => {
    state = appliedSync(
      state.count,
      partsOf(spec, state.count, step, { windows: state.windows, ...(settings && { settings }) }),
    );
    return state.count;
  });
};

export const decisionOf = (
  spec: AutoscalerSpec,
  count: number,
  step: Step,
  more: Partial<SyncParts>,
): Decision => decide(decideInput(partsOf(spec, count, step, more)));

const partsOf = (
  spec: AutoscalerSpec,
  count: number,
  step: Step,
  more: Partial<SyncParts>,
): SyncParts => ({
  spec,
  observation: observed(spec, count, step),
  nowMs: NOON + step.at * 1000,
  ...more,
});

const observed = (
  spec: AutoscalerSpec,
  count: number,
  { value, perPod = 0, silent = 0, at }: Step,
): Observation => {
  const scale = scaleRead(count);
  const asked = askedOf(questions(spec, "shop", scale));
  const times = { timestampMs: NOON + at * 1000, windowMs: 60_000 };
  const pods = podsOf(count).all;
  const heard = pods.slice(silent).map(({ name }) => name);
  const milli = value === undefined ? undefined : BigInt(Math.round(value * 1000));
  const external: Answer<readonly MetricValue[]> =
    milli === undefined ? NO_METRICS : { kind: "answered", items: [{ milli, timestampMs: NOON }] };
  const custom = (query: Pick<CustomQuery, "for">): Answer<readonly MetricValue[]> => {
    if (query.for === "pods")
      return {
        kind: "answered",
        items: heard.map((describes) => ({ describes, milli: BigInt(perPod * 1000), ...times })),
      };
    return milli === undefined
      ? NO_METRICS
      : { kind: "answered", items: [{ describes: "front", milli, ...times }] };
  };
  return observationOf({
    scale,
    pods,
    answers: {
      external: new Map(asked.external.map((query) => [queryKey(query), external])),
      custom: new Map(asked.custom.map((query) => [queryKey(query), custom(query)])),
      resource: {
        kind: "answered",
        items: labelIndex(heard.map((name) => podUsage(name, { cpu: BigInt(perPod) }, times))),
      },
    },
  });
};
