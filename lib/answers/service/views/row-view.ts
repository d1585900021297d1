import { asObject, isObject, nonEmpty, present } from "../../../rules/model/json.ts";
import { metricText } from "../../../stack/report/metric-reading.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { AutoscalerRow, ClusterRows, PartitionRows } from "../../views/row.ts";
import { isOverridden } from "../../words/bounds-words.ts";
import { type RowField, ROW_FIELDS } from "../requests.ts";

export interface TableRow extends AutoscalerRow, Pick<PartitionRows, "syncedAt" | "ageSeconds"> {
  readonly cluster: string;
}

export const tableRows = ({ cluster, partitions, rows }: ClusterRows): readonly TableRow[] => {
  const syncs = new Map<string | undefined, Pick<PartitionRows, "syncedAt" | "ageSeconds">>(
    partitions.map(({ name, syncedAt, ageSeconds }) => [
      name,
      syncedAt === undefined || ageSeconds === undefined ? {} : { syncedAt, ageSeconds },
    ]),
  );
  return rows.map((row) => ({ ...row, cluster, ...syncs.get(row.partition) }));
};

/** A row with the fields that are always there and the fields of a list. */
export const withFields = <Row extends AutoscalerRow>(
  row: Row,
  fields: readonly RowField[],
): Partial<Row> => {
  const left = new Set<string>(ROW_FIELDS.filter((field) => !fields.includes(field)));
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => !left.has(name)),
  ) as Partial<Row>;
};

/** The same of an autoscaler that was read whole. */
export const tableRowOf = (view: AutoscalerView): TableRow => {
  const { cluster, syncedAt, ageSeconds } = view;
  return { ...rowOfView(view), cluster, ...present({ syncedAt, ageSeconds }) };
};

/** Targets that a table shows; the others are counted, as kubectl does. */
export const TARGETS_SHOWN = 2;

/** The row of an autoscaler that was read whole. */
export const rowOfView = (view: AutoscalerView, partition?: string): AutoscalerRow => {
  const {
    namespace,
    name,
    uid,
    generation,
    owner,
    target,
    minReplicas,
    maxReplicas,
    state,
    heldBy,
    decision,
    problem,
  } = view;
  const {
    currentReplicas,
    desiredReplicas,
    lastKnown,
    lastScaleAt,
    paused,
    createdAt,
    metrics,
    manifest,
  } = view;
  const { kind, labels } = rowNames(manifest);
  return present({
    ...{
      partition,
      namespace,
      name,
      uid,
      generation,
      kind,
      labels: nonEmpty(labels),
      owner,
      target,
      minReplicas,
      maxReplicas,
    },
    ...inForce(view.bounds),
    scheduled: problem === undefined && hasSchedule(manifest) ? true : undefined,
    ...{
      state,
      heldBy,
      reason: decision?.reason,
      measuredAt: decision?.at,
      currentReplicas,
      desiredReplicas,
      lastKnown,
    },
    targets: metrics.slice(0, TARGETS_SHOWN).map(metricText),
    missingMetrics: metrics.filter(({ kind: reading }) => reading === "failed").length || undefined,
    findings: view.findings,
    moreTargets: metrics.length > TARGETS_SHOWN ? metrics.length - TARGETS_SHOWN : undefined,
    ...{ lastScaleAt, paused, createdAt, problem },
  });
};

const hasSchedule = (manifest: unknown): boolean => {
  const { schedule } = asObject(asObject(manifest)["spec"]);
  return Array.isArray(schedule) && schedule.length > 0;
};

const inForce = (
  bounds: AutoscalerView["bounds"],
): Pick<AutoscalerRow, "minInForce" | "maxInForce" | "overridden"> => ({
  ...(bounds && bounds.min.by.kind !== "manifest" && { minInForce: bounds.min.replicas }),
  ...(bounds && bounds.max.by.kind !== "manifest" && { maxInForce: bounds.max.replicas }),
  ...(isOverridden(bounds) && { overridden: true }),
});

export const rowNames = (
  manifest: unknown,
): { readonly kind: string; readonly labels: Readonly<Record<string, string>> } => {
  const kind = isObject(manifest) ? manifest["kind"] : undefined;
  const metadata = isObject(manifest) ? manifest["metadata"] : undefined;
  const labels = isObject(metadata) ? metadata["labels"] : undefined;
  return {
    kind: typeof kind === "string" ? kind : "unknown kind",
    labels: isObject(labels) ? (labels as Readonly<Record<string, string>>) : {},
  };
};
