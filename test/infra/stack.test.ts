import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FUNCTIONS, type FunctionName, sizeAtStart } from "../../build/build.ts";
import { ENVIRONMENT } from "../../lib/lambda/environment.ts";
import { FUNCTION_TIMEOUT_MS, IN_PROGRESS_MS } from "../../lib/answers/api/idempotency.ts";
import { PAGE_LIMITS } from "../../lib/answers/api/list-page.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { ARN_OUTPUTS, URL_OUTPUTS } from "../../lib/answers/remote/find-stack.ts";
import { raiseClusterVersionParams } from "../../lib/stack/store/records/clusters.ts";
import {
  ACCESS_PK,
  autoscalersPk,
  CONNECTIONS_PK,
  FLEET_PK,
  SOURCES_PK,
  planKey,
  WAKE_PK_PREFIX,
  WAKES_PK,
} from "../../lib/stack/store/table/keys.ts";
import { WAKE_SOURCE } from "../../lib/stack/plan/wake-events.ts";
import { TTL_ATTRIBUTE, tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { actionsCalledBy } from "./calls.ts";
import { type Compiled, type Json, type Packaged, type Resource, resourcesOf } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Awaited<ReturnType<typeof sharedStack>>;
let packaged: Packaged;

beforeAll(async () => {
  stack = await sharedStack();
  packaged = stack.packaged;
});
afterAll(() => stack.done());

const resource = (name: string): Resource => {
  const found = packaged.resources[name];
  if (found === undefined)
    throw new Error(
      `Cannot find "${name}" in the template: there are ${Object.keys(packaged.resources).join(", ")}`,
    );
  return found;
};
/** Alarms that fire again whenever their number rises. */
const RISING: readonly string[] = ["SyncsStopped", "ClusterProblems", "AutoscalerProblems"];

const ofType = (type: string): readonly string[] =>
  Object.keys(packaged.resources).filter((name) => packaged.resources[name]?.Type === type);
const lambdaOf = (name: FunctionName): Resource =>
  resource(`${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`);
const variablesOf = (
  { resources }: Compiled,
  name: FunctionName,
): Readonly<Record<string, Json>> => {
  const { Environment } =
    resources[`${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`]?.Properties ?? {};
  return (Environment as { readonly Variables: Readonly<Record<string, Json>> }).Variables;
};
const arnOf = (name: string): Json => ({ "Fn::GetAtt": [name, "Arn"] });

const WITNESS = "arn:aws:dynamodb:eu-north-1:123456789012:table/tidemark-prod-witness";

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: Json;
  readonly Condition?: Json;
}
interface LeadingKeys {
  readonly "ForAllValues:StringLike": { readonly "dynamodb:LeadingKeys": readonly string[] };
}
const statementsOf = (
  role: string,
  resources = packaged.resources,
): Readonly<Record<string, Statement>> => {
  const { Policies } = { ...resources[role]?.Properties } as unknown as {
    readonly Policies: readonly {
      readonly PolicyDocument: { readonly Statement: readonly Statement[] };
    }[];
  };
  return Object.fromEntries(
    Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).map((statement) => [
      statement.Sid,
      statement,
    ]),
  );
};
/** With every right that a parameter gives. */
const actionsOf = (role: string): readonly string[] => {
  const given = {
    ...{ AlarmOwners: "payments", OwnerTopics: "arn:aws:sns:eu-central-1:1:payments" },
    EventBus: "default",
    AuditDays: "400",
    ...{ WitnessTable: WITNESS, TakeOverAfterMinutes: "10" },
  };
  return [
    ...new Set(
      Object.values(statementsOf(role, resourcesOf(packaged.text, given))).flatMap(
        ({ Action }) => Action,
      ),
    ),
  ].sort();
};
/**
 * What the platform does in the role's name: the event source mapping takes messages, the runtime
 * writes logs.
 */
const LOGS = ["logs:CreateLogStream", "logs:PutLogEvents"];
const STREAM_CONSUMER = [
  "dynamodb:DescribeStream",
  "dynamodb:GetRecords",
  "dynamodb:GetShardIterator",
  "dynamodb:ListStreams",
];
const QUEUE_CONSUMER = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"];

/** The names of the files in the zip of a function, as it was packaged last. */
const packagedFiles = async (name: FunctionName): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)("python3", [
    "-m",
    "zipfile",
    "-l",
    join(stack.folder, `.serverless/${name}.zip`),
  ]);
  return stdout.split("\n").map((line) => line.split(" ")[0] ?? "");
};

describe("the template", () => {
  it("is byte for byte the same for the same source, and the packages hold no source maps", async () => {
    const again = await stack.compile({});
    expect(again.text).toBe(packaged.text);
    expect((await packagedFiles("sync")).filter((file) => file.endsWith(".map"))).toEqual([]);
  });

  it("comes with packages of at most 1.1 MB each, half of it compiled code", async () => {
    for (const name of FUNCTIONS)
      expect((await stat(join(stack.folder, `.serverless/${name}.zip`))).size, name).toBeLessThan(
        1_100_000,
      );
  });
});

