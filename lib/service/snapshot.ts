import type { FleetRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { LocatedAutoscaler } from "./find-autoscaler.ts";
import type { Evaluated } from "./partitions/partition-data.ts";

/** Everything stored about one autoscaler. */
export interface AutoscalerSnapshot extends LocatedAutoscaler {
  readonly spec: { readonly kind: "spec"; readonly spec: AutoscalerSpec } | { readonly kind: "problem"; readonly message: string };
  readonly fleet: FleetRecord;
  readonly windows?: Windows;
  /** Why the windows cannot be read. */
  readonly windowsProblem?: string;
  readonly evaluated?: Evaluated;
  /** End of the partition's last completed sync. */
  readonly syncedMs?: number;
  readonly nowMs: number;
}
