import {
  type AutoscalerUid,
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace as namespaceOf,
  type PartitionRef,
  partitionPath,
} from "../../../rules/model/ids.ts";
import { present } from "../../../rules/model/json.ts";
import type { Sample } from "../../../rules/model/scale-records.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../rules/model/time-text.ts";
import { pointOf } from "../../../stack/projections/sample.ts";
import { BIN_MS } from "../../../stack/projections/samples.ts";
import { baseReader, journalOfPage } from "../../../stack/store/history/journal.ts";
import { journalPageOf } from "../../../stack/store/pages/plan.ts";
import { getAutoscalers } from "../../../stack/store/records/autoscalers.ts";
import { partitionOf } from "../../../stack/store/records/clusters.ts";
import { mapWithLimit, REQUESTS_AT_ONCE } from "../../../stack/store/table/wait-for-all.ts";
import type { Tables } from "../../../stack/store/table/tables.ts";
import type { SparklinesView } from "../../views/over-time.ts";
import { type QueryContext, sees } from "../context.ts";
import { clustersNamed } from "../find-autoscaler.ts";
import { headsForNames, knownIndexes, type WantedPartition } from "../known-partitions.ts";
import type { AutoscalerCursor, SparklineQuery } from "../service.ts";
import { rfc3339 } from "../times.ts";
import { wholeName } from "../whole-name.ts";

/** Of an hour there are twelve points. */
const SINCE_MS = HOUR_MS;
/** Journal pages that are read at once, each in a request for each step. */
const PAGES_AT_ONCE = Math.floor(REQUESTS_AT_ONCE / (SINCE_MS / BIN_MS));
/** Entries of a step that are looked at until one holds all autoscalers: mostly the first does. */
const LOOKED_AT = 4;

/**
 * Load and count of the last hour, of the autoscalers of one screen: in steps of five minutes, each
 * by the first evaluation of its step. The first sync of a minute writes a journal page whole, so
 * that a step takes one item of it and not all of five minutes, for all rows of a partition
 * together. What an environment has read of a past step it does not read again.
 *
 * A name that nothing has, or that the caller may not look at, is not in the answer.
 */
export const sparklines = async (
  context: QueryContext,
  { names }: SparklineQuery,
): Promise<SparklinesView> => {
  const nowMs = context.clock();
  const sinceMs = Math.floor(nowMs / BIN_MS) * BIN_MS + BIN_MS - SINCE_MS;
  const steps = Array.from({ length: SINCE_MS / BIN_MS }, (_, at) => sinceMs + at * BIN_MS);
  const wanted = names.map(wholeName).filter((name) => sees(context, name.cluster, name.namespace));
  const [located, memory] = await Promise.all([locate(context, wanted), memoryOf(context.tables)]);
  const pages = Map.groupBy(located, ({ ref, page }) => `${partitionPath(ref)} ${page}`);
  const read = await mapWithLimit([...pages], PAGES_AT_ONCE, async ([path, own]) => {
    const [first] = own;
    return first ? linesOf(context.tables, { ...first, path, steps, nowMs, memory }, own) : [];
  });
  const lines = read.flat();
  return { since: rfc3339(sinceMs), stepSeconds: BIN_MS / SECOND_MS, lines };
};

interface Located {
  readonly name: AutoscalerCursor;
  readonly uid: AutoscalerUid;
  readonly ref: PartitionRef;
  /** The journal page that has its evaluations. */
  readonly page: number;
  /** The newest completed sync: later steps have nothing. */
  readonly syncedMs: number;
}

/** The journal page of each name that there is. */
const locate = async (
  context: QueryContext,
  wanted: readonly AutoscalerCursor[],
): Promise<readonly Located[]> => {
  if (wanted.length === 0) return [];
  const clusters = new Map((await clustersNamed(context, undefined)).map((one) => [one.name, one]));
  const parts = new Map<string, Pick<WantedPartition, "cluster" | "ref">>();
  const placed = wanted.flatMap((name) => {
    const cluster = clusters.get(clusterName(name.cluster));
    const partition = cluster && partitionOf(cluster, namespaceOf(name.namespace));
    if (!cluster || partition === undefined) return [];
    const ref = { cluster: cluster.name, partition };
    parts.set(partitionPath(ref), { cluster, ref });
    return [{ name, ref }];
  });
  const all = [...parts.values()];
  const refs = all.map(({ ref }) => ref);
  const heads = await headsForNames(context.tables, refs, false);
  const synced = new Map(
    all.flatMap((part, at): [string, WantedPartition][] => {
      const head = heads[at];
      return head ? [[partitionPath(part.ref), { ...part, head }]] : [];
    }),
  );
  // Before the first sync of a partition there is no evaluation.
  const inSynced = placed.filter(({ ref }) => synced.has(partitionPath(ref)));
  const uids = await uidsOf(context.tables, [...synced.values()], inSynced);
  return inSynced.flatMap(({ name, ref }, at) => {
    const [uid, head] = [uids[at], synced.get(partitionPath(ref))?.head];
    if (uid === undefined || !head) return [];
    return [{ name, uid, ref, page: journalPageOf(uid, head.pages.length), syncedMs: head.nowMs }];
  });
};

