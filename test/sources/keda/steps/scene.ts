import { importObjects } from "../../../../lib/rules/manifest/import/import-objects.ts";
import { asObject, type Json, present } from "../../../../lib/rules/model/json.ts";
import type { Answer, Answers, MetricValue } from "../../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../../lib/rules/model/query.ts";
import type { AutoscalerSpec } from "../../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS } from "../../../../lib/rules/model/windows.ts";
import { registeredQuestions, questions } from "../../../../lib/rules/policy/dialects.ts";
import { noAnswer, roundedMilli } from "../../../../lib/rules/sources/source.ts";
import { NO_METRICS, scaleRead } from "../../../observation.ts";
import type { AppliedSync } from "../../../policy/applied-sync.ts";
import { sync } from "../../../policy/native/world.ts";
import { specOf } from "../../../policy/spec-of.ts";

/** Monday, 2 March 2026, 12:00 UTC. */
const BEGIN = Date.UTC(2026, 2, 2, 12);
const STEP_MS = 15_000;

/** A ScaledObject whose triggers are of the type prometheus or cron, and what they are worth. */
export interface Drawn {
  readonly spec: Json;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly replicas: number;
  /** Where the steps are not 15 s from noon on. */
  readonly times?: { readonly beginMs: number; readonly stepMs: number };
  /** By step and trigger; null where the server does not answer. */
  readonly values: readonly (readonly (number | null)[])[];
}

export const atOf = ({ times }: Drawn, step: number): number =>
  (times?.beginMs ?? BEGIN) + step * (times?.stepMs ?? STEP_MS);

/** What the HPA asks for, in the words of the program. */
export interface Target {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

export const objectOf = ({ spec, annotations }: Drawn): Json => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: "web", namespace: "shop", ...(annotations && { annotations }) },
  spec: { scaleTargetRef: { name: "web" }, ...spec },
});

export const isPaused = ({ annotations }: Drawn): boolean =>
  annotations?.["autoscaling.keda.sh/paused"] === "true";

const advancedOf = (spec: Json): Json => asObject(spec["advanced"]);
const modifiersOf = (spec: Json): Json => asObject(advancedOf(spec)["scalingModifiers"]);

/** `newHPAForScaledObject` of KEDA. */
export const hpaOf = (
  { spec, annotations = {} }: Drawn,
  targets: readonly Target[],
): AutoscalerSpec => {
  const modifiers = modifiersOf(spec);
  const composite = {
    name: "s0-composite",
    type: String(modifiers["metricType"] ?? "AverageValue"),
    value: String(modifiers["target"]),
  };
  const written = asObject(advancedOf(spec)["horizontalPodAutoscalerConfig"])["behavior"];
  const paused = (name: string) =>
    annotations[`autoscaling.keda.sh/paused-${name}`] === "true" && { selectPolicy: "Disabled" };
  const [noIn, noOut] = [paused("scale-in"), paused("scale-out")];
  const behavior =
    written === undefined && !noIn && !noOut
      ? undefined
      : {
          ...asObject(written),
          ...(noIn && { scaleDown: { ...asObject(asObject(written)["scaleDown"]), ...noIn } }),
          ...(noOut && { scaleUp: { ...asObject(asObject(written)["scaleUp"]), ...noOut } }),
        };
  return specOf({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: present({
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: Math.max(1, Number(spec["minReplicaCount"] ?? 0)),
      maxReplicas: Number(spec["maxReplicaCount"] ?? 100),
      metrics: (modifiers["formula"] === undefined ? targets : [composite]).map(
        ({ name, type, value }) => ({
          type: "External",
          external: {
            metric: { name },
            target: type === "Value" ? { type, value } : { type, averageValue: value },
          },
        }),
      ),
      behavior,
    }),
  });
};

/** The PodAutoscaler that `convert` makes of it, or what was not carried over. */
export const nativeOf = (
  drawn: Drawn,
): { readonly spec?: AutoscalerSpec; readonly notes: readonly string[] } => {
  const { manifests, findings } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [objectOf(drawn)],
      sources: { named: { prometheus: "main" }, discovered: false },
    },
    "native",
  );
  const notes = findings.map(({ severity, of, message }) => `${severity} ${of}: ${message}`);
  const [manifest] = manifests;
  return manifest === undefined ? { notes } : { spec: specOf(manifest), notes };
};

const answered = (milli: bigint): Answer<readonly MetricValue[]> => ({
  kind: "answered",
  items: [{ milli, timestampMs: 0 }],
});

/** One sync of the HPA controller, with what KEDA gives it. */
export const hpaSync = (
  hpa: AutoscalerSpec,
  milli: readonly (number | null)[],
  seen: {
    readonly replicas: number;
    readonly nowMs: number;
    readonly windows: AppliedSync["windows"];
  },
): AppliedSync => {
  const asked = questions(hpa, "shop", scaleRead(seen.replicas)).metrics;
  const answers: Answers = new Map(
    asked.map((query, at) => {
      const value = milli[at];
      return [
        queryKey(query),
        value === null || value === undefined ? NO_METRICS : answered(BigInt(value)),
      ];
    }),
  );
  return sync(hpa, { ...seen, observed: { answers }, unstored: true });
};

/** The counts of the PodAutoscaler after each step. */
export const ownCounts = (spec: AutoscalerSpec, drawn: Drawn): readonly number[] => {
  const { replicas, values } = drawn;
  let state: Pick<AppliedSync, "count" | "windows"> = { count: replicas, windows: NEW_WINDOWS };
  return values.map((of, step) => {
    const nowMs = atOf(drawn, step);
    const asked = registeredQuestions(spec, { kept: undefined, nowMs });
    const answers: Answers = new Map(
      asked.map((query) => {
        const value = of[Number(/load_(\d+)/.exec(queryKey(query))?.[1])];
        const milli = value === null || value === undefined ? undefined : roundedMilli(value);
        return [queryKey(query), milli === undefined ? noAnswer("no answer") : answered(milli)];
      }),
    );
    const { count } = state;
    const seen = { replicas: count, nowMs, windows: state.windows };
    const { windows, count: wanted } = sync(spec, {
      ...seen,
      observed: { answers },
      unstored: true,
    });
    state = { windows, count: spec.dryRun ? count : wanted };
    return state.count;
  });
};