describe("the functions", () => {
  it("are exactly the bundled ones, on Node 24 and arm64", () => {
    expect(ofType("AWS::Lambda::Function").length).toBe(FUNCTIONS.length);
    for (const name of FUNCTIONS) {
      expect(lambdaOf(name).Properties).toMatchObject({
        FunctionName: `tidemark-prod-${name}`,
        Runtime: "nodejs24.x",
        Architectures: ["arm64"],
      });
    }
  });

  it("have handlers that exist in their bundles and load without AWS", () => {
    const require = createRequire(join(stack.folder, "require.cjs"));
    for (const name of FUNCTIONS) {
      const [file = "", member = ""] = String(lambdaOf(name).Properties["Handler"]).split(
        /\.(?=\w+$)/,
      );
      expect(existsSync(join(stack.folder, `${file}.js`))).toBe(true);
      expect(require(join(stack.folder, `${file}.js`))[member]).toBeTypeOf("function");
    }
  });

  it("are given exactly the variables that their code reads, each naming the thing it says", () => {
    const values: Readonly<Record<string, Json>> = {
      TIDEMARK_STATE_TABLE: { Ref: "StateTable" },
      TIDEMARK_HISTORY_TABLE: { Ref: "HistoryTable" },
      TIDEMARK_SYNC_QUEUE_URL: { Ref: "SyncQueue" },
      TIDEMARK_SYNC_DEAD_LETTERS_URL: { Ref: "SyncDeadLetters" },
      TIDEMARK_TICK_DEAD_LETTERS_URL: { Ref: "TickDeadLetters" },
      TIDEMARK_SYNC_FUNCTION: { Ref: "SyncLambdaFunction" },
      TIDEMARK_CLUSTER_METRICS: "none",
      TIDEMARK_EXTERNAL_ID: "none",
      TIDEMARK_ALARM_OWNERS: "none",
      TIDEMARK_OWNER_TOPICS: "none",
      TIDEMARK_EVENT_BUS: "none",
      TIDEMARK_EVENTS_DEAD_LETTERS_URL: "none",
      TIDEMARK_AUDIT_BUCKET: "none",
      TIDEMARK_ALARM_TOPIC: "none",
      TIDEMARK_CALLED_BY: "url",
      TIDEMARK_WITNESS_TABLE: "none",
      TIDEMARK_TAKE_OVER_MINUTES: "0",
      TIDEMARK_CONNECT_URL: { "Fn::GetAtt": ["ConnectLambdaFunctionUrl", "FunctionUrl"] },
    };
    for (const name of FUNCTIONS) {
      const {
        NODE_OPTIONS,
        MALLOC_ARENA_MAX,
        POWERTOOLS_SERVICE_NAME,
        POWERTOOLS_LOG_LEVEL,
        ...variables
      } = (
        lambdaOf(name).Properties["Environment"] as {
          readonly Variables: Readonly<Record<string, Json>>;
        }
      ).Variables;
      expect(variables).toEqual(
        Object.fromEntries(ENVIRONMENT[name].map((variable) => [variable, values[variable]])),
      );
      // Read by Node itself: where the machine is small, V8 gives the young space too little for
      // large lists.
      const isSmall = name === "sync" || name === "schedule";
      expect(NODE_OPTIONS).toBe(isSmall ? "--max-semi-space-size=8" : "");
      // Read by the C library.
      expect(MALLOC_ARENA_MAX).toBe(name === "sync" ? "1" : undefined);
      // Read by powertools: the service of every log line, and the dimension that tells two stages
      // apart.
      expect([POWERTOOLS_SERVICE_NAME, POWERTOOLS_LOG_LEVEL]).toEqual(["tidemark-prod", "INFO"]);
    }
  });

  it("keep their logs for 30 days, those that answer people for 90, each in a group of its own", () => {
    const days = { schedule: 30, sync: 30, api: 90, connect: 90, view: 90, wake: 30 };
    expect(ofType("AWS::Logs::LogGroup").map((name) => resource(name).Properties)).toEqual(
      FUNCTIONS.map((name) => ({
        LogGroupName: `/aws/lambda/tidemark-prod-${name}`,
        RetentionInDays: String({ ...days, events: 30, audit: 90 }[name]),
      })),
    );
  });

  it("start small: what is loaded at start stays within its budget", () => {
    // The functions that answer people hold the rules of every dialect, and the edits of overrides
    // and metric sources: they explain with the functions that decide. The sync holds the code that
    // stores an edit, for specs that are read from clusters, and writes the summaries that readers
    // read. It tells what others did to counts, keeps what it has decoded, and compares who a
    // cluster is. All of them read formulas and the fields of metric sources: some 9 KiB, and 12
    // KiB for the fields, the metric math and the answers of CloudWatch. The sync keeps 13 months
    // of history in steps of five minutes and closes days of events; the functions that answer
    // people read both, and say what sources cost: some 15 KiB. The schedule counts the problems of
    // the fleet, and the share of due syncs that decided, beside planning it. The rules of manifests
    // are one tree that is evaluated and printed, with a sentence each: some 15 KiB. Which pods
    // count, and the findings of the doctor, take some 10 KiB. Forecasts (made by the sync, read by it and by explain), wakes, the schedule
    // and the bill of the page, and the ledger of conversions: some 30 KiB. Formulas with names,
    // conditions and lists, and Redis as a source: some 10 KiB, of which readers hold 3. Notices,
    // storms and labels, of which events holds the forms, the words and the reads: some 30 KiB.
    // Labels of wakes: 1 KiB of the functions that answer people. The keys that a Redis may count,
    // and one kind more of other controllers: less than 1 KiB. Who holds the fleet, where its tables
    // have a replica in another region, and how it moves: some 5 KiB. What loads the code that was
    // compiled before: 2 KiB of each. Whether the fleet is in this region, which events asks: 1 KiB.
    // The version of an API server, which connect stores, and the schedules of a screen: 1 KiB.
    // Who called a function that is invoked: 7 KiB of the functions that answer people. The short
    // forms of the journal: 2 KiB of what reads or writes it. The quarters of an hour: 4 KiB of
    // what makes or reads them. The leases of the fleet, which schedule renews and connect claims:
    // 4 KiB of both, and 1 KiB of the others that answer people. What has changed of pods, by
    // watches: 5 KiB of the sync. Items of the history that are read together: 3 KiB.
    const budgetKib = {
      ...{ schedule: 405, sync: 998, api: 1165, connect: 1177, view: 1039, wake: 385, events: 434 },
      // An audit reads scales, edits, rows and histories as view does, and answers nobody.
      // The quarters of an hour, which rows read, are in it too.
      audit: 486,
    };
    for (const name of FUNCTIONS)
      expect(sizeAtStart(packaged.bundles, name).bytes / 1024, name).toBeLessThan(budgetKib[name]);
  });

  it("are small: all that is packed stays within its budget", () => {
    const budgetKib = {
      schedule: 150,
      // Of it the arithmetic of Kubernetes 1.38 and a look at the fleet before a claim: 1 KiB; the
      // quarters of an hour: 1 KiB; pods that are followed by watches: 2 KiB.
      // Items of the history that are read together: 1 KiB.
      sync: 462,
      // The functions that answer people ask STS where they are invoked: 6 KiB of each. A move
      // claims the leases of the fleet: 2 KiB.
      api: 418,
      connect: 424,
      view: 376,
      wake: 150,
      events: 250,
      audit: 300,
    };
    const packed = Object.groupBy(packaged.bundles, (bundle) => bundle.function);
    for (const name of FUNCTIONS) {
      const bytes = packed[name]?.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0) ?? Number.NaN;
      expect(bytes / 1024, name).toBeLessThan(budgetKib[name]);
    }
  });

  it("load what few clusters need from files of their own, when it is needed first", () => {
    const lazy = packaged.bundles
      .filter((bundle) => bundle.function === "sync" && !bundle.atStart)
      .map(({ file }) => file);
    const parts = [
      "assume-role-",
      "check-here-",
      "eks-",
      "protobufjs-minimal.js",
      "secret-",
      "yaml.js",
    ];
    expect(parts.filter((part) => !lazy.some((file) => file.startsWith(part)))).toEqual([]);
  });

  it("hold nothing of the Kubernetes library: it runs programs and reads files that a kubeconfig names", async () => {
    for (const { function: name, file } of packaged.bundles) {
      const code = await readFile(join(stack.folder, "dist", name, file), "utf8");
      // Words of that library alone: a setting of a provider that runs a program, and the file of a
      // service account.
      expect(/expiry-key|kubernetes\.io\/serviceaccount/.test(code), name).toBe(false);
    }
  });
});

