import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { FLEET_LEASE_PK_PREFIX } from "../../../lib/stack/store/table/keys.ts";

/** Every kind of conditional write, told by what its request says. */
const WRITES = [
  "claim",
  "store intents",
  "release",
  "give back",
  "withdraw intents",
  "mark a move",
  "name moved pages",
  "lower the times",
  "raise the epoch",
  "write a page",
  "delete an old page",
  "write a summary",
  "create a record",
  "edit a record",
  "raise a cluster's version",
  "mark a gone object",
  "count stored bytes",
  "mark a wake",
  "write a lease of the fleet",
  "insert into history",
] as const;
export type ConditionalWrite = (typeof WRITES)[number];

type Conditional = PutItemCommand | UpdateItemCommand | DeleteItemCommand;

const isConditional = (command: unknown): command is Conditional =>
  command instanceof PutItemCommand ||
  command instanceof UpdateItemCommand ||
  command instanceof DeleteItemCommand;

/** By a part of the update that no other write has. */
const UPDATES: readonly (readonly [part: string, write: ConditionalWrite])[] = [
  ["releasedEpoch = :epoch", "release"],
  ["leaseUntilMs = :lease", "claim"],
  ["epoch = epoch + :lost", "raise the epoch"],
  ["leaseUntilMs = :zero", "give back"],
  ["intents = :intents", "store intents"],
  ["REMOVE intents", "withdraw intents"],
  ["movingVersion = :version", "mark a move"],
  ["pages = :pages", "name moved pages"],
  ["evaluatedMs = :evaluated", "lower the times"],
  ["version = :next", "raise a cluster's version"],
  ["#origin.goneMs", "mark a gone object"],
  ["repaidMs = :to", "count stored bytes"],
  ["SET dueMs = :due", "mark a wake"],
];

/** The kind of a conditional write; absent for anything else. */
export const writeOf = (command: unknown): ConditionalWrite | undefined => {
  if (!isConditional(command)) return undefined;
  if (command instanceof UpdateItemCommand)
    return UPDATES.find(([part]) => command.input.UpdateExpression?.includes(part))?.[1];
  if (command instanceof DeleteItemCommand)
    return command.input.Key?.["sk"]?.S === "fleet"
      ? "write a lease of the fleet"
      : "delete an old page";
  const { Item, TableName, ConditionExpression = "" } = command.input;
  if (TableName === "history") return "insert into history";
  const sk = Item?.["sk"]?.S ?? "";
  if (Item?.["pk"]?.S?.startsWith(FLEET_LEASE_PK_PREFIX)) return "write a lease of the fleet";
  if (sk.startsWith("page#")) return "write a page";
  if (sk === "summary" || sk === "index") return "write a summary";
  return ConditionExpression.includes("#counter = :expected") ? "edit a record" : "create a record";
};

/**
 * One clause of a condition, and what a mutation makes of it: always true, or for one of several
 * permissions never true.
 */
export interface Clause {
  readonly write: ConditionalWrite;
  readonly clause: string;
  readonly becomes: "true" | "never";
}

export const HOLDER_WRITES = [
  "store intents",
  "release",
  "give back",
  "withdraw intents",
  "mark a move",
  "name moved pages",
  "lower the times",
  "raise the epoch",
] as const;
const HOLDER = HOLDER_WRITES.flatMap((write) =>
  ["epoch = :epoch", "writeNumber = :seen"].map((clause) => ({
    write,
    clause,
    becomes: "true" as const,
  })),
);

/**
 * Every clause of every condition in lib/stack/store. The test holds this list against the builders
 * of the requests.
 */