/**
 * The uids of these names in their order, by the indexes of their partitions. Where an index does
 * not say all, as after an edit until the next sync, they are read from the autoscalers themselves.
 */
const uidsOf = async (
  tables: Tables,
  synced: readonly WantedPartition[],
  named: readonly Pick<Located, "name" | "ref">[],
): Promise<readonly (AutoscalerUid | undefined)[]> => {
  const indexes = await knownIndexes(tables, synced);
  const known = new Map(
    synced.flatMap(({ ref }, at) => {
      const rows = indexes[at]?.rows;
      return rows
        ? [[partitionPath(ref), new Map(rows.map((row) => [keyOf(row), row.uid]))] as const]
        : [];
    }),
  );
  const others = named.filter(({ ref }) => !known.has(partitionPath(ref)));
  const items = await getAutoscalers(
    tables,
    others.map(({ name, ref }) => ({
      cluster: ref.cluster,
      namespace: namespaceOf(name.namespace),
      name: autoscalerName(name.name),
    })),
  );
  const read = new Map(
    others.map(({ name }, at) => {
      const item = items[at];
      return [name, item?.kind === "read" ? item.record.uid : undefined];
    }),
  );
  return named.map(({ name, ref }) => {
    const uid = known.get(partitionPath(ref))?.get(keyOf(name));
    return uid === undefined ? read.get(name) : autoscalerUid(uid);
  });
};

const keyOf = (row: { readonly namespace: string; readonly name: string }): string =>
  `${row.namespace}/${row.name}`;

/** A journal page, and the steps that are wanted of it. */
interface Wanted extends Pick<Located, "ref" | "page" | "syncedMs"> {
  readonly path: string;
  readonly steps: readonly number[];
  readonly nowMs: number;
  readonly memory: Map<string, Step>;
}

const linesOf = async (
  tables: Tables,
  { ref, page, syncedMs, path, steps, nowMs, memory }: Wanted,
  own: readonly Located[],
): Promise<SparklinesView["lines"]> => {
  const bases = baseReader(tables, ref, page);
  const read = await Promise.all(
    steps.map(async (fromMs) => {
      const key = `${path} ${fromMs}`;
      const known = memory.get(key);
      if (known) return known;
      if (fromMs > syncedMs) return NOTHING;
      const untilMs = fromMs + BIN_MS - 1;
      const step = await readStep(tables, ref, { page, bases, sinceMs: fromMs, untilMs });
      // A step that has nothing yet may still get something: a sync takes up to a minute.
      if (step.size > 0 || untilMs + MINUTE_MS < nowMs) remember(memory, key, step);
      return step;
    }),
  );
  const column = (uid: string, field: keyof Point): readonly (number | null)[] =>
    read.map((step) => step.get(uid)?.[field] ?? null);
  return own.map(({ name, uid }) => ({
    ...name,
    load: column(uid, "load"),
    current: column(uid, "current"),
  }));
};

type Point = Pick<Sample, "load" | "current">;
type Step = ReadonlyMap<string, Point>;
const NOTHING: Step = new Map();

/** What a point is made of. The other fields of an evaluation, which are more, are not parsed. */
const FIELDS = new Set(["uid", "from", "metrics"] as const);

/** The first entry of a step that holds all autoscalers of the page, or what comes near to it. */
const readStep = async (
  tables: Tables,
  ref: PartitionRef,
  wanted: Omit<Parameters<typeof journalOfPage>[2], "pageSize" | "fields">,
): Promise<Step> => {
  const step = new Map<string, Point>();
  let looked = 0;
  const asked = { ...wanted, fields: FIELDS, pageSize: 1 };
  for await (const entry of journalOfPage(tables, ref, asked)) {
    for (const { uid, ...evaluation } of entry.evaluations)
      if (!step.has(uid)) step.set(uid, present(pointOf(evaluation)));
    looked += 1;
    if (entry.partial !== true || looked >= LOOKED_AT) break;
  }
  return step;
};

/** What an environment has read of its tables, each step of some hundred autoscalers. */
interface Remembered {
  readonly ids: string;
  readonly steps: Map<string, Step>;
}
const remembered = new WeakMap<Tables["client"], Remembered>();
/** Points that an environment keeps, some 10 MB: an hour of 8,000 autoscalers. */
const POINTS_MAX = 100_000;

/**
 * The steps that an environment has read of these very tables. Under the same name there may be
 * restored ones, which have not got what came after their instant. Where the service does not say
 * which tables these are, nothing is remembered.
 */
const memoryOf = async ({ client, ids }: Tables): Promise<Remembered["steps"]> => {
  const found = ids ? await ids().catch(() => undefined) : { state: "", history: "" };
  if (!found) return new Map();
  const known = remembered.get(client);
  const read = `${found.state} ${found.history}`;
  if (known?.ids === read) return known.steps;
  const steps = new Map<string, Step>();
  remembered.set(client, { ids: read, steps });
  return steps;
};

/** The oldest steps make room. */
const remember = (memory: Map<string, Step>, key: string, step: Step): void => {
  memory.set(key, step);
  let points = [...memory.values()].reduce((sum, { size }) => sum + size + 1, 0);
  for (const [oldest, { size }] of memory) {
    if (points <= POINTS_MAX) return;
    memory.delete(oldest);
    points -= size + 1;
  }
};
