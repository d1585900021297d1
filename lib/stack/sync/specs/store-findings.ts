import { raiseSpecVersion, markGone } from "../../store/records/autoscalers.ts";
import { mapInTurns } from "../../turns/gate.ts";
import { namespaceOf } from "./store-turns.ts";
import { converted } from "../load/load-specs.ts";
import type { SyncMessage } from "../../plan/message.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { nameKey } from "./compare.ts";
import { type Finding, originOf } from "./finding.ts";
import { PARALLEL, type Room, roomFor } from "./store-room.ts";
import type { SpecObject } from "../../cluster/cluster-client.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../../rules/model/ids.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import {
  type Edit,
  type StoreContext,
  type Stored,
  storeOnly,
} from "../../store/records/store-change.ts";
import type { Loaded, LoadedSpec, LoadedSpecs, KnownSpec } from "../hand-over.ts";

/**
 * Share of the soft deadline that the writes may take. Slow or throttled tables so cost the objects
 * of this sync their turn, and no autoscaler its observation.
 */
const STORE_SHARE = 0.1;

export interface StoredFindings extends Pick<Room, "late" | "over"> {
  readonly specs: LoadedSpecs;
  /**
   * Changes that could not be stored: another editor was first, or the tables gave no clear answer.
   */
  readonly refused: readonly Finding[];
}

/*
 *  bytes counted ── change inserted ── record put ── spec version raised
 *         as an edit of a person (store-change.ts)
 *                                            └─ died ✗
 *         another environment may know the old record: its write is refused, it holds, and raises
 *         the version
 */

/** Stores the findings, and gives the autoscalers of the partition as they are stored now. */
export const storeFindings = async (
  ports: SyncPorts,
  message: SyncMessage,
  { loaded, findings }: { readonly loaded: Loaded; readonly findings: readonly Finding[] },
): Promise<StoredFindings> => {
  const { cluster, specs, nowMs } = loaded;
  const untilMs =
    ports.tables.clock() + STORE_SHARE * Math.min(message.periodMs, ports.timing.softDeadlineMs);
  const writes = findings.filter(needsWrite);
  // A cluster that is being removed gets no new autoscalers. What is held holds.
  const room =
    cluster.removing || writes.length === 0
      ? undefined
      : await roomFor(ports, message, writes, nowMs);
  const toMake = [...findings.filter((finding) => !needsWrite(finding)), ...(room?.admitted ?? [])];
  const until = {
    ...ports,
    tables: { ...ports.tables, untilMs: Math.min(untilMs, ports.tables.untilMs ?? untilMs) },
  };
  const turns = { places: PARALLEL, elapsed: ports.tables.clock, flowOf: namespaceOf };
  const made = await mapInTurns(toMake, turns, async (finding): Promise<Made> => {
    if (needsWrite(finding) && ports.tables.clock() >= untilMs)
      return { finding, stored: undefined };
    return { finding, stored: await storeFinding(until, cluster, finding) };
  });
  const tooLate = made.flatMap(({ finding, stored }) => (stored ? [] : [finding]));
  if (tooLate.length > 0) await room?.giveBack(tooLate);
  return {
    specs: await raised(ports, message, withStored(specs, made), made),
    refused: [
      ...(room ? [] : writes),
      ...made.flatMap(({ finding, stored }) => (stored?.kind === "conflict" ? [finding] : [])),
    ],
    late: [...(room?.late ?? []), ...tooLate],
    over: room?.over ?? [],
  };
};

interface Made {
  readonly finding: Finding;
  /** Absent where there was no time for it. */
  readonly stored: StoredFinding | undefined;
}

/*
 *  this environment   reads at version 7 ── stores ── raises 7 → 8
 *         knows version 8: it has read everything that was stored, and stored the rest
 *  another editor              stores ── raises 7 → 8 ─ or ─ raises 8 → 9
 *         then the raise here gives 9, or the head says 9: this environment reads all again
 */
const raised = async (
  ports: SyncPorts,
  message: SyncMessage,
  specs: LoadedSpecs,
  made: readonly Made[],
): Promise<LoadedSpecs> => {
  const hasConflict = made.some(({ stored }) => stored?.kind === "conflict");
  // Also after a mark: another environment would look for it in the record that it remembers.
  if (!hasConflict && !made.some(({ finding, stored }) => stored && needsWrite(finding)))
    return specs;
  const specVersion = await raiseSpecVersion(ports.tables, message);
  return !hasConflict && specVersion === specs.specVersion + 1 ? { ...specs, specVersion } : specs;
};

const needsWrite = (finding: Finding): boolean => {
  const isMarked = finding.spec?.record.origin?.goneMs !== undefined;
  if (finding.kind === "gone") return finding.ends || !isMarked;
  return finding.kind === "store" || (finding.kind === "same" && isMarked);
};

const withStored = (specs: LoadedSpecs, made: readonly Made[]): LoadedSpecs => {
  const changes = made.flatMap(({ finding, stored }) =>
    stored?.kind === "stored" && stored.spec !== finding.spec ? [{ finding, stored }] : [],
  );
  if (changes.length === 0) return specs;
  const byName = new Map(specs.all.map((spec) => [keyOf(spec), spec]));
  for (const { finding, stored } of changes) {
    if (stored.spec) byName.set(keyOf(stored.spec), stored.spec);
    else if (finding.spec) byName.delete(keyOf(finding.spec));
  }
  return {
    ...specs,
    all: [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, spec]) => spec),
  };
};

const keyOf = (spec: LoadedSpec): string =>
  nameKey(spec.kind === "unreadable" ? spec : spec.record);

