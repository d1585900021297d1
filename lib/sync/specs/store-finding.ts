import type { SpecObject } from "../../cluster/cluster-client.ts";
import { isTidemarkError } from "../../model/errors.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../model/ids.ts";
import type { ClusterRecord } from "../../model/records.ts";
import { markGone } from "../../store/records/autoscalers.ts";
import { type Edit, type EditContext, type Stored, storeOnly } from "../../store/records/store-change.ts";
import { converted, type KnownSpec } from "../load/load-specs.ts";
import type { SyncPorts } from "../sync-ports.ts";
import { type Finding, originOf } from "./finding.ts";

export type StoredFinding =
  /** The autoscaler as it is stored now; absent where it has ended. */
  | { readonly kind: "stored"; readonly spec?: KnownSpec }
  /** Another editor was first. The next sync reads what it has stored. */
  | { readonly kind: "conflict" };

/** Stores what a finding says, by the same conditional write as an edit of a person. */
export const storeFinding = async (ports: SyncPorts, cluster: ClusterRecord, finding: Finding): Promise<StoredFinding> => {
  switch (finding.kind) {
    case "same":
      return { kind: "stored", spec: seen(await withoutMark(ports, finding.spec), finding.object) };
    case "waits":
      return { kind: "stored", spec: shown(finding.spec, finding.object) };
    case "held":
      return { kind: "stored", spec: heldSince(finding) };
    case "gone":
      return finding.ends ? ended(ports, cluster, finding.spec) : { kind: "stored", spec: await marked(ports, finding.spec) };
    case "store":
      return storeObject(ports, cluster, finding);
  }
};

/** The object is remembered, so that the next sync need not compare its manifest. */
const seen = (spec: KnownSpec, { resourceVersion, statusBy }: SpecObject): KnownSpec => {
  if (spec.object?.resourceVersion === resourceVersion && spec.olderSinceMs === undefined && spec.shownGeneration === undefined) return spec;
  const { olderSinceMs: _over, shownGeneration: _stored, ...rest } = spec;
  return { ...rest, object: { resourceVersion, ...(statusBy && { statusBy }) } };
};

/** No API server gives this version, so that the next LIST has the manifest again. */
const NO_VERSION = "";

/** What is remembered of an object whose manifest is not stored yet. */
export const shown = (spec: KnownSpec, { generation, statusBy }: SpecObject): KnownSpec => {
  const { object: _before, olderSinceMs: _over, ...rest } = spec;
  return { ...rest, shownGeneration: generation, object: { resourceVersion: NO_VERSION, ...(statusBy && { statusBy }) } };
};

const heldSince = ({ spec, olderSinceMs }: Extract<Finding, { kind: "held" }>): KnownSpec =>
  olderSinceMs === undefined ? spec : { ...spec, olderSinceMs };

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

const ended = async (ports: SyncPorts, cluster: ClusterRecord, { record }: KnownSpec): Promise<StoredFinding> => {
  const context = contextOf(ports, `the cluster "${cluster.name}"`);
  const { kind } = await tryStore(context, { verb: "delete", ref: record, uid: record.uid, before: record });
  return { kind };
};

/** An object of another uid is another autoscaler: the old one ends first. A death between the two leaves none, and the next sync stores the new one. */
const storeObject = async (ports: SyncPorts, cluster: ClusterRecord, finding: Extract<Finding, { kind: "store" }>): Promise<StoredFinding> => {
  const { spec, object, isNewObject, manifest } = finding;
  const context = contextOf(ports, object.changedBy === undefined ? `the cluster "${cluster.name}"` : `field manager "${object.changedBy}"`);
  if (spec && isNewObject) {
    const before = await tryStore(context, { verb: "delete", ref: spec.record, uid: spec.record.uid, before: spec.record });
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
  const written = await tryStore(context, { verb: "apply", ref: after, uid: after.uid, after, ...(before && { before }) });
  if (written.kind === "conflict" || !written.record) return { kind: "conflict" };
  return { kind: "stored", spec: seen(converted(ports.rules, written.record), object) };
};

const contextOf = ({ tables, insert }: SyncPorts, by: string): EditContext => ({ tables, insert, clock: tables.clock, by });

/** Fails to a conflict, not to a failed sync: the other autoscalers of the partition must go on, also where the writes of one tenant are throttled. */
const tryStore = async (context: EditContext, edit: Edit): Promise<Stored | { readonly kind: "conflict"; readonly record?: undefined }> => {
  try {
    return await storeOnly(context, edit);
  } catch (error) {
    if (isTidemarkError(error, "service.conflict") || isTidemarkError(error, "store.unclear")) return { kind: "conflict" };
    throw error;
  }
};
