import { partitionName } from "../../../rules/model/ids.ts";
import { isActive } from "../../../rules/model/override.ts";
import type { ClusterRecord, FleetRecord } from "../../../rules/model/records.ts";
import type { IndexRow } from "../../../rules/model/summary.ts";
import { listAutoscalersWith } from "../../../stack/store/records/autoscalers.ts";
import { fleetPlaceOf } from "../../../stack/store/records/fleet-place.ts";
import { standbyView } from "../clusters/fleet.ts";
import { placeNotices, placeProblems } from "./place-problems.ts";
import { isLately } from "../../../stack/store/head/head.ts";
import { hasRest, readFleet } from "../../../stack/store/records/clusters.ts";
import { CLUSTERS_AT_ONCE, mapWithLimit } from "../../../stack/store/table/wait-for-all.ts";
import { dueTimes } from "../../../stack/plan/due-times.ts";
import type { ClusterView } from "../../views/cluster.ts";
import { present } from "../../../rules/model/json.ts";
import type { StatusProblem, StatusView } from "../../views/status.ts";
import { type QueryContext, sees, touches } from "../context.ts";
import {
  hasNoHold,
  hasNoOverride,
  type LocatedOverride,
  ofAutoscaler,
  ofCluster,
  ofFleet,
} from "../overrides/override-places.ts";
import { knownIndexes } from "../known-partitions.ts";
import { type ClusterReading, clusterReading, type Heads, headsOf } from "../views/cluster-of.ts";
import { clusterShares, decidedView } from "../views/decided-view.ts";
import { togetherOf } from "../../../stack/plan/decided-share.ts";
import { frozenView, overrideView, pauseView } from "../views/holds-view.ts";
import { rfc3339 } from "../times.ts";
import { clusterProblems, deadLetterProblems, unreadableCluster } from "./status-problems.ts";
import { clusterNotices } from "./status-notices.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";

/** One screen. The counts are of all. */
const PAUSES_SHOWN = 10;
const OVERRIDES_SHOWN = 10;
const ERRORS_SHOWN = 5;

/** What was read of one cluster. */
interface Looked {
  readonly cluster: ClusterRecord;
  readonly reading: ClusterReading;
  readonly paused: StatusView["paused"]["autoscalers"];
  /** Overrides of single autoscalers. */
  readonly overrides: readonly LocatedOverride[];
}

/**
 * Whether everything works. It reads the fleet with its clusters, and the heads of all partitions,
 * a hundred to a request. Only where a head says too little are more requests made: the indexes of
 * partitions that have paused autoscalers, a hundred to a request; a query of the autoscalers of a
 * cluster that has overridden ones, or an edit that no sync has read yet; and at most two journal
 * pages of a partition whose newest sync wrote no summary. A cluster that cannot be read is a
 * problem, and hides none of the others.
 */