describe("the URLs", () => {
  it("are three, of the functions that answer people, and refuse a caller that IAM does not know", () => {
    expect(ofType("AWS::Lambda::Url").map((name) => resource(name).Properties)).toEqual(
      ["ApiLambdaFunction", "ConnectLambdaFunction", "ViewLambdaFunction"].map((name) => ({
        AuthType: "AWS_IAM",
        TargetFunctionArn: arnOf(name),
      })),
    );
    // Rights to call them are given to people by their own policies, never to all callers by the
    // function's.
    expect(ofType("AWS::Lambda::Permission")).toEqual(["EventsMayWake", "AlarmsMayWake"]);
  });

  it("are called by people whom an administrator gives one of three policies, and never around the URL", () => {
    const documentOf = (name: string): { readonly Statement: readonly Json[] } =>
      resource(name).Properties["PolicyDocument"] as unknown as {
        readonly Statement: readonly Json[];
      };
    const [api, connect, view] = [
      arnOf("ApiLambdaFunction"),
      arnOf("ConnectLambdaFunction"),
      arnOf("ViewLambdaFunction"),
    ];
    const statements = (on: Json): readonly Json[] => [
      {
        Sid: expect.any(String),
        Effect: "Allow",
        Action: ["lambda:InvokeFunctionUrl"],
        Resource: on,
        Condition: { StringEquals: { "lambda:FunctionUrlAuthType": "AWS_IAM" } },
      },
      // A caller of the function itself could write the event, and with it the name that edits are
      // recorded for.
      {
        Sid: "ThroughTheUrlAlone",
        Effect: "Allow",
        Action: ["lambda:InvokeFunction"],
        Resource: on,
        Condition: { Bool: { "lambda:InvokedViaFunctionUrl": "true" } },
      },
      // The URLs are in the outputs of this one stack.
      {
        Sid: "FindUrls",
        Effect: "Allow",
        Action: ["cloudformation:DescribeStacks"],
        Resource: {
          "Fn::Sub": `arn:\${AWS::Partition}:cloudformation:\${AWS::Region}:\${AWS::AccountId}:stack/\${AWS::StackName}/*`,
        },
      },
    ];
    expect(ofType("AWS::IAM::ManagedPolicy")).toEqual([
      "ConnectPolicy",
      "EditPolicy",
      "ViewPolicy",
    ]);
    expect(documentOf("ConnectPolicy").Statement).toEqual(statements([connect, api, view]));
    expect(documentOf("EditPolicy").Statement).toEqual(statements([api, view]));
    expect(documentOf("ViewPolicy").Statement).toEqual(statements(view));
  });

  it("are absent where calledBy says invoke, and the three policies then allow to invoke", () => {
    const invoked = resourcesOf(packaged.text, { CalledBy: "invoke" });
    expect(Object.values(invoked).filter(({ Type }) => Type === "AWS::Lambda::Url")).toEqual([]);
    for (const [name, functions] of Object.entries({
      ConnectPolicy: ["ConnectLambdaFunction", "ApiLambdaFunction", "ViewLambdaFunction"],
      EditPolicy: ["ApiLambdaFunction", "ViewLambdaFunction"],
      ViewPolicy: ["ViewLambdaFunction"],
    })) {
      const { PolicyDocument } = { ...invoked[name]?.Properties } as unknown as {
        readonly PolicyDocument: { readonly Statement: readonly Statement[] };
      };
      const { Statement } = PolicyDocument;
      expect(Statement.map(({ Sid }) => Sid)).toEqual(["InvokeFunctions", "FindUrls"]);
      expect(Statement[0]).toEqual({
        Sid: "InvokeFunctions",
        Effect: "Allow",
        Action: ["lambda:InvokeFunction"],
        Resource: functions.length === 1 ? arnOf(String(functions[0])) : functions.map(arnOf),
      });
    }
    const given = { resources: invoked };
    for (const name of ["api", "connect", "view"] as const)
      expect(variablesOf(given as Compiled, name)["TIDEMARK_CALLED_BY"]).toBe("invoke");
    expect(variablesOf(given as Compiled, "api")["TIDEMARK_CONNECT_URL"]).toEqual(
      arnOf("ConnectLambdaFunction"),
    );
    const {
      Outputs,
    }: { readonly Outputs: Readonly<Record<string, { readonly Condition?: string }>> } = JSON.parse(
      packaged.text,
    );
    for (const output of Object.values(URL_OUTPUTS))
      expect(Outputs[output]?.Condition).toBe("CalledByUrl");
    for (const output of Object.values(ARN_OUTPUTS))
      expect(Outputs[output]?.Condition).toBe("CalledByInvoke");
  });

  it("are outputs of the stack by the names that tidemark --stack NAME reads, and for `npx osls info`", () => {
    const { Outputs }: { readonly Outputs: Readonly<Record<string, { readonly Value: Json }>> } =
      JSON.parse(packaged.text);
    expect(Object.values(Outputs).map(({ Value }) => JSON.stringify(Value))).toEqual(
      expect.arrayContaining(
        ofType("AWS::Lambda::Url").map((name) =>
          JSON.stringify({ "Fn::GetAtt": [name, "FunctionUrl"] }),
        ),
      ),
    );
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(Object.values(URL_OUTPUTS)));
  });

  it("live as long as the code counts on, an edit longer than it may wait for partitions", () => {
    for (const name of ["api", "connect"] as const)
      expect(Number(lambdaOf(name).Properties["Timeout"]) * 1000).toBe(FUNCTION_TIMEOUT_MS);
    expect(IN_PROGRESS_MS).toBeGreaterThan(FUNCTION_TIMEOUT_MS);
    expect(Number(lambdaOf("view").Properties["Timeout"]) * 1000).toBeGreaterThan(
      2 * PAGE_LIMITS.ms,
    );
  });
});

