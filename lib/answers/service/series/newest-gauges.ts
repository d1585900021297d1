import type { GaugeWrite } from "../../../rules/model/decision.ts";
import { type AutoscalerUid, type PartitionRef, partitionPath } from "../../../rules/model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../../../rules/model/records.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import { journalPagesAt } from "../../../stack/store/history/journal.ts";
import { journalPageOf } from "../../../stack/store/pages/plan.ts";
import { summaryKeyOf } from "../../../stack/store/summary/summary-codec.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../../stack/store/table/wait-for-all.ts";
import type { Tables } from "../../../stack/store/table/tables.ts";
import type { QueryContext } from "../context.ts";
import { newestEvaluations } from "../facts/at.ts";

/** A partition, and those of its autoscalers that have the series of the watermark rules. */
interface BandedPart {
  readonly cluster: ClusterRecord;
  readonly ref: PartitionRef;
  readonly head: Head;
  readonly banded: readonly Pick<AutoscalerRecord, "uid" | "createdMs">[];
}

type Gauges = ReadonlyMap<AutoscalerUid, readonly GaugeWrite[]>;
const NOTHING: Gauges = new Map();

/**
 * Gauges that an environment has read of a partition, and the version for readers that they are of.
 */
interface Remembered {
  readonly version: string;
  readonly gauges: Gauges;
}
const remembered = new WeakMap<Tables["client"], Map<string, Remembered>>();
/** Autoscalers whose gauges an environment keeps, some 5 KB each. With more it begins anew. */
const KEPT_MAX = 20_000;

/**
 * The gauges of the newest evaluations, in the order of the partitions. The journal is read again
 * once a minute, and where a reader of the partition would see a change. The sync that wrote the
 * summary journaled all autoscalers: its pages are read of all partitions together. The journal of
 * a partition is searched for what these pages do not have, and for what has changed since.
 */
export const newestGauges = async (
  context: QueryContext,
  parts: readonly BandedPart[],
): Promise<readonly Gauges[]> => {
  const memory = remembered.get(context.tables.client) ?? new Map<string, Remembered>();
  remembered.set(context.tables.client, memory);
  const unknown = parts.filter((part) => part.banded.length > 0 && !knownOf(memory, part));
  const together = await inNewestPages(context.tables, unknown);
  const read = await mapWithLimit(unknown, REQUESTS_AT_ONCE, (part) =>
    completed(context, part, together.get(part) ?? NOTHING),
  );
  const found = new Map(unknown.map((part, at) => [part, read[at] ?? NOTHING]));
  const all = parts.map((part) => found.get(part) ?? knownOf(memory, part) ?? NOTHING);
  for (const [part, gauges] of found) keep(memory, part, gauges);
  return all;
};

const versionOf = (head: Head): string => {
  const stated = statedIn(head);
  return [
    stated?.baseEpoch,
    stated?.baseMs,
    stated?.changedEpoch,
    stated?.specVersion,
    head.pageGeneration,
  ].join();
};

const knownOf = (
  memory: ReadonlyMap<string, Remembered>,
  { ref, head, banded }: BandedPart,
): Gauges | undefined => {
  const known = memory.get(partitionPath(ref));
  return known?.version === versionOf(head) && banded.every(({ uid }) => known.gauges.has(uid))
    ? known.gauges
    : undefined;
};

const keep = (memory: Map<string, Remembered>, { ref, head }: BandedPart, gauges: Gauges): void => {
  const path = partitionPath(ref);
  memory.delete(path);
  if ([...memory.values()].reduce((sum, one) => sum + one.gauges.size, gauges.size) > KEPT_MAX)
    memory.clear();
  memory.set(path, { version: versionOf(head), gauges });
};

/** What gauges are made of. The other fields of an evaluation, which are more, are not parsed. */
const FIELDS = new Set(["uid", "metrics", "gauges"] as const);

/** What the sync of each summary journaled of the autoscalers that have not changed since. */
const inNewestPages = async (
  tables: Tables,
  parts: readonly BandedPart[],
): Promise<ReadonlyMap<BandedPart, Gauges>> => {
  const wanted = parts.flatMap((part) => {
    const { head, ref, banded } = part;
    const stated = statedIn(head);
    if (!stated || stated.baseEpoch === 0) return [];
    const since = new Set(stated.rows.map(({ key }) => key));
    const same = banded.filter(({ uid }) => !since.has(summaryKeyOf(uid)));
    const byPage = Map.groupBy(same, ({ uid }) => journalPageOf(uid, head.pages.length));
    return [...byPage].map(([page, own]) => ({
      ...{ part, uids: new Set(own.map(({ uid }) => uid)) },
      place: { ref, page, atMs: stated.baseMs, epoch: stated.baseEpoch },
    }));
  });
  const pages = await journalPagesAt(
    tables,
    wanted.map(({ place }) => place),
    FIELDS,
  );
  const found = new Map<BandedPart, Map<AutoscalerUid, readonly GaugeWrite[]>>();
  for (const [at, { part, uids }] of wanted.entries()) {
    const own = found.get(part) ?? new Map<AutoscalerUid, readonly GaugeWrite[]>();
    found.set(part, own);
    for (const { uid, gauges = [] } of pages[at]?.evaluations ?? [])
      if (uids.has(uid)) own.set(uid, gauges);
  }
  return found;
};

/** Autoscalers of one journal page share its request. */
const AUTOSCALERS_AT_ONCE = 16;

/** The same with what the newest evaluations say of the others. */
const completed = async (
  context: QueryContext,
  { cluster, ref, head, banded }: BandedPart,
  known: Gauges,
): Promise<Gauges> => {
  const others = banded.filter(({ uid }) => !known.has(uid));
  if (others.length === 0) return known;
  const newest = newestEvaluations(context, ref, { head, periodMs: cluster.syncPeriodMs });
  const read = await mapWithLimit(others, AUTOSCALERS_AT_ONCE, async (one) => {
    const evaluated = await newest(one, context.clock());
    return [one.uid, evaluated?.evaluation.gauges ?? []] as const;
  });
  return new Map([...known, ...read]);
};