export const CLAUSES: readonly Clause[] = [
  { write: "claim", clause: "attribute_not_exists(epoch)", becomes: "never" },
  { write: "claim", clause: "releasedEpoch = epoch", becomes: "never" },
  { write: "claim", clause: "leaseUntilMs < :clock", becomes: "never" },
  { write: "claim", clause: "leaseUntilMs < :clock", becomes: "true" },
  { write: "claim", clause: "leaseUntilMs > :leaseLast", becomes: "never" },
  { write: "claim", clause: "attribute_not_exists(dueDoneMs)", becomes: "never" },
  { write: "claim", clause: "dueDoneMs < :due", becomes: "true" },
  { write: "claim", clause: "attribute_not_exists(#protocol)", becomes: "never" },
  { write: "claim", clause: "#protocol <= :protocol", becomes: "true" },
  { write: "claim", clause: "#protocol >= :term", becomes: "true" },
  ...HOLDER,
  { write: "write a page", clause: "attribute_not_exists(epoch)", becomes: "never" },
  { write: "write a page", clause: "epoch < :epoch", becomes: "never" },
  { write: "write a page", clause: "epoch < :epoch", becomes: "true" },
  { write: "write a page", clause: "epoch = :read", becomes: "true" },
  { write: "delete an old page", clause: "epoch < :epoch", becomes: "true" },
  { write: "write a summary", clause: "attribute_not_exists(epoch)", becomes: "never" },
  { write: "write a summary", clause: "epoch <= :epoch", becomes: "true" },
  { write: "create a record", clause: "attribute_not_exists(pk)", becomes: "true" },
  { write: "create a record", clause: "attribute_exists(deletedMs)", becomes: "true" },
  { write: "create a record", clause: "#counter < :new", becomes: "true" },
  { write: "edit a record", clause: "#counter = :expected", becomes: "true" },
  { write: "edit a record", clause: "uid = :uid", becomes: "true" },
  { write: "edit a record", clause: "attribute_not_exists(uid)", becomes: "true" },
  { write: "edit a record", clause: "attribute_not_exists(deletedMs)", becomes: "true" },
  { write: "raise a cluster's version", clause: "version = :expected", becomes: "true" },
  { write: "mark a gone object", clause: "uid = :uid", becomes: "true" },
  { write: "mark a gone object", clause: "attribute_exists(#origin)", becomes: "true" },
  { write: "mark a gone object", clause: "attribute_not_exists(deletedMs)", becomes: "true" },
  { write: "count stored bytes", clause: "attribute_not_exists(repaidMs)", becomes: "true" },
  { write: "count stored bytes", clause: "repaidMs = :from", becomes: "true" },
  { write: "mark a wake", clause: "attribute_not_exists(dueMs)", becomes: "true" },
  { write: "mark a wake", clause: "dueMs = :before", becomes: "true" },
  { write: "write a lease of the fleet", clause: "attribute_not_exists(pk)", becomes: "true" },
  { write: "write a lease of the fleet", clause: "version = :version", becomes: "true" },
  { write: "insert into history", clause: "attribute_not_exists(pk)", becomes: "true" },
];

const MEANS: Readonly<Record<Clause["becomes"], string>> = {
  true: "attribute_not_exists(neverThere)",
  never: "attribute_exists(neverThere)",
};

/** The condition of a request with one clause changed; anything else as it is. */
export const mutated = (command: unknown, { write, clause, becomes }: Clause): unknown => {
  if (!isConditional(command) || writeOf(command) !== write) return command;
  const condition = command.input.ConditionExpression?.replace(clause, MEANS[becomes]);
  const input = { ...command.input, ConditionExpression: condition };
  if (command instanceof UpdateItemCommand)
    return new UpdateItemCommand(input as UpdateItemCommand["input"]);
  return command instanceof DeleteItemCommand
    ? new DeleteItemCommand(input as DeleteItemCommand["input"])
    : new PutItemCommand(input as PutItemCommand["input"]);
};

/** The kind of a request and the clauses of its condition. */
export const clausesOf = (
  command: unknown,
):
  | { readonly write: ConditionalWrite | undefined; readonly clauses: readonly string[] }
  | undefined => {
  const condition = isConditional(command) ? command.input.ConditionExpression : undefined;
  if (!isConditional(command) || condition === undefined) return undefined;
  const bare = condition.split(/ AND | OR /).map((part) => part.replace(/^\(+/, ""));
  return {
    write: writeOf(command),
    clauses: bare.map((part) =>
      part.replace(/\)+$/, (end) => (/^attribute_/.test(part) ? ")" : end.slice(end.length))),
    ),
  };
};
