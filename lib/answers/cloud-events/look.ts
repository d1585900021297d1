import { autoscalerUid, partitionPath, type PartitionRef } from "../../rules/model/ids.ts";
import { present } from "../../rules/model/json.ts";
import type { NoticedAutoscaler, NoticeKind, StateNotice } from "../../rules/model/notices.ts";
import { type ClusterRecord, type FleetRecord, pausedBy } from "../../rules/model/records.ts";
import type { IndexRow, SummaryRow } from "../../rules/model/summary.ts";
import { problemsOf } from "../../stack/plan/count-problems.ts";
import type { LookReport } from "../../stack/report/function-lines.ts";
import type { Head } from "../../stack/store/head/head.ts";
import type { InsertHistory } from "../../stack/store/history/item.ts";
import { insertNotices } from "../../stack/store/history/notices.ts";
import { type ClusterItem, readFleet } from "../../stack/store/records/clusters.ts";
import {
  type OpenNotice,
  readOpenNotices,
  storeOpenNotices,
} from "../../stack/store/records/open-notices.ts";
import { fleetPlaceOf } from "../../stack/store/records/fleet-place.ts";
import { summaryKeyOf } from "../../stack/store/summary/summary-codec.ts";
import type { Tables } from "../../stack/store/table/tables.ts";
import {
  headsForNames,
  type KnownPartition,
  knownPartitions,
} from "../service/known-partitions.ts";
import { NOTICE_RULES } from "./notice-kinds.ts";
import { stormsSince, withStorms } from "./storms.ts";

/** What is remembered between two looks: some 100 KB. What is beyond begins with a later look. */
const OPEN_MAX = 10_000;

/**
 * Looks at what the newest syncs stored of all autoscalers, and stores a notice for what has lasted
 * or is over, and for each storm. It is called once a minute beside the syncs, and no sync waits
 * for it. It compares states, so that a look that fails is made up for by the next one. Notices are
 * stored before it is remembered that they are: a look that dies in between makes them once more,
 * with the same ids.
 */
export const lookAround = async ({ tables, insert }: LookPorts): Promise<LookReport> => {
  const nowMs = tables.clock();
  const [{ fleet, clusters }, before, found] = await Promise.all([
    readFleet(tables),
    readOpenNotices(tables),
    tables.ids?.(),
  ]);
  // The stack that has the fleet looks. Two that write the same notices would undo each other.
  if (fleetPlaceOf(fleet(), found).kind !== "here")
    return { made: 0, open: 0, leftOut: 0, isElsewhere: true };
  const read = clusters.flatMap((item) => (item.kind === "read" ? [item.record] : []));
  const parts = read.flatMap((cluster) =>
    cluster.partitions.map(({ name }) => ({
      cluster,
      ref: { cluster: cluster.name, partition: name },
    })),
  );
  const heads = await headsForNames(
    tables,
    parts.map(({ ref }) => ref),
    false,
  );
  const wanted = parts.flatMap((part, at) => {
    const head = heads[at];
    return head ? [{ ...part, head }] : [];
  });
  const known = await knownPartitions(tables, wanted);
  const views = wanted.map((part, at) => ({ ...part, known: known[at] }));
  const { notices, open, leftOut } = compared(before.open, {
    ...{ nowMs, fleet: fleet(), clusters, views },
  });
  const storms = await stormsSince(tables, before.stormsMs, { nowMs, views });
  await insertNotices(insert, [...withStorms(notices, nowMs), ...storms.notices]);
  await storeOpenNotices(tables, { open, stormsMs: storms.untilMs });
  return {
    made: notices.length + storms.notices.length,
    open: open.filter(({ hasBegun }) => hasBegun).length,
    leftOut,
  };
};

interface LookPorts {
  readonly tables: Tables;
  readonly insert: InsertHistory;
}

/** A partition, and what its newest sync says of its autoscalers. */
interface SeenPartition {
  readonly cluster: ClusterRecord;
  readonly ref: PartitionRef;
  readonly head: Head;
  readonly known: KnownPartition | undefined;
}

interface Around {
  readonly nowMs: number;
  readonly fleet: FleetRecord;
  readonly clusters: readonly ClusterItem[];
  readonly views: readonly SeenPartition[];
}