describe("the tables", () => {
  const tables = ["StateTable", "HistoryTable"];

  it("are two, on demand, protected, encrypted, restorable, and outlive the stack", () => {
    expect(ofType("AWS::DynamoDB::Table")).toEqual(tables);
    for (const name of tables) {
      expect(resource(name)).toMatchObject({
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          BillingMode: "PAY_PER_REQUEST",
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: { SSEEnabled: true },
        },
      });
    }
  });

  it("get names from CloudFormation, so that a second deployment never meets the tables of the first", () => {
    for (const name of tables) expect(resource(name).Properties).not.toHaveProperty("TableName");
  });

  it("have the keys that the code writes, and no index", () => {
    const definitions = tableDefinitions({
      stateTable: "StateTable",
      historyTable: "HistoryTable",
    });
    expect(definitions.map(({ TableName }) => TableName)).toEqual(tables);
    for (const { TableName = "", ...definition } of definitions)
      expect(resource(TableName).Properties).toMatchObject(definition);
    for (const name of tables)
      expect(resource(name).Properties).not.toHaveProperty("GlobalSecondaryIndexes");
  });

  it.each(["StateTable", "HistoryTable"])(
    "delete an item of %s when its time to live is over",
    (table) => {
      expect(resource(table).Properties["TimeToLiveSpecification"]).toEqual({
        AttributeName: TTL_ATTRIBUTE,
        Enabled: true,
      });
    },
  );
});

describe("the queue", () => {
  it("feeds a function that lives exactly as long as the protocol counts on", () => {
    expect(Number(lambdaOf("sync").Properties["Timeout"]) * 1000).toBe(DEFAULT_TIMING.lifeMs);
  });

  it("hides a message for six timeouts of the sync and gives up on it after five tries", () => {
    const { VisibilityTimeout, RedrivePolicy } = resource("SyncQueue").Properties;
    expect(Number(VisibilityTimeout)).toBeGreaterThanOrEqual(
      6 * Number(lambdaOf("sync").Properties["Timeout"]),
    );
    expect(RedrivePolicy).toEqual({
      deadLetterTargetArn: arnOf("SyncDeadLetters"),
      maxReceiveCount: 5,
    });
  });

  it("is standard, so that one message can be delayed, and encrypted as the others are", () => {
    expect(ofType("AWS::SQS::Queue")).toEqual(["SyncQueue", "SyncDeadLetters", "TickDeadLetters"]);
    for (const name of ofType("AWS::SQS::Queue")) {
      expect(resource(name).Properties["SqsManagedSseEnabled"]).toBe(true);
      expect(resource(name).Properties["FifoQueue"]).toBeUndefined();
    }
  });

  it("refuses every caller without TLS", () => {
    const { Queues, PolicyDocument } = resource("QueuePolicy").Properties as unknown as {
      readonly Queues: readonly Json[];
      readonly PolicyDocument: { readonly Statement: readonly Json[] };
    };
    expect(Queues).toEqual(ofType("AWS::SQS::Queue").map((name) => ({ Ref: name })));
    expect(PolicyDocument.Statement).toMatchObject([
      {
        Effect: "Deny",
        Principal: "*",
        Action: "sqs:*",
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
    ]);
  });

  it("feeds the sync one message at a time, with a bound on how many run, and hears of each failure by its id", () => {
    expect(
      ofType("AWS::Lambda::EventSourceMapping").map((name) => resource(name).Properties),
    ).toEqual([
      {
        EventSourceArn: arnOf("SyncQueue"),
        FunctionName: arnOf("SyncLambdaFunction"),
        BatchSize: 1,
        Enabled: true,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: "50" },
      },
    ]);
  });
});

describe("the schedule", () => {
  const target = (): { readonly [key: string]: Json } =>
    resource("Tick").Properties["Target"] as { readonly [key: string]: Json };

  it("fires every minute without a window and keeps what could not be delivered", () => {
    expect(ofType("AWS::Scheduler::Schedule")).toEqual(["Tick"]);
    expect(resource("Tick").Properties).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      State: "ENABLED",
    });
    expect(target()).toMatchObject({
      Arn: arnOf("ScheduleLambdaFunction"),
      RoleArn: arnOf("TickRole"),
      RetryPolicy: { MaximumEventAgeInSeconds: 120, MaximumRetryAttempts: 5 },
      DeadLetterConfig: { Arn: arnOf("TickDeadLetters") },
    });
  });

  it("is tried again about a minute later, as the call is asynchronous, and what failed twice is kept", () => {
    expect(resource("ScheduleRetries").Properties).toEqual({
      FunctionName: { Ref: "ScheduleLambdaFunction" },
      Qualifier: "$LATEST",
      MaximumEventAgeInSeconds: 150,
      MaximumRetryAttempts: 1,
      DestinationConfig: { OnFailure: { Destination: arnOf("TickDeadLetters") } },
    });
    expect(statementsOf("ScheduleRole")["KeepFailedStarts"]).toMatchObject({
      Action: ["sqs:SendMessage"],
      Resource: arnOf("TickDeadLetters"),
    });
  });

  it("may start the planning and nothing else", () => {
    expect(statementsOf("TickRole")).toMatchObject({
      StartPlanning: {
        Effect: "Allow",
        Action: ["lambda:InvokeFunction"],
        Resource: arnOf("ScheduleLambdaFunction"),
      },
      KeepUndelivered: {
        Effect: "Allow",
        Action: ["sqs:SendMessage"],
        Resource: arnOf("TickDeadLetters"),
      },
    });
    expect(actionsOf("TickRole")).toEqual(["lambda:InvokeFunction", "sqs:SendMessage"]);
  });

  it("is the only one of its group, and the role that it starts the planning with trusts only that group", () => {
    expect(ofType("AWS::Scheduler::ScheduleGroup")).toEqual(["TickGroup"]);
    expect(resource("Tick").Properties["GroupName"]).toEqual({ Ref: "TickGroup" });
    expect(resource("TickRole").Properties["AssumeRolePolicyDocument"]).toMatchObject({
      Statement: [
        {
          Principal: { Service: "scheduler.amazonaws.com" },
          Action: "sts:AssumeRole",
          Condition: {
            StringEquals: {
              "aws:SourceAccount": { Ref: "AWS::AccountId" },
              "aws:SourceArn": arnOf("TickGroup"),
            },
          },
        },
      ],
    });
  });
});

