import type { AutoscalerRow } from "../../../lib/answers/views/row.ts";
import { type Judging, timeOf } from "./observed.ts";
import { type Observation, type ShownPartition, TENANT, TENANT_CLUSTER } from "./observed.ts";
import type { Shown, WeekViolation } from "./shown.ts";
import { BEHIND_MS } from "./replicas.ts";
import { type Place, PLACES, pathOf } from "./places.ts";
import type { Completed, Wanted, WeekTruth } from "./truth.ts";

/** Clocks differ by so much: ends of pauses, and the time of a sync. */
const CLOCKS_MS = 4_000;
/** A PUT of a sync may take effect so long after the sync was released. */
const LATE_PUT_MS = 40_000;

type Rows = Extract<Observation, { kind: "rows" }>;

/** When the state that was shown must have been true. */
export interface Moment {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Rows, however the reader got them, are those of the newest sync at some moment since the request,
 * or up to a second before it, of what people had set at such a moment. Rows that were kept by a
 * 304 or by a mark are judged as if they were shown now.
 */
export const judgeRows: Judging = (truth) => (seen) => {
  if (seen.kind !== "rows" || isJustRestored(truth, seen)) return undefined;
  const moment = { fromMs: seen.askedMs - BEHIND_MS, toMs: seen.answeredMs };
  return (
    namesFault(truth, seen, moment) ??
    firstOf(seen.partitions, (one) => partitionFault(truth, one, moment))
  );
};

/**
 * What an environment remembers counts for a minute though the head is older: a head may be read
 * late.
 */
export const RESTORED_MS = 65_000;
export const isJustRestored = (
  { restored }: WeekTruth,
  { askedMs, answeredMs }: Pick<Rows, "askedMs" | "answeredMs">,
): boolean => restored.some(({ atMs }) => answeredMs >= atMs && askedMs < atMs + RESTORED_MS);

const firstOf = <Item>(
  items: readonly Item[],
  judged: (item: Item) => WeekViolation | undefined,
): WeekViolation | undefined => {
  for (const item of items) {
    const found = judged(item);
    if (found) return found;
  }
  return undefined;
};

const invariantOf = ({ how }: Pick<ShownPartition, "how">): Shown =>
  how === "shown"
    ? "no reader is shown what was true at no moment since its request"
    : "a 304 is given only where nothing that the caller may see has changed";

/** Names that a reader may see are shown, and no others. */
const namesFault = (truth: WeekTruth, seen: Rows, moment: Moment): WeekViolation | undefined => {
  const shown = new Map(
    seen.partitions.flatMap(({ cluster, rows, how }) =>
      rows.map((row): [string, { row: AutoscalerRow; how: ShownPartition["how"] }] => [
        `${cluster}/${row.namespace}/${row.name}`,
        { row, how },
      ]),
    ),
  );
  const grants =
    seen.reader === TENANT ? truth.granted.between(moment.fromMs, moment.toMs) : [undefined];
  const isSeenBy = (granted: readonly string[] | undefined, place: Place): boolean =>
    granted === undefined ||
    (place.cluster === TENANT_CLUSTER && granted.includes(place.namespace));
  const faults = grants.map((granted) =>
    firstOf(PLACES, (place) => {
      const found = shown.get(pathOf(place));
      if (isSeenBy(granted, place)) return placeFault(truth, seen, { place, found, moment });
      return found && named(place, found.how, "it is shown to a tenant who may not see it");
    }),
  );
  return faults.some((fault) => fault === undefined) ? undefined : faults[0];
};

const named = (place: Place, how: ShownPartition["how"], why: string): WeekViolation => ({
  invariant: invariantOf({ how }),
  message: `"${pathOf(place)}": ${why}`,
});

interface Found {
  readonly place: Place;
  readonly found: { readonly row: AutoscalerRow; readonly how: ShownPartition["how"] } | undefined;
  readonly moment: Moment;
}

/** Each edit shows at once to a first look, and a second later to one that names what it has. */
const placeFault = (
  truth: WeekTruth,
  seen: Rows,
  { place, found, moment }: Found,
): WeekViolation | undefined => {
  const fromMs = seen.question.with === "marks" ? moment.fromMs : seen.askedMs;
  const wanted = truth.wanted.get(pathOf(place))?.between(fromMs, moment.toMs) ?? [];
  if (!found) {
    const isMissing = !wanted.includes(undefined) && isWhole(seen, place.cluster);
    return isMissing ? named(place, "shown", "it is missing") : undefined;
  }
  return wantedFault(place, found, wanted, moment);
};

/** What is shown of one autoscaler, in a row or by itself. */
export type ShownOne = Pick<
  AutoscalerRow,
  "namespace" | "name" | "maxReplicas" | "paused" | "state" | "currentReplicas"
>;

/** A maximum and a pause that people had set together. */
export const wantedFault = (
  place: Place,
  { row, how }: { readonly row: ShownOne; readonly how: ShownPartition["how"] },
  wanted: readonly (Wanted | undefined)[],
  moment: Moment,
): WeekViolation | undefined => {
  const fits = wanted.filter((one) => one?.max === row.maxReplicas);
  if (fits.length === 0)
    return named(
      place,
      how,
      `it is shown with a maximum of ${row.maxReplicas}, and people had set ${JSON.stringify(wanted)}`,
    );
  return fits.some((one) => one && isPausedAsShown(row, one.pausedUntilMs ?? 0, moment))
    ? undefined
    : named(
        place,
        how,
        `its pause is shown as ${JSON.stringify(row.paused)}, and people had set ${JSON.stringify(fits)}`,
      );
};

/** A partition that the reader passed over, because it knows a later head, has no rows here. */
const isWhole = ({ partitions }: Rows, of: string): boolean =>
  partitions.filter(({ cluster }) => cluster === of).length >= (of === TENANT_CLUSTER ? 2 : 1);

const isPausedAsShown = (
  { paused }: ShownOne,
  untilMs: number,
  { fromMs, toMs }: Moment,
): boolean => (paused === undefined ? untilMs <= toMs + CLOCKS_MS : untilMs >= fromMs - CLOCKS_MS);

const partitionFault = (
  truth: WeekTruth,
  shown: ShownPartition,
  moment: Moment,
): WeekViolation | undefined => {
  const path = `${shown.cluster}/${shown.name}`;
  const newest = newestOf(truth, path, moment);
  const fault = (why: string): WeekViolation => ({
    invariant: invariantOf(shown),
    message: `${path}: ${why}; the newest syncs of the time were ${[...newest.completed, ...newest.begun].map(({ nowMs }) => timeOf(nowMs)).join(", ")}`,
  });
  const { syncedMs } = shown;
  const wrote = truth.summaries.get(path) ?? [];
  const isWritten = ({ atMs }: Completed, at: number, all: readonly Completed[]): boolean =>
    wrote.some((ms) => ms >= atMs && ms <= Math.min(moment.toMs, all[at + 1]?.atMs ?? ms));
  const stated = [...newest.completed, ...newest.begun.filter(isWritten)];
  if (syncedMs !== undefined && !stated.some(({ nowMs }) => isSameTime(nowMs, syncedMs)))
    return fault(`it is shown as synced at ${timeOf(syncedMs)}`);
  return firstOf(shown.rows, (row) =>
    rowFault(truth, shown.cluster, row, {
      newest: [...newest.completed, ...newest.begun],
      moment,
      fault,
    }),
  );
};

/** Times are shown to a millisecond, or to a second. */
export const isSameTime = (one: number, shown = 0): boolean => Math.abs(one - shown) < 1_000;

/** The syncs that were the newest at some moment: completed ones, and those that came after. */
export const newestOf = (
  truth: WeekTruth,
  path: string,
  { fromMs, toMs }: Moment,
): { readonly completed: readonly Completed[]; readonly begun: readonly Completed[] } => {
  const all = truth.completed.get(path) ?? [];
  const completed = all.filter(
    ({ atMs }, at) => atMs <= toMs && (all[at + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= fromMs,
  );
  const oldestMs = completed[0]?.atMs ?? 0;
  const begun = (truth.begun.get(path) ?? []).filter(({ atMs }) => atMs > oldestMs && atMs <= toMs);
  return { completed, begun };
};

interface At {
  readonly newest: readonly Completed[];
  readonly moment: Moment;
  readonly fault: (why: string) => WeekViolation;
}

export const rowFault = (
  truth: WeekTruth,
  cluster: string,
  row: ShownOne,
  { newest, moment, fault }: At,
): WeekViolation | undefined => {
  const path = `${cluster}/${row.namespace}/${row.name}`;
  const held = heldFault(truth, cluster, row, moment);
  if (held !== undefined) return fault(`"${path}" ${held}`);
  const { currentReplicas } = row;
  // Before the first sync of a partition, what it was given with a namespace is shown.
  if (currentReplicas === undefined || newest.length === 0) return undefined;
  const counts = truth.counts.get(path) ?? [];
  const had = newest.flatMap(({ nowMs, atMs }) =>
    counts.flatMap(({ atMs: sinceMs, replicas }, at) =>
      sinceMs <= atMs + LATE_PUT_MS &&
      (counts[at + 1]?.atMs ?? Number.POSITIVE_INFINITY) >= nowMs - CLOCKS_MS
        ? [replicas]
        : [],
    ),
  );
  return had.includes(currentReplicas)
    ? undefined
    : fault(`"${path}" is shown with ${currentReplicas} replicas, and had ${had.join(", ")} then`);
};

/** Freezes and pauses, of the fleet, of the cluster and of its own. */
const heldFault = (
  { frozen: fleet, pausedClusters }: WeekTruth,
  cluster: string,
  { state, paused }: ShownOne,
  { fromMs, toMs }: Moment,
): string | undefined => {
  const frozen = fleet.between(fromMs, toMs);
  if (!frozen.includes(state === "frozen"))
    return `has the state "${state}", and the fleet was ${frozen[0] ? "" : "not "}frozen`;
  if (state === "frozen") return undefined;
  const ends = pausedClusters.get(cluster)?.between(fromMs, toMs) ?? [];
  const must = paused !== undefined || ends.every((untilMs) => untilMs > toMs + CLOCKS_MS);
  const may = paused !== undefined || ends.some((untilMs) => untilMs >= fromMs - CLOCKS_MS);
  return (must && state !== "paused") || (!may && state === "paused")
    ? `has the state "${state}", and pauses end ${ends.map(timeOf).join(", ")}`
    : undefined;
};
