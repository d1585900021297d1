import { isDeepStrictEqual } from "node:util";
import { mustAllow, type Rights } from "../../../rules/model/access.ts";
import type { ChangeRecord } from "../../../rules/model/changes.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import type { AutoscalerRef, ClusterName, Namespace } from "../../../rules/model/ids.ts";
import { withoutExpired } from "../../../rules/model/override.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import { changeBaseOf, insertChange, isBaseOfChange } from "../history/changes.ts";
import { markEdited } from "../head/head.ts";
import type { InsertHistory } from "../history/item.ts";
import type { Tables } from "../table/tables.ts";
import {
  deleteAutoscaler,
  lastGeneration,
  putAutoscaler,
  raiseSpecVersion,
} from "./autoscalers.ts";
import { getCluster, partitionOf } from "./clusters.ts";
import type { RecordWrite } from "./write.ts";

/** What an edit of an autoscaler needs. */
export interface StoreContext {
  readonly tables: Tables;
  /** Appends to the history. */
  readonly insert: InsertHistory;
  readonly clock: () => number;
  /** The editor: a person, or the field manager of an object in a cluster. */
  readonly by: string;
  /** The rights of the editor; absent where no grant is needed, as for a sync. */
  readonly rights?: Rights;
}

/**
 * Generations tried in turn. An editor that failed between its change item and its record has used
 * one up.
 */
const GENERATIONS_MAX = 16;

export interface Edit {
  readonly verb: ChangeRecord["verb"];
  readonly ref: AutoscalerRef;
  readonly uid: AutoscalerRecord["uid"];
  /** The record that was read, or written by the same editor; absent for a new one. */
  readonly before?: Omit<AutoscalerRecord, "updatedMs" | "updatedBy">;
  /** The record to store, with a new generation and editor; absent for a delete. */
  readonly after?: Omit<AutoscalerRecord, "generation" | "updatedMs" | "updatedBy">;
  /** The object of another controller, which the change keeps. */
  readonly rival?: string;
}

/*
 *  change uid:5 inserted ── record put (generation 4 → 5) ── spec version raised
 * └─ failed ✗  generation 5 never exists: the change has no effect, the next editor takes 6
 * └─ failed ✗  the repeat finds nothing to change, and raises it
 *
 * Every edit has its change item (docs/architecture.md, "What is stored"). If the history cannot be
 * written, nothing is edited.
 */
export const store = async (context: StoreContext, edit: Edit): Promise<Stored> => {
  const stored = await storeOnly(context, edit);
  if (stored.kind === "stored")
    await raiseSpecVersions(context, edit.ref.cluster, [edit.ref.namespace]);
  return stored;
};

/** Stores without raising the spec version, for callers that raise it once for many edits. */
export const storeOnly = async (context: StoreContext, wanted: Edit): Promise<Stored> => {
  const edit: Edit = wanted.after
    ? { ...wanted, after: withoutExpired(wanted.after, context.clock()) }
    : wanted;
  const stored = await storeAbove(context, edit, edit.before?.generation ?? 0);
  if (stored.kind === "stored" || edit.before) return stored;
  // Refused although no record exists: an autoscaler of this name was deleted within a day, and
  // generations go on from there.
  const last = await lastGeneration(context.tables, edit.ref);
  return last > 0 ? storeAbove(context, edit, last) : stored;
};

export type Stored = RecordWrite & {
  readonly generation: number;
  /** The record that was written; absent for a delete. */
  readonly record?: AutoscalerRecord;
};

/*
 *  A  put 5 ✓ (answer lost) ─ ─ ─ ─ ─ ─ put 5 ✗
 *         the token is the one of B, and a change is based on 5: A has stored 5, and does not edit
 *         again
 *  B            reads 5 ── change ── put 6 ✓
 *
 * Without the look at the changes, A takes its own edit for one that was not made, edits again, and
 * undoes the edit of B.
 */
