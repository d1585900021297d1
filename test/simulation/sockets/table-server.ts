import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { WireAnswer } from "./broken-answers.ts";

/** What the input of any command is here: as it came from the wire. */
type NewCommand = new (input: never) => object;

const COMMANDS: ReadonlyMap<string, NewCommand> = new Map<string, NewCommand>([
  ["BatchExecuteStatement", BatchExecuteStatementCommand],
  ["BatchGetItem", BatchGetItemCommand],
  ["DeleteItem", DeleteItemCommand],
  ["GetItem", GetItemCommand],
  ["PutItem", PutItemCommand],
  ["Query", QueryCommand],
  ["UpdateItem", UpdateItemCommand],
]);

/** Bytes are base64 on the way. No attribute of ours has the name "B" and a text as its value. */
const revived = (name: string, value: unknown): unknown =>
  name === "B" && typeof value === "string" ? new Uint8Array(Buffer.from(value, "base64")) : value;

const told = (_name: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;

/** The request that a client of the SDK has put on the wire. */
export const commandIn = (target: string, body: string): object => {
  const Command = COMMANDS.get(target.split(".").at(-1) ?? "");
  if (!Command) throw new TypeError(`the tables do not know ${target}`);
  return new Command(JSON.parse(body, revived) as never);
};

export const answered = (answer: object): WireAnswer => ({
  status: 200,
  body: JSON.stringify(answer, told),
});

export const refused = (name: string, status: number): WireAnswer => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name }),
});

/**
 * What the engine gives for a command. Its refusals are answers; anything else that it throws is a
 * mistake.
 */
export const executed = (execute: () => object): WireAnswer => {
  try {
    return answered(execute());
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError)
      throw error;
    return refused(error.name, 400);
  }
};
