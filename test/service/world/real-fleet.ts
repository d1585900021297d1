import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { ChangeRecord } from "../../../lib/rules/model/changes.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../../lib/rules/model/ids.ts";
import { DAY_MS } from "../../../lib/rules/model/time-text.ts";
import {
  type ChangeBase,
  changeBaseOf,
  insertChange,
} from "../../../lib/stack/store/history/changes.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../../lib/stack/store/history/scope-changes.ts";
import { putCluster } from "../../../lib/stack/store/records/clusters.ts";
import { around } from "../../contracts/faults.ts";
import { memoryEngine } from "../../contracts/memory-engine.ts";
import { testTables } from "../../sync/world.ts";
import { DELETED, MONTHS_DAYS, type PlayedCluster, playedCluster } from "./played-cluster.ts";
import { namespaceOf, realManifest } from "./real-manifests.ts";
import type { Fleet } from "./synced-fleet.ts";

const NAMES = { stateTable: "state", historyTable: "history" };

type Item = Readonly<Record<string, AttributeValue>>;
type Memory = ReturnType<typeof memoryEngine>;

export interface RealFleet extends Fleet {
  /** When every autoscaler scaled at once. */
  readonly burstMs: number;
}

/** A cluster with its past, and the engine that has it. */
export interface Template extends PlayedCluster {
  readonly memory: Memory;
}

export const playedTemplate = async (autoscalers: number): Promise<Template> => {
  const memory = memoryEngine("whole");
  return {
    memory,
    ...(await playedCluster({ client: memory.client, tables: NAMES }, autoscalers)),
  };
};

/** The name of a cluster as keys have it: behind a "#", and before another, a "/" or the end. */
const nameIn = (pk: string): string => pk.split(/[#/]/).find((part) => /^eu-\d/.test(part)) ?? "";

/**
 * Clusters that have the past of one which was played, each under its own name: what is read of a
 * cluster is copied when the first request asks for it. So a hundred clusters of two weeks fit into
 * memory, and each item has the bytes that a sync wrote. They have their events at the same
 * instants, which is the worst case of a list in order of time.
 */
export const fleetOf = async (template: Template, clusters: number): Promise<RealFleet> => {
  const { world, names, burstMs, memory: past } = template;
  const memory = memoryEngine("whole");
  const copied = (tableName: string, pk: string): void => {
    const { partitions } = memory.table(tableName);
    const [own, known] = [nameIn(pk), world.record.name];
    if (own === "" || partitions.has(pk)) return;
    const from = past.table(tableName).partitions.get(pk.replace(own, known));
    const items = [...(from ?? [])].map(
      ([sk, item]) => [sk, own === known ? item : renamed(item, known, own)] as const,
    );
    partitions.set(pk, new Map(items));
  };
  const client = around(memory.client, (_command, send, input) => {
    for (const [table, pk] of askedIn(input as Asked)) copied(table, pk);
    return send();
  });
  const tables = testTables(client, NAMES, () => world.nowMs);
  for (let at = 0; at < clusters; at++) {
    const digits = String(at).padStart(3, "0");
    const name = at === 0 ? world.record.name : clusterName(`${world.record.name}-${digits}`);
    await putCluster(tables, { ...world.record, name }, undefined);
    await storeEdits({ ...world, tables, record: { ...world.record, name } }, names);
  }
  const { nowMs, record } = world;
  const autoscalers = clusters * names.length;
  return { tables, nowMs, cluster: record.name, clusters, autoscalers, burstMs };
};

interface Asked {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly ExpressionAttributeValues?: Item;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Item[] }>>;
  readonly Statements?: readonly { readonly Parameters?: readonly AttributeValue[] }[];
  readonly Item?: Item;
}

/** The partition keys of a request. */
const askedIn = ({
  TableName = NAMES.historyTable,
  Key,
  ExpressionAttributeValues: values,
  RequestItems = {},
  Statements = [],
  Item: put,
}: Asked): readonly (readonly [string, string])[] => [
  ...[
    Key?.["pk"],
    put?.["pk"],
    values?.[":pk"],
    ...Statements.map((one) => one.Parameters?.[0]),
  ].flatMap((value) => (value?.S === undefined ? [] : [[TableName, value.S] as const])),
  ...Object.entries(RequestItems).flatMap(([table, { Keys = [] }]) =>
    Keys.map((key) => [table, key["pk"]?.S ?? ""] as const),
  ),
];

/** The same item of another cluster: its name is in the key, and in attributes of text. */
const renamed = (item: Item, from: string, to: string): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      value.S === undefined ? value : { S: renamedText(value.S, from, to) },
    ]),
  );
const renamedText = (text: string, from: string, to: string): string =>
  text === from ? to : text.replaceAll(`"${from}"`, `"${to}"`).replace(`#${from}`, `#${to}`);

/** Autoscalers of a cluster that people edited, and how often. */
const EDITED = 10;
const EDITS_EACH = 3;

/** A year of edits: the cluster was added, and some of its autoscalers were edited. */
const storeEdits = async (
  { tables, record, nowMs }: Pick<PlayedCluster["world"], "tables" | "record" | "nowMs">,
  names: readonly string[],
): Promise<void> => {
  const insert = insertByStatement(tables);
  const { name: cluster } = record;
  const beganMs = nowMs - MONTHS_DAYS * DAY_MS;
  await insertScopeChange(insert, {
    ...{ id: `added-${cluster}`, scope: "cluster", name: cluster, version: 1, atMs: beganMs },
    ...{ by: "ada", verb: "add", after: JSON.stringify(record) },
  });
  const place = { cluster, namespace: namespace(namespaceOf(DELETED)) };
  await insertChange(
    { tables, insert },
    {
      ...{ ...place, name: autoscalerName(DELETED), id: `uid-of-gone-${cluster}:2` },
      ...{ atMs: nowMs - 2 * DAY_MS, by: "ada", before: realManifest(DELETED) },
      verb: "delete",
    },
  );
  for (const name of names.slice(0, EDITED)) {
    const uid = autoscalerUid(`uid-${cluster}-${name}`);
    const ref = { cluster, namespace: namespace(namespaceOf(name)), name: autoscalerName(name) };
    let base: ChangeBase | undefined;
    for (let at = 1; at <= EDITS_EACH; at++) {
      // Of all clusters at one instant, as of a rollout.
      const atMs = nowMs - DAY_MS * (30 - at * 9) - names.indexOf(name) * 60_000;
      const change: ChangeRecord = {
        ...{ ...ref, id: `${uid}:${at}`, atMs, by: "ada", verb: "apply" },
        ...{ baseGeneration: at - 1, after: realManifest(name).replace("100", String(100 + at)) },
      };
      const { isWhole } = await insertChange({ tables, insert }, change, base);
      if (isWhole)
        base = await changeBaseOf({ ...tables, clock: () => atMs }, ref, {
          uid,
          wholeChange: { generation: at, atMs },
        });
    }
  }
};
