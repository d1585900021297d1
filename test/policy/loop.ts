import type { Decision } from "../../lib/rules/model/decision.ts";
import type { Pod } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import type { ControllerSettings } from "../../lib/rules/model/spec-common.ts";
import { NEW_WINDOWS, type Windows } from "../../lib/rules/model/windows.ts";
import { throughStore } from "../conformance/hpa/through-store.ts";
import { NOON } from "../noon.ts";
import { observationOf, scaleRead } from "../observation.ts";
import { appliedSync } from "./applied-sync.ts";
import { specOf } from "./spec-of.ts";
import type { ExternalQuery } from "../../lib/rules/sources/external.ts";
import type { AnswerParts } from "../answers.ts";

export const MINUTE_MS = 60_000;

/** What the workload of a loop sees at one sync. */
export interface Seen {
  readonly answers: AnswerParts;
  readonly pods?: readonly Pod[];
}

export interface LoopOptions {
  readonly replicas: number;
  readonly periodMs?: number;
  /** When a sync is, in the place of `periodMs`. */
  readonly atMs?: (sync: number) => number;
  readonly settings?: Partial<ControllerSettings>;
  /** The process is killed after every sync: all that the next one knows comes from the store. */
  readonly killed: boolean;
  readonly see: (sync: number, replicas: number, nowMs: number) => Seen;
}

/**
 * One autoscaler under a manifest, sync after sync; every write succeeds. Gives the count after
 * each sync.
 */
export const loop = (manifest: unknown, syncs: number, options: LoopOptions): readonly number[] =>
  decisions(manifest, syncs, options).map(({ kind, ...decision }) =>
    kind === "scale" ? (decision as { to: number }).to : (decision.from ?? 0),
  );

export const decisions = (
  manifest: unknown,
  syncs: number,
  options: LoopOptions,
): readonly Decision[] => {
  const spec = specOf(manifest);
  const {
    periodMs = MINUTE_MS,
    atMs = (sync: number) => sync * periodMs,
    settings = {},
    killed,
    see,
  } = options;
  let windows: Windows = NEW_WINDOWS;
  let { replicas } = options;
  return Array.from({ length: syncs }, (_, sync) => {
    const nowMs = NOON + atMs(sync);
    const known = killed ? throughStore(windows) : windows;
    const { answers, pods = [] } = see(sync, replicas, nowMs);
    const observation = observationOf({ scale: scaleRead(replicas), pods, answers });
    const synced = appliedSync(replicas, { spec, settings, observation, windows: known, nowMs });
    ({ count: replicas, windows } = synced);
    return synced.decision;
  });
};

const LOAD: ExternalQuery = { for: "external", metric: "load", metricSelector: "" };

/**
 * Answers under which the metric `load` with a target of 1 per replica proposes exactly this count,
 * when nothing is tolerated.
 */
export const loadFor = (replicas: number): Seen => ({
  answers: {
    external: new Map([
      [
        queryKey(LOAD),
        { kind: "answered", items: [{ milli: BigInt(replicas) * 1000n, timestampMs: 0 }] },
      ],
    ]),
  },
});

/** An autoscaler on `load`, one per replica. */
export const loadManifest = (spec: object): unknown => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 1000,
    metrics: [
      {
        type: "External",
        external: { metric: { name: "load" }, target: { type: "AverageValue", averageValue: "1" } },
      },
    ],
    ...spec,
  },
});
