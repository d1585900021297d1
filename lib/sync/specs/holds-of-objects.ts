import type { Because } from "../../model/decision.ts";
import type { AutoscalerUid } from "../../model/ids.ts";
import { originIn } from "../../model/origin.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { statusWritten } from "../../report/object-holds.ts";
import type { KnownSpec, LoadedSpec } from "../load/load-specs.ts";
import { nameKey } from "./compare.ts";
import type { Finding } from "./finding.ts";

/** How long after its last write to the status another controller counts as following the object. A controller that has nothing to write is not noticed (docs/clusters.md). */
export const STATUS_RIVAL_MS = 5 * 60_000;

/** Why autoscalers must not act because of their objects, strongest reason first. */
export const holdsOfObjects = (
  cluster: ClusterRecord,
  specs: readonly LoadedSpec[],
  comparison: {
    readonly findings: readonly Finding[];
    readonly clashes: ReadonlyMap<string, Because>;
    /** Changes that are not stored and not waiting for it, with their reason. */
    readonly notStored: ReadonlyMap<AutoscalerUid, Because>;
    readonly nowMs: number;
  },
): ReadonlyMap<AutoscalerUid, Because> => {
  const ofFinding = becauseByUid(comparison.findings);
  const holds = new Map<AutoscalerUid, Because>();
  for (const spec of specs) {
    if (spec.kind === "unreadable") continue;
    const { record } = spec;
    const key = nameKey(record);
    const because =
      ofFinding.get(record.uid) ?? comparison.notStored.get(record.uid) ?? comparison.clashes.get(key) ?? follower(cluster, spec, comparison.nowMs);
    if (because) holds.set(record.uid, because);
  }
  return holds;
};

const becauseByUid = (findings: readonly Finding[]): ReadonlyMap<AutoscalerUid, Because> =>
  new Map(
    findings.flatMap((finding) => (finding.kind === "gone" || finding.kind === "held" ? [[finding.spec.record.uid, finding.because] as const] : [])),
  );

/** On doubt, hold: two controllers of one object would both scale its target. A dry run scales nothing. */
const follower = (cluster: ClusterRecord, spec: KnownSpec, nowMs: number): Because | undefined => {
  const origin = originIn(cluster, spec.record);
  const by = spec.object?.statusBy;
  if (!origin || !by || nowMs - by.atMs > STATUS_RIVAL_MS || (spec.kind === "ready" && spec.spec.dryRun)) return undefined;
  return statusWritten({ kind: origin.kind, name: spec.record.name }, by);
};
