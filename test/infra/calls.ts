import { join } from "node:path";
import { build } from "esbuild";
import type { FunctionName } from "../../build/build.ts";
import { ROOT } from "../architecture/source.ts";

/**
 * The IAM action that a command of the AWS SDK needs; undefined: none. A command that is not here
 * is refused, so that a new command is not forgotten.
 */
const ACTIONS: Readonly<Record<string, string>> = {
  GetItemCommand: "dynamodb:GetItem",
  BatchGetItemCommand: "dynamodb:BatchGetItem",
  QueryCommand: "dynamodb:Query",
  PutItemCommand: "dynamodb:PutItem",
  UpdateItemCommand: "dynamodb:UpdateItem",
  DeleteItemCommand: "dynamodb:DeleteItem",
  DescribeTableCommand: "dynamodb:DescribeTable",
  // The only statements are INSERTs (lib/stack/store); PartiQL has no action of its own.
  ExecuteStatementCommand: "dynamodb:PartiQLInsert",
  BatchExecuteStatementCommand: "dynamodb:PartiQLInsert",
  SendMessageCommand: "sqs:SendMessage",
  SendMessageBatchCommand: "sqs:SendMessage",
  GetQueueAttributesCommand: "sqs:GetQueueAttributes",
  GetSecretValueCommand: "secretsmanager:GetSecretValue",
  AssumeRoleCommand: "sts:AssumeRole",
  GetWebIdentityTokenCommand: "sts:GetWebIdentityToken",
};

/**
 * The IAM actions that a function's own code can call: the SDK commands left in its bundle after
 * tree shaking, with every package outside. What only other functions use does not count, though it
 * may live in the same room.
 */
export const actionsCalledBy = async (name: FunctionName): Promise<readonly string[]> => {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "functions", `${name}.ts`)],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    treeShaking: true,
    write: false,
    logLevel: "warning",
  });
  const code = (outputFiles[0]?.text ?? "").replaceAll(/^import [^;]*;$/gm, "");
  const commands = [
    ...new Set(
      [...code.matchAll(/\bnew ([A-Z]\w*?Command)\d*\(/g)].map(([, command]) => command ?? ""),
    ),
  ];
  // Requests that are signed here and not sent by the SDK name their right themselves
  // (lib/stack/cluster/access/eks-description.ts, lib/lambda/check-by-sync.ts,
  // lib/lambda/owner-topics.ts, lib/lambda/put-events.ts, lib/lambda/put-object.ts).
  // The policies of sessions for registered sources name rights of the roles of these sources
  // (SIGNED_SERVICES), and none of the function.
  const own = code.replace(/\bSIGNED_SERVICES = \{[^}]*\};/, "");
  const signed = [...own.matchAll(/"((?:eks|events|lambda|s3|sns):[A-Z]\w+)"/g)].map(
    ([, action]) => action ?? "",
  );
  return [...new Set([...commands.map((command) => actionOf(command, name)), ...signed])].sort();
};

const actionOf = (command: string, name: FunctionName): string => {
  const action = ACTIONS[command];
  if (action === undefined)
    throw new Error(
      `Cannot say which right "${command}" of function "${name}" needs: add it to ACTIONS`,
    );
  return action;
};
