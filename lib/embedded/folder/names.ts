import { statSync } from "node:fs";
import type { ClusterName } from "../../rules/model/ids.ts";
import { asList, asObject, asText, isObject } from "../../rules/model/json.ts";
import {
  autoscalersPk,
  CLUSTER_SK_PREFIX,
  DELETED,
  FLEET_PK,
  fleetKey,
  namespacePrefix,
} from "../../stack/store/table/keys.ts";
import { flowingNowMs, readSavedClock, restingNowMs } from "../engine/clock.ts";
import { UNSIGNED } from "../host/loopback.ts";
import { livingRun } from "./folder-lock.ts";
import { type FolderLayout, TABLE_NAMES } from "../layout.ts";
import { readIfThere } from "../host/whole-file.ts";
import { OK } from "../../rules/model/http-status.ts";

/*
 * The names of a data folder, for the completion of a shell. A person waits for it at each press of
 * a key, so nothing here loads the AWS SDK, zod or the engine of the tables.
 *
 *  folder at rest
 *         the names are in seal.json, written by the process that closed the tables; who opens them
 *         breaks the seal first, and with it goes the list of names
 *  run is alive       its tables are asked
 *  neither
 *         after a kill -9: the caller opens the folder, and seals it with the names
 */

/** What the tables of a folder hold, by name. */
export interface FolderNames {
  readonly clusters: readonly string[];
  /** Each as "eu-1/default". */
  readonly partitions: readonly string[];
  readonly calendars: readonly string[];
  readonly overrides: readonly NamedOverride[];
  readonly autoscalers: readonly NamedAutoscaler[];
}

