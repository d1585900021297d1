import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type { Observation } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import type { WatermarkSpec } from "../../../lib/rules/model/spec-watermark.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { questions } from "../../../lib/rules/policy/dialects.ts";
import { lastWrites } from "../../../lib/rules/policy/watermark/steps/conclude.ts";
import type { StepNote } from "../../../lib/rules/policy/watermark/steps/sentences.ts";
import { noted, started } from "../../../lib/rules/policy/watermark/steps/sync.ts";
import { NOON } from "../../noon.ts";
import { NO_METRICS, observationOf, readyPod, scaleRead } from "../../observation.ts";
import { type AppliedSync, appliedSync } from "../applied-sync.ts";
import { specOf } from "../spec-of.ts";
import { askedOf } from "../../answers.ts";

export const at = (time: string): number => Date.parse(`2026-03-01T${time}Z`);

const ofTheDialect = (manifest: unknown): WatermarkSpec => {
  const spec = specOf(manifest);
  if (spec.dialect !== "watermark") throw new Error(`a spec of the dialect ${spec.dialect}`);
  return spec;
};

/** A WatermarkPodAutoscaler on one External metric. */
export const wpa = (
  spec: Readonly<Record<string, unknown>> = {},
  marks: Readonly<Record<string, unknown>> = { highWatermark: "400", lowWatermark: "150" },
) =>
  ofTheDialect({
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "WatermarkPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 100,
      metrics: [
        { type: "External", external: { metricName: "lag", metricSelector: {}, ...marks } },
      ],
      ...spec,
    },
  });

export interface Seen {
  readonly replicas: number;
  /** In thousandths; undefined: the metric cannot be read. */
  readonly milli?: bigint;
  readonly ready?: number;
  readonly nowMs?: number;
  readonly windows?: Windows;
  /** What is seen otherwise than in an ordinary sync. */
  readonly observed?: Partial<Observation>;
}

/** One sync, and its PUT applied. */
export const sync = (
  spec: AutoscalerSpec,
  { replicas, milli, ready = replicas, observed, ...seen }: Seen,
): AppliedSync => {
  const scale = scaleRead(replicas);
  const answer =
    milli === undefined
      ? NO_METRICS
      : ({ kind: "answered", items: [{ milli, timestampMs: NOON }] } as const);
  const external = new Map(
    askedOf(questions(spec, "shop", scale)).external.map((query) => [queryKey(query), answer]),
  );
  const observation = {
    ...observationOf({ scale, answers: { external } }),
    pods: podsOf(replicas, ready),
    ...observed,
  };
  return appliedSync(replicas, { spec, observation, ...seen });
};

/** Windows whose last scale was at an instant. */
export const scaledAt = (lastScaleMs: number): Windows => ({
  ...NEW_WINDOWS,
  status: { ...NEW_WINDOWS.status, lastScaleMs },
});

/** The pods of a Deployment; the last ones are not ready. */
export const podsOf = (count: number, ready = count) =>
  labelIndex(
    Array.from({ length: count }, (_, index) =>
      readyPod(`web-1-${index}`, undefined, {
        owners: [{ kind: "ReplicaSet", name: "web-1" }],
        ready: { status: index < ready ? "True" : "False", transitionMs: 0 },
      }),
    ),
  );

/** What notes make of the conditions that there were, and of everything else that is said. */
export const said = (
  notes: readonly StepNote[],
  before: readonly Condition[] = [],
  nowMs = NOON,
) => {
  const windows = { ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, conditions: before } };
  const observation = { ...observationOf(), pods: podsOf(1) };
  const { conditions, events, gauges, metrics } = noted(
    started({ spec: wpa(), namespace: "shop", name: "web", observation, windows, nowMs }),
    ...notes,
  );
  return { conditions, events, gauges: lastWrites(gauges), metrics };
};
