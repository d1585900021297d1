import { isDeepStrictEqual } from "node:util";
import type { ScopeChangeRecord } from "../../../rules/model/changes.ts";
import type { TidemarkError } from "../../../rules/model/errors.ts";
import { withoutExpired } from "../../../rules/model/override.ts";
import type { ClusterRecord, Connection } from "../../../rules/model/records.ts";
import {
  connectionFor,
  connectionRecord,
  getConnection,
  putCluster,
  putConnection,
  type Reached,
} from "../../../stack/store/records/clusters.ts";
import type { RecordWrite } from "../../../stack/store/records/write.ts";
import type { ServiceContext } from "../context.ts";
import { findCluster } from "../find-autoscaler.ts";
import { withWindows } from "../partitions/carry-windows.ts";
import { isBaseOfEdit, recordChange } from "../partitions/record-change.ts";
import { conflict, untilStored } from "../refusals.ts";

export interface ClusterEdit {
  readonly verb: ScopeChangeRecord["verb"];
  /** Returns undefined where nothing has to change. */
  readonly change: (record: ClusterRecord) => ClusterRecord | undefined;
  /** The namespace of what is changed, where the edit leaves all else as it is. */
  readonly namespace?: string;
  /** The connection, where a person states it. What was read before says nothing about it. */
  readonly reached?: Reached;
}

/*
 *  A  reads 7, connection 4 ── connection 8 ── record 8
 *         each environment reads the connection when it meets version 8
 *  B  reads 7, connection 4 ─────── connection 8 ✗
 *         reads again, and goes on from what A has left
 *  C  reads 7, connection 4 ── connection 8 └─ died ✗
 *         the connection counts from the next version on, which is 9: every edit goes above both
 */

/**
 * Reads, changes and writes a record under the version that was read, again while other editors
 * win. It drops expired overrides.
 */
export const editCluster = (
  context: ServiceContext,
  name: string,
  { verb, change, reached, namespace: part }: ClusterEdit,
): Promise<{ readonly record: ClusterRecord; readonly changed: boolean }> => {
  let uid: string | undefined;
  return untilStored(
    () => conflict(`Cannot edit cluster "${name}": others are editing it`, { name }),
    async () => {
      const before = await findCluster(context, name);
      uid ??= before.uid;
      if (before.uid !== uid) throw replaced(name);
      // An edit keeps the cluster, so it ends an unfinished removal.
      const changed = change(before);
      if (!changed) return { record: before, changed: false };
      const { removing: _ended, ...kept } = withoutExpired(changed, context.clock());
      const connected = await getConnection(context.tables, before.name);
      const version = Math.max(before.version, connected?.version ?? 0) + 1;
      const after: ClusterRecord = {
        ...kept,
        version,
        ...(reached && { connectionVersion: version }),
      };
      const isReplanned = changesDueTimes(before, kept);
      const write = async (): Promise<RecordWrite> => {
        // Read at the write. Moving windows may take minutes, and calls of the scheduler in that
        // time have planned without this edit.
        const written: ClusterRecord = isReplanned
          ? { ...after, plannedFromMs: context.clock() }
          : after;
        const own = connectionFor(before, connected);
        const sides = {
          before: withConnection(before, own),
          after: withConnection(written, reached?.connection ?? own),
        };
        await recordChange(context, {
          scope: "cluster",
          name,
          version: after.version,
          verb,
          namespace: part,
          ...sides,
        });
        if (
          reached &&
          (await putConnection(context.tables, connectionRecord(after, reached), connected))
            .kind === "conflict"
        )
          return { kind: "conflict" };
        const { kind } = await putCluster(context.tables, written, before.version);
        return kind === "stored" || (await wasStored(context, written))
          ? { kind: "stored" }
          : { kind };
      };
      if ((await withWindows(context, before, after, write)).kind !== "stored") return undefined;
      if (isReplanned) await context.planNow?.(after);
      return { record: after, changed: true };
    },
  );
};

/** The record with its connection, as the history has both sides of an edit. */
export const withConnection = (
  record: ClusterRecord,
  connection: Connection | undefined,
): object => ({
  ...record,
  ...(connection && { connection }),
});

/**
 * True when another edit of the cluster is based on this record. A sync may have raised the version
 * in between (moving.ts), so any later version counts.
 */
export const wasStored = (context: ServiceContext, record: ClusterRecord): Promise<boolean> =>
  isBaseOfEdit(
    context,
    { scope: "cluster", name: record.name },
    record,
    (version) => version > record.version,
  );

/** An edit that changes due times is planned from its write on. */
const changesDueTimes = (before: ClusterRecord, after: ClusterRecord): boolean =>
  before.syncPeriodMs !== after.syncPeriodMs ||
  !isDeepStrictEqual(before.partitions, after.partitions);

const replaced = (name: string): TidemarkError =>
  conflict(
    `Cannot edit cluster "${name}": it was removed and added again in the meantime; check it and try again`,
    { name },
  );
