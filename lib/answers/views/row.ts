import * as z from "zod";
import { autoscaler, autoscalerState } from "./autoscaler.ts";
import { pause } from "./holds.ts";
import { count, only, target, text, time, type ViewOf } from "./view-of.ts";

const { currentReplicas, desiredReplicas, lastKnown } = autoscaler.shape;

/**
 * One autoscaler as tables show it: without its manifest, conditions and windows. The fields have
 * the meaning that they have in an `AutoscalerView`.
 */
export const row = z.object({
  partition: text
    .describe(
      "of its cluster; absent where none has its namespace, so that nothing is decided for it",
    )
    .exactOptional(),
  namespace: text,
  name: text,
  uid: text,
  generation: count,
  kind: text.describe("of the manifest"),
  labels: z.record(z.string(), text).exactOptional(),
  owner: text.exactOptional(),
  target: target.exactOptional(),
  minReplicas: count.exactOptional(),
  maxReplicas: count.exactOptional(),
  minInForce: count
    .describe(
      "the bound in force; present where an override or a schedule sets it, and not the manifest",
    )
    .exactOptional(),
  maxInForce: count.exactOptional(),
  overridden: only.describe("present where an override sets one of them, or holds").exactOptional(),
  scheduled: only
    .describe("present where the manifest has a schedule, whatever it sets now")
    .exactOptional(),
  state: autoscalerState,
  heldBy: text.exactOptional(),
  reason: text.describe("of the newest decision; absent before the first").exactOptional(),
  currentReplicas,
  desiredReplicas,
  lastKnown,
  targets: z.array(text).describe('value and target of its first metrics: "62% (310m)/60%"'),
  moreTargets: count.describe("metrics that `targets` leaves out").exactOptional(),
  missingMetrics: count
    .describe("metrics that could not be read; absent where none is missing")
    .exactOptional(),
  findings: count
    .describe(
      "what the doctor finds by the newest evaluation, counted once a minute; absent where nothing. Rules that look at days are not among them",
    )
    .exactOptional(),
  measuredAt: time
    .describe(
      "when `targets` were measured, which may be up to a minute before the rest of the row",
    )
    .exactOptional(),
  lastScaleAt: time.exactOptional(),
  paused: pause.describe("its own pause").exactOptional(),
  createdAt: time,
  problem: text.describe("why the stored item or its manifest cannot be read").exactOptional(),
});
export type AutoscalerRow = ViewOf<typeof row>;

/** A partition of which rows are shown. */
const partitionRows = z.object({
  name: text,
  version: count.describe(
    "rises with each sync, and with each edit where the caller sees all of the cluster: what has a lower version and an earlier `syncedAt` is older",
  ),
  mark: text
    .describe("changes with what the rows show (`known`); absent where it is not known")
    .exactOptional(),
  unchanged: only
    .describe(
      "present where the caller has the rows already, by `known`: then they are not repeated",
    )
    .exactOptional(),
  syncedAt: time
    .describe("when the sync ended that the rows are from; absent before the first")
    .exactOptional(),
  ageSeconds: z.number().exactOptional(),
});
export type PartitionRows = ViewOf<typeof partitionRows>;

/**
 * The rows of one cluster, in order of namespace and name. A caller that chooses fields gets these
 * beside those that are always there.
 */
export const clusterRows = z.object({
  cluster: text,
  partitions: z.array(partitionRows),
  rows: z.array(
    row.partial().required({ namespace: true, name: true, uid: true, generation: true }),
  ),
});

/** The rows of one cluster with all their fields. */
export interface ClusterRows {
  readonly cluster: string;
  readonly partitions: readonly PartitionRows[];
  readonly rows: readonly AutoscalerRow[];
}