type StoredFinding =
  /** The autoscaler as it is stored now; absent where it has ended. */
  | { readonly kind: "stored"; readonly spec?: KnownSpec }
  /** Another editor was first. The next sync reads what it has stored. */
  | { readonly kind: "conflict" };

/** Stores what a finding says, by the same conditional write as an edit of a person. */
const storeFinding = async (
  ports: SyncPorts,
  cluster: ClusterRecord,
  finding: Finding,
): Promise<StoredFinding> => {
  switch (finding.kind) {
    case "same":
      return { kind: "stored", spec: seen(await withoutMark(ports, finding.spec), finding.object) };
    case "waits":
      return { kind: "stored", spec: shown(finding.spec, finding.object) };
    case "held":
      return {
        kind: "stored",
        spec:
          finding.olderSinceMs === undefined
            ? finding.spec
            : { ...finding.spec, olderSinceMs: finding.olderSinceMs },
      };
    case "gone":
      return finding.ends
        ? ended(ports, cluster, finding.spec)
        : { kind: "stored", spec: await marked(ports, finding.spec) };
    case "store":
      return storeObject(ports, cluster, finding);
  }
};

/** The object is remembered, so that the next sync need not compare its manifest. */
const seen = (spec: KnownSpec, { resourceVersion, statusBy }: SpecObject): KnownSpec => {
  if (
    spec.object?.resourceVersion === resourceVersion &&
    spec.olderSinceMs === undefined &&
    spec.shownGeneration === undefined
  )
    return spec;
  const { olderSinceMs: _over, shownGeneration: _stored, ...rest } = spec;
  return { ...rest, object: { resourceVersion, ...(statusBy && { statusBy }) } };
};

/** No API server gives this version, so that the next LIST has the manifest again. */
const NO_VERSION = "";

/** What is remembered of an object whose manifest is not stored yet. */
export const shown = (spec: KnownSpec, { generation, statusBy }: SpecObject): KnownSpec => {
  const { object: _before, olderSinceMs: _over, ...rest } = spec;
  return {
    ...rest,
    shownGeneration: generation,
    object: { resourceVersion: NO_VERSION, ...(statusBy && { statusBy }) },
  };
};

const withoutMark = async (ports: SyncPorts, spec: KnownSpec): Promise<KnownSpec> => {
  const { record } = spec;
  if (record.origin?.goneMs === undefined) return spec;
  await markGone(ports.tables, record, undefined);
  const { goneMs: _over, ...origin } = record.origin;
  return { ...spec, record: { ...record, origin } };
};

const marked = async (ports: SyncPorts, spec: KnownSpec): Promise<KnownSpec> => {
  const { record } = spec;
  if (!record.origin || record.origin.goneMs !== undefined) return spec;
  const goneMs = ports.tables.clock();
  await markGone(ports.tables, record, goneMs);
  return { ...spec, record: { ...record, origin: { ...record.origin, goneMs } } };
};

const ended = async (
  ports: SyncPorts,
  cluster: ClusterRecord,
  { record }: KnownSpec,
): Promise<StoredFinding> => {
  const context = contextOf(ports, `the cluster "${cluster.name}"`);
  const { kind } = await tryStore(context, {
    verb: "delete",
    ref: record,
    uid: record.uid,
    before: record,
  });
  return { kind };
};

/**
 * An object of another uid is another autoscaler: the old one ends first. A death between the two
 * leaves none, and the next sync stores the new one.
 */
const storeObject = async (
  ports: SyncPorts,
  cluster: ClusterRecord,
  finding: Extract<Finding, { kind: "store" }>,
): Promise<StoredFinding> => {
  const { spec, object, isNewObject, manifest } = finding;
  const context = contextOf(
    ports,
    object.changedBy === undefined
      ? `the cluster "${cluster.name}"`
      : `field manager "${object.changedBy}"`,
  );
  if (spec && isNewObject) {
    const before = await tryStore(context, {
      verb: "delete",
      ref: spec.record,
      uid: spec.record.uid,
      before: spec.record,
    });
    if (before.kind === "conflict") return before;
  }
  const before = isNewObject ? undefined : spec?.record;
  // The cluster has the object, whichever cluster an apply before meant.
  const { clusterUid: _meant, ...kept } = before ?? {
    cluster: cluster.name,
    namespace: namespace(object.namespace),
    name: autoscalerName(object.name),
    uid: autoscalerUid(object.uid),
    createdMs: context.clock(),
  };
  const after = {
    ...kept,
    manifest,
    origin: { ...originOf(finding), storedMs: context.clock() },
  };
  const written = await tryStore(context, {
    verb: "apply",
    ref: after,
    uid: after.uid,
    after,
    ...(before && { before }),
  });
  if (written.kind === "conflict" || !written.record) return { kind: "conflict" };
  return { kind: "stored", spec: seen(converted(ports.rules, written.record), object) };
};

const contextOf = ({ tables, insert }: SyncPorts, by: string): StoreContext => ({
  tables,
  insert,
  clock: tables.clock,
  by,
});

/**
 * On doubt, a conflict, not a failed sync: the other autoscalers of the partition must go on, also
 * where the writes of one tenant are throttled.
 */
const tryStore = async (
  context: StoreContext,
  edit: Edit,
): Promise<Stored | { readonly kind: "conflict"; readonly record?: undefined }> => {
  try {
    return await storeOnly(context, edit);
  } catch (error) {
    if (isTidemarkError(error, "service.conflict") || isTidemarkError(error, "store.unclear"))
      return { kind: "conflict" };
    throw error;
  }
};