export interface NamedAutoscaler {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export interface NamedOverride {
  readonly id: string;
  /** Absent: it does not expire. */
  readonly untilMs?: number;
}

/** Which autoscalers are named: at most `most`, of this cluster and namespace. */
export interface NameFilter {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly most: number;
}

/** The names of a folder where they are known without opening it. Changes nothing. */
export const quickNames = async (
  layout: FolderLayout,
  filter: NameFilter,
): Promise<FolderNames | undefined> => {
  if (!isOwn(layout)) return undefined;
  const sealed = sealedNames(layout);
  const clock = readSavedClock(layout);
  if (!clock) return undefined;
  if (sealed)
    return withoutExpired(
      { ...sealed, autoscalers: chosen(sealed.autoscalers, filter) },
      restingNowMs(clock, Date.now()),
    );
  const endpoint = livingRun(layout)?.tablesEndpoint;
  return endpoint?.startsWith(LOOPBACK) === true
    ? withoutExpired(await namesAt(endpoint, filter), flowingNowMs(clock, Date.now()))
    : undefined;
};

const withoutExpired = (names: FolderNames, nowMs: number): FolderNames => ({
  ...names,
  overrides: names.overrides.filter(({ untilMs }) => untilMs === undefined || untilMs > nowMs),
});

const LOOPBACK = "http://127.0.0.1:";
const WRITABLE_BY_ALL = 0o002;

/**
 * False where another user may have written what the folder says. Opening it then says why it is
 * refused (state.ts).
 */
const isOwn = ({ dir }: FolderLayout): boolean => {
  const stats = statSync(dir, { throwIfNoEntry: false });
  const uid = process.getuid?.() ?? 0;
  return (
    stats !== undefined && (uid === 0 || stats.uid === uid) && (stats.mode & WRITABLE_BY_ALL) === 0
  );
};

const chosen = (
  all: readonly NamedAutoscaler[],
  { cluster, namespace, most }: NameFilter,
): readonly NamedAutoscaler[] =>
  all
    .filter(
      (each) =>
        (cluster ?? each.cluster) === each.cluster &&
        (namespace ?? each.namespace) === each.namespace,
    )
    .slice(0, most);

/**
 * The names that the seal of a folder has; undefined where the tables were opened since, or where
 * it has none.
 */
export const sealedNames = ({ seal }: FolderLayout): FolderNames | undefined => {
  const { names } = asObject(jsonIn(seal));
  if (!isObject(names)) return undefined;
  const { clusters, partitions, calendars, overrides, autoscalers } = names;
  return {
    clusters: texts(clusters),
    partitions: texts(partitions),
    calendars: texts(calendars),
    overrides: asList(overrides).map((each) => {
      const { id, untilMs } = asObject(each);
      return overrideOf(asText(id), untilMs);
    }),
    autoscalers: asList(autoscalers).map((each) => {
      const { cluster, namespace, name } = asObject(each);
      return { cluster: asText(cluster), namespace: asText(namespace), name: asText(name) };
    }),
  };
};

/**
 * A seal that is missing or cannot be read has no names: who opens the folder says what is wrong
 * with it.
 */
const jsonIn = (path: string): unknown => {
  try {
    return JSON.parse(readIfThere(path) ?? "");
  } catch {
    return undefined;
  }
};

const overrideOf = (id: string, untilMs: unknown): NamedOverride => ({
  id,
  ...(typeof untilMs === "number" && { untilMs }),
});

const texts = (value: unknown): readonly string[] => asList(value).map(asText);

/** More autoscalers than a run has by itself are not kept in a seal. */
const SEALED_MAX = 10_000;

/** Tables that are served by this process, as far as a seal needs them. */
interface ServedTables {
  readonly endpoint: string;
  readonly writes: () => number;
  readonly close: () => Promise<void>;
}

/**
 * Closes the tables and gives the names in them for the seal; `before`: the names when they were
 * opened, which stay so where nothing was written. None where they cannot be read: the next
 * completion then opens the folder.
 */
export const closedWithNames = async (
  tables: ServedTables,
  before?: FolderNames,
): Promise<FolderNames | undefined> => {
  const names =
    before && tables.writes() === 0
      ? before
      : await namesAt(tables.endpoint, { most: SEALED_MAX + 1 }).catch(() => undefined);
  await tables.close();
  return names && names.autoscalers.length <= SEALED_MAX ? names : undefined;
};

/** The names in the tables that answer at an address, read by the keys of their items. */
const namesAt = async (
  endpoint: string,
  { cluster, namespace, most }: NameFilter,
): Promise<FolderNames> => {
  const fleet: Item[] = [];
  await query(endpoint, { pk: FLEET_PK, each: (item) => fleet.push(item) > 0 });
  const clusters = fleet
    .filter(({ sk }) => textIn(sk).startsWith(CLUSTER_SK_PREFIX))
    .map((item) => ({ item, name: textIn(item["sk"]).slice(CLUSTER_SK_PREFIX.length) }));
  const autoscalers: NamedAutoscaler[] = [];
  const overrides = fleet.flatMap(overridesIn);
  for (const { name: of } of clusters) {
    if (autoscalers.length >= most || (cluster ?? of) !== of) continue;
    await query(endpoint, {
      pk: autoscalersPk(of as ClusterName),
      ...(namespace !== undefined && { prefix: namespacePrefix(namespace) }),
      attributes: ["sk", "overrides"],
      each: (item) => {
        const [inside = "", name = ""] = textIn(item["sk"]).split("#");
        overrides.push(...overridesIn(item));
        return autoscalers.push({ cluster: of, namespace: inside, name }) < most;
      },
    });
  }
  return {
    clusters: clusters.map(({ name }) => name),
    partitions: clusters.flatMap(({ item, name }) =>
      namesIn(item["partitions"]).map((partition) => `${name}/${partition}`),
    ),
    calendars: namesIn(fleet.find(({ sk }) => textIn(sk) === fleetKey.sk)?.["calendars"]),
    overrides,
    autoscalers,
  };
};

/** An item as DynamoDB writes it: `{ sk: { S: "shop#web" } }`. */
type Item = Readonly<Record<string, unknown>>;

const textIn = (attribute: unknown): string => asText(asObject(attribute)["S"]);
const mapsIn = (attribute: unknown): readonly Item[] =>
  asList(asObject(attribute)["L"]).map((each) => asObject(asObject(each)["M"]));
const namesIn = (attribute: unknown): readonly string[] =>
  mapsIn(attribute).map(({ name }) => textIn(name));
const overridesIn = ({ overrides }: Item): readonly NamedOverride[] =>
  mapsIn(overrides).map(({ id, untilMs }) => {
    const { N: end } = asObject(untilMs);
    return overrideOf(textIn(id), end === undefined ? undefined : Number(end));
  });

interface Question {
  readonly pk: string;
  readonly prefix?: string;
  /** Absent: all. */
  readonly attributes?: readonly string[];
  /** Returns false where no further item is wanted. */
  readonly each: (item: Item) => boolean;
}

/** Calls `each` for the items of a partition key that are not deleted, page by page. */
const query = async (
  endpoint: string,
  { pk, prefix, attributes, each }: Question,
): Promise<void> => {
  let start: unknown;
  do {
    const page = asObject(
      await ask(endpoint, {
        TableName: TABLE_NAMES.stateTable,
        KeyConditionExpression:
          prefix === undefined ? "pk = :pk" : "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: {
          ":pk": { S: pk },
          ...(prefix !== undefined && { ":prefix": { S: prefix } }),
        },
        ...(attributes && { ProjectionExpression: [...attributes, DELETED].join(", ") }),
        ...(start !== undefined && { ExclusiveStartKey: start }),
      }),
    );
    for (const item of asList(page["Items"]).map(asObject))
      if (item[DELETED] === undefined && !each(item)) return;
    start = page["LastEvaluatedKey"];
  } while (start !== undefined);
};

/** A person waits no longer than that. */
const ANSWER_MS = 2_000;

/**
 * Sends one Query over HTTP, without the SDK. An `import` of node:http would load every export of
 * the module; the export WebSocket takes 30 ms.
 */
const ask = (endpoint: string, body: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { request } = process.getBuiltinModule("node:http");
    const headers = {
      ...UNSIGNED,
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": "DynamoDB_20120810.Query",
    };
    const sent = request(
      endpoint,
      { method: "POST", headers, agent: false, signal: AbortSignal.timeout(ANSWER_MS) },
      (response) => {
        const chunks: Buffer[] = [];
        response
          .on("error", reject)
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode === OK) resolve(JSON.parse(text));
            else reject(new Error(`the tables answered ${response.statusCode}: ${text}`));
          });
      },
    );
    sent.on("error", reject).end(JSON.stringify(body));
  });
