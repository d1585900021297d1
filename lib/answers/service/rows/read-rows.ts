import { type Namespace, namespace } from "../../../rules/model/ids.ts";
import type { ClusterRecord, FleetRecord } from "../../../rules/model/records.ts";
import type { IndexRow, PartitionIndex } from "../../../rules/model/summary.ts";
import type { AutoscalerItem } from "../../../stack/store/records/autoscalers.ts";
import { autoscalersOf, partitionOf } from "../../../stack/store/records/clusters.ts";
import { summaryKeyOf } from "../../../stack/store/summary/summary-codec.ts";
import type { AutoscalerRow } from "../../views/row.ts";
import { type QueryContext, sees } from "../context.ts";
import type { KnownPartition, WantedPartition } from "../known-partitions.ts";
import type { PartitionPart } from "../views/cluster-of.ts";
import { pauseView } from "../views/holds-view.ts";
import { rowOf } from "../views/known-row.ts";

/** What one question is asked of. */
export interface Reading {
  readonly context: QueryContext;
  readonly fleet: FleetRecord;
  readonly nowMs: number;
  readonly isWanted: (
    cluster: string,
    row: Pick<AutoscalerRow, "namespace" | "name" | "kind" | "labels">,
  ) => boolean;
  /** Where few rows are wanted, or names only: whether what a sync found is wanted of one. */
  readonly needsSummary: ((one: WantedPartition, index: PartitionIndex) => boolean) | undefined;
  /** Marks of the partitions whose rows the caller has. */
  readonly had: ReadonlySet<string>;
}

/** All rows of a partition that the caller may look at. */
export const allRows = async (
  reading: Reading,
  part: PartitionPart,
  known: KnownPartition | undefined,
): Promise<readonly AutoscalerRow[]> =>
  known
    ? knownRows(reading, part, known)
    : readRows(
        reading,
        part.cluster,
        autoscalersOf(reading.context.tables, part.cluster, part.ref),
      );

const knownRows = (
  reading: Reading,
  { cluster, ref: { partition } }: PartitionPart,
  known: KnownPartition,
): readonly AutoscalerRow[] => {
  const isPaused = pauseView(cluster.paused, reading.nowMs) !== undefined;
  return known.index.rows.flatMap((index) => {
    if (!reading.isWanted(cluster.name, index)) return [];
    const key = summaryKeyOf(index.uid as Parameters<typeof summaryKeyOf>[0]);
    const row = known.rows.get(key);
    return [
      rowOf(index, row, {
        partition,
        isPaused,
        measuredMs: known.measuredMs(key),
        fleet: reading.fleet,
        nowMs: reading.nowMs,
      }),
    ];
  });
};

/**
 * Rows from the autoscalers themselves, their pages and their journal. An item that cannot be read
 * has a row that says so.
 */
export const readRows = async (
  reading: Reading,
  cluster: ClusterRecord,
  items: AsyncIterable<AutoscalerItem>,
  isMeant: (item: AutoscalerItem) => boolean = () => true,
): Promise<readonly AutoscalerRow[]> => {
  const { context, fleet } = reading;
  // Loaded on demand: where every partition has its summary, no manifest and no rule is looked at.
  const [{ snapshotReader }, { rowOfSnapshot }] = await Promise.all([
    import("../autoscalers.ts"),
    import("../views/autoscaler-view.ts"),
  ]);
  const read = snapshotReader(context, cluster, fleet, { windows: "where needed" });
  const found: AutoscalerRow[] = [];
  for await (const item of items) {
    const inside = rowNamespace(item);
    if (!isMeant(item) || !sees(context, cluster.name, inside)) continue;
    const partition = partitionOf(cluster, inside);
    found.push(
      item.kind === "read"
        ? rowOfSnapshot(await read(item.record), partition).shown
        : unreadableRow(partition, item, fleet),
    );
  }
  return found.filter((row) => reading.isWanted(cluster.name, row));
};

type Unreadable = Pick<IndexRow, "namespace" | "name"> & {
  readonly uid?: string;
  readonly message: string;
};

const unreadableRow = (
  partition: string | undefined,
  { namespace: inside, name, uid = "", message }: Unreadable,
  fleet: FleetRecord,
): AutoscalerRow => {
  const index: IndexRow = {
    namespace: inside,
    name,
    uid,
    generation: 0,
    kind: "unknown kind",
    labels: {},
    createdMs: 0,
    problem: message,
  };
  return rowOf(index, undefined, { partition, isPaused: false, measuredMs: 0, fleet, nowMs: 0 });
};

export const rowNamespace = (item: AutoscalerItem): Namespace =>
  item.kind === "read" ? item.record.namespace : namespace(item.namespace);
