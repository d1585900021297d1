import type {
  AutoscalerRef,
  AutoscalerUid,
  PartitionName,
  PartitionRef,
} from "../../rules/model/ids.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import { isEmptyStretch } from "../store/history/events.ts";
import { type HistoryItem, historyItemOf, LAST, unexpiredBetween } from "../store/history/item.ts";
import { JOURNAL_DAYS_KEPT, journalOfPage } from "../store/history/journal.ts";
import { firstJournaledMs, journalPagesIn } from "../store/history/journal-pages.ts";
import { scopeChangesOf } from "../store/history/scope-changes.ts";
import { autoscalerHistoryPk, sortableMs } from "../store/table/keys.ts";
import { readAll } from "../store/table/read-many.ts";
import type { Tables } from "../store/table/tables.ts";
import type { CatchUpTurn, FactPlace, Folded, Projection, Slot } from "./project.ts";

/** The time that one item of an autoscaler covers: four a day take four write units. */
export const SIX_HOURS_MS = 6 * HOUR_MS;

const beginOfSixHours = (ms: number): number => Math.floor(ms / SIX_HOURS_MS) * SIX_HOURS_MS;

/** A journal page in a slot. An autoscaler that moved within the time is in several. */
export interface PageSlot {
  readonly partition: PartitionRef;
  readonly page: number;
  readonly slot: Slot;
}

type Autoscaler = AutoscalerRef & { readonly uid: AutoscalerUid };

/** What is made of the facts of one autoscaler: an item of each slot, as a rule. */
export interface JournalFold<State> {
  readonly name: string;
  /** What its marks begin with. */
  readonly mark: string;
  /** The state after one more fact of the slot. Facts come in order of time. */
  readonly fold: (state: State | undefined, fact: JournalFact) => State;
  /** Absent where there is nothing to say; several where one would be too large. */
  readonly itemOf: (
    page: PageSlot,
    of: Autoscaler,
    state: State,
  ) => HistoryItem | readonly HistoryItem[] | undefined;
}

export interface JournalFact {
  readonly atMs: number;
  readonly evaluation: Evaluation;
}

/**
 * A projection of six hours of the journal. The journal of a partition that was renamed or that
 * gave its namespaces away is projected by the first partition of its cluster, each page of it that
 * has anything.
 */
export const ofJournal = <State>(fold: JournalFold<State>): Projection => ({
  name: fold.name,
  slots: {
    beginOf: beginOfSixHours,
    endOf: (fromMs) => fromMs + SIX_HOURS_MS,
    characters: "2026-11-21T06:00".length,
  },
  // By then every sync of the time has written its journal, or has died: none lives longer than a
  // minute.
  settledMs: 10 * MINUTE_MS,
  // The oldest part of the journal may expire while it is read.
  reachMs: (JOURNAL_DAYS_KEPT - 1) * DAY_MS,
  markDays: JOURNAL_DAYS_KEPT + 2,
  places: async ({ tables, cluster, partition, nowMs }) => {
    const isFirst = cluster.partitions[0]?.name === partition;
    const former = isFirst ? await formerPartitions(tables, cluster, nowMs) : [];
    return [partition, ...former].map((one) =>
      journalPlace(tables, { cluster: cluster.name, partition: one }, fold),
    );
  },
});

/** The key of an item of an autoscaler. One that moved to another journal has an item of each. */
export const slotKey = (
  prefix: string,
  { partition, page, slot }: PageSlot,
  { uid, ...ref }: Autoscaler,
) => ({
  pk: autoscalerHistoryPk(ref),
  sk: `${prefix}${sortableMs(slot.fromMs)}#${uid}#${partition.partition}#${page}`,
});

/** The items of an autoscaler whose slots have anything of a stretch, in order of time. */
export const slotItems = async (
  tables: Tables,
  prefix: string,
  { uid, ...ref }: Autoscaler,
  stretch: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly { readonly endMs: number; readonly body: Uint8Array }[]> => {
  if (isEmptyStretch(stretch)) return [];
  const range = [
    `${prefix}${sortableMs(beginOfSixHours(stretch.sinceMs))}`,
    `${prefix}${sortableMs(stretch.untilMs)}${LAST}`,
  ] as const;
  const pk = autoscalerHistoryPk(ref);
  const params = unexpiredBetween(tables.historyTable, pk, range, tables.clock());
  const action = `read the ${prefix.slice(0, -1)} of "${ref.namespace}/${ref.name}"`;
  const items = await Array.fromAsync(readAll(tables, action, params), historyItemOf);
  return items.flatMap(({ sk, body }) => {
    const [, fromMs, owner] = sk.split("#");
    return owner === uid ? [{ endMs: Number(fromMs) + SIX_HOURS_MS, body: Buffer.from(body) }] : [];
  });
};

/** Partitions that the cluster had while the journal was written, and has no more. */
const formerPartitions = async (
  tables: Tables,
  { name, partitions }: CatchUpTurn["cluster"],
  nowMs: number,
): Promise<readonly PartitionName[]> => {
  const had = new Set<PartitionName>();
  const sinceMs = nowMs - JOURNAL_DAYS_KEPT * DAY_MS;
  const scope = { scope: "cluster", name } as const;
  for await (const { before: earlier } of scopeChangesOf(tables, scope, sinceMs)) {
    const record = JSON.parse(earlier ?? "{}") as {
      readonly partitions?: readonly { readonly name: PartitionName }[];
    };
    for (const { name: partition } of record.partitions ?? []) had.add(partition);
  }
  for (const { name: partition } of partitions) had.delete(partition);
  return [...had];
};

const journalPlace = <State>(
  tables: Tables,
  partition: PartitionRef,
  made: JournalFold<State>,
): FactPlace => ({
  pk: `${made.mark}#${partition.cluster}#${partition.partition}`,
  nextMs: (fromMs) => firstJournaledMs(tables, partition, fromMs),
  partsOf: async ({ fromMs, endMs }) =>
    (await journalPagesIn(tables, partition, { sinceMs: fromMs, untilMs: endMs - 1 })).map(String),
  fold: async (slot, part) => folded(tables, { partition, page: Number(part), slot }, made),
});

/** Only what was made of them stays in memory: the facts of six hours are some hundred megabytes. */
const folded = async <State>(
  tables: Tables,
  source: PageSlot,
  { fold, itemOf }: JournalFold<State>,
): Promise<Folded> => {
  const { partition, page, slot } = source;
  const stretch = { page, sinceMs: slot.fromMs, untilMs: slot.endMs - 1 };
  const byUid = new Map<AutoscalerUid, { readonly of: Autoscaler; readonly state: State }>();
  for await (const { atMs, evaluations } of journalOfPage(tables, partition, stretch))
    for (const evaluation of evaluations) {
      const { uid, namespace, name } = evaluation;
      const known = byUid.get(uid);
      const of = known?.of ?? { cluster: partition.cluster, namespace, name, uid };
      byUid.set(uid, { of, state: fold(known?.state, { atMs, evaluation }) });
    }
  return { items: [...byUid.values()].flatMap(({ of, state }) => itemOf(source, of, state) ?? []) };
};
