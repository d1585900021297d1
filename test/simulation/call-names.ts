import {
  BatchExecuteStatementCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { writeOf } from "./planted/clauses.ts";

/** The item that a read is about. */
const readName = ({ input: { Key } }: GetItemCommand): string => {
  const [pk, sk] = [Key?.["pk"]?.S ?? "", Key?.["sk"]?.S ?? ""];
  if (sk === "head") return "read head";
  if (sk.startsWith("page#")) return "read page";
  if (pk === "plan") return "read marks";
  if (sk.startsWith("stored#")) return "read stored bytes";
  if (pk === "fleet") return sk.startsWith("cluster#") ? "read cluster" : "read fleet";
  return pk.startsWith("autoscalers#") ? "read record" : "read history";
};

const queryName = ({ input }: QueryCommand): string => {
  const values = JSON.stringify(input.ExpressionAttributeValues ?? {});
  if (values.includes('"autoscalers#')) return "list records";
  if (values.includes('"partition#')) return "list pages";
  if (values.includes('"sources"')) return "list sources";
  return values.includes('"fleet"') ? "list clusters" : "list history";
};

/** What a request to the tables is for. */
export const callName = (command: object): string => {
  if (command instanceof GetItemCommand) return readName(command);
  if (command instanceof QueryCommand) return queryName(command);
  if (command instanceof BatchExecuteStatementCommand) {
    const pk = command.input.Statements?.[0]?.Parameters?.[0]?.S ?? "";
    return pk.startsWith("journal#") ? "insert journal" : "insert history";
  }
  if (command instanceof PutItemCommand && command.input.Item?.["pk"]?.S === "plan")
    return "mark minutes";
  const write = writeOf(command);
  if (write !== undefined) return write;
  return command instanceof UpdateItemCommand ? "raise spec version" : command.constructor.name;
};
