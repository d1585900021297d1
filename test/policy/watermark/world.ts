import { admit } from "../../../lib/manifest/admit.ts";
import { autoscalerName, namespace } from "../../../lib/model/ids.ts";
import { labelIndex } from "../../../lib/model/label-index.ts";
import type { Observation, Pod, ScaleRead } from "../../../lib/model/observation.ts";
import { queryKey } from "../../../lib/model/query.ts";
import { DEFAULT_SETTINGS } from "../../../lib/model/settings.ts";
import type { AutoscalerSpec } from "../../../lib/model/spec.ts";
import type { WatermarkSpec } from "../../../lib/model/spec-watermark.ts";
import { type Condition, NEW_WINDOWS, type Windows } from "../../../lib/model/windows.ts";
import { afterWrite } from "../../../lib/policy/after-write.ts";
import { decide } from "../../../lib/policy/decide.ts";
import { questions } from "../../../lib/policy/questions.ts";
import { lastWrites } from "../../../lib/policy/watermark/steps/conclude.ts";
import type { Note } from "../../../lib/policy/watermark/steps/notes.ts";
import { noted, started } from "../../../lib/policy/watermark/steps/sync.ts";

export const NOON = Date.parse("2026-05-01T12:00:00Z");
export const at = (time: string): number => Date.parse(`2026-05-01T${time}Z`);

/** The spec that a manifest is decided by. */
export const specOf = (manifest: unknown): AutoscalerSpec => {
  const admission = admit(manifest);
  if (!admission.ok) throw new Error(JSON.stringify(admission.problems));
  return admission.spec;
};

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
      metrics: [{ type: "External", external: { metricName: "lag", metricSelector: {}, ...marks } }],
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

/** One sync, and its PUT applied. `count` is what the workload has after it. */
export const sync = (spec: AutoscalerSpec, { replicas, milli, ready = replicas, nowMs = NOON, windows = NEW_WINDOWS, observed }: Seen) => {
  const observation = { ...observationOf(spec, replicas, ready, milli), ...observed };
  const decision = decide({
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    spec,
    settings: DEFAULT_SETTINGS,
    observation,
    windows,
    nowMs,
  });
  if (decision.kind === "hold") return { decision, count: replicas, windows: decision.windows };
  const written = afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs: nowMs });
  return { decision, count: decision.to, windows: written.windows };
};

/** Windows whose last scale was at an instant. */
export const scaledAt = (lastScaleMs: number): Windows => ({ ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, lastScaleMs } });

const observationOf = (spec: AutoscalerSpec, replicas: number, ready: number, milli: bigint | undefined): Observation => {
  const scale = scaleOf(replicas, replicas);
  const { external } = questions(spec, "shop", scale);
  const failure = { code: 503, reason: "ServiceUnavailable", message: "no metrics" };
  const answer =
    milli === undefined ? ({ kind: "failed", failure } as const) : ({ kind: "answered", items: [{ milli, timestampMs: NOON }] } as const);
  return {
    scale,
    pods: podsOf(replicas, ready),
    answers: { custom: new Map(), external: new Map(external.map((query) => [queryKey(query), answer])) },
    others: [],
  };
};

export const scaleOf = (specReplicas: number, statusReplicas: number): ScaleRead => ({
  kind: "read",
  specReplicas,
  statusReplicas,
  selector: "app=web",
  uid: "u",
  resourceVersion: "1",
});

export const podsOf = (count: number, ready = count) => labelIndex(Array.from({ length: count }, (_, index) => pod(index, index < ready)));

const pod = (index: number, ready: boolean): Pod => ({
  name: `web-1-${index}`,
  labels: { app: "web" },
  owners: [{ kind: "ReplicaSet", name: "web-1" }],
  deleting: false,
  phase: "Running",
  startMs: NOON - 3_600_000,
  ready: { status: ready ? "True" : "False", transitionMs: NOON - 3_000_000 },
  containers: [],
  initContainers: [],
  overhead: {},
});

/** What notes make of the conditions that there were, and of everything else that is said. */
export const said = (notes: readonly Note[], before: readonly Condition[] = [], nowMs = NOON) => {
  const windows = { ...NEW_WINDOWS, status: { ...NEW_WINDOWS.status, conditions: before } };
  const scale = scaleOf(1, 1);
  const observation = { scale, pods: podsOf(1), answers: { custom: new Map(), external: new Map() }, others: [] };
  const { conditions, events, gauges, metrics } = noted(
    started({ spec: wpa(), namespace: "shop", name: "web", observation, windows, nowMs }),
    ...notes,
  );
  return { conditions, events, gauges: lastWrites(gauges), metrics };
};
