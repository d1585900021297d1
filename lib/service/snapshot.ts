import type { FleetRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import type { LocatedAutoscaler } from "./find-autoscaler.ts";
import type { Evaluated } from "./partitions/partition-data.ts";

/** Everything that is known of one autoscaler, before it is put into words. */
export interface AutoscalerSnapshot extends LocatedAutoscaler {
  readonly spec: { readonly kind: "spec"; readonly spec: AutoscalerSpec } | { readonly kind: "problem"; readonly message: string };
  readonly fleet: FleetRecord;
  readonly windows?: Windows;
  /** Why they cannot be read. */
  readonly windowsProblem?: string;
  readonly evaluated?: Evaluated;
  /** End of the partition's last completed sync. */
  readonly syncedMs?: number;
  readonly nowMs: number;
}
