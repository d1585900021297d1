import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { closeServer, listenOnLoopback } from "../../../lib/embedded/host/loopback.ts";
import { ensureTables } from "../../../lib/embedded/tables/embedded-tables.ts";
import { tableDefinitions } from "../../../lib/stack/store/table/tables.ts";
import { startDynoxide } from "../lambda/dynoxide.ts";

type Item = Record<string, AttributeValue>;

export interface Replicas {
  /** Every call goes to the tables of the region that it is signed for. */
  readonly endpoint: string;
  readonly clientIn: (region: string) => DynamoDBClient;
  /** Nothing of a region that is down answers, and nothing is replicated to it or from it. */
  readonly down: Set<string>;
  /** What was written in one region comes to the other. Of two writes the one of the second region stays. */
  readonly replicate: () => Promise<void>;
  /** The items of a region that the other region does not have as they are. */
  readonly behind: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const signedFor = ({ headers }: IncomingMessage): string =>
  /Credential=[^/]+\/\d+\/([^/]+)\//.exec(String(headers.authorization))?.[1] ?? "";

/** What the engine does not know of a table: its region, its replicas, and an id. */
const described = (answer: string, region: string, regions: readonly string[]): string => {
  const { Table, ...rest } = JSON.parse(answer);
  if (!Table) return answer;
  const { TableName } = Table;
  return JSON.stringify({
    ...rest,
    Table: {
      ...Table,
      TableId: `${TableName} in ${region}`,
      TableArn: `arn:aws:dynamodb:${region}:123456789012:table/${TableName}`,
      Replicas: regions.map((RegionName) => ({ RegionName, ReplicaStatus: "ACTIVE" })),
    },
  });
};

/** One text for one content: an engine gives attributes and members of sets in an order of its own. */
const textOf = (item: Item): string =>
  JSON.stringify(item, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
    if (Array.isArray(value) && value.every((one) => typeof one === "string"))
      return value.toSorted();
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

const keyOf = ({ pk, sk }: Item): string => JSON.stringify([pk, sk]);

/**
 * The tables of two regions, each in an engine of its own, and the replication between them; with
 * `witness` also a table of a third region, which has no replica.
 */
export const startReplicas = async (
  [first, second]: readonly [string, string],
  names: { readonly stateTable: string; readonly historyTable: string },
  witness?: { readonly region: string; readonly table: string },
): Promise<Replicas> => {
  const regions = [first, second] as const;
  const down = new Set<string>();
  const engines = new Map<string, Awaited<ReturnType<typeof startDynoxide>>>();
  for (const region of regions) engines.set(region, await startDynoxide());
  const endpointOf = (region: string): string => engines.get(region)?.endpoint ?? "";

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const region = signedFor(request);
    if (down.has(region) || !engines.has(region)) return void request.destroy();
    const target = String(request.headers["x-amz-target"]);
    const answer = await fetch(endpointOf(region), {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": target,
        authorization: String(request.headers.authorization),
        "x-amz-date": String(request.headers["x-amz-date"]),
      },
      body: await text(request),
    });
    const body = await answer.text();
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" });
    response.end(target.endsWith(".DescribeTable") ? described(body, region, regions) : body);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.destroy());
  });
  const endpoint = await listenOnLoopback(server);
  const clients = new Map(
    regions.map((region) => [region, clientOf(region, endpointOf(region))] as const),
  );
  const reading = (region: string): DynamoDBClient => clients.get(region) ?? fail(region);
  for (const region of regions) await ensureTables(reading(region), tableDefinitions(names));
  if (witness) {
    const engine = await startDynoxide();
    engines.set(witness.region, engine);
    const client = clientOf(witness.region, engine.endpoint);
    const [table] = tableDefinitions({ stateTable: witness.table, historyTable: "" });
    if (table) await ensureTables(client, [table]);
    client.destroy();
  }

  const itemsIn = async (region: string, table: string): Promise<ReadonlyMap<string, Item>> => {
    const items = new Map<string, Item>();
    for (let from: Item | undefined; ; ) {
      const { Items = [], LastEvaluatedKey } = await reading(region).send(
        new ScanCommand({ TableName: table, ExclusiveStartKey: from }),
      );
      for (const item of Items) items.set(keyOf(item), item);
      if (!LastEvaluatedKey) return items;
      from = LastEvaluatedKey;
    }
  };
  const tables = [names.stateTable, names.historyTable];
  /** What both regions had after the last replication. */
  const shared = new Map(tables.map((table) => [table, new Map<string, string>()] as const));
  /** What a region wrote or deleted since. */
  const changesOf = async (region: string, table: string) => {
    const [now, before] = [await itemsIn(region, table), shared.get(table) ?? new Map()];
    const written = [...now].filter(([key, item]) => before.get(key) !== textOf(item));
    return { written, deleted: [...before.keys()].filter((key) => !now.has(key)) };
  };
  const copy = async (from: string, to: string, table: string): Promise<void> => {
    const { written, deleted } = await changesOf(from, table);
    for (const [key, item] of written) {
      await reading(to).send(new PutItemCommand({ TableName: table, Item: item }));
      shared.get(table)?.set(key, textOf(item));
    }
    for (const key of deleted) {
      const [pk, sk] = JSON.parse(key);
      await reading(to).send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } }));
      shared.get(table)?.delete(key);
    }
  };
  return {
    endpoint,
    down,
    clientIn: (region) => clientOf(region, endpoint),
    replicate: async () => {
      if (down.size > 0) return;
      for (const table of tables) {
        // What both wrote is taken from the second region, whose writes are the later ones here.
        await copy(second, first, table);
        await copy(first, second, table);
      }
    },
    behind: async () => {
      const counts = await Promise.all(tables.map((table) => changesOf(first, table)));
      return counts.reduce((sum, { written, deleted }) => sum + written.length + deleted.length, 0);
    },
    close: async () => {
      for (const client of clients.values()) client.destroy();
      await closeServer(server);
      for (const engine of engines.values()) await engine.stop();
    },
  };
};

const fail = (region: string): never => {
  throw new RangeError(`"${region}" is none of the regions`);
};

const clientOf = (region: string, endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    ...{ region, endpoint, maxAttempts: 1 },
    credentials: { accessKeyId: "person", secretAccessKey: "local" },
  });
