import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient, DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { boundedRequests, withoutLogger } from "../../aws/bounded-requests.ts";
import { serverClockOf } from "./server-clock.ts";
import type { FoundTables, Tables } from "./tables.ts";
import { REQUESTS_AT_ONCE } from "./wait-for-all.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import type { TableIds } from "../../../rules/model/records.ts";
import { present } from "../../../rules/model/json.ts";
import { repeat } from "./repeat.ts";

/**
 * DynamoDB answers within milliseconds. A call that takes this long counts as lost, and its repeat
 * still fits into the life of a sync.
 */
const CALL_LIMITS = { connectMs: 1_000, wholeMs: 2_000 } as const;

/**
 * The tables of a function, with region and credentials of its environment, the clock of the
 * machine, its difference from the clock of DynamoDB, and their ids.
 */
export const realTables = (names: Pick<Tables, "stateTable" | "historyTable">): Tables =>
  withIds(tablesWithoutIds(names));

/**
 * The same for a function that scales nothing and need not know which tables these are, or of
 * another region.
 */
export const tablesWithoutIds = (
  names: Pick<Tables, "stateTable" | "historyTable">,
  region?: string,
): Tables => {
  const { onAnswer, difference } = serverClockOf(Date.now, () => performance.now());
  return {
    // The SDK makes one attempt for each call. repeat.ts repeats, because repeats must end with the
    // sync.
    client: withoutLogger(
      new DynamoDBClient({
        ...present({ region }),
        maxAttempts: 1,
        requestHandler: boundedRequests(CALL_LIMITS, onAnswer, { sockets: REQUESTS_AT_ONCE }),
      }),
    ),
    ...names,
    clock: Date.now,
    serverClock: difference,
    wait,
    random: Math.random,
    token: randomUUID,
  };
};

/**
 * For so long an answer counts. Another table may take a name only when the table before it is
 * deleted, and a restore takes minutes, so that no environment works on a new table with the ids of
 * the old one. Each environment asks once in this time: DescribeTable costs nothing, but AWS limits
 * its rate.
 */
const IDS_FRESH_MS = 60_000;

/**
 * The tables with their ids, which the service gives to each table and never gives again. A
 * restore, and a copy, have other ids.
 */
export const withIds = (tables: Tables): Tables => {
  let known: { readonly ids: Promise<FoundTables>; readonly atMs: number } | undefined;
  const ids = (): Promise<FoundTables> => {
    const nowMs = tables.clock();
    if (known && Math.abs(nowMs - known.atMs) < IDS_FRESH_MS) return known.ids;
    const asked = { ids: askIds(tables), atMs: nowMs };
    known = asked;
    asked.ids.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.ids;
  };
  return { ...tables, ids };
};

const askIds = async (tables: Tables): Promise<FoundTables> => {
  const [state, history] = await Promise.all([
    askTable(tables, tables.stateTable),
    // A function without a right on the history asks for the state only.
    tables.historyTable === "" ? undefined : askTable(tables, tables.historyTable),
  ]);
  return {
    state: state.id,
    history: history?.id ?? "",
    ...present({ region: state.region }),
    ...(state.replicas.length > 0 && { replicas: state.replicas }),
  };
};

/** On doubt, do nothing: a table without an id may be any table. */
const askTable = async (tables: Tables, name: string) => {
  const { Table } = await repeat(tables, `describe table "${name}"`, () =>
    tables.client.send(new DescribeTableCommand({ TableName: name })),
  );
  if (!Table?.TableId)
    throw new TidemarkError(
      "store.unreadable",
      `Cannot read the id of table "${name}": the answer has none`,
      { table: name },
    );
  const region = regionIn(Table.TableArn);
  const replicas = (Table.Replicas ?? []).flatMap(({ RegionName }) => RegionName ?? []);
  return {
    id: Table.TableId,
    region,
    replicas: replicas.filter((other) => other !== region).toSorted(),
  };
};

/** arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME */
const regionIn = (arn = ""): string | undefined => arn.split(":")[3] || undefined;

/**
 * True where the tables are others than those that the fleet record was written for: they were
 * restored, are a copy, or are a replica. Before the first cluster the record names no tables, and
 * nothing can be scaled.
 */
export const areRestored = (recorded: TableIds | undefined, found: TableIds | undefined): boolean =>
  recorded !== undefined &&
  found !== undefined &&
  (recorded.state !== found.state ||
    (found.history !== "" && recorded.history !== found.history) ||
    (found.region !== undefined &&
      recorded.region !== undefined &&
      recorded.region !== found.region));
