import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { TableIds } from "../../lib/rules/model/records.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { callName } from "./call-names.ts";
import type { Fate } from "./fates.ts";
import type { Invocation } from "./invocation.ts";
import type { Network, Process } from "./process.ts";

export const TABLE_NAMES = { stateTable: "state", historyTable: "history" } as const;

/** As the functions' own client has it: patience per request. */
export const REQUEST_TIMEOUT_MS = 2_000;
/** A request that was given up may still be executed this long after it was sent. */
export const LATE_MS = 20_000;

const named = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

const errorOf = ({ fault }: Fate): Error => {
  if (fault === "throttled") return named("ProvisionedThroughputExceededException", 400);
  return fault === "failed before" || fault === "failed after"
    ? named("InternalServerError", 500)
    : named("TimeoutError", 0);
};

export const isPageWrite = (command: object): boolean =>
  command instanceof PutItemCommand && (command.input.Item?.["sk"]?.S ?? "").startsWith("page#");

/** `execute` is the engine, told who sends. */
export interface TableWorld {
  readonly execute: (command: unknown) => object;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly token: () => string;
  readonly by: Invocation | undefined;
  /** Which tables these are, where they may be restored. */
  readonly ids?: TableIds | undefined;
}

/** The tables as one process reaches them. The clock is the process's own. */
export const tablesOf = (
  network: Network,
  process: Process,
  world: TableWorld,
  clientOf: typeof simulatedClient = simulatedClient,
): Tables => ({
  client: clientOf(network, process, world),
  ...TABLE_NAMES,
  ...idsOf(world),
  // Whole milliseconds, as the clock of a machine tells them: a key of history sorts by their
  // digits.
  clock: () => Math.floor(world.nowMs()) + process.skewMs,
  // Known to a second, as a Date header tells it.
  serverClock: () => ({ leastMs: process.skewMs - 1_000, mostMs: process.skewMs + 1_000 }),
  wait: (ms) => network.wait(process, ms),
  random: world.random,
  token: world.token,
});

const idsOf = ({ ids }: TableWorld): Pick<Tables, "ids"> =>
  ids ? { ids: () => Promise.resolve(ids) } : {};

/** A client of the SDK without the SDK: its calls are those of the network. */
const simulatedClient = (
  network: Network,
  process: Process,
  world: TableWorld,
): Tables["client"] => {
  const send = (command: object): Promise<object> =>
    network.call<object>(process, {
      kind: isPageWrite(command) ? "page" : "table",
      name: callName(command),
      by: world.by,
      what: command.constructor.name.replace(/Command$/, ""),
      timeoutMs: REQUEST_TIMEOUT_MS,
      lateMs: LATE_MS,
      execute: () => world.execute(command),
      unclear: (fate) => {
        throw errorOf(fate);
      },
    });
  return { send: send as DynamoDBClient["send"] };
};
