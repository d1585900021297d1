import { eventOf } from "../../../lib/stack/store/history/events.ts";
import { historyItemOf } from "../../../lib/stack/store/history/item.ts";
import { EVENT_SK_PREFIX } from "../../../lib/stack/store/table/keys.ts";
import type { EventRecord } from "../../../lib/rules/model/scale-records.ts";
import { TABLE_NAMES } from "../tables.ts";
import { listed } from "../watch/ledger.ts";
import type { Written } from "./replicas.ts";
import { newTold, type Told } from "./told.ts";
import { CLUSTERS, pathOf, PLACES } from "./places.ts";

/** An autoscaler as people set it; absent where there is none. */
export interface Wanted {
  readonly max: number;
  readonly pausedUntilMs?: number;
}

/** An event, and since when each of its two copies is stored. */
export interface StoredEvent {
  readonly event: EventRecord;
  ownMs?: number;
  dayMs?: number;
  /** The tables went back to before it. */
  lostMs?: number;
  /** The same event as it was stored before, and lost. */
  readonly lost?: StoredEvent;
}

/** An event as it was stored by an instant: what was lost may have been stored again since. */
export const asOf = (stored: StoredEvent, atMs: number): StoredEvent =>
  stored.lost && Math.min(stored.ownMs ?? atMs, stored.dayMs ?? atMs) > atMs
    ? asOf(stored.lost, atMs)
    : stored;

/** A sync that has released its partition: `nowMs` by its own clock, `atMs` by the true one. */
export interface Completed {
  readonly atMs: number;
  readonly nowMs: number;
}

/** One decision of a sync that was completed. */
export interface Evaluated {
  readonly path: string;
  readonly nowMs: number;
  /** When its sync was completed. */
  readonly atMs: number;
  readonly from: number | undefined;
}

/** One decision, of whatever sync: it may be in the journal though its sync was not completed. */
export interface Decided extends Omit<Evaluated, "atMs"> {
  readonly decidedMs: number;
  readonly to: number | undefined;
  /** When its sync was completed; absent where it was not. */
  completedMs?: number;
}

export interface DoneEdit {
  readonly verb: string;
  readonly path: string;
  readonly begunMs: number;
  readonly doneMs: number;
}

/** What is true, as the simulation itself has noted it. */
export interface WeekTruth {
  readonly wanted: ReadonlyMap<string, Told<Wanted | undefined>>;
  readonly pausedClusters: ReadonlyMap<string, Told<number>>;
  readonly frozen: Told<boolean>;
  /** The namespaces of the tenant. */
  readonly granted: Told<readonly string[]>;
  readonly edits: DoneEdit[];
  /** By path: every count of its workload. */
  readonly counts: Map<string, { readonly atMs: number; readonly replicas: number }[]>;
  /** By CLUSTER/PARTITION. */
  readonly completed: Map<string, Completed[]>;
  /**
   * The same of every sync that has decided, completed or not: journal and summary are written
   * before the release, and count as soon as they are there.
   */
  readonly begun: Map<string, Completed[]>;
  /** By CLUSTER/PARTITION: when a sync wrote what readers need. */
  readonly summaries: Map<string, number[]>;
  readonly evaluated: Evaluated[];
  /** By path, in the order of deciding. */
  readonly decided: Map<string, Decided[]>;
  /** By path: every load of its workload. */
  readonly loads: Map<string, { readonly atMs: number; readonly load: number }[]>;
  readonly events: Map<string, StoredEvent>;
  /** Tables went back at an instant to one before. */
  readonly restored: { readonly thenMs: number; readonly atMs: number }[];
}

export const newTruth = (nowMs: () => number, firstMax: number): WeekTruth => ({
  wanted: new Map(
    PLACES.map((place) => [pathOf(place), newTold<Wanted | undefined>({ max: firstMax }, nowMs)]),
  ),
  pausedClusters: new Map(CLUSTERS.map((name) => [name, newTold(0, nowMs)])),
  frozen: newTold<boolean>(false, nowMs),
  granted: newTold<readonly string[]>(["shop"], nowMs),
  edits: [],
  counts: new Map(),
  completed: new Map(),
  begun: new Map(),
  summaries: new Map(),
  evaluated: [],
  decided: new Map(),
  loads: new Map(),
  events: new Map(),
  restored: [],
});

/** Notes what was written, of what readers are shown. */
export const noteWritten = (truth: WeekTruth, written: Written): void => {
  const { pk, sk } = keyOf(written);
  if (written.table === TABLE_NAMES.historyTable) {
    const isOwn = sk.startsWith(EVENT_SK_PREFIX);
    if (isOwn || pk.startsWith("day#")) noteEvent(truth, written, isOwn ? "ownMs" : "dayMs");
    return;
  }
  if (!pk.startsWith("partition#")) return;
  if (sk === "head") noteHead(truth, written, pk);
  if (sk === "summary") listed(truth.summaries, pathIn(pk)).push(written.atMs);
};

const pathIn = (pk: string): string => pk.split("#").slice(1).join("/");

const noteEvent = (
  { events }: WeekTruth,
  { atMs, before, after }: Written,
  copy: "ownMs" | "dayMs",
): void => {
  const event = eventOf(historyItemOf(after ?? before ?? {}));
  const key = `${event.cluster}/${event.id}`;
  const known = events.get(key);
  if (!after) {
    if (known) known.lostMs ??= atMs;
    return;
  }
  if (!known) events.set(key, { event, [copy]: atMs });
  else if (known.lostMs !== undefined) events.set(key, { event, [copy]: atMs, lost: known });
  else known[copy] ??= atMs;
};

const noteHead = (truth: WeekTruth, { atMs, before, after }: Written, pk: string): void => {
  // Only a release says that a due time is done: a sync that dies after its intents does not.
  if (after?.["dueDoneMs"]?.N === before?.["dueDoneMs"]?.N) return;
  // After a restore the head may have the time of a sync that died after its intents.
  const nowMs = Number((after?.["evaluatedMs"] ?? after?.["nowMs"])?.N ?? 0);
  listed(truth.completed, pathIn(pk)).push({ atMs, nowMs });
};

const keyOf = ({ before, after }: Written): { readonly pk: string; readonly sk: string } => {
  const item = after ?? before;
  return { pk: item?.["pk"]?.S ?? "", sk: item?.["sk"]?.S ?? "" };
};
