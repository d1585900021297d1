import { type EffectiveBounds, NOTHING_SET } from "../../model/bounds.ts";
import type { Because, Decision, Scale } from "../../model/decision.ts";
import type { AutoscalerUid } from "../../model/ids.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import { effectiveBounds } from "../../policy/bounds/effective-bounds.ts";
import type { DecideInput } from "../../policy/decide.ts";
import { editWaits, newerForbids, objectNotStored } from "../../report/holds.ts";
import type { KnownSpec } from "../load/load-specs.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { PurePart } from "../decide/pure-part.ts";
import { bytesOf, type Finding } from "./finding.ts";
import { STORED_MAX, SYNC_BYTES_MAX } from "./store-room.ts";
import { inFairTurns } from "./turns.ts";

/** A newer spec of an object that is not stored yet. The stored one is followed until then, and nothing is done that the newer one would not allow. */
export interface Waiting {
  readonly because: Because;
  /** Absent where it is invalid. */
  readonly newer: AutoscalerSpec | undefined;
}

/**
 * Why a decision by the stored spec must not be made. On doubt, hold: nothing acts by a spec that is not stored, and nothing that an edit has forbidden is done in the minute until it is stored.
 */
export const heldByNewer = (
  { because, newer }: Waiting,
  { spec, decision, nowMs, setByPeople }: { readonly spec: AutoscalerSpec; readonly decision: Decision } & Pick<DecideInput, "nowMs" | "setByPeople">,
): Because | undefined => {
  if (decision.kind === "hold") return undefined;
  if (!newer) return newerForbids(because, "it is invalid");
  if (newer.dryRun && !spec.dryRun) return newerForbids(because, "it is a dry run");
  if ((newer.pausedUntilMs ?? 0) > nowMs) return newerForbids(because, "it is paused");
  if (!isSameTarget(newer.target, spec.target)) return newerForbids(because, `its target is ${newer.target.kind} "${newer.target.name}"`);
  return outsideNewer(because, decision, effectiveBounds(newer, setByPeople ?? NOTHING_SET, nowMs));
};

const outsideNewer = (because: Because, { from, to }: Pick<Scale, "from" | "to">, { min, max, paused }: EffectiveBounds): Because | undefined => {
  if (paused) return newerForbids(because, `its schedule "${paused.name}" pauses it`);
  if (to > from && to > max.replicas) return newerForbids(because, `its maxReplicas is ${max.replicas}, and ${to} were wanted`);
  if (to < from && to < min.replicas) return newerForbids(because, `its minReplicas is ${min.replicas}, and ${to} were wanted`);
  return undefined;
};

const isSameTarget = (one: AutoscalerSpec["target"], other: AutoscalerSpec["target"]): boolean =>
  one.apiVersion === other.apiVersion && one.kind === other.kind && one.name === other.name;

/** Most newer specs that one sync reads, and their bytes. */
const READ_MAX = { specs: STORED_MAX, bytes: SYNC_BYTES_MAX } as const;

/** An edit that is not stored yet. */
type Unstored = Extract<Finding, { kind: "waits" } | { kind: "store" }> & { readonly spec: KnownSpec };

/** True for the edit of an object whose autoscaler has a stored spec. */
export const hasStoredSpec = (finding: Finding): finding is Unstored =>
  finding.kind === "waits" || (finding.kind === "store" && finding.spec?.record.origin !== undefined && !finding.isNewObject);

/** The autoscalers that follow their stored spec on, in fair turns. What is over the bounds is left out, and holds: what it says is not known. */
export const waitingOf = (rules: PurePart, findings: readonly Unstored[], message: SyncMessage): ReadonlyMap<AutoscalerUid, Waiting> => {
  const waiting = new Map<AutoscalerUid, Waiting>();
  let leftBytes: number = READ_MAX.bytes;
  for (const finding of inFairTurns(findings, message)) {
    leftBytes -= bytesOf(finding.manifest);
    if (waiting.size >= READ_MAX.specs || leftBytes < 0) break;
    const reading = rules.specOf(finding.manifest);
    waiting.set(finding.spec.record.uid, { because: becauseOf(finding), newer: reading.kind === "spec" ? reading.spec : undefined });
  }
  return waiting;
};

const becauseOf = (finding: Unstored): Because => {
  const { origin } = finding.spec.record;
  if (finding.kind === "waits" || !origin) return finding.kind === "waits" ? finding.because : objectNotStored(finding.of);
  return editWaits(origin, { generation: finding.object.generation });
};
