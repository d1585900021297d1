import type { Forecast } from "../../../lib/rules/model/forecast.ts";
import type { SetByPeople } from "../../../lib/rules/model/override.ts";
import { labelIndex } from "../../../lib/rules/model/selector.ts";
import type {
  Answer,
  MetricValue,
  MilliByResource,
  Observation,
  Pod,
} from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import type { ControllerSettings } from "../../../lib/rules/model/spec-common.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { afterWrite, questions } from "../../../lib/rules/policy/dialects.ts";
import { throughStore } from "../../conformance/hpa/through-store.ts";
import { NOON } from "../../noon.ts";
import { NO_METRICS, observationOf, podUsage, readyPod, scaleRead } from "../../observation.ts";
import { type AppliedSync, appliedSync } from "../applied-sync.ts";
import { specOf } from "../spec-of.ts";
import { askedOf, type CustomQuery } from "../../answers.ts";

/** A metric from outside: its whole value against 10 a pod, nothing tolerated. */
export const LOAD = {
  external: { metric: "load" },
  measure: "Average",
  target: 10,
  tolerance: { up: "0", down: "0" },
};

/** Rules that limit nothing, so that a test sees the effect of one field. */
const FREE = {
  stabilizationWindowSeconds: 0,
  policies: [{ type: "Pods", value: 1000, periodSeconds: 15 }],
};

export const manifest = (spec: Readonly<Record<string, unknown>> = {}): unknown => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 100,
    ...(spec["rules"] === undefined ? free(spec) : spec),
  },
});

const free = (spec: Readonly<Record<string, unknown>>) => ({
  metrics: [LOAD],
  ...spec,
  scaleUp: { ...FREE, ...(spec["scaleUp"] as object | undefined) },
  scaleDown: { ...FREE, ...(spec["scaleDown"] as object | undefined) },
});

export const native = (spec: Readonly<Record<string, unknown>> = {}): AutoscalerSpec =>
  specOf(manifest(spec));

export interface Seen {
  readonly replicas: number;
  /** Whole values of external metrics by name; one that is not here cannot be read. */
  readonly values?: Readonly<Record<string, number>>;
  readonly pods?: readonly Pod[];
  readonly usage?: Readonly<Record<string, bigint>>;
  /** Label of the pods; "web" unless given. */
  readonly app?: string;
  readonly nowMs?: number;
  readonly windows?: Windows;
  /** What is seen otherwise than in an ordinary sync. */
  readonly observed?: Partial<Observation>;
  readonly setByPeople?: SetByPeople;
  readonly forecast?: Forecast;
  readonly settings?: Partial<ControllerSettings>;
  /** How far planned syncs are apart, where there are others between them. */
  readonly syncPeriodMs?: number;
  /** Windows stay in memory, for properties of many runs. */
  readonly unstored?: true;
}

const observed = (
  spec: AutoscalerSpec,
  { replicas, values = {}, pods, usage = {}, app = "web" }: Seen,
): Observation => {
  const scale = scaleRead(replicas, { selector: `app=${app}` });
  const asked = askedOf(questions(spec, "shop", scale));
  const answerOf = <More>(metric: string, more: More): Answer<readonly (MetricValue & More)[]> => {
    const value = values[metric];
    return value === undefined
      ? NO_METRICS
      : {
          kind: "answered",
          items: [{ milli: BigInt(Math.round(value * 1000)), timestampMs: 0, ...more }],
        };
  };
  const describes = (query: CustomQuery): string => (query.for === "object" ? query.name : "");
  const usages = Object.entries(usage).map(([name, cpu]) =>
    podUsage(name, { cpu }, { labels: { app }, timestampMs: NOON, windowMs: 15_000 }),
  );
  return observationOf({
    scale,
    pods: pods ?? Array.from({ length: replicas }, (_, index) => pod(`web-${index}`)),
    answers: {
      resource: { kind: "answered", items: labelIndex(usages) },
      custom: new Map(
        asked.custom.map((query) => [
          queryKey(query),
          answerOf(query.metric, { describes: describes(query), windowMs: 0 }),
        ]),
      ),
      external: new Map(
        asked.external.map((query) => [queryKey(query), answerOf(query.metric, {})]),
      ),
    },
  });
};

/** A ready pod that requests and limits the CPU given here, and nothing else. */
export const pod = (
  name: string,
  { request, limit }: { readonly request?: bigint; readonly limit?: bigint } = {},
): Pod => {
  const cpuOf = (cpu: bigint | undefined): MilliByResource => (cpu === undefined ? {} : { cpu });
  return readyPod(name, undefined, {
    containers: [
      { name: "app", requests: cpuOf(request), limits: cpuOf(limit), restartable: false },
    ],
  });
};

/** One sync, and its PUT applied; windows go through the store. */
export const sync = (spec: AutoscalerSpec, seen: Seen): AppliedSync => {
  const { nowMs = NOON, windows = NEW_WINDOWS, replicas, unstored } = seen;
  const { setByPeople, settings, forecast } = seen;
  const { syncPeriodMs } = seen;
  const observation = { ...observed(spec, seen), ...seen.observed };
  return appliedSync(replicas, {
    spec,
    observation,
    windows: unstored ? windows : throughStore(windows),
    nowMs,
    ...(setByPeople && { setByPeople }),
    ...(settings && { settings }),
    ...(forecast && { forecast }),
    ...(syncPeriodMs !== undefined && { syncPeriodMs }),
  });
};

/**
 * Consecutive syncs of one workload: at each, seconds after noon and the values seen. Gives the
 * count after each.
 */
export const counts = (
  spec: AutoscalerSpec,
  replicas: number,
  steps: readonly (readonly [seconds: number, values: Readonly<Record<string, number>>])[],
) => {
  let state: AppliedSync | undefined;
  return steps.map(([seconds, values]) => {
    state = sync(spec, {
      replicas: state?.count ?? replicas,
      values,
      nowMs: NOON + seconds * 1000,
      windows: state?.windows ?? NEW_WINDOWS,
    });
    return state.count;
  });
};

/** Windows after a scale at so many seconds before noon. */
export const scaledBefore = (
  spec: AutoscalerSpec,
  seconds: number,
  from: number,
  to: number,
  windows = NEW_WINDOWS,
): Windows => {
  const decision = {
    kind: "scale",
    from,
    to,
    trigger: "",
    because: { reason: "", message: "" },
    metrics: [],
    steps: [],
    events: [],
    windows,
  } as const;
  return afterWrite({
    spec,
    decision,
    outcome: { kind: "applied" },
    atMs: NOON - seconds * 1000,
    eventId: `s${seconds}`,
  }).windows;
};