const storeAbove = async (
  context: StoreContext,
  edit: Edit,
  lastKnown: number,
): Promise<Stored> => {
  const change = await recordChange(context, edit, lastKnown + 1);
  const { generation } = change;
  const record = edit.after && recordAfter(context, edit.after, change);
  const written = await write(context, edit, record);
  // No edit is based on a delete.
  if (written.kind === "stored" || !record)
    return { ...written, generation, ...(record && { record }) };
  const wasStored = await isBaseOfChange(context.tables, edit.ref, edit.uid, generation);
  return { kind: wasStored ? "stored" : "conflict", generation, record };
};

interface RecordedChange {
  readonly generation: number;
  /** When it was recorded, where later changes can refer to it. */
  readonly wholeMs?: number;
}

const recordChange = async (
  context: StoreContext,
  { verb, ref, uid, before, after, rival }: Edit,
  first: number,
): Promise<RecordedChange> => {
  const base = before && (await changeBaseOf(context.tables, ref, before));
  for (let generation = first; generation < first + GENERATIONS_MAX; generation++) {
    const change: ChangeRecord = {
      cluster: ref.cluster,
      namespace: ref.namespace,
      name: ref.name,
      id: `${uid}:${generation}`,
      atMs: context.clock(),
      by: context.by,
      ...(context.rights && mustAllow(context.rights, "edit", ref)),
      verb,
      baseGeneration: before?.generation ?? 0,
      ...(before && { before: textOf(before) }),
      ...(after && { after: textOf(after) }),
      ...(rival !== undefined && { rival }),
    };
    const { stored, isWhole } = await insertChange(context, change, base);
    if (isDeepStrictEqual(stored, change))
      return { generation, ...(isWhole && { wholeMs: change.atMs }) };
  }
  throw new TidemarkError(
    "service.conflict",
    `Cannot ${verb} "${ref.namespace}/${ref.name}" in cluster "${ref.cluster}": others are editing it`,
    {
      ...ref,
    },
  );
};

/**
 * The text of a record in a change: the manifest, and the pause and the overrides where there are
 * some.
 */
const textOf = ({
  manifest,
  paused,
  overrides,
}: Pick<AutoscalerRecord, "manifest" | "paused" | "overrides">): string =>
  paused || overrides
    ? JSON.stringify({ manifest, ...(paused && { paused }), ...(overrides && { overrides }) })
    : manifest;

const recordAfter = (
  context: StoreContext,
  after: NonNullable<Edit["after"]>,
  { generation, wholeMs }: RecordedChange,
): AutoscalerRecord => ({
  ...after,
  ...(wholeMs !== undefined && { wholeChange: { generation, atMs: wholeMs } }),
  generation,
  updatedMs: context.clock(),
  updatedBy: context.by,
});

const write = (
  context: StoreContext,
  { before }: Edit,
  record: AutoscalerRecord | undefined,
): Promise<RecordWrite> => {
  if (record) return putAutoscaler(context.tables, record, before?.generation, before?.uid);
  if (before) return deleteAutoscaler(context.tables, before, before.generation);
  throw new RangeError("an edit has a state before it or after it");
};

/**
 * Raises the spec version of the partitions that hold these namespaces, so that their next syncs
 * load the records again. It reads the partitions anew, because namespaces may have moved since the
 * edit began. A namespace that no partition holds is not synced, so there is nothing to raise.
 */
export const raiseSpecVersions = async (
  context: StoreContext,
  name: ClusterName,
  namespaces: readonly Namespace[],
): Promise<void> => {
  const [cluster] = await Promise.all([
    getCluster(context.tables, name),
    markEdited(context.tables),
  ]);
  const partitions = cluster ? namespaces.map((namespace) => partitionOf(cluster, namespace)) : [];
  for (const partition of new Set(partitions))
    if (partition !== undefined)
      await raiseSpecVersion(context.tables, { cluster: name, partition });
};
