import { admitOrThrow } from "../../../lib/manifest/admit.ts";
import type { Decision } from "../../../lib/model/decision.ts";
import { autoscalerName, namespace } from "../../../lib/model/ids.ts";
import { labelIndex } from "../../../lib/model/label-index.ts";
import type { Answer, ExternalMetricValue, Observation, Pod } from "../../../lib/model/observation.ts";
import { queryKey } from "../../../lib/model/query.ts";
import { DEFAULT_SETTINGS } from "../../../lib/model/settings.ts";
import type { AutoscalerSpec } from "../../../lib/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/model/windows.ts";
import { afterWrite } from "../../../lib/policy/after-write.ts";
import { decide } from "../../../lib/policy/decide.ts";
import { questions } from "../../../lib/policy/questions.ts";
import { throughStore } from "../../conformance/hpa/through-store.ts";

export const NOON = Date.parse("2026-05-01T12:00:00Z");

/** A metric from outside: its whole value against 10 a pod, nothing tolerated. */
export const LOAD = { external: { metric: "load" }, measure: "Average", target: 10, tolerance: { up: "0", down: "0" } };

/** Rules that stand in nobody's way, so that one field at a time can be looked at. */
const FREE = { stabilizationWindowSeconds: 0, policies: [{ type: "Pods", value: 1000, periodSeconds: 15 }] };

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
  admitOrThrow({ document: manifest(spec), where: "the manifest" }).spec;

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
  /** Windows stay in memory, for properties of many runs. */
  readonly unstored?: true;
}

const FAILURE = { kind: "failed", failure: { code: 503, reason: "ServiceUnavailable", message: "no metrics" } } as const;

const observationOf = (spec: AutoscalerSpec, { replicas, values = {}, pods, usage = {}, app = "web" }: Seen): Observation => {
  const scale = { kind: "read", specReplicas: replicas, statusReplicas: replicas, selector: `app=${app}`, uid: "u", resourceVersion: "1" } as const;
  const asked = questions(spec, "shop", scale);
  const answerOf = (metric: string): Answer<readonly ExternalMetricValue[]> => {
    const value = values[metric];
    return value === undefined ? FAILURE : { kind: "answered", items: [{ milli: BigInt(Math.round(value * 1000)), timestampMs: 0 }] };
  };
  const sampled = Object.entries(usage).map(([name, milli]) => ({
    name,
    labels: { app },
    timestampMs: NOON,
    windowMs: 15_000,
    containers: [{ name: "app", usage: { cpu: milli } }],
  }));
  return {
    scale,
    pods: labelIndex(pods ?? Array.from({ length: replicas }, (_, index) => pod(`web-${index}`))),
    answers: {
      resource: { kind: "answered", items: labelIndex(sampled) },
      custom: new Map(
        asked.custom.map((query) => {
          const answer = answerOf(query.metric);
          const described = query.for === "object" ? query.name : "";
          return [
            queryKey(query),
            answer.kind === "failed"
              ? answer
              : { kind: "answered", items: answer.items.map((item) => ({ ...item, describes: described, windowMs: 0 })) },
          ];
        }),
      ),
      external: new Map(asked.external.map((query) => [queryKey(query), answerOf(query.metric)])),
    },
    others: [],
  };
};

export const pod = (name: string, cpu: { readonly request?: bigint; readonly limit?: bigint } = {}): Pod => ({
  name,
  labels: { app: "web" },
  owners: [],
  deleting: false,
  phase: "Running",
  startMs: NOON - 3_600_000,
  ready: { status: "True", transitionMs: NOON - 3_000_000 },
  containers: [
    {
      name: "app",
      requests: cpu.request === undefined ? {} : { cpu: cpu.request },
      limits: cpu.limit === undefined ? {} : { cpu: cpu.limit },
      restartable: false,
    },
  ],
  initContainers: [],
  overhead: {},
});

export interface Synced {
  readonly decision: Decision;
  /** What the workload has after it. */
  readonly count: number;
  readonly windows: Windows;
}

/** One sync, and its PUT applied; windows go through the store. */
export const sync = (spec: AutoscalerSpec, seen: Seen): Synced => {
  const { nowMs = NOON, windows = NEW_WINDOWS, replicas, unstored } = seen;
  const input = {
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    spec,
    settings: DEFAULT_SETTINGS,
    observation: { ...observationOf(spec, seen), ...seen.observed },
    windows: unstored ? windows : throughStore(windows),
    nowMs,
  };
  const decision = decide(input);
  if (decision.kind === "hold") return { decision, count: replicas, windows: decision.windows };
  const written = afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs: nowMs, eventId: `e${nowMs}` });
  return { decision, count: decision.to, windows: written.windows };
};

/** Consecutive syncs of one workload: at each, seconds after noon and the values seen. Gives the count after each. */
export const counts = (
  spec: AutoscalerSpec,
  replicas: number,
  steps: readonly (readonly [seconds: number, values: Readonly<Record<string, number>>])[],
) => {
  let state: Synced | undefined;
  return steps.map(([seconds, values]) => {
    state = sync(spec, { replicas: state?.count ?? replicas, values, nowMs: NOON + seconds * 1000, windows: state?.windows ?? NEW_WINDOWS });
    return state.count;
  });
};

/** Windows after a scale at so many seconds before noon. */
export const scaledBefore = (spec: AutoscalerSpec, seconds: number, from: number, to: number, windows = NEW_WINDOWS): Windows => {
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
  return afterWrite({ spec, decision, outcome: { kind: "applied" }, atMs: NOON - seconds * 1000, eventId: `s${seconds}` }).windows;
};
