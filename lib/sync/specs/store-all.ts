import { raiseSpecVersion } from "../../store/records/autoscalers.ts";
import { eachDone } from "../../store/table/all-done.ts";
import type { Loaded } from "../load.ts";
import type { LoadedSpec, LoadedSpecs } from "../load-specs.ts";
import type { SyncMessage } from "../message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { nameKey } from "./compare.ts";
import type { Finding } from "./finding.ts";
import { type StoredFinding, storeFinding } from "./store-finding.ts";

/** Most records that one sync stores. Each takes three writes; the others hold, and are stored by the next syncs. */
export const STORED_MAX = 200;
const PARALLEL = 8;

export interface StoredFindings {
  readonly specs: LoadedSpecs;
  /** The autoscalers whose object has changed and whose record has not, by namespace and name. */
  readonly notStored: ReadonlySet<string>;
  /** New objects that have no record yet. */
  readonly waiting: number;
}

/*
 *  change inserted ── record put ── spec version raised      as an edit of a person (store-change.ts)
 *                              └─ died ✗                     another environment may know the old record: its write is refused, it holds, and raises the version
 */

/** Stores the findings, and gives the autoscalers of the partition as they are stored now. */
export const storeFindings = async (
  ports: SyncPorts,
  message: SyncMessage,
  { loaded, findings }: { readonly loaded: Loaded; readonly findings: readonly Finding[] },
): Promise<StoredFindings> => {
  const { cluster, specs } = loaded;
  // A cluster that is being removed gets no new autoscalers. What is held holds.
  const room = new Set(cluster.removing ? [] : findings.filter(needsWrite).slice(0, STORED_MAX));
  const makeable = findings.filter((finding) => !needsWrite(finding) || room.has(finding));
  const made = await eachDone(makeable, PARALLEL, async (finding) => ({ finding, stored: await storeFinding(ports, cluster, finding) }));
  // Also after a mark: another environment would look for it in the record that it remembers.
  const isWritten = made.some(({ finding, stored }) => stored.kind === "conflict" || needsWrite(finding));
  if (isWritten) await raiseSpecVersion(ports.tables, message);
  const left = [
    ...findings.filter((finding) => needsWrite(finding) && !room.has(finding)),
    ...made.flatMap(({ finding, stored }) => (stored.kind === "conflict" ? [finding] : [])),
  ];
  return {
    specs: withStored(specs, made),
    notStored: new Set(left.flatMap((finding) => (finding.spec ? [nameKey(finding.spec.record)] : []))),
    waiting: left.filter((finding) => finding.spec === undefined).length,
  };
};

const isEdit = (finding: Finding): boolean => finding.kind === "store" || (finding.kind === "gone" && finding.ends);

const needsWrite = (finding: Finding): boolean => {
  const isMarked = finding.spec?.record.origin?.goneMs !== undefined;
  return isEdit(finding) || (finding.kind === "gone" && !isMarked) || (finding.kind === "same" && isMarked);
};

const withStored = (specs: LoadedSpecs, made: readonly { readonly finding: Finding; readonly stored: StoredFinding }[]): LoadedSpecs => {
  const changes = made.filter(({ finding, stored }) => stored.kind === "stored" && stored.spec !== finding.spec);
  if (changes.length === 0) return specs;
  const byName = new Map(specs.all.map((spec) => [keyOf(spec), spec]));
  for (const { finding, stored } of changes) {
    if (stored.kind === "conflict") continue;
    if (stored.spec) byName.set(keyOf(stored.spec), stored.spec);
    else if (finding.spec) byName.delete(keyOf(finding.spec));
  }
  return { ...specs, all: [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, spec]) => spec) };
};

const keyOf = (spec: LoadedSpec): string => nameKey(spec.kind === "unreadable" ? spec : spec.record);
