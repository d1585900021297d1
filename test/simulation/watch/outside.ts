import { type AutoscalerUid, uidOfIntent } from "../../../lib/rules/model/ids.ts";
import type { ScaleChange } from "../../../lib/rules/model/windows.ts";
import { workloadKey } from "../../../lib/stack/sync/load/open-intents.ts";
import { THIS_BUILD } from "../beside/build.ts";
import type { Workload } from "../cluster.ts";
import type { Decided, Invocation } from "../invocation.ts";
import { CLOCK_ALLOWANCE_MS, watchAhead } from "./clocks.ts";
import type { Ledger } from "./ledger.ts";
import { rulesOf } from "./rules-of.ts";
import type { OutsideEventRecord, StoredWindows } from "../../../lib/rules/model/scale-records.ts";

const OUTSIDE =
  "a count that others set is an event, and limits count it; a count that Tidemark set is none";

/** What others did to the counts, and what syncs have told of it. */
export interface OutsideLedger {
  /** By workload: the counts that others have set, in order. */
  readonly changes: Map<string, number[]>;
  /** By workload: how many intents were stored, and which are open. */
  readonly intents: Map<string, { stored: number; readonly open: Set<string> }>;
  readonly events: Map<string, { readonly event: OutsideEventRecord; dayEvents: number }>;
  /** By uid: how many of the changes of its workload its last event has covered. */
  readonly told: Map<string, number>;
  /**
   * By uid: the count that its last completed sync has left, where no scale of ours was under way.
   */
  readonly left: Map<string, Left>;
  /** By uid: the changes that a completed sync has counted. */
  readonly counted: Map<string, Counted[]>;
}

interface Left {
  readonly object: string;
  readonly replicas: number;
  readonly intents: number;
}

interface Counted {
  readonly change: ScaleChange;
  readonly up: boolean;
  /** The shortest time for which a scale of its direction was kept since. */
  keptMs: number;
}

export const newOutsideLedger = (): OutsideLedger => ({
  changes: new Map(),
  intents: new Map(),
  events: new Map(),
  told: new Map(),
  left: new Map(),
  counted: new Map(),
});

const keyOf = (cluster: string, namespace: string, target: Workload["target"]): string =>
  `${cluster}/${workloadKey(namespace, target)}`;

/** Others have set another count. */
export const noteOutside = (
  { outside }: Ledger,
  { cluster, namespace, target }: Workload,
  replicas: number,
): void => {
  const key = keyOf(cluster, namespace, target);
  outside.changes.set(key, [...(outside.changes.get(key) ?? []), replicas]);
};

const intentsOf = (
  { outside }: Ledger,
  key: string,
): { stored: number; readonly open: Set<string> } => {
  const known = outside.intents.get(key) ?? { stored: 0, open: new Set<string>() };
  outside.intents.set(key, known);
  return known;
};

type OfWorkload = {
  readonly id: string;
  readonly namespace: string;
  readonly target: Workload["target"];
};

/** The cluster of a partition: "partition#eu-1#default". */
const clusterOf = (partition: string): string => partition.split("#")[1] ?? "";

export const noteIntentStored = (
  ledger: Ledger,
  partition: string,
  { id, namespace, target }: OfWorkload,
): void => {
  const known = intentsOf(ledger, keyOf(clusterOf(partition), namespace, target));
  known.stored++;
  known.open.add(id);
};

export const noteIntentCleared = (
  ledger: Ledger,
  partition: string,
  { id, namespace, target }: OfWorkload,
): void => {
  intentsOf(ledger, keyOf(clusterOf(partition), namespace, target)).open.delete(id);
};

/** An event says that others changed a count: they did, since the last one that said so. */
export const watchOutside = (ledger: Ledger, event: OutsideEventRecord, isOwn: boolean): void => {
  const { events, told, changes } = ledger.outside;
  const known = events.get(event.id);
  if (!isOwn) {
    if (!known || ++known.dayEvents > 1)
      ledger.violate(OUTSIDE, `"${event.id}" is there ${known ? "twice" : "first"} under its day`);
    return;
  }
  if (known) ledger.violate(OUTSIDE, `"${event.id}" is there twice`);
  events.set(event.id, { event, dayEvents: 0 });
  watchAhead(ledger, event.settledMs, `settledMs of "${event.id}"`);
  const made = changes.get(keyOf(event.cluster, event.namespace, event.target)) ?? [];
  const before = told.get(event.uid) ?? 0;
  // What others did after the reading is not in this event, though the event may be stored later.
  const seen = made.indexOf(event.to, before);
  if (seen === -1)
    ledger.violate(
      OUTSIDE,
      `"${event.id}" says ${event.from} to ${event.to}, and nobody else has set this count`,
    );
  told.set(event.uid, seen + 1);
};

