import type { Decision } from "../../lib/rules/model/decision.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import type { HpaSpec } from "../../lib/rules/model/spec-hpa.ts";
import type { RecommendationRun, Windows } from "../../lib/rules/model/windows.ts";
import type { DecideInput } from "../../lib/rules/policy/decide.ts";
import type { PurePart } from "../../lib/stack/sync/pure-part.ts";
import { withChange } from "../../lib/stack/sync/keep/windows-after.ts";
import type { MemoryCluster } from "./memory-cluster.ts";

/**
 * The smallest rules that use everything the protocol keeps: the workload's demand is recommended,
 * the greatest recommendation of the last 90 seconds is wanted, and at most one scale is made per
 * `rateWindowMs`. The manifest is the name of the workload.
 */
export const demandRules = (world: MemoryCluster, rateWindowMs = 0): PurePart => ({
  specOf: (manifest) =>
    manifest === "broken"
      ? { kind: "invalid", message: "it is broken" }
      : { kind: "spec", spec: specOf(manifest) },
  decide: (input) => decide(world, input, rateWindowMs),
  metricsInDetail: ({ metrics }) => metrics,
  slowMetrics: () => [],
  afterWrite: ({ decision, outcome, atMs, eventId }) => ({
    windows:
      outcome.kind === "refused"
        ? decision.windows
        : withChange(decision.windows, { from: decision.from, to: decision.to, atMs, eventId }),
    events: [],
  }),
  withScale: (windows, _spec, change) => withChange(windows, change),
  withOutsideChange: (windows, _spec, { beside, ...change }) =>
    beside ? withChange(windows, change) : windows,
  withScalesBefore: (windows) => windows,
});

export const STABLE_MS = 90_000;

const specOf = (name: string): AutoscalerSpec => {
  const spec: HpaSpec = {
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 100,
    metrics: [],
  };
  return spec;
};

const decide = (
  world: MemoryCluster,
  { spec, observation, windows, nowMs }: DecideInput,
  rateWindowMs: number,
): Decision => {
  const because = { reason: "Demand", message: "the demand asks for it" };
  const rest = { because, metrics: [], steps: [], events: [] };
  const { scale } = observation;
  if (scale.kind === "failed") {
    return {
      ...rest,
      kind: "hold",
      failed: true,
      because: { reason: "FailedGetScale", message: scale.failure.message },
      windows,
    };
  }
  const demand = world.workloads.get(spec.target.name)?.demand ?? scale.specReplicas;
  const kept = (windows.memory.recommendations ?? []).filter(
    ({ lastMs }) => lastMs > nowMs - STABLE_MS,
  );
  const recommendations = recorded(kept, demand, nowMs);
  const to = Math.max(...recommendations.map(({ replicas }) => replicas));
  const changes = [...windows.memory.scaleUps, ...windows.memory.scaleDowns];
  const limited = changes.some(({ atMs }) => atMs > nowMs - rateWindowMs);
  const next: Windows = {
    memory: { ...windows.memory, recommendations },
    status: { ...windows.status, currentReplicas: scale.specReplicas },
  };
  const decided = { ...rest, from: scale.specReplicas, windows: next };
  return to === scale.specReplicas || limited
    ? { ...decided, kind: "hold", failed: false }
    : { ...decided, kind: "scale", from: scale.specReplicas, to, trigger: "" };
};

const recorded = (
  runs: readonly RecommendationRun[],
  replicas: number,
  nowMs: number,
): readonly RecommendationRun[] => {
  const last = runs.at(-1);
  return last?.replicas === replicas
    ? [...runs.slice(0, -1), { ...last, lastMs: nowMs }]
    : [...runs, { replicas, firstMs: nowMs, lastMs: nowMs }];
};
