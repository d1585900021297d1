import type { AutoscalerRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";

/** One autoscaler of the partition, or why it cannot be decided: that stops this one alone. */
export type LoadedSpec =
  | { readonly kind: "ready"; readonly record: AutoscalerRecord; readonly spec: AutoscalerSpec }
  | { readonly kind: "invalid"; readonly record: AutoscalerRecord; readonly message: string }
  | { readonly kind: "unreadable"; readonly namespace: string; readonly name: string; readonly uid?: string; readonly message: string };

export interface LoadedSpecs {
  readonly specVersion: number;
  /** Of the cluster record whose partitions were followed (lib/model/incarnation.ts). */
  readonly clusterIncarnation: string;
  readonly readMs: number;
  readonly all: readonly LoadedSpec[];
}

/** uid of an autoscaler, where its item can be read that far. */
export const uidOf = (spec: LoadedSpec): string | undefined => (spec.kind === "unreadable" ? spec.uid : spec.record.uid);