describe("what wakes", () => {
  const mayCall = (name: string) => resource(name).Properties;

  it("is two rules of the default bus: events of the source tidemark.wake, and alarms that begin", () => {
    expect(ofType("AWS::Events::Rule")).toEqual(["WakeEvents", "WakeAlarms"]);
    expect(resource("WakeEvents").Properties["EventPattern"]).toEqual({ source: [WAKE_SOURCE] });
    expect(resource("WakeAlarms").Properties["EventPattern"]).toEqual({
      source: ["aws.cloudwatch"],
      "detail-type": ["CloudWatch Alarm State Change"],
      detail: { state: { value: ["ALARM"] } },
    });
    for (const rule of ofType("AWS::Events::Rule")) {
      expect(resource(rule).Properties).not.toHaveProperty("EventBusName");
      expect(resource(rule).Properties["Targets"]).toEqual([
        { Id: "wake", Arn: arnOf("WakeLambdaFunction") },
      ]);
    }
  });

  it("may call the function by each of these rules, and by nothing else", () => {
    for (const [permission, rule] of [
      ["EventsMayWake", "WakeEvents"],
      ["AlarmsMayWake", "WakeAlarms"],
    ] as const)
      expect(mayCall(permission)).toEqual({
        Action: "lambda:InvokeFunction",
        FunctionName: { Ref: "WakeLambdaFunction" },
        Principal: "events.amazonaws.com",
        SourceAccount: { Ref: "AWS::AccountId" },
        SourceArn: arnOf(rule),
      });
  });

  it("is a topic too, where the parameter wakeTopic names one", () => {
    const topic = "arn:aws:sns:eu-central-1:000000000000:alerts";
    const given = resourcesOf(packaged.text, { WakeTopicArn: topic });
    expect(given["TopicWakes"]?.Properties).toMatchObject({
      Protocol: "lambda",
      Endpoint: arnOf("WakeLambdaFunction"),
    });
    expect(given["TopicMayWake"]?.Properties).toMatchObject({ Principal: "sns.amazonaws.com" });
    expect(Object.keys(packaged.resources)).not.toContain("TopicWakes");
  });

  it("reads clusters and wakes, marks wakes and sends syncs: no head, no autoscaler, no connection, no history", () => {
    const { ReadWakes, MarkWakes, PlanSyncs } = statementsOf("WakeRole");
    const keys = (statement: typeof ReadWakes) =>
      (({ ...statement }).Condition as unknown as LeadingKeys)["ForAllValues:StringLike"];
    expect(keys(ReadWakes)).toEqual({
      "dynamodb:LeadingKeys": [FLEET_PK, WAKES_PK, `${WAKE_PK_PREFIX}*`, planKey.pk],
    });
    expect(keys(MarkWakes)).toEqual({ "dynamodb:LeadingKeys": [`${WAKE_PK_PREFIX}*`] });
    for (const statement of [ReadWakes, MarkWakes])
      expect(statement?.Condition).toMatchObject({ Null: { "dynamodb:LeadingKeys": "false" } });
    expect(PlanSyncs).toMatchObject({ Resource: arnOf("SyncQueue") });
    expect(JSON.stringify(statementsOf("WakeRole"))).not.toContain("HistoryTable");
  });

  it("is repeated once, and dropped after a minute, when the planned syncs have done its work", () => {
    expect(resource("WakeRetries").Properties).toEqual({
      FunctionName: { Ref: "WakeLambdaFunction" },
      Qualifier: "$LATEST",
      MaximumEventAgeInSeconds: 60,
      MaximumRetryAttempts: 1,
    });
  });
});

describe("what sends events", () => {
  const given = () => resourcesOf(packaged.text, { EventBus: "default" });

  it("is nothing without a bus: no stream, no mapping, no queue, no alarm, no right", () => {
    expect(resource("HistoryTable").Properties).not.toHaveProperty("StreamSpecification");
    expect(
      Object.keys(packaged.resources)
        .filter((name) => /^Events(?!MayWake)/.test(name))
        .toSorted(),
    ).toEqual(["EventsLambdaFunction", "EventsLogGroup", "EventsRole"]);
    expect(packaged.resources).not.toHaveProperty("LookAround");
    expect(Object.keys(statementsOf("EventsRole"))).toEqual([
      ...["ReadChanges", "ReadDays", "AppendNotices", "LookAround", "RememberNotices"],
      ...["KnowTables", "WriteLogs"],
    ]);
    expect(variablesOf(packaged, "events")).toMatchObject({
      TIDEMARK_EVENT_BUS: "none",
      TIDEMARK_EVENTS_DEAD_LETTERS_URL: "none",
    });
  });

  it("is the stream of the history table, one batch of a shard at a time, for as long as it keeps records", () => {
    expect(given()["HistoryTable"]?.Properties).toMatchObject({
      // Old images for replicas in other regions, which the same stream must serve.
      StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
    });
    expect(given()["EventsOfHistory"]?.Properties).toMatchObject({
      FunctionName: { Ref: "EventsLambdaFunction" },
      EventSourceArn: { "Fn::GetAtt": ["HistoryTable", "StreamArn"] },
      StartingPosition: "TRIM_HORIZON",
      ParallelizationFactor: 1,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      MaximumRecordAgeInSeconds: 86_400,
      MaximumRetryAttempts: -1,
      DestinationConfig: { OnFailure: { Destination: arnOf("EventsDeadLetters") } },
    });
  });

  it("is the stream that a parameter names, where the table is an earlier one", () => {
    const stream = "arn:aws:dynamodb:eu-central-1:000000000000:table/h/stream/1";
    const tables = { ExistingStateTable: "s-1", ExistingHistoryTable: "h-1" };
    const earlier = resourcesOf(packaged.text, {
      ...{ EventBus: "default", HistoryStream: stream, ...tables },
    });
    expect(earlier["EventsOfHistory"]?.Properties["EventSourceArn"]).toEqual(stream);
  });

  it("is the stream that a parameter names, where replicas had the table make it", () => {
    const stream = "arn:aws:dynamodb:eu-central-1:000000000000:table/h/stream/1";
    const own = resourcesOf(packaged.text, { EventBus: "default", HistoryStream: stream });
    expect(own["EventsOfHistory"]?.Properties["EventSourceArn"]).toEqual(stream);
    expect(own["HistoryTable"]?.Properties).not.toHaveProperty("StreamSpecification");
  });

  it("changes nothing of a sync: its function, its role and its queue are the same with a bus", () => {
    const without = resourcesOf(packaged.text, {});
    for (const name of ["SyncLambdaFunction", "SyncRole", "SyncQueue", "ScheduleLambdaFunction"]) {
      expect(without[name]).toBeDefined();
      expect(given()[name]).toEqual(without[name]);
    }
  });

  it("looks at the fleet once a minute, and once only", () => {
    expect(given()["LookAround"]?.Properties).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
      Targets: [{ Arn: arnOf("EventsLambdaFunction"), Input: '{"look":"around"}' }],
    });
    expect(given()["LookRetries"]?.Properties).toMatchObject({ MaximumRetryAttempts: 0 });
  });

  it("reads what syncs stored, writes notices alone, and puts on this bus alone", () => {
    const role = statementsOf("EventsRole", given());
    const keysOf = (sid: string) => role[sid]?.Condition;
    const only = (keys: readonly string[]) => ({
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys },
      Null: { "dynamodb:LeadingKeys": "false" },
    });
    expect(keysOf("ReadChanges")).toEqual(only(["autoscaler#*", "notices#*"]));
    expect(keysOf("ReadDays")).toEqual(only(["day#*"]));
    expect(keysOf("AppendNotices")).toEqual(only(["notices#*"]));
    // Neither a connection, nor a grant, nor a source.
    expect(keysOf("LookAround")).toEqual(only(["fleet", "partition#*", "autoscalers#*"]));
    expect(keysOf("RememberNotices")).toEqual({
      "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["notices"] },
      Null: { "dynamodb:LeadingKeys": "false" },
    });
    const { PutEvents, KeepUnsent } = role;
    expect(JSON.stringify(PutEvents?.Resource)).toContain("event-bus/");
    expect(JSON.stringify(PutEvents?.Resource)).not.toContain("*");
    expect(KeepUnsent?.Resource).toEqual(arnOf("EventsDeadLetters"));
  });

  it("raises an alarm where the bus is behind, and where an event was set aside", () => {
    expect(given()["EventsBehind"]?.Properties).toMatchObject({
      MetricName: "IteratorAge",
      Dimensions: [{ Name: "FunctionName", Value: { Ref: "EventsLambdaFunction" } }],
    });
    expect(given()["EventsDeadLettersFilled"]?.Properties).toMatchObject({
      Dimensions: [{ Value: { "Fn::GetAtt": ["EventsDeadLetters", "QueueName"] } }],
    });
  });
});

