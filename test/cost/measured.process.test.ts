import {
  CloudWatchClient,
  PutMetricDataCommand,
  type StandardUnit,
} from "@aws-sdk/client-cloudwatch";
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { CreateFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Clients,
  FUNCTIONS,
  type MeasuredStack,
  measureStack,
  type StackNames,
} from "../../docs/figures/measured-stack.ts";
import { measuredBillTable, measuredStartsTable } from "../../docs/figures/measured-tables.ts";
import { fleetOf } from "../../docs/figures/cost-tables.ts";
import { billOf } from "../../lib/answers/cost/bill.ts";
import { HAS_MOTO, type Moto, motoServer } from "../source-client/moto.ts";

const HOUR_MS = 3_600_000;
const UNTIL_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const SPAN = { sinceMs: UNTIL_MS - 24 * HOUR_MS, untilMs: UNTIL_MS };
const AT = new Date(UNTIL_MS - 90 * 60_000);
const NAMES: StackNames = {
  region: "eu-central-1",
  functionOf: (name) => `tidemark-prod-${name}`,
  tables: ["tidemark-prod-state", "tidemark-prod-history"],
  queue: "tidemark-prod-sync",
};
const SYNC = "tidemark-prod-sync";

let moto: Moto;
let clients: Clients;

const put = (
  namespace: string,
  dimension: readonly [name: string, value: string],
  values: Readonly<Record<string, readonly number[]>>,
): Promise<unknown> =>
  clients.metrics.send(
    new PutMetricDataCommand({
      Namespace: namespace,
      MetricData: Object.entries(values).flatMap(([MetricName, numbers]) =>
        numbers.map((Value) => ({
          ...{ MetricName, Value, Timestamp: AT, Unit: "None" as StandardUnit },
          Dimensions: [{ Name: dimension[0], Value: dimension[1] }],
        })),
      ),
    }),
  );

/** The line that Lambda writes for a call, and for the first one of an environment. */
const report = (ms: number, initMs?: number): string =>
  `REPORT RequestId: 3f9c Duration: ${ms} ms Billed Duration: ${Math.ceil(ms)} ms Memory Size: 512 MB Max Memory Used: 140 MB${initMs === undefined ? "" : ` Init Duration: ${initMs} ms`}\t\n`;

const ROLE = "of-functions";
/** Functions are only made with a role that Lambda can assume. */
const makeRole = async (): Promise<void> => {
  const statement = {
    Effect: "Allow",
    Principal: { Service: "lambda.amazonaws.com" },
    Action: "sts:AssumeRole",
  };
  const body = new URLSearchParams({
    Action: "CreateRole",
    Version: "2010-05-08",
    RoleName: ROLE,
    AssumeRolePolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [statement] }),
  });
  const { status } = await fetch(moto.url, {
    method: "POST",
    headers: {
      authorization: "AWS4-HMAC-SHA256 Credential=emulator/20260101/us-east-1/iam/aws4_request",
    },
    body,
  });
  expect(status).toBe(200);
};