export const status = async (context: QueryContext): Promise<StatusView> => {
  const { tables } = context;
  const [{ fleet: fleetRecord, clusters, editedMs }, ids, counted] = await Promise.all([
    context.ahead?.fleet ?? readFleet(tables),
    tables.ids?.(),
    context.deadLetters?.(),
  ]);
  const fleet = fleetRecord();
  const items = clusters.filter((item) =>
    touches(context, item.kind === "read" ? item.record.name : item.name),
  );
  // The queues hold messages of all clusters.
  const deadLetters = sees(context) ? counted : undefined;
  const records = items.flatMap((item) => (item.kind === "read" ? [item.record] : []));
  const heads = await headsOf(context, records, isLately(tables, editedMs));
  // Asked after the heads: a sync that ended meanwhile would be ahead of an earlier answer of a
  // fast clock.
  const nowMs = context.clock();
  const pauses = await pausesInIndexes(context, records, heads);
  const looked = await mapWithLimit(records, CLUSTERS_AT_ONCE, (cluster) =>
    look(context, cluster, { fleet, heads, pauses }, nowMs),
  );
  const unreadable = items.flatMap((item) =>
    item.kind === "unreadable" && sees(context, item.name) ? [unreadableCluster(item)] : [],
  );
  const ofClusters = looked.flatMap(({ cluster, reading }) =>
    clusterProblems(cluster, reading, nowMs, sees(context, cluster.name)),
  );
  const place = fleetPlaceOf(fleet, ids);
  const problems = [
    ...(await placeProblems(context, place, nowMs)),
    ...unreadable,
    ...deadLetterProblems(deadLetters),
    ...ofClusters,
  ].toSorted((one, other) => SEVERITY.indexOf(one.kind) - SEVERITY.indexOf(other.kind));
  return present({
    healthy: problems.length === 0,
    at: rfc3339(nowMs),
    frozen: fleet.frozen && frozenView(fleet.frozen),
    standby: place.kind === "standby" ? standbyView(place, fleet) : undefined,
    clusters: items.length,
    states: statesOf(looked, unreadable.length),
    partitions: looked.reduce((sum, { reading }) => sum + reading.partitions.length, 0),
    syncs: totalOf(looked.map(({ cluster, reading }) => syncCounts(cluster, reading, nowMs))),
    decided: decidedView(
      togetherOf(
        looked.map(({ cluster, reading: { partitions } }) =>
          clusterShares(cluster, partitions, nowMs),
        ),
      ),
    ),
    paused: pausedOf(looked),
    overrides: overridesNow(context, fleet, { looked, nowMs }),
    deadLetters,
    problems,
    notices: [
      // It names who moved it.
      ...(sees(context) ? placeNotices(place, fleet, nowMs) : []),
      ...looked.flatMap(({ cluster, reading }) =>
        sees(context, cluster.name) ? clusterNotices(cluster, reading, nowMs) : [],
      ),
    ],
    findings: findingsOf(context, looked),
    errors: errorsOf(looked.map(({ reading }) => reading.view)),
  });
};

/** The wider ones first. */
const overridesNow = (
  context: QueryContext,
  fleet: FleetRecord,
  { looked, nowMs }: { readonly looked: readonly Looked[]; readonly nowMs: number },
): StatusView["overrides"] => {
  const ofPlaces = looked.flatMap(({ cluster }) => ofCluster(context, cluster));
  const active = [...ofFleet(fleet), ...ofPlaces, ...looked.flatMap(({ overrides }) => overrides)]
    .filter(({ override }) => isActive(override, nowMs))
    .map(({ place, override }) => overrideView(place, override, nowMs));
  return active.length === 0
    ? undefined
    : {
        active: active.slice(0, OVERRIDES_SHOWN),
        more: Math.max(0, active.length - OVERRIDES_SHOWN),
      };
};

type Paused = Pick<IndexRow, "namespace" | "name" | "paused">;

const pathOf = (cluster: ClusterRecord, partition: string): string =>
  `${cluster.name}/${partition}`;

/**
 * The paused autoscalers of partitions whose heads speak of pauses and of no override, as their
 * indexes name them: this environment may have read these already. `undefined` where an index does
 * not say it.
 */
const pausesInIndexes = async (
  { tables }: QueryContext,
  clusters: readonly ClusterRecord[],
  heads: Heads,
): Promise<ReadonlyMap<string, readonly Paused[] | undefined>> => {
  const parts = clusters.flatMap((cluster) =>
    cluster.partitions.map(({ name }) => ({
      cluster,
      ref: { cluster: cluster.name, partition: name },
      head: heads.get(pathOf(cluster, name)),
    })),
  );
  const wanted = parts.flatMap(({ head, ...part }) =>
    head && hasNoOverride(head) && !hasNoHold(head) ? [{ ...part, head }] : [],
  );
  const indexes = await knownIndexes(tables, wanted);
  return new Map(
    wanted.map(({ cluster, ref }, at) => [
      pathOf(cluster, ref.partition),
      indexes[at]?.rows.filter(({ paused }) => paused),
    ]),
  );
};