/** Something that a look finds now. */
interface Found extends Omit<OpenNotice, "hasBegun" | "sinceMs"> {
  /** True where it is found now, and since when is remembered. */
  readonly sinceMs: number | true;
  /** When the sync ended that shows it. */
  readonly seenMs: number;
  readonly autoscaler?: NoticedAutoscaler;
}

const keyOf = ({ kind, cluster, of, uid }: Omit<OpenNotice, "hasBegun" | "sinceMs">): string =>
  `${kind} ${cluster} ${of} ${uid}`;

interface Compared {
  readonly notices: readonly StateNotice[];
  readonly open: readonly OpenNotice[];
  readonly leftOut: number;
}

/**
 * What was found before against what is found now. What cannot be known now stays as it was:
 * nothing is said to be over on missing data, nor while a person has stopped the autoscaler.
 */
const compared = (before: readonly OpenNotice[], around: Around): Compared => {
  const ofClusters = clustersFound(around);
  const stopped = stoppedClusters(around);
  // What is wrong with a whole cluster is said once.
  const silent = new Set([...stopped, ...ofClusters.map(({ cluster }) => cluster)]);
  const now = new Map(
    [...ofClusters, ...autoscalersFound(around, silent)].map((one) => [keyOf(one), one]),
  );
  const isKept = keptBy(around, { stopped, silent });
  const { nowMs } = around;
  const known = new Set(before.map(keyOf));
  const first = [...now.values()].filter((found) => !known.has(keyOf(found)));
  const room = Math.max(0, OPEN_MAX - before.length);
  const steps = [
    ...before.map((one): Step => {
      const found = now.get(keyOf(one));
      if (found) return stepTo(one, found, nowMs);
      if (isKept(one)) return { open: one };
      return one.hasBegun ? { notice: noticeOf(one, "ended", nowMs) } : {};
    }),
    ...first.slice(0, room).map((found) => stepTo(firstSeen(found), found, nowMs)),
  ];
  return {
    notices: steps.flatMap(({ notice }) => notice ?? []),
    open: steps.flatMap(({ open }) => open ?? []),
    leftOut: Math.max(0, first.length - room),
  };
};

/** What a look makes of one state: what is remembered of it, and what is said. */
interface Step {
  readonly open?: OpenNotice;
  readonly notice?: StateNotice;
}

const stepTo = (one: OpenNotice, found: Found, nowMs: number): Step => {
  const open = continued(one, found);
  return open.hasBegun && !one.hasBegun
    ? { open, notice: noticeOf(open, "began", nowMs, found) }
    : { open };
};

const firstSeen = ({ kind, cluster, of, uid, sinceMs, seenMs }: Found): OpenNotice => ({
  ...{ kind, cluster, of, uid, hasBegun: false },
  sinceMs: sinceMs === true ? seenMs : sinceMs,
});

/** A partition that is not synced shows nothing new, so the time of its sync counts. */
const continued = (one: OpenNotice, { kind, sinceMs, seenMs }: Found): OpenNotice => {
  const fromMs = one.hasBegun || sinceMs === true ? one.sinceMs : sinceMs;
  return {
    ...one,
    sinceMs: fromMs,
    hasBegun: one.hasBegun || seenMs - fromMs >= NOTICE_RULES[kind].lastsMs,
  };
};

const noticeOf = (
  { kind, cluster, of, uid, sinceMs }: OpenNotice,
  phase: StateNotice["phase"],
  atMs: number,
  found?: Found,
): StateNotice => {
  const [namespace = "", name = ""] = of.split("/");
  const bare = of === "" ? undefined : { namespace, name, uid };
  return present({
    kind,
    id: `${kind}:${of === "" ? cluster : uid}:${sinceMs}:${phase}`,
    ...{ phase, atMs, sinceMs, cluster },
    autoscaler: found?.autoscaler ?? bare,
  });
};

/** Clusters of which nothing can be read, as the problems of the fleet count them. */
const clustersFound = ({ nowMs, fleet, clusters, views }: Around): readonly Found[] => {
  const heads = new Map(views.map(({ ref, head }) => [partitionPath(ref), head]));
  return problemsOf({ fleet, clusters, heads, nowMs }).flatMap(({ kind, key, sinceMs }) =>
    (kind === "unreachable" || kind === "failing") && sinceMs !== undefined
      ? [{ kind, cluster: key, of: "", uid: "", sinceMs, seenMs: Number.POSITIVE_INFINITY }]
      : [],
  );
};

