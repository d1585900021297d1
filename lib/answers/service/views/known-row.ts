import type { IndexRow, SummaryRow } from "../../../rules/model/summary.ts";
import type { FleetRecord } from "../../../rules/model/records.ts";
import type { AutoscalerState } from "../../views/autoscaler.ts";
import type { AutoscalerRow } from "../../views/row.ts";
import { pauseView } from "./holds-view.ts";
import { rfc3339, timeText } from "../times.ts";
import { nonEmpty, present } from "../../../rules/model/json.ts";
import type { RowField } from "../requests.ts";

/** What an index and a summary do not say of an autoscaler. */
export interface Around {
  readonly partition: string | undefined;
  /** True while its cluster is paused. */
  readonly isPaused: boolean;
  /** When its metrics were measured; absent before the first sync of it. */
  readonly measuredMs: number | undefined;
  readonly fleet: FleetRecord;
  readonly nowMs: number;
}

/** What an index says by itself, beside the names. */
export const INDEX_FIELDS: ReadonlySet<RowField> = new Set([
  "kind",
  "labels",
  "owner",
  "target",
  "minReplicas",
  "maxReplicas",
  "scheduled",
  "paused",
  "createdAt",
  "problem",
]);

/** The row of an autoscaler of an index, with what its summary says. */
export const rowOf = (
  index: IndexRow,
  row: SummaryRow | undefined,
  around: Around,
): AutoscalerRow => {
  const {
    namespace: inside,
    name,
    uid,
    generation,
    kind,
    labels,
    owner,
    target,
    minReplicas,
    maxReplicas,
    scheduled,
    createdMs,
    problem,
  } = index;
  const paused = pauseView(index.paused, around.nowMs);
  return present({
    ...{ partition: around.partition, namespace: inside, name, uid, generation, kind },
    ...{ labels: nonEmpty(labels), owner, target, minReplicas, maxReplicas, scheduled },
    state: stateOf(index, row, { ...around, isPaused: around.isPaused || paused !== undefined }),
    ...(row && foundIn(row, around.measuredMs)),
    targets: row?.targets ?? [],
    ...{ moreTargets: row?.moreTargets, missingMetrics: row?.missing, paused },
    findings: row?.findings,
    createdAt: rfc3339(createdMs),
    problem,
  });
};

/** What the newest sync found. */
const foundIn = (row: SummaryRow, measuredMs: number | undefined): Partial<AutoscalerRow> =>
  present({
    ...{ minInForce: row.min, maxInForce: row.max, overridden: row.overridden, heldBy: row.heldBy },
    ...{
      lastScaleAt: timeText(row.lastScaleMs),
      reason: row.reason || undefined,
      measuredAt: measuredMs === undefined ? undefined : rfc3339(measuredMs),
    },
    ...replicasOf(row),
  });

/** The first state that applies. States that stop the autoscaler come before what its sync found. */
export const stateOf = (
  { problem }: Pick<IndexRow, "problem">,
  row: Pick<SummaryRow, "state"> | undefined,
  { fleet, isPaused }: Pick<Around, "fleet" | "isPaused">,
): AutoscalerState => {
  if (fleet.frozen) return "frozen";
  if (isPaused) return "paused";
  if (problem !== undefined) return "invalid";
  return (row?.state ?? "waiting") as AutoscalerState;
};

export const replicasOf = ({
  current,
  desired,
  unreadMs,
}: Pick<SummaryRow, "current" | "desired" | "unreadMs">): Pick<
  AutoscalerRow,
  "currentReplicas" | "desiredReplicas" | "lastKnown"
> => {
  if (current === undefined) return {};
  if (unreadMs !== undefined)
    return { lastKnown: { replicas: current, ...(unreadMs > 0 && { at: rfc3339(unreadMs) }) } };
  return present({ currentReplicas: current, desiredReplicas: desired });
};
