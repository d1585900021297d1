import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { QUERY_PATHS } from "../../../lib/answers/api/paths.ts";
import { eventOf } from "../../api/world.ts";
import type { DeployedFleet } from "../day.ts";
import { startEnvironment } from "../lambda/runtime-api.ts";
import { resourcesOf } from "../packaged.ts";
import { runBlock, type Shell } from "./runbooks.ts";

/** What is deployed, as the account itself tells it. */
export interface Deployed {
  readonly outputs: Readonly<Record<string, string>>;
  readonly tables: readonly string[];
}

const outputList = z.array(z.object({ OutputKey: z.string(), OutputValue: z.string() }));
const DESCRIBE = `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].Outputs" --output json`;

export const tableClient = ({ environment, region = "eu-central-1" }: Shell): DynamoDBClient =>
  new DynamoDBClient({
    region,
    endpoint: environment["AWS_ENDPOINT_URL"] ?? "",
    credentials: { accessKeyId: "emulator", secretAccessKey: "emulator" },
  });

export const tablesThere = async (shell: Shell): Promise<readonly string[]> => {
  const client = tableClient(shell);
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  client.destroy();
  return TableNames;
};

export const deployed = async (shell: Shell): Promise<Deployed> => {
  const listed = outputList.parse(JSON.parse(await runBlock(shell, DESCRIBE)));
  return {
    outputs: Object.fromEntries(
      listed.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
    ),
    tables: await tablesThere(shell),
  };
};

const PARAMETERS = `aws cloudformation describe-stacks --stack-name "tidemark-$stage" --query "Stacks[0].Parameters" --output json`;
const parameterList = z.array(z.object({ ParameterKey: z.string(), ParameterValue: z.string() }));

/**
 * What minutes of a fleet are played on: the functions in the folder of the deployment, the tables
 * of its outputs, and the template with its parameters.
 */
export const deployedFleet = async (shell: Shell): Promise<DeployedFleet> => {
  const { outputs } = await deployed(shell);
  const listed = parameterList.parse(JSON.parse(await runBlock(shell, PARAMETERS)));
  const parameters = Object.fromEntries(
    listed.map(({ ParameterKey, ParameterValue }) => [ParameterKey, ParameterValue]),
  );
  const text = await readFile(
    join(shell.folder, ".serverless/cloudformation-template-update-stack.json"),
    "utf8",
  );
  return {
    stack: { folder: shell.folder, packaged: { text, resources: resourcesOf(text, parameters) } },
    tables: {
      stateTable: outputs["StateTableName"] ?? "",
      historyTable: outputs["HistoryTableName"] ?? "",
    },
    parameters,
  };
};

const VIEW = `aws lambda get-function-configuration --function-name "tidemark-$stage-view" --query Environment.Variables --output json`;
const fleet = z.object({ restored: z.boolean().optional() });
const names = z.object({ items: z.array(z.object({ name: z.string() })) });

/** The clusters that the deployed function `view` lists. */
export const clustersInView = async (shell: Shell): Promise<readonly string[]> =>
  names.parse(await answerOfView(shell, QUERY_PATHS.clusters)).items.map(({ name }) => name);

/**
 * True where the deployed function `view` says that nothing is scaled before the tables are
 * adopted.
 */
export const mustBeAdopted = async (shell: Shell): Promise<boolean> =>
  fleet.parse(await answerOfView(shell, QUERY_PATHS.fleet)).restored === true;

/**
 * What the deployed function `view` answers: its bundle, with the environment that the deployment
 * gave it.
 */
const answerOfView = async (shell: Shell, path: string): Promise<unknown> => {
  const variables = z.record(z.string(), z.string()).parse(JSON.parse(await runBlock(shell, VIEW)));
  const view = await startEnvironment({
    taskRoot: shell.folder,
    handler: "dist/view/index.handler",
    timeoutMs: 60_000,
    environment: {
      ...variables,
      AWS_ENDPOINT_URL: shell.environment["AWS_ENDPOINT_URL"] ?? "",
      ...(shell.region !== undefined && { AWS_REGION: shell.region }),
    },
  });
  try {
    const { body } = await view.invoke(eventOf({ path }));
    const { statusCode, body: text } = body as {
      readonly statusCode: number;
      readonly body: string;
    };
    if (statusCode !== 200)
      throw new Error(
        `Cannot ask for ${path}: the function view answered ${statusCode}: ${text}\n${view.log()}`,
      );
    return JSON.parse(text);
  } finally {
    await view.stop();
  }
};

/** What a restore does not bring, of one table. */
export const protectionOf = async (shell: Shell, table: string) => {
  const client = tableClient(shell);
  const named = { TableName: table };
  const { Table } = await client.send(new DescribeTableCommand(named));
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand(named));
  const { ContinuousBackupsDescription } = await client.send(
    new DescribeContinuousBackupsCommand(named),
  );
  client.destroy();
  return {
    protected: Table?.DeletionProtectionEnabled,
    timeToLive: `${TimeToLiveDescription?.AttributeName} ${TimeToLiveDescription?.TimeToLiveStatus}`,
    recovery:
      ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus,
  };
};

const SECRET = `aws secretsmanager get-secret-value --secret-id "tidemark-$stage/eu-1" --query SecretString --output text`;

/** What a sync in this region would read to reach the cluster. */
export const secretThere = async (shell: Shell): Promise<string> =>
  (await runBlock(shell, SECRET)).trim();
