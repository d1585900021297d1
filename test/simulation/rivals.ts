import type { ObservedCluster, Watched } from "../../lib/stack/cluster/cluster-client.ts";
import { workloadKey } from "../../lib/stack/sync/load/open-intents.ts";
import type { SimulatedCluster } from "./cluster.ts";
import type { Invocation } from "./invocation.ts";
import type { Random } from "./random.ts";
import { FAULTS_MS, type Timetable } from "./timetable.ts";

/**
 * How the LISTs of other controllers are answered: `failed` is a 500, `forbidden` a 403, `missing`
 * a 404, and with `no group` discovery does not know the group of one kind.
 */
export type RivalAnswers = "answered" | "failed" | "forbidden" | "missing" | "no group";

/** A while in which an API server restarts, or its rights are being edited. */
export interface Hiding {
  readonly cluster: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly how: RivalAnswers;
}

const LEAST_MS = 5_000;
const MOST_MS = 70_000;

/**
 * Some whiles at any time, and some that begin while another controller is there. All end before
 * the faults do.
 */
export const planHidings = (
  random: Random,
  { clusters, autoscalers, happenings }: Timetable,
): readonly Hiding[] => {
  const hiding = (cluster: string, fromMs: number): Hiding => {
    const untilMs = Math.min(FAULTS_MS - LEAST_MS, fromMs + random.int(LEAST_MS, MOST_MS));
    return {
      cluster,
      fromMs,
      untilMs,
      how: random.pick(["forbidden", "missing", "no group"] as const),
    };
  };
  const beside = happenings.flatMap((happening) => {
    if (happening.kind !== "rival" || !happening.there || random.chance(1 / 3)) return [];
    const { cluster = "" } = autoscalers[happening.workload] ?? {};
    return [hiding(cluster, happening.atMs + random.int(0, MOST_MS / 2))];
  });
  return random.chance(1 / 3)
    ? [...beside, hiding(random.pick(clusters).name, random.int(0, FAULTS_MS - MOST_MS))]
    : beside;
};

export const answersAt = (hidings: readonly Hiding[], cluster: string, ms: number): RivalAnswers =>
  hidings.find((hiding) => hiding.cluster === cluster && hiding.fromMs <= ms && ms < hiding.untilMs)
    ?.how ?? "answered";

/**
 * What the simulation knows of other controllers: by uid of the autoscaler, since a sync was
 * completed.
 */
export interface RivalLedger {
  /** Autoscalers for which a look was answered. */
  readonly answered: Set<string>;
  /** Since when the controller is there that a look showed. */
  readonly shown: Map<string, number>;
}

/** What one sync could know. */
export interface Looked {
  /**
   * How its look was answered, where its observation is a single call; undefined where no answer
   * arrived.
   */
  how: RivalAnswers | undefined;
  /**
   * Autoscalers whose workload had another controller while the cluster was asked, and since when.
   */
  readonly beside: Map<string, number>;
  /** Autoscalers for which a look was answered in this sync, by what the cluster did. */
  readonly answered: Set<string>;
  /** Autoscalers for which no look was answered, for a reason that proves nothing. */
  readonly failed: Set<string>;
}

export const newLooked = (): Looked => ({
  how: undefined,
  beside: new Map(),
  answered: new Set(),
  failed: new Set(),
});

/** Since when the workload of an autoscaler has another controller. */
const rivalSince = (site: SimulatedCluster, { namespace, spec }: Watched): number | undefined => {
  const workload = site.workloads.get(workloadKey(namespace, spec.target));
  return workload && !workload.gone ? workload.rivalSinceMs : undefined;
};

/** The controllers that are there as an observation begins. */
export const rivalsThere = (
  site: SimulatedCluster,
  watched: readonly Watched[],
): ReadonlyMap<string, number> =>
  new Map(
    watched.flatMap((one) => {
      const since = rivalSince(site, one);
      return since === undefined ? [] : [[one.uid, since] as const];
    }),
  );

/**
 * Notes what the cluster showed to a sync. Over connections a client need not look in each sync,
 * and an answer may break on its way: there only what the client has is a look that was answered.
 */
export const noteLooks = (
  by: Invocation,
  {
    site,
    before,
    overSockets,
  }: {
    readonly site: SimulatedCluster;
    readonly before: ReadonlyMap<string, number>;
    readonly overSockets: boolean;
  },
  watched: readonly Watched[],
  { observations }: ObservedCluster,
): void => {
  const { how } = by.looked;
  for (const one of watched) {
    const since = rivalSince(site, one);
    if (since !== undefined && before.get(one.uid) === since) by.looked.beside.set(one.uid, since);
    const showed = (observations.get(one.uid)?.rivals.length ?? 0) > 0;
    if (how === "answered" || (overSockets && showed)) by.looked.answered.add(one.uid);
    if (how === "failed") by.looked.failed.add(one.uid);
  }
};

/** At the release of a sync: what it was shown is to be known from now on. */
export const keepLooks = (rivals: RivalLedger, { looked }: Invocation): void => {
  for (const uid of looked.answered) {
    rivals.answered.add(uid);
    const since = looked.beside.get(uid);
    if (since === undefined) rivals.shown.delete(uid);
    else rivals.shown.set(uid, since);
  }
};

/**
 * What must keep a sync from writing: a controller that was there all the while it looked, where
 * that was shown or the look proved nothing.
 */
export const besideWhat = (
  rivals: RivalLedger,
  { looked }: Invocation,
  uid: string,
  { overSockets }: { readonly overSockets: boolean },
): string | undefined => {
  const since = looked.beside.get(uid);
  if (since === undefined) return undefined;
  if (rivals.shown.get(uid) === since) return "an earlier sync has seen it";
  if (looked.answered.has(uid)) return "this sync was shown it";
  if (looked.failed.has(uid)) return "this sync could not look";
  return !overSockets && rivals.answered.has(uid)
    ? "an earlier sync could look, and this one not"
    : undefined;
};
