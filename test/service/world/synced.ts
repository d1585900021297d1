import { type ClusterName, partitionName } from "../../../lib/rules/model/ids.ts";
import type { AutoscalerRecord } from "../../../lib/rules/model/records.ts";
import type { Windows } from "../../../lib/rules/model/windows.ts";
import { claim } from "../../../lib/stack/store/head/claim.ts";
import { readHead } from "../../../lib/stack/store/head/head.ts";
import { release } from "../../../lib/stack/store/head/release.ts";
import { NO_TROUBLES, type Troubles } from "../../../lib/stack/store/head/troubles.ts";
import { insertEvents } from "../../../lib/stack/store/history/events.ts";
import type { InsertHistory } from "../../../lib/stack/store/history/item.ts";
import { encodePage } from "../../../lib/stack/store/pages/codec.ts";
import { readPage, writePage } from "../../../lib/stack/store/pages/pages.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import type {
  Evaluation,
  ScaleEventRecord,
  StoredWindows,
} from "../../../lib/rules/model/scale-records.ts";
import { insertJournal } from "../../store/insert-journal.ts";

export interface Outcome {
  readonly record: AutoscalerRecord;
  readonly windows: Windows;
  readonly evaluation: Omit<Evaluation, "uid" | "namespace" | "name">;
}

const LEASE_MS = 60_000;

/**
 * Stores what one sync of a whole cluster stores: page, journal and head, through the same verbs
 * and under the same conditions.
 */
export const storeSync = async (
  { tables, insert }: { readonly tables: Tables; readonly insert: InsertHistory },
  cluster: ClusterName,
  atMs: number,
  outcomes: readonly Outcome[],
  troubles: Troubles = NO_TROUBLES,
): Promise<void> => {
  const partition = { cluster, partition: partitionName("default") };
  const claimed = await claim(tables, {
    partition,
    dueMs: atMs,
    clockMs: atMs,
    leaseUntilMs: atMs + LEASE_MS,
  });
  if (claimed.kind !== "claimed")
    throw new Error(`the sync of ${cluster} was not claimed: ${claimed.kind}`);
  const { head } = claimed;
  const held = { partition, epoch: head.epoch, writeNumber: head.writeNumber };
  const pageId = { partition, generation: 1, index: 0 };
  const before = await readPage(tables, pageId);
  const entries = outcomes.map(
    ({ record, windows }): StoredWindows => ({ uid: record.uid, windows, open: true }),
  );
  await writePage(tables, {
    id: pageId,
    epoch: head.epoch,
    body: encodePage(entries),
    ...(before && { readEpoch: before.epoch }),
  });
  const evaluations = outcomes.map(({ record: { uid, namespace, name }, evaluation }) => ({
    uid,
    namespace,
    name,
    ...evaluation,
  }));
  await insertJournal(insert, partition, [{ atMs, epoch: head.epoch, page: 0, evaluations }]);
  const closing = {
    dueMs: atMs,
    nowMs: atMs,
    evaluatedMs: atMs,
    pageGeneration: 1,
    pages: [head.epoch],
    intents: new Map(),
    troubles,
  };
  await release(tables, held, closing);
};

export const specVersion = async (tables: Tables, cluster: ClusterName): Promise<number> =>
  (await readHead(tables, { cluster, partition: partitionName("default") }))?.specVersion ?? 0;

/**
 * Scale events of one autoscaler, one for each change given as [seconds before `nowMs`, from, to].
 */
export const storeEvents = async (
  insert: InsertHistory,
  record: AutoscalerRecord,
  nowMs: number,
  changes: readonly (readonly [
    agoSeconds: number,
    from: number,
    to: number,
    outcome?: ScaleEventRecord["outcome"],
  ])[],
): Promise<void> => {
  const events = changes.map(
    ([agoSeconds, from, to, outcome = "applied"], at): ScaleEventRecord => ({
      id: `${record.uid}:${at + 1}`,
      uid: record.uid,
      cluster: record.cluster,
      namespace: record.namespace,
      name: record.name,
      partition: partitionName("default"),
      target: { apiVersion: "apps/v1", kind: "Deployment", name: record.name },
      atMs: nowMs - agoSeconds * 1000,
      settledMs: nowMs - agoSeconds * 1000 + 40,
      from,
      to,
      reason: to > from ? "ScaleUp" : "ScaleDown",
      message:
        to > from
          ? "cpu resource utilization (percentage of request) above target"
          : "All metrics below target",
      metrics: [],
      steps: [],
      specGeneration: 1,
      outcome,
      ...(outcome === "refused" && { detail: "the server said: forbidden" }),
    }),
  );
  await insertEvents(insert, events);
};
