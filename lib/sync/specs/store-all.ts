import type { Because } from "../../model/decision.ts";
import { raiseSpecVersion } from "../../store/records/autoscalers.ts";
import { mapWithLimit } from "../../store/table/wait-for-all.ts";
import type { Loaded } from "../load/load.ts";
import type { LoadedSpec, LoadedSpecs } from "../load/load-specs.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { nameKey } from "./compare.ts";
import type { Finding } from "./finding.ts";
import { type StoredFinding, storeFinding } from "./store-finding.ts";
import { PARALLEL, type Room, roomFor } from "./store-room.ts";

/** Share of the soft deadline that the writes may take. Slow or throttled tables so cost the objects of this sync their turn, and no autoscaler its observation. */
const STORE_SHARE = 0.1;

export interface StoredFindings {
  readonly specs: LoadedSpecs;
  /** Changes that could not be stored: another editor was first, or the tables gave no clear answer. */
  readonly refused: readonly Finding[];
  /** Changes for which this sync has no room. */
  readonly late: readonly Finding[];
  readonly over: readonly { readonly finding: Finding; readonly because: Because }[];
}

/*
 *  bytes counted ── change inserted ── record put ── spec version raised      as an edit of a person (store-change.ts)
 *                                            └─ died ✗                        another environment may know the old record: its write is refused, it holds, and raises the version
 */

/** Stores the findings, and gives the autoscalers of the partition as they are stored now. */
export const storeFindings = async (
  ports: SyncPorts,
  message: SyncMessage,
  { loaded, findings }: { readonly loaded: Loaded; readonly findings: readonly Finding[] },
): Promise<StoredFindings> => {
  const { cluster, specs, nowMs } = loaded;
  const untilMs = ports.tables.clock() + STORE_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const writes = findings.filter(needsWrite);
  // A cluster that is being removed gets no new autoscalers. What is held holds.
  const room = cluster.removing || writes.length === 0 ? undefined : await roomFor(ports, message, writes, nowMs);
  const toMake = [...findings.filter((finding) => !needsWrite(finding)), ...(room?.admitted ?? [])];
  const until = { ...ports, tables: { ...ports.tables, untilMs: Math.min(untilMs, ports.tables.untilMs ?? untilMs) } };
  const made = await mapWithLimit(toMake, PARALLEL, async (finding): Promise<Made> => {
    if (needsWrite(finding) && ports.tables.clock() >= untilMs) return { finding, stored: undefined };
    return { finding, stored: await storeFinding(until, cluster, finding) };
  });
  const tooLate = made.flatMap(({ finding, stored }) => (stored ? [] : [finding]));
  if (tooLate.length > 0) await room?.giveBack(tooLate);
  return {
    specs: await raised(ports, message, withStored(specs, made), made),
    refused: [...(room ? [] : writes), ...made.flatMap(({ finding, stored }) => (stored?.kind === "conflict" ? [finding] : []))],
    late: [...(room?.late ?? []), ...tooLate],
    over: room?.over ?? NO_FINDINGS,
  };
};

const NO_FINDINGS: Room["over"] = [];

interface Made {
  readonly finding: Finding;
  /** Absent where there was no time for it. */
  readonly stored: StoredFinding | undefined;
}

/*
 *  this environment   reads at version 7 ── stores ── raises 7 → 8      knows version 8: it has read everything that was stored, and stored the rest
 *  another editor              stores ── raises 7 → 8 ─ or ─ raises 8 → 9      then the raise here gives 9, or the head says 9: this environment reads all again
 */
const raised = async (ports: SyncPorts, message: SyncMessage, specs: LoadedSpecs, made: readonly Made[]): Promise<LoadedSpecs> => {
  const hasConflict = made.some(({ stored }) => stored?.kind === "conflict");
  // Also after a mark: another environment would look for it in the record that it remembers.
  if (!hasConflict && !made.some(({ finding, stored }) => stored && needsWrite(finding))) return specs;
  const specVersion = await raiseSpecVersion(ports.tables, message);
  return !hasConflict && specVersion === specs.specVersion + 1 ? { ...specs, specVersion } : specs;
};

const isEdit = (finding: Finding): boolean => finding.kind === "store" || (finding.kind === "gone" && finding.ends);

const needsWrite = (finding: Finding): boolean => {
  const isMarked = finding.spec?.record.origin?.goneMs !== undefined;
  return isEdit(finding) || (finding.kind === "gone" && !isMarked) || (finding.kind === "same" && isMarked);
};

const withStored = (specs: LoadedSpecs, made: readonly Made[]): LoadedSpecs => {
  const changes = made.flatMap(({ finding, stored }) => (stored?.kind === "stored" && stored.spec !== finding.spec ? [{ finding, stored }] : []));
  if (changes.length === 0) return specs;
  const byName = new Map(specs.all.map((spec) => [keyOf(spec), spec]));
  for (const { finding, stored } of changes) {
    if (stored.spec) byName.set(keyOf(stored.spec), stored.spec);
    else if (finding.spec) byName.delete(keyOf(finding.spec));
  }
  return { ...specs, all: [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, spec]) => spec) };
};

const keyOf = (spec: LoadedSpec): string => nameKey(spec.kind === "unreadable" ? spec : spec.record);