const KINDS = Object.keys(NOTICE_RULES) as readonly NoticeKind[];

/** Clusters of which nothing is said to begin or to be over: a person has stopped them. */
const stoppedClusters = ({ nowMs, fleet, clusters }: Around): ReadonlySet<string> =>
  new Set(
    clusters.flatMap((item) => {
      if (item.kind === "unreadable") return [item.name];
      return fleet.frozen || pausedBy(item.record, nowMs) ? [item.record.name] : [];
    }),
  );

const autoscalersFound = (
  { nowMs, views }: Around,
  silent: ReadonlySet<string>,
): readonly Found[] =>
  views.flatMap(({ cluster, known }) =>
    !known || silent.has(cluster.name)
      ? []
      : known.index.rows.flatMap((index) => foundOf(cluster.name, index, known, nowMs)),
  );

const foundOf = (
  cluster: string,
  index: IndexRow,
  { rows, syncedMs }: KnownPartition,
  nowMs: number,
): readonly Found[] => {
  const row = rows.get(summaryKeyOf(autoscalerUid(index.uid)));
  if (!row || pausedBy(index, nowMs)) return [];
  return KINDS.flatMap((kind) => {
    const sinceMs = NOTICE_RULES[kind].since?.(row);
    if (sinceMs === undefined) return [];
    const { namespace, name, uid } = index;
    const of = `${namespace}/${name}`;
    return [{ kind, cluster, of, uid, sinceMs, seenMs: syncedMs, autoscaler: noticed(index, row) }];
  });
};

const noticed = (index: IndexRow, row: SummaryRow): NoticedAutoscaler => {
  const { namespace, name, uid, labels, maxReplicas } = index;
  const { reason, heldBy, current, desired, max = maxReplicas, targets, missing } = row;
  return present({
    ...{ namespace, name, uid, reason, heldBy, current, desired, max, targets, missing },
    labels: Object.keys(labels).length > 0 ? labels : undefined,
  });
};

/**
 * Whether a notice that is not found now may still be true. Of a cluster it may while a person has
 * stopped everything, of an autoscaler also while it is paused or could not be decided, or a
 * partition of its cluster is not known.
 */
const keptBy = (
  { nowMs, clusters, views }: Around,
  { stopped, silent }: Readonly<Record<"stopped" | "silent", ReadonlySet<string>>>,
): ((one: OpenNotice) => boolean) => {
  const unknown = new Set<string>(
    clusters.flatMap((item) => {
      if (item.kind === "unreadable") return [];
      const { name, partitions } = item.record;
      const read = views.filter(({ ref, known }) => ref.cluster === name && known);
      return read.length < partitions.length ? [name] : [];
    }),
  );
  const unclear = new Map<string, (kind: NoticeKind) => boolean>(
    views.flatMap(({ ref, known }) =>
      (known?.index.rows ?? []).flatMap((index) => {
        const row = known?.rows.get(summaryKeyOf(autoscalerUid(index.uid)));
        const isUnclear = unclearTo(row, pausedBy(index, nowMs) !== undefined);
        return isUnclear ? [[`${ref.cluster} ${index.uid}`, isUnclear] as const] : [];
      }),
    ),
  );
  return ({ kind, cluster, of, uid }) =>
    of === ""
      ? stopped.has(cluster)
      : silent.has(cluster) ||
        unknown.has(cluster) ||
        unclear.get(`${cluster} ${uid}`)?.(kind) === true;
};

/** Of which kinds a row says nothing; undefined where it says all. */
const unclearTo = (
  row: SummaryRow | undefined,
  isPaused: boolean,
): ((kind: NoticeKind) => boolean) | undefined => {
  if (isPaused || !row) return () => true;
  const { failing, unmeasured } = row.since ?? {};
  if (failing !== undefined) return (kind) => kind !== "failing";
  // What the missing metric would ask for is not known.
  return unmeasured === undefined ? undefined : (kind) => kind === "atMax";
};