describe("the roles", () => {
  it("are one per function and one for the schedule, none shared", () => {
    expect(ofType("AWS::IAM::Role")).toEqual([
      "ScheduleRole",
      "SyncRole",
      "ApiRole",
      "ConnectRole",
      "ViewRole",
      "WakeRole",
      "EventsRole",
      "AuditRole",
      "TickRole",
    ]);
    expect(FUNCTIONS.map((name) => lambdaOf(name).Properties["Role"])).toEqual(
      [
        "ScheduleRole",
        "SyncRole",
        "ApiRole",
        "ConnectRole",
        "ViewRole",
        "WakeRole",
        "EventsRole",
        "AuditRole",
      ].map(arnOf),
    );
  });

  it.each([
    ["schedule", "ScheduleRole", LOGS],
    ["sync", "SyncRole", [...LOGS, ...QUEUE_CONSUMER]],
    ["api", "ApiRole", LOGS],
    ["connect", "ConnectRole", LOGS],
    ["view", "ViewRole", LOGS],
    ["wake", "WakeRole", LOGS],
    ["events", "EventsRole", [...LOGS, ...STREAM_CONSUMER]],
    ["audit", "AuditRole", LOGS],
  ] as const)(
    "of %s allows exactly what its code calls and the platform does for it",
    async (name, role, byPlatform) => {
      const called = await actionsCalledBy(name);
      expect(called.length).toBeGreaterThan(0);
      expect(actionsOf(role)).toEqual([...called, ...byPlatform].sort());
      for (const { Effect } of Object.values(statementsOf(role))) expect(Effect).toBe("Allow");
    },
  );

  /** Every attribute that the sync's one write of a cluster names. */
  const versionAttributes = (): readonly string[] => {
    const { Key, UpdateExpression, ConditionExpression } = raiseClusterVersionParams(
      "state",
      clusterName("eu-1"),
      7,
    );
    const named = `${UpdateExpression} ${ConditionExpression}`.match(/(?<![:#\w])[a-z]\w*/g) ?? [];
    return [...new Set([...Object.keys(Key ?? {}), ...named])];
  };

  const onHistory = (role: string): readonly string[] =>
    Object.values(statementsOf(role)).flatMap(({ Action, Resource: on }) =>
      JSON.stringify(on) === JSON.stringify(arnOf("HistoryTable")) ? Action : [],
    );

  it("let functions insert into history and look at what is there, never change or delete it", () => {
    expect(onHistory("SyncRole")).toEqual([
      "dynamodb:PartiQLInsert",
      "dynamodb:GetItem",
      "dynamodb:BatchGetItem",
      "dynamodb:Query",
    ]);
    expect(onHistory("ApiRole")).toEqual([
      "dynamodb:PartiQLInsert",
      "dynamodb:GetItem",
      "dynamodb:BatchGetItem",
      "dynamodb:Query",
    ]);
    expect(onHistory("ConnectRole")).toEqual(onHistory("ApiRole"));
    expect(onHistory("ViewRole")).toEqual([
      "dynamodb:GetItem",
      "dynamodb:BatchGetItem",
      "dynamodb:Query",
    ]);
    expect(JSON.stringify(statementsOf("ScheduleRole"))).not.toContain("HistoryTable");
  });

  it("let the sync write items of partitions, copies of autoscalers, and of a cluster its version alone: no connection, not the kill switch", () => {
    const writing = Object.values(statementsOf("SyncRole")).filter(({ Action }) =>
      Action.some((action) => /^dynamodb:(Put|Update|Delete|BatchWrite)/.test(action)),
    );
    expect(writing).toMatchObject([
      {
        Resource: arnOf("StateTable"),
        Condition: {
          "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["partition#*"] },
          Null: { "dynamodb:LeadingKeys": "false" },
        },
      },
      {
        Action: ["dynamodb:PutItem", "dynamodb:UpdateItem"],
        Resource: arnOf("StateTable"),
        Condition: {
          "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [autoscalersPk(clusterName("*"))] },
          Null: { "dynamodb:LeadingKeys": "false" },
        },
      },
      {
        Action: ["dynamodb:UpdateItem"],
        Resource: arnOf("StateTable"),
        Condition: {
          "ForAllValues:StringEquals": {
            "dynamodb:LeadingKeys": [FLEET_PK],
            "dynamodb:Attributes": versionAttributes(),
          },
          StringEqualsIfExists: { "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"] },
          Null: { "dynamodb:LeadingKeys": "false", "dynamodb:Attributes": "false" },
        },
      },
    ]);
  });

  it("let editors write no connection and no grant: only the function that connects clusters may", () => {
    const keysOf = (role: string): readonly string[] =>
      Object.values(statementsOf(role))
        .filter(({ Action }) =>
          Action.some((action) => /^dynamodb:(Put|Update|Delete|BatchWrite)/.test(action)),
        )
        .flatMap(
          ({ Condition }) =>
            (Condition as unknown as LeadingKeys)["ForAllValues:StringLike"][
              "dynamodb:LeadingKeys"
            ],
        );
    const edited = [
      FLEET_PK,
      WAKES_PK,
      autoscalersPk(clusterName("*")),
      "partition#*",
      `${WAKE_PK_PREFIX}*`,
    ];
    expect(keysOf("ApiRole")).toEqual(edited);
    expect(keysOf("ConnectRole")).toEqual([...edited, CONNECTIONS_PK, ACCESS_PK, SOURCES_PK]);
    // ForAllValues holds for a request without a key.
    for (const role of ["ApiRole", "ConnectRole"]) {
      expect(statementsOf(role)["EditState"]?.Condition).toMatchObject({
        Null: { "dynamodb:LeadingKeys": "false" },
      });
    }
  });

  it("let viewers write nothing, and let no person reach messages, secrets or clusters", () => {
    // Of queues they see how many messages are dead letters, and no message.
    expect(actionsOf("ViewRole").filter((action) => !LOGS.includes(action))).toEqual([
      "dynamodb:BatchGetItem",
      "dynamodb:DescribeTable",
      "dynamodb:GetItem",
      "dynamodb:Query",
      "sqs:GetQueueAttributes",
    ]);
    expect(actionsOf("ApiRole").filter((action) => !/^(dynamodb|logs):/.test(action))).toEqual([
      "sqs:GetQueueAttributes",
      "sqs:SendMessage",
    ]);
    // To have the sync look at a cluster.
    expect(actionsOf("ConnectRole").filter((action) => !/^(dynamodb|logs):/.test(action))).toEqual([
      "lambda:InvokeFunction",
      "sqs:GetQueueAttributes",
      "sqs:SendMessage",
    ]);
    expect(statementsOf("ConnectRole")["LookAtClusters"]).toMatchObject({
      Resource: arnOf("SyncLambdaFunction"),
    });
  });

  it("name what they may touch: no action and no resource is a star, no account is named", () => {
    // IAM has no resource for a token in which AWS says who asks: its audience bounds it.
    const SIGNED = "SignForClusters";
    for (const role of ofType("AWS::IAM::Role")) {
      for (const [sid, { Action, Resource: on }] of Object.entries(statementsOf(role))) {
        expect(Action.filter((action) => action.includes("*"))).toEqual([]);
        if (sid !== SIGNED) expect(on).not.toBe("*");
      }
    }
    expect(statementsOf("SyncRole")[SIGNED]).toMatchObject({
      Action: ["sts:GetWebIdentityToken"],
      Condition: {
        "ForAllValues:StringLike": { "sts:IdentityTokenAudience": "tidemark-prod/*" },
        Null: { "sts:IdentityTokenAudience": "false" },
      },
    });
    expect(packaged.text).not.toMatch(/\b\d{12}\b(?!\d)/);
  });
});

describe("a parameter", () => {
  const KEY = "arn:aws:kms:eu-central-1:000000000000:key/own";
  // As CloudFormation substitutes it: the name of a parameter in braces.
  const [STATE_TABLE_ARN, HISTORY_TABLE_ARN] = ["ExistingStateTable", "ExistingHistoryTable"].map(
    (name) => `table/\${${name}}`,
  );
  const TOPIC = "arn:aws:sns:eu-central-1:000000000000:ops";
  let compiled: Compiled;
  let encrypted: Compiled;
  beforeAll(async () => {
    compiled = await stack.compile({
      stateTable: "restored-state",
      historyTable: "kept-history",
      subnetIds: "subnet-1,subnet-2",
      securityGroupIds: "sg-1",
      maximumConcurrency: "400",
      reservedConcurrency: "420",
      logDays: "7",
      alarmTopic: TOPIC,
      dashboard: "no",
      sourceMaps: "yes",
      scheduleConcurrency: "none",
      urlConcurrency: "none",
    });
    const { text } = packaged;
    encrypted = {
      text,
      resources: resourcesOf(text, { KeyArn: KEY, AlarmAddress: "ops@example.com" }),
    };
  });
  const arnsOn = (role: string): string =>
    JSON.stringify(compiled.resources[role]?.Properties["Policies"]);

  it("stateTable and historyTable make the stack use those tables and create none", () => {
    const types = Object.values(compiled.resources).map(({ Type }) => Type);
    expect(types).toContain("AWS::Lambda::Function");
    expect(types).not.toContain("AWS::DynamoDB::Table");
    const variables = FUNCTIONS.map((name) => variablesOf(compiled, name));
    expect(new Set(variables.map(({ TIDEMARK_STATE_TABLE }) => TIDEMARK_STATE_TABLE))).toEqual(
      new Set(["restored-state"]),
    );
    expect(variablesOf(compiled, "sync")["TIDEMARK_HISTORY_TABLE"]).toBe("kept-history");
    for (const role of [
      "ScheduleRole",
      "SyncRole",
      "ApiRole",
      "ConnectRole",
      "ViewRole",
      "WakeRole",
      "EventsRole",
    ])
      expect(arnsOn(role)).toContain(STATE_TABLE_ARN);
    for (const role of ["SyncRole", "ApiRole", "ConnectRole", "ViewRole", "EventsRole"])
      expect(arnsOn(role)).toContain(HISTORY_TABLE_ARN);
    expect(JSON.stringify(compiled.resources)).not.toContain('"StateTable"');
  });

  it("kmsKey encrypts tables, queues, logs and variables, and gives the roles that key alone", () => {
    const { resources } = encrypted;
    for (const name of ["StateTable", "HistoryTable"]) {
      expect(resources[name]?.Properties["SSESpecification"]).toEqual({
        SSEEnabled: true,
        SSEType: "KMS",
        KMSMasterKeyId: KEY,
      });
    }
    for (const name of ["SyncQueue", "SyncDeadLetters", "TickDeadLetters"])
      expect(resources[name]?.Properties["KmsMasterKeyId"]).toBe(KEY);
    for (const { Type, Properties } of Object.values(resources)) {
      if (Type === "AWS::Lambda::Function") expect(Properties["KmsKeyArn"]).toBe(KEY);
      if (Type === "AWS::Logs::LogGroup") expect(Properties["KmsKeyId"]).toBe(KEY);
    }
    expect(JSON.stringify(resources["KeyPolicy"]?.Properties["PolicyDocument"])).toContain(KEY);
    expect(resource("SyncLogGroup").Properties).not.toHaveProperty("KmsKeyId");
    expect(packaged.resources).not.toHaveProperty("KeyPolicy");
  });

  it("subnetIds and securityGroupIds put the function that reaches clusters into the VPC, and no other", () => {
    const { resources } = compiled;
    expect(resources["SyncLambdaFunction"]?.Properties["VpcConfig"]).toEqual({
      SubnetIds: ["subnet-1", "subnet-2"],
      SecurityGroupIds: ["sg-1"],
    });
    expect(JSON.stringify(resources["SyncRole"]?.Properties["ManagedPolicyArns"])).toContain(
      "AWSLambdaVPCAccessExecutionRole",
    );
    expect(resource("SyncRole").Properties).not.toHaveProperty("ManagedPolicyArns");
    for (const name of ["Schedule", "Api", "Connect", "View", "Wake"])
      expect(resources[`${name}LambdaFunction`]?.Properties).not.toHaveProperty("VpcConfig");
  });

  it("alarmAddress and alarmTopic name the receivers of alarms; without them no alarm is sent", () => {
    const alarms = ofType("AWS::CloudWatch::Alarm");
    expect(alarms.length).toBeGreaterThan(10);
    for (const name of alarms) {
      expect(resource(name).Properties).not.toHaveProperty("AlarmActions");
      expect(encrypted.resources[name]?.Properties["AlarmActions"]).toEqual([
        { Ref: "AlarmTopic" },
      ]);
      // An alarm of a rise ends by itself a minute later: its end is no news.
      expect(compiled.resources[name]?.Properties["OKActions"], name).toEqual(
        RISING.includes(name) ? undefined : [TOPIC],
      );
    }
    // A key whose policy does not name CloudWatch would keep every alarm back.
    expect(encrypted.resources["AlarmTopic"]?.Properties).not.toHaveProperty("KmsMasterKeyId");
    expect(encrypted.resources["AlarmTopic"]?.Properties["Subscription"]).toEqual([
      { Protocol: "email", Endpoint: "ops@example.com" },
    ]);
    expect(
      [packaged.resources, compiled.resources].map((resources) => "AlarmTopic" in resources),
    ).toEqual([false, false]);
  });

  it("sourceMaps puts the source maps into the packages, and makes Node use them", async () => {
    expect(await packagedFiles("sync")).toContain("dist/sync/main.js.map");
    expect(variablesOf(compiled, "sync")).toMatchObject({
      NODE_OPTIONS: "--max-semi-space-size=8 --enable-source-maps",
    });
    expect(variablesOf(compiled, "api")).toMatchObject({ NODE_OPTIONS: "--enable-source-maps" });
  });

  it("scheduleConcurrency keeps some for the planning, and urlConcurrency bounds each function with a URL", () => {
    const reserved = ({ resources }: Compiled) =>
      ["Schedule", "Api", "Connect", "View", "Wake"].map(
        (name) => resources[`${name}LambdaFunction`]?.Properties["ReservedConcurrentExecutions"],
      );
    expect(reserved(packaged)).toEqual(["2", "10", "10", "10", "2"]);
    expect(reserved(compiled)).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  it("organizationId and externalId are what a role of another account must be, and what it is asked with", () => {
    const { text } = packaged;
    const conditionFor = (values: Readonly<Record<string, string>>): Json | undefined => {
      return statementsOf("SyncRole", resourcesOf(text, values))["EnterOtherAccounts"]?.Condition;
    };
    const [OrganizationId, ExternalId] = ["o-abc1234567", "tidemark-prod-7f3a"];
    expect(conditionFor({})).toBeUndefined();
    expect(conditionFor({ OrganizationId })).toEqual({
      StringEquals: { "aws:ResourceOrgID": OrganizationId },
    });
    expect(conditionFor({ ExternalId })).toEqual({
      StringEquals: { "sts:ExternalId": ExternalId },
    });
    expect(conditionFor({ OrganizationId, ExternalId })).toEqual({
      StringEquals: { "aws:ResourceOrgID": OrganizationId, "sts:ExternalId": ExternalId },
    });
    const variables = resourcesOf(text, { ExternalId })["SyncLambdaFunction"]?.Properties[
      "Environment"
    ];
    expect(variables).toMatchObject({ Variables: { TIDEMARK_EXTERNAL_ID: ExternalId } });
  });

  it("alarmOwners and ownerTopics let the planning publish to those topics, and to none without them", () => {
    expect(statementsOf("ScheduleRole")["TellOwners"]).toBeUndefined();
    const topics = "arn:aws:sns:eu-central-1:1:payments,arn:aws:sns:eu-central-1:1:search";
    const given = resourcesOf(packaged.text, {
      AlarmOwners: "payments,search",
      OwnerTopics: topics,
    });
    expect(statementsOf("ScheduleRole", given)["TellOwners"]).toMatchObject({
      Action: ["sns:Publish"],
      Resource: topics.split(","),
    });
    const { Environment } = given["ScheduleLambdaFunction"]?.Properties ?? {};
    expect(JSON.stringify(Environment)).toContain("search");
  });

  it("alarmAddress and alarmTopic let the planning send names to their topic, and to none without them", () => {
    expect(statementsOf("ScheduleRole")["TellPeople"]).toBeUndefined();
    const topic = "arn:aws:sns:eu-central-1:1:ops";
    for (const [given, wanted] of [
      [{ AlarmTopicArn: topic }, topic],
      [{ AlarmAddress: "ops@example.com" }, { Ref: "AlarmTopic" }],
    ] as const) {
      const resources = resourcesOf(packaged.text, given);
      expect(statementsOf("ScheduleRole", resources)["TellPeople"]).toMatchObject({
        Action: ["sns:Publish"],
        Resource: wanted,
      });
      expect(resources["ScheduleLambdaFunction"]?.Properties["Environment"]).toMatchObject({
        Variables: { TIDEMARK_ALARM_TOPIC: wanted },
      });
    }
  });

  it("dashboard leaves the dashboard out", () => {
    expect(
      [packaged.resources, compiled.resources].map((resources) => "Dashboard" in resources),
    ).toEqual([true, false]);
  });

  it("maximumConcurrency, reservedConcurrency and logDays set what they name", () => {
    const { resources } = compiled;
    const [mapping] = Object.values(resources).filter(
      ({ Type }) => Type === "AWS::Lambda::EventSourceMapping",
    );
    expect(JSON.stringify(mapping?.Properties["ScalingConfig"])).toContain("400");
    expect(
      Number(resources["SyncLambdaFunction"]?.Properties["ReservedConcurrentExecutions"]),
    ).toBe(420);
    expect(Number(resources["SyncLogGroup"]?.Properties["RetentionInDays"])).toBe(7);
    expect(lambdaOf("sync").Properties).not.toHaveProperty("ReservedConcurrentExecutions");
  });
});

describe("the outputs", () => {
  it("tell URLs, roles, tables and queues", () => {
    const { Outputs }: { readonly Outputs: Readonly<Record<string, Json>> } = JSON.parse(
      packaged.text,
    );
    const names = [
      "Version",
      "SyncRoleArn",
      "StateTableName",
      "HistoryTableName",
      "SyncQueueUrl",
      "SyncDeadLettersUrl",
      "TickDeadLettersUrl",
    ];
    expect(Object.keys(Outputs)).toEqual(
      expect.arrayContaining([
        ...names,
        "ApiLambdaFunctionUrl",
        "ConnectLambdaFunctionUrl",
        "ViewLambdaFunctionUrl",
      ]),
    );
  });
});
