import type { PartitionRef } from "../model/ids.ts";
import type { AutoscalerRecord, ClusterRecord } from "../model/records.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import { autoscalersOf } from "../store/partitions.ts";
import type { SyncPorts } from "./ports.ts";

/** One autoscaler of the partition, or why it cannot be decided: that stops this one alone. */
export type LoadedSpec =
  | { readonly kind: "ready"; readonly record: AutoscalerRecord; readonly spec: AutoscalerSpec }
  | { readonly kind: "invalid"; readonly record: AutoscalerRecord; readonly message: string }
  | { readonly kind: "unreadable"; readonly namespace: string; readonly name: string; readonly uid?: string; readonly message: string };

export interface LoadedSpecs {
  readonly specVersion: number;
  /** Version of the cluster record whose partitions were followed. */
  readonly clusterVersion: number;
  readonly readMs: number;
  readonly all: readonly LoadedSpec[];
}

/** Every autoscaler of a partition, read strongly and converted. Records that did not change keep the spec of before. */
export const readSpecs = async (
  ports: SyncPorts,
  cluster: ClusterRecord,
  partition: PartitionRef,
  want: { readonly specVersion: number; readonly readMs: number; readonly before: LoadedSpecs | undefined },
): Promise<LoadedSpecs> => {
  const known = new Map((want.before?.all ?? []).flatMap((spec) => (spec.kind === "unreadable" ? [] : [[spec.record.uid, spec] as const])));
  const all: LoadedSpec[] = [];
  for await (const item of autoscalersOf(ports.tables, cluster, partition)) {
    if (item.kind === "unreadable") {
      all.push(item);
      continue;
    }
    const same = known.get(item.record.uid);
    all.push(same?.record.manifest === item.record.manifest ? { ...same, record: item.record } : converted(ports, item.record));
  }
  return { specVersion: want.specVersion, clusterVersion: cluster.version, readMs: want.readMs, all };
};

const converted = (ports: SyncPorts, record: AutoscalerRecord): LoadedSpec => {
  const reading = ports.rules.specOf(record.manifest);
  return reading.kind === "spec" ? { kind: "ready", record, spec: reading.spec } : { kind: "invalid", record, message: reading.message };
};

/** uid of an autoscaler, where its item can be read that far. */
export const uidOf = (spec: LoadedSpec): string | undefined => (spec.kind === "unreadable" ? spec.uid : spec.record.uid);
