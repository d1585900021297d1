import type { Pod } from "../../lib/rules/model/observation.ts";
import type { AutoscalerSpec } from "../../lib/rules/model/spec.ts";
import { NEW_WINDOWS } from "../../lib/rules/model/windows.ts";
import { NOON } from "../noon.ts";
import { pod, type Seen, sync } from "../policy/native/world.ts";
import type { AppliedSync } from "../policy/applied-sync.ts";
import { specOf } from "../policy/spec-of.ts";

/** How Tidemark compares with the tool of the report. */
export type Verdict = "better" | "the same, right" | "the same" | "another way" | "missing";

/** One group of public reports: users met the same fault. */
export interface ReportGroup {
  /** As OWNER/REPOSITORY#NUMBER; or a documented behavior. */
  readonly reports: readonly string[];
  readonly fault: string;
  readonly verdict: Verdict;
  /** What Tidemark does, in one sentence. */
  readonly does: string;
  /** Plays the same input by the rules of production, or reads the same manifest. */
  readonly play?: () => Played;
  /** The test that shows it, where it is not played here. */
  readonly test?: string;
}

export interface Played {
  readonly expected: string;
  readonly got: string;
}

/** What a sync sees at so many seconds; a count where others have set one. */
export type Look = Omit<Seen, "replicas" | "windows" | "nowMs"> & {
  readonly atSeconds: number;
  readonly setTo?: number;
};

/** The syncs of one workload, each with its write applied. */
export const synced = (
  spec: AutoscalerSpec,
  replicas: number,
  looks: readonly (Look | ((count: number) => Look))[],
): readonly AppliedSync[] => {
  let state: AppliedSync | undefined;
  return looks.map((look) => {
    const count = state?.count ?? replicas;
    const { atSeconds, setTo, ...seen } = typeof look === "function" ? look(count) : look;
    state = sync(spec, {
      ...seen,
      replicas: setTo ?? count,
      nowMs: NOON + atSeconds * 1_000,
      windows: state?.windows ?? NEW_WINDOWS,
    });
    return state;
  });
};

/** "4 → 6 → 6": the counts of a workload, the first one included. */
export const countsText = (replicas: number, all: readonly AppliedSync[]): string =>
  [replicas, ...all.map(({ count }) => count)].join(" → ");

/** The spec of a manifest for the Deployment "web", with the bounds 1 to 100 unless it has others. */
const specOfKind =
  (apiVersion: string, kind: string) =>
  (spec: Readonly<Record<string, unknown>>): AutoscalerSpec =>
    specOf({
      apiVersion,
      kind,
      metadata: { name: "web", namespace: "shop" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 1,
        maxReplicas: 100,
        ...spec,
      },
    });

export const hpaOf = specOfKind("autoscaling/v2", "HorizontalPodAutoscaler");
export const wpaOf = specOfKind("datadoghq.com/v1alpha1", "WatermarkPodAutoscaler");

/** CPU in percent of the request. */
export const cpuOf = (percent: number): object => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});

/** An external metric with an average per pod. */
export const externalOf = (averageValue: string, name = "load"): object => ({
  type: "External",
  external: { metric: { name }, target: { type: "AverageValue", averageValue } },
});

/** Usage of each pod of a workload, in thousandths of a core. */
export const eachUses = (pods: readonly { readonly name: string }[], milli: bigint) =>
  Object.fromEntries(pods.map(({ name }) => [name, milli]));

const REQUEST = 100n;
const OWNED = { owners: [{ kind: "ReplicaSet", name: "web-5d9c" }] };

/** So many pods of the workload, which request a tenth of a core each. */
export const podsOf = (count: number, more: Partial<Pod> = {}, from = 0): readonly Pod[] =>
  Array.from({ length: count }, (_, at) => ({
    ...pod(`web-${from + at}`, { request: REQUEST, limit: 400n }),
    ...OWNED,
    ...more,
  }));

/** A look at which the external metric "load" has a value, or none. */
export const loadAt = (atSeconds: number, load?: number): Look => ({
  atSeconds,
  values: load === undefined ? {} : { load },
});

/** Metrics of a PodAutoscaler: the load against 10 a pod, and the CPU against 50 %. */
export const OWN_LOAD = {
  name: "load",
  external: { metric: "load" },
  measure: "Average",
  target: 10,
};
export const OWN_CPU = { resource: { name: "cpu" }, target: 50 };