beforeAll(async () => {
  if (!HAS_MOTO) return;
  moto = await motoServer();
  const options = {
    endpoint: moto.url,
    region: "eu-central-1",
    credentials: { accessKeyId: "emulator", secretAccessKey: "emulator" },
  };
  clients = {
    metrics: new CloudWatchClient(options),
    logs: new CloudWatchLogsClient(options),
    lambda: new LambdaClient(options),
  };
  await makeRole();
  for (const name of FUNCTIONS) {
    const functionName = NAMES.functionOf(name);
    await clients.lambda.send(
      new CreateFunctionCommand({
        FunctionName: functionName,
        Role: `arn:aws:iam::123456789012:role/${ROLE}`,
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        MemorySize: name === "sync" ? 512 : 1_024,
        Architectures: ["arm64"],
        Code: { ZipFile: Buffer.from("code") },
      }),
    );
    await clients.logs.send(
      new CreateLogGroupCommand({ logGroupName: `/aws/lambda/${functionName}` }),
    );
  }
  const logGroupName = `/aws/lambda/${SYNC}`;
  await clients.logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName: "one" }));
  const lines = [report(80.2, 312.4), report(71), report(69.5), report(90, 287.1), report(95, 640)];
  await clients.logs.send(
    new PutLogEventsCommand({
      ...{ logGroupName, logStreamName: "one" },
      logEvents: lines.map((message, at) => ({ message, timestamp: AT.getTime() + at })),
    }),
  );
  await put("AWS/Lambda", ["FunctionName", SYNC], {
    Invocations: [50_000, 7_600],
    Errors: [3],
    Duration: [4_000_000, 608_000],
    ConcurrentExecutions: [2, 4, 3],
  });
  await put("AWS/DynamoDB", ["TableName", "tidemark-prod-state"], {
    ConsumedReadCapacityUnits: [120_000],
    ConsumedWriteCapacityUnits: [130_000],
  });
  await put("AWS/DynamoDB", ["TableName", "tidemark-prod-history"], {
    ConsumedReadCapacityUnits: [1_000],
    ConsumedWriteCapacityUnits: [20_000],
  });
  await put("AWS/SQS", ["QueueName", "tidemark-prod-sync"], {
    NumberOfMessagesSent: [57_600],
    NumberOfMessagesReceived: [57_601],
    NumberOfMessagesDeleted: [57_600],
    NumberOfEmptyReceives: [20_000],
  });
  await put("AWS/Logs", ["LogGroupName", logGroupName], { IncomingBytes: [34_000_000] });
}, 60_000);
afterAll(async () => {
  if (!HAS_MOTO) return;
  for (const client of Object.values(clients)) client.destroy();
  await moto.close();
});

describe.skipIf(!HAS_MOTO)("npm run measure, in an emulated account", () => {
  let measured: MeasuredStack;

  it("reads starts of the logs, metrics of functions, tables, queue and logs, and the processor", async () => {
    measured = await measureStack(clients, SPAN, NAMES);
    expect(measured.functions.sync).toEqual({
      ...{ architecture: "arm64", memoryMb: 512, calls: 57_600, errors: 3, durationMs: 4_608_000 },
      ...{ concurrent: 4, initMs: [287.1, 312.4, 640] },
      longestMs: 4_000_000,
    });
    expect(measured.functions.api).toMatchObject({ calls: 0, concurrent: 0, initMs: [] });
    expect(measured.tables).toEqual({ readUnits: 121_000, writeUnits: 150_000 });
    expect(measured.queue).toEqual({
      ...{ sent: 57_600, received: 57_601, deleted: 57_600, empty: 20_000 },
    });
    expect(measured.logBytes).toBe(34_000_000);
    expect(JSON.stringify(measured)).not.toMatch(/prod|123456789012/);
  });

  it("makes the bill of a month beside the one of the model, and the table of starts", () => {
    const fleet = fleetOf(10, 1_000);
    const measurement = { stack: measured, said: { fleet, parts: billOf(fleet).parts } };
    const bill = measuredBillTable(measurement);
    // A day of 2,304 GB-seconds and 57,600 calls, thirty times and a half.
    expect(bill).toMatch(/^\| Lambda \| \$2\.\d\d \| \$1\.28 \|$/m);
    expect(bill).toMatch(/^\| DynamoDB .* \| \$3\.31 \|$/m);
    expect(bill).toMatch(/^\| SQS \| \$1\.\d\d \| \$1\.72 \|$/m);
    expect(bill).toMatch(/^\| logs \| \$0\.\d\d \| \$0\.52 \|$/m);
    expect(bill).not.toContain("never measured");
    const starts = measuredStartsTable(measurement);
    expect(starts).toMatch(/^\| `sync` \| 3 \| 312 \| 640 \| 80 \| 4,000,000 \| 4 \| arm64 \|$/m);
    expect(starts).toContain("| `api` | 0 | none | none | none | none | 0 | arm64 |");
  });

  it("refuses where a function or its log is not there", async () => {
    const other = { ...NAMES, functionOf: (name: string) => `other-${name}` };
    await expect(measureStack(clients, SPAN, other)).rejects.toThrow(/other-schedule/);
  });
});