/** A change in windows is of an autoscaler that has an event of such a change. */
export const isOfOutside = ({ outside }: Ledger, eventId: string): boolean =>
  eventId.includes(":outside-") && outside.told.has(uidOfIntent(eventId));

/** How many scales of ours the workload had when a sync decided; undefined while one is open. */
export const quietIntents = (
  ledger: Ledger,
  { message }: Invocation,
  { input }: Pick<Decided, "input">,
): number | undefined => {
  const { stored, open } = intentsOf(
    ledger,
    keyOf(message.cluster, input.namespace, input.spec.target),
  );
  return open.size > 0 ? undefined : stored;
};

/**
 * A completed sync has told of every count that is another than the one that the completed sync
 * before it has left, and counts what it was told of.
 */
export const keepOutside = (ledger: Ledger, by: Invocation): void => {
  for (const decided of by.decided.values()) {
    keepCounted(ledger, decided);
    keepCount(ledger, by, decided);
  }
};

const keepCount = (ledger: Ledger, by: Invocation, decided: Decided): void => {
  const { left, events } = ledger.outside;
  const { uid, input } = decided;
  const { scale } = input.observation;
  const before = left.get(uid);
  const isQuiet =
    decided.intents !== undefined && decided.intents === quietIntents(ledger, by, decided);
  if (
    by.process.build !== THIS_BUILD ||
    ledger.resetMs.has(uid) ||
    ledger.damaged.size > 0 ||
    !isQuiet
  ) {
    left.delete(uid);
    return;
  }
  if (scale.kind === "failed" || decided.intents === undefined) return;
  const now: Left = { object: scale.uid, replicas: scale.specReplicas, intents: decided.intents };
  left.set(uid, now);
  if (
    before?.object !== now.object ||
    before.intents !== now.intents ||
    before.replicas === now.replicas
  )
    return;
  const told = [...events.values()].findLast(
    ({ event }) => event.uid === uid && event.from === before.replicas,
  )?.event;
  if (!told)
    ledger.violate(
      OUTSIDE,
      `"${uid}" had ${before.replicas} and has ${now.replicas}, and no event says so`,
    );
  // An event of a sync that died may say less: the next one says the rest.
  else left.set(uid, { ...now, replicas: told.to });
};

/** The changes from outside in the windows that a sync decided on. */
const outsideIn = ({ memory }: StoredWindows["windows"]): readonly Omit<Counted, "keptMs">[] =>
  [
    ...memory.scaleUps.map((change) => ({ change, up: true })),
    ...memory.scaleDowns.map((change) => ({ change, up: false })),
  ].filter(({ change }) => change.eventId?.includes(":outside-"));

const keepCounted = ({ outside }: Ledger, { uid, input }: Decided): void => {
  const known = outside.counted.get(uid) ?? [];
  for (const { change, up } of outsideIn(input.windows)) {
    if (known.some((one) => one.change.eventId === change.eventId)) continue;
    known.push({ change, up, keptMs: rulesOf(input, up).keptMs });
  }
  for (const one of known) one.keptMs = Math.min(one.keptMs, rulesOf(input, one.up).keptMs);
  outside.counted.set(uid, known);
};

/**
 * The pods that others have added or removed in a period, and that a completed sync has counted.
 */
export const outsideWithin = (
  { outside }: Ledger,
  uid: string,
  up: boolean,
  sinceMs: number,
): number =>
  (outside.counted.get(uid) ?? []).reduce(
    (sum, one) => (one.up === up && isRecent(one, sinceMs) ? sum + one.change.change : sum),
    0,
  );

const isRecent = ({ change, keptMs }: Counted, sinceMs: number): boolean =>
  change.atMs > sinceMs && keptMs > 0;

/**
 * What a completed sync has counted of others is in the windows of every later decision, while it
 * is inside their periods.
 */
export const watchOutsideCounted = (ledger: Ledger, { uid, input, atMs }: Decided): void => {
  if (ledger.resetMs.has(uid)) return;
  const counted = new Set(outsideIn(input.windows).map(({ change }) => change.eventId));
  for (const { change, keptMs } of ledger.outside.counted.get(uid) ?? []) {
    if (change.atMs > atMs - keptMs + CLOCK_ALLOWANCE_MS && !counted.has(change.eventId))
      ledger.violate(
        OUTSIDE,
        `"${change.eventId}" was counted once, and is not by a later decision`,
      );
  }
};

/** A change from outside closes forbidden windows from the time at which a sync saw it. */
export const noteSeen = (ledger: Ledger, uid: AutoscalerUid | string, atMs: number): void => {
  ledger.settledMs.set(uid, Math.max(ledger.settledMs.get(uid) ?? 0, atMs));
};
