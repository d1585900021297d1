import {
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { parse } from "yaml";
import type { ScopeChangeRecord } from "../../../lib/rules/model/changes.ts";
import type { ServiceContext } from "../../../lib/answers/service/context.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import { scopeChangesOf } from "../../../lib/stack/store/history/scope-changes.ts";
import { putAutoscaler } from "../../../lib/stack/store/records/autoscalers.ts";
import { compress } from "../../../lib/stack/store/table/compressed.ts";
import { headKey, itemKey, pageKey } from "../../../lib/stack/store/table/keys.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { startMemory } from "../../contracts/engines.ts";
import type { TableClient } from "../../contracts/faults.ts";
import { collected, newWorld, PERIOD_MS, type World } from "../../sync/world.ts";
import { hpa } from "./manifests.ts";

export const RATE_MS = 60_000;
/** Of a later version: this code cannot read it. */
export const FOREIGN = compress(77, ["from a later version"]);

/**
 * A cluster of two autoscalers, "api" and "web", whose state can be damaged; one scale in each
 * direction a minute.
 */
export interface Damaged {
  readonly world: World;
  readonly path: string;
  /** A context whose calls to the tables go through `client`; its waits move the clock. */
  context(client?: TableClient): ServiceContext;
  /** A sync one period later. */
  sync(ports?: SyncPorts): ReturnType<World["sync"]>;
  /** Puts bytes in place of the page, or takes the item away. */
  damagePage(body: Uint8Array | undefined): Promise<void>;
  /** Puts an open intent that cannot be read into the head. */
  damageIntent(id: string, body?: Uint8Array): Promise<void>;
  readonly replicas: () => readonly number[];
  readonly changes: () => Promise<readonly ScopeChangeRecord[]>;
  /** Bytes in the history under the key's first part. */
  readonly kept: () => Promise<readonly Uint8Array[]>;
  readonly worker: (parts?: Partial<SyncPorts>) => SyncPorts;
}

export const newDamaged = async (
  rateWindowMs = RATE_MS,
  through?: TableClient,
): Promise<Damaged> => {
  const engine = await startMemory();
  const world = await newWorld(through ?? engine.client, engine.tables, {}, { rateWindowMs });
  for (const name of ["api", "web"]) {
    world.cluster.workloads.set(name, {
      uid: `uid-of-${name}`,
      replicas: 2,
      resourceVersion: 1,
      generation: 1,
      demand: 2,
    });
    // Edited long ago: an unreadable intent may hold those that were edited lately.
    const document = {
      ...world.autoscaler(name),
      manifest: manifestOf(name),
      updatedMs: world.nowMs - 600_000,
    };
    await putAutoscaler(world.tables, document, undefined);
  }
  const { rules } = world.worker();
  const worker = (parts: Partial<SyncPorts> = {}): SyncPorts =>
    world.worker({
      ...parts,
      rules: { ...rules, specOf: (manifest) => rules.specOf(JSON.parse(manifest).metadata.name) },
    });
  const path = `${world.record.name}/${world.partition.partition}`;
  const key = async () => itemKey(pageKey(world.partition, (await world.head()).pageGeneration, 0));
  return {
    world,
    path,
    worker,
    context: (client = world.tables.client) => {
      const tables = {
        ...world.tables,
        client,
        wait: async (ms: number) => {
          world.nowMs += ms;
        },
      };
      return {
        tables,
        insert: insertByStatement(tables),
        clock: () => world.nowMs,
        by: "ada",
        newUid: () => "new",
      };
    },
    sync: (ports = worker()) => {
      world.nowMs += PERIOD_MS;
      return world.sync(ports);
    },
    damagePage: async (body) => {
      const [version = 0] = (await world.head()).pages;
      const Item = {
        ...(await key()),
        epoch: { N: String(version) },
        ...(body ? { body: { B: body } } : { rest: { S: "of an item" } }),
      };
      await send(world, new PutItemCommand({ TableName: "state", Item }));
    },
    damageIntent: async (id, body = FOREIGN) => {
      await send(
        world,
        new UpdateItemCommand({
          TableName: "state",
          Key: itemKey(headKey(world.partition)),
          UpdateExpression: "SET intents.#id = :body",
          ExpressionAttributeNames: { "#id": id },
          ExpressionAttributeValues: { ":body": { B: body } },
        }),
      );
    },
    replicas: () => ["api", "web"].map((name) => world.cluster.workloads.get(name)?.replicas ?? -1),
    changes: () => collected(scopeChangesOf(world.tables, { scope: "partition", name: path })),
    kept: async () => {
      const { cluster, partition } = world.partition;
      const found = await (world.tables.client as DynamoDBClient).send(
        new QueryCommand({
          TableName: "history",
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": { S: `kept#${cluster}#${partition}` } },
        }),
      );
      return (found.Items ?? []).map(({ body }) => body?.B ?? new Uint8Array());
    },
  };
};

const send = async (world: World, command: PutItemCommand | UpdateItemCommand): Promise<void> => {
  await (world.tables.client.send as (command: object) => Promise<unknown>)(command);
};

const manifestOf = (name: string): string =>
  JSON.stringify(parse(hpa(name, { namespace: "shop" })));