const look = async (
  context: QueryContext,
  cluster: ClusterRecord,
  {
    pauses,
    ...read
  }: {
    readonly fleet: FleetRecord;
    readonly heads: Heads;
    readonly pauses: ReadonlyMap<string, readonly Paused[] | undefined>;
  },
  nowMs: number,
): Promise<Looked> => {
  const reading = await clusterReading(context, cluster, read);
  const named = reading.partitions.map(({ head, view: { name } }) =>
    hasNoHold(head) ? [] : pauses.get(pathOf(cluster, name)),
  );
  // Namespaces that no partition has are in no index.
  const isAsked = named.some((found) => (hasRest(cluster) ? !found : found?.length !== 0));
  const overridden = isAsked
    ? await Array.fromAsync(
        listAutoscalersWith(context.tables, ["paused", "overrides"], cluster.name),
      )
    : [];
  const marked: readonly Paused[] = isAsked ? overridden : named.flatMap((found) => found ?? []);
  const isSeen = ({ namespace }: Pick<Paused, "namespace">): boolean =>
    sees(context, cluster.name, namespace);
  return {
    cluster,
    reading,
    overrides: overridden.filter(isSeen).flatMap(ofAutoscaler),
    paused: marked.filter(isSeen).flatMap(({ namespace, name, paused }) => {
      const pause = pauseView(paused, nowMs);
      return pause ? [{ cluster: cluster.name, namespace, name, ...pause }] : [];
    }),
  };
};

/** Their number follows from autoscalers of any namespace. */
const findingsOf = (context: QueryContext, looked: readonly Looked[]): number | undefined => {
  const found = looked
    .filter(({ cluster }) => sees(context, cluster.name))
    .flatMap(({ reading }) => reading.partitions.map(({ head }) => head?.troubles.findings ?? 0))
    .reduce((sum, findings) => sum + findings, 0);
  return found === 0 ? undefined : found;
};

const SEVERITY: readonly StatusProblem["kind"][] = [
  "restored",
  "standby",
  "unreadable",
  "rule failed",
  "ahead",
  "unreachable",
  "forbidden",
  "failing",
  "undecided",
  "refused",
  "rivals unknown",
  "specs unknown",
  "unmeasured",
  "contested",
  "at max",
  "over share",
  "late",
  "never synced",
  "dead letters",
];

const statesOf = (looked: readonly Looked[], unreadable: number): StatusView["states"] => {
  const byState = Map.groupBy(looked, ({ reading }) => reading.view.state);
  const counts = [...byState]
    .map(([state, { length }]) => [state, length] as const)
    .toSorted(([, one], [, other]) => other - one);
  return { ...Object.fromEntries(counts), ...(unreadable > 0 && { unreadable }) };
};

const totalOf = (counts: readonly SyncCounts[]): SyncCounts => ({
  planned: counts.reduce((sum, { planned }) => sum + planned, 0),
  done: counts.reduce((sum, { done }) => sum + done, 0),
  late: counts.reduce((sum, { late }) => sum + late, 0),
});

const pausedOf = (looked: readonly Looked[]): StatusView["paused"] => {
  const autoscalers = looked.flatMap(({ paused }) => paused);
  return {
    clusters: looked.flatMap(({ reading: { view } }) =>
      view.paused ? [{ name: view.name, ...view.paused }] : [],
    ),
    autoscalers: autoscalers.slice(0, PAUSES_SHOWN),
    more: Math.max(0, autoscalers.length - PAUSES_SHOWN),
  };
};

const errorsOf = (views: readonly ClusterView[]): StatusView["errors"] =>
  views
    .flatMap(({ name, state, since, error }) =>
      error === undefined ? [] : [present({ cluster: name, state, since, error })],
    )
    .toSorted((one, other) => (other.since ?? "").localeCompare(one.since ?? ""))
    .slice(0, ERRORS_SHOWN);

type SyncCounts = StatusView["syncs"];

/**
 * The due times of the last minute of one cluster. A due time counts as done when it or a later one
 * of its partition is done, because a sync makes up for those before it.
 */
const syncCounts = (
  { name, syncPeriodMs, plannedFromMs = 0 }: ClusterRecord,
  { partitions }: ClusterReading,
  nowMs: number,
): SyncCounts => {
  const window = { fromMs: Math.max(nowMs - MINUTE_MS, plannedFromMs), untilMs: nowMs };
  const due = partitions.map(({ view, head }) => ({
    doneMs: head?.dueDoneMs ?? 0,
    times: dueTimes(name, partitionName(view.name), syncPeriodMs, window),
  }));
  const open = due.flatMap(({ doneMs, times }) => times.filter((dueMs) => dueMs > doneMs));
  const planned = due.reduce((sum, { times }) => sum + times.length, 0);
  return {
    planned,
    done: planned - open.length,
    late: open.filter((dueMs) => dueMs < nowMs - syncPeriodMs).length,
  };
};
