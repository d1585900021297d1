import type { PartitionRef } from "../model/ids.ts";
import { incarnationOf } from "../model/incarnation.ts";
import type { AutoscalerRecord, ClusterRecord } from "../model/records.ts";
import { autoscalersOf } from "../store/records/partitions.ts";
import type { LoadedSpec, LoadedSpecs } from "./loaded-specs.ts";
import type { SyncPorts } from "./ports.ts";

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
  return { specVersion: want.specVersion, clusterIncarnation: incarnationOf(cluster), readMs: want.readMs, all };
};

const converted = (ports: SyncPorts, record: AutoscalerRecord): LoadedSpec => {
  const reading = ports.rules.specOf(record.manifest);
  return reading.kind === "spec" ? { kind: "ready", record, spec: reading.spec } : { kind: "invalid", record, message: reading.message };
};
