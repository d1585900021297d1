import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { DeleteItemCommand, type DynamoDBClient, GetItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startSimulatedCluster } from "../../lib/local/cluster/simulated-cluster.ts";
import { SYNC_QUEUE } from "../../lib/local/run/names.ts";
import { type Queues, startQueues } from "../../lib/local/run/run-queues.ts";
import { ensureTables } from "../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import { openService } from "../../lib/service/open.ts";
import type { Service } from "../../lib/service/service.ts";
import { type Troubles, troublesOf, troublesText } from "../../lib/store/head/troubles.ts";
import { insertByStatement } from "../../lib/store/history/insert.ts";
import { tableDefinitions } from "../../lib/store/table/tables.ts";
import { openAccount, type Statement } from "./lambda/account.ts";
import { HAS_DYNOXIDE, startDynoxide } from "./lambda/dynoxide.ts";
import { keyOf, type Sample, samplesIn } from "./lambda/emitted.ts";
import { fires } from "./lambda/fires.ts";
import { type Environment, startEnvironment } from "./lambda/runtime-api.ts";
import { CLUSTER_ADDRESS, type LoadBalancer, startLoadBalancer } from "./load-balancer.ts";
import { type Json, packageStack, type Resource, type Stack } from "./packaged.ts";

/**
 * The condition of each alarm happens once to the packaged functions, and the alarm of the template is evaluated on what they sent. What Lambda and SQS count of calls and messages is counted here by what was
 * seen of them, with the dimensions that they have.
 */
const TABLES = { stateTable: "tidemark-prod-state", historyTable: "tidemark-prod-history" };
const SECRET = "tidemark-prod/eu-1";
const PERIOD_MS = 15_000;
const MINUTE_MS = 60_000;
/** A scale whose answer was lost stays open until no copy of its request can take effect any more. */
const OUTCOME_MS = 100_000;
const VISIBILITY_MS = 180_000;
const NAMES = { StateTable: TABLES.stateTable, HistoryTable: TABLES.historyTable, SyncQueue: SYNC_QUEUE };

/** Nothing on this machine makes these happen: Lambda and DynamoDB alone send the throttles, and only Lambda moves a failed asynchronous call to its destination. */
const OF_AWS_ALONE = ["FunctionsThrottled", "RequestsThrottled", "TablesThrottled", "TickDeadLettersFilled"];

const closing: (() => Promise<void>)[] = [];
let stack: Stack;
let sync: Environment;
let startSync: () => Promise<Environment>;
let schedule: Environment;
let queues: Queues;
let balancer: LoadBalancer;
let state: DynamoDBClient;
let clusterAnswers: (answers: boolean) => void;
let service: Service;
let loseAnswerOfScale: () => void;
let refuseScales: () => void;
let kubeconfigPath: string;
let queueAheadMs = 0;
const driven = new Set<string>();

const MANIFEST = JSON.stringify({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } }],
  },
});
/** Four pods would be right, and it has two. */
const WEB = {
  requests: { cpuMillicores: 500, memoryBytes: 2 ** 28 },
  limits: { cpuMillicores: 600, memoryBytes: 2 ** 29 },
  namespace: "shop",
  name: "web",
  trace: { points: [{ atMs: 0, value: 100 }], unit: "calls", stepMs: MINUTE_MS },
  initialReplicas: 2,
  cpuMillicoresPerUnit: 12,
};

const startCluster = async (): Promise<void> => {
  let aheadMs = -10 * MINUTE_MS;
  const cluster = await startSimulatedCluster({
    dataDir: join(stack.folder, "cluster"),
    clock: () => Date.now() + aheadMs,
    seed: 1,
    workloads: [WEB],
  });
  aheadMs = 0;
  closing.push(() => cluster.close());
  kubeconfigPath = cluster.kubeconfigPath;
  balancer = await startLoadBalancer(kubeconfigPath);
  closing.push(() => balancer.close());
  clusterAnswers = (answers) => {
    cluster.faults.clear();
    if (!answers) cluster.faults.add({ kind: "status", code: 500, reason: "InternalError", message: "etcd is gone", path: "/" });
  };
  refuseScales = () =>
    void cluster.faults.add({
      kind: "status",
      code: 403,
      reason: "Forbidden",
      message: "no right to scale",
      path: "/apis/apps/v1/namespaces/shop/deployments/web/scale",
      method: "PUT",
    });
  loseAnswerOfScale = () =>
    void cluster.faults.add({ kind: "reset", path: "/apis/apps/v1/namespaces/shop/deployments/web/scale", method: "PUT", times: 1 });
};

const startTables = async (endpoint: string): Promise<void> => {
  state = tablesClient(endpoint);
  closing.push(async () => state.destroy());
  await ensureTables(state, tableDefinitions(TABLES));
  const tables = { client: state, ...TABLES, clock: Date.now, wait: async () => undefined, random: Math.random, token: randomUUID };
  service = openService({ tables, insert: insertByStatement(tables), clock: Date.now, by: "test", newUid: randomUUID });
  await service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: SECRET } });
  await service.apply([{ file: "web.json", text: MANIFEST }], { dryRun: false });
};

const propertiesOf = (name: string): Resource["Properties"] => stack.packaged.resources[name]?.Properties ?? {};
const textVariablesOf = (name: string): Readonly<Record<string, string>> => {
  const { Variables } = propertiesOf(name)["Environment"] as { readonly Variables: Readonly<Record<string, Json>> };
  return Object.fromEntries(Object.entries(Variables).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
};

beforeAll(async () => {
  if (!HAS_DYNOXIDE) return;
  stack = await packageStack();
  closing.push(stack.done);
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  queues = await startQueues(join(stack.folder, "queues.jsonl"), () => Date.now() + queueAheadMs);
  closing.push(queues.close);
  await startCluster();
  await startTables(dynoxide.endpoint);
  const statementsOf = (role: string): readonly Statement[] => {
    const { Policies } = propertiesOf(role) as unknown as {
      readonly Policies: readonly { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }[];
    };
    return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  };
  const account = await openAccount({
    dynamodb: dynoxide.endpoint,
    sqs: queues.endpoint,
    eks: {},
    secrets: { [SECRET]: balancer.kubeconfig },
    invoke: async () => undefined,
    roles: { schedule: statementsOf("ScheduleRole"), sync: statementsOf("SyncRole") },
    names: NAMES,
  });
  closing.push(account.close);
  const start = async (name: "schedule" | "sync", more: Readonly<Record<string, string>>): Promise<Environment> => {
    const started = await startEnvironment({
      taskRoot: stack.folder,
      handler: `dist/${name}/index.handler`,
      timeoutMs: 30_000,
      environment: {
        ...textVariablesOf(name === "sync" ? "SyncLambdaFunction" : "ScheduleLambdaFunction"),
        TIDEMARK_CLUSTER_METRICS: "none",
        TIDEMARK_STATE_TABLE: TABLES.stateTable,
        STAND_IN_ROUTE: `${CLUSTER_ADDRESS}=127.0.0.1`,
        AWS_ENDPOINT_URL: account.endpoint,
        AWS_ACCESS_KEY_ID: name,
        ...more,
      },
    });
    closing.push(started.stop);
    return started;
  };
  schedule = await start("schedule", { TIDEMARK_SYNC_QUEUE_URL: queues.syncUrl.replace(queues.endpoint, account.endpoint) });
  startSync = () => start("sync", { TIDEMARK_HISTORY_TABLE: TABLES.historyTable });
  sync = await startSync();
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const HEAD = { pk: { S: "partition#eu-1#default" }, sk: { S: "head" } };
/** The edit of a period gives a partition time for its first sync by it: as if that was long ago. */
const longAgo = (): Promise<unknown> =>
  state.send(
    new UpdateItemCommand({
      TableName: TABLES.stateTable,
      Key: { pk: { S: "fleet" }, sk: { S: "cluster#eu-1" } },
      UpdateExpression: "SET plannedFromMs = :zero",
      ExpressionAttributeValues: { ":zero": { N: "0" } },
    }),
  );

const messageDue = (dueMs: number): string => JSON.stringify({ cluster: "eu-1", partition: "default", dueMs, periodMs: PERIOD_MS });
const eventOfMessage = (body: string) => ({
  Records: [{ messageId: "m", receiptHandle: "r", body, attributes: {}, messageAttributes: {}, eventSource: "aws:sqs" }],
});
let lastDueMs = 0;
/** Due times rise, so that no message is dropped as a copy. */
const dueNow = (): number => {
  lastDueMs = Math.max(lastDueMs + 1, Date.now());
  return lastDueMs;
};

const counted = (namespace: string, name: string, dimensions: Json, value: number): Sample => ({
  key: keyOf({ namespace, name, dimensions }),
  value,
});
const ofFunction = (name: string, logicalId: string, value: number): Sample =>
  counted("AWS/Lambda", name, { FunctionName: { Ref: logicalId } }, value);
const ofQueue = (name: string, logicalId: string, value: number): Sample =>
  counted("AWS/SQS", name, { QueueName: { "Fn::GetAtt": [logicalId, "QueueName"] } }, value);

/** One call of a function: the samples that it sent, and those that Lambda sends of every call. */
const called = async (environment: Environment, logicalId: string, event: unknown): Promise<readonly Sample[]> => {
  const before = environment.log().length;
  const { kind } = await environment.invoke(event);
  const ofLambda = [ofFunction("Invocations", logicalId, 1), ofFunction("Errors", logicalId, kind === "error" ? 1 : 0)];
  return [...samplesIn(environment.log().slice(before)), ...ofLambda];
};
const synced = (body: string): Promise<readonly Sample[]> => called(sync, "SyncLambdaFunction", eventOfMessage(body));
const planned = (event: unknown): Promise<readonly Sample[]> => called(schedule, "ScheduleLambdaFunction", event);
const TICK = () => ({ scheduledTime: new Date(Date.now()).toISOString() });

const UNREADABLE = "no message";

/** As many minutes in a row as the alarm looks at, in each of which the condition happens once. */
const minutesOf = async (condition: () => Promise<readonly Sample[]>, count = 5): Promise<readonly (readonly Sample[])[]> => {
  const minutes: (readonly Sample[])[] = [];
  for (let minute = 0; minute < count; minute++) minutes.push(await condition());
  return minutes;
};
/** The alarm is silent on a quiet minute, and fires when its condition goes on. */
const expectFiring = (name: string, minutes: readonly (readonly Sample[])[]): void => {
  driven.add(name);
  expect(fires(propertiesOf(name), minutes), `${name}\n${sync.log().slice(-2_000)}`).toBe(true);
};

/** A person scales the workload beside Tidemark. */
const scaleByHand = async (replicas: number): Promise<void> => {
  const { clusters, users } = parse(readFileSync(kubeconfigPath, "utf8"));
  const [{ cluster }, { user }] = [clusters[0], users[0]];
  const url = `${cluster.server}/apis/apps/v1/namespaces/shop/deployments/web/scale`;
  const ca = Buffer.from(cluster["certificate-authority-data"], "base64");
  const call = (method: string, body?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${user.token}`, "content-type": "application/json" };
      const request = https.request(url, { method, ca, headers }, (answer) => void text(answer).then(resolve, reject));
      request.on("error", reject);
      request.end(body);
    });
  const scale = JSON.parse(await call("GET"));
  await call("PUT", JSON.stringify({ ...scale, spec: { replicas } }));
};

describe.skipIf(!HAS_DYNOXIDE)("each alarm on what the packaged functions send, which needs the table engine @dynoxide/linux-x64", () => {
  it("is silent while minutes are planned and syncs complete", async () => {
    const quiet = await minutesOf(async () => [
      ...(await planned(TICK())),
      ofQueue("NumberOfMessagesSent", "SyncQueue", 4),
      ...(await synced(messageDue(dueNow()))),
    ]);
    const alarms = Object.entries(stack.packaged.resources).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");
    expect(alarms.filter(([, { Properties }]) => fires(Properties, quiet)).map(([name]) => name)).toEqual([]);
    expect(JSON.stringify(quiet)).toContain("CompletedSyncs");
  });

  it("PlanningStopped fires where no call comes, and where every call fails", async () => {
    expectFiring("PlanningStopped", []);
    expectFiring("PlanningStopped", await minutesOf(() => planned({ scheduledTime: "noon" }), 2));
  });

  it("FunctionsFail fires where the function sync fails", async () => {
    expectFiring("FunctionsFail", await minutesOf(() => called(sync, "SyncLambdaFunction", null)));
  });

  it("SyncsFailed fires where messages fail", async () => {
    expectFiring("SyncsFailed", await minutesOf(() => synced(UNREADABLE)));
  });

  it("SyncDeadLettersFilled fires where a message was received five times and failed", async () => {
    queues.sync.send({ body: UNREADABLE, delayMs: 0 });
    for (let receives = 0; receives < 6; receives++) {
      for (const { body } of queues.sync.receive(1_000)) if (body === UNREADABLE) await synced(body);
      queueAheadMs += VISIBILITY_MS + 1;
    }
    expectFiring("SyncDeadLettersFilled", [[ofQueue("ApproximateNumberOfMessagesVisible", "SyncDeadLetters", queues.dead.counts().visible)]]);
  });

  it("SyncsLate fires where messages wait for more than 15 s", async () => {
    let dueMs = Date.now() - 25_000;
    expectFiring("SyncsLate", await minutesOf(() => synced(messageDue(dueMs++))));
  });

  it("ClocksWrong fires where messages are due in the future", async () => {
    expectFiring("ClocksWrong", await minutesOf(() => synced(messageDue(Date.now() + 10 * MINUTE_MS))));
  });

  it("ScalesUnknown fires where the answer to a scale is lost and the workload moves before the next look", async () => {
    await scaleByHand(1);
    loseAnswerOfScale();
    const lost = await synced(messageDue(dueNow()));
    await scaleByHand(2);
    const later: Sample[] = [...lost];
    for (const deadline = Date.now() + OUTCOME_MS; Date.now() < deadline && !JSON.stringify(later).includes("ScalesUnknown"); ) {
      later.push(...(await synced(messageDue(dueNow()))));
      await wait(1_000);
    }
    expectFiring("ScalesUnknown", [later]);
  }, 120_000);

  /** What the head has of this partition, as if it had lasted: the functions run by the real clock. */
  const since = async (change: (troubles: Troubles) => Troubles, syncedAgoMs = 0): Promise<void> => {
    const { Item = {} } = await state.send(new GetItemCommand({ TableName: TABLES.stateTable, Key: HEAD }));
    const text = troublesText(change(troublesOf(Item["troubles"]?.S)));
    await state.send(
      new UpdateItemCommand({
        TableName: TABLES.stateTable,
        Key: HEAD,
        UpdateExpression: text === undefined ? "SET nowMs = :now REMOVE troubles" : "SET nowMs = :now, troubles = :troubles",
        ExpressionAttributeValues: {
          ":now": { N: String(Date.now() - syncedAgoMs) },
          ...(text !== undefined && { ":troubles": { S: text } }),
        },
      }),
    );
  };
  /** As if no problem was told yet. */
  const forget = (): Promise<unknown> =>
    state.send(new DeleteItemCommand({ TableName: TABLES.stateTable, Key: { pk: { S: "plan" }, sk: { S: "problems" } } }));
  const isOn = async (name: string): Promise<boolean> => fires(propertiesOf(name), [await planned(TICK())]);

  it("ClusterProblems fires once where the API server has answered nothing but errors for five minutes, and neither before nor while the cluster is paused", async () => {
    await forget();
    clusterAnswers(false);
    await synced(messageDue(dueNow()));
    await synced(messageDue(dueNow()));
    expect(await isOn("ClusterProblems")).toBe(false);
    await since((troubles) => {
      expect(troubles.unreachableMs).toBeGreaterThan(0);
      return { ...troubles, unreachableMs: Date.now() - 6 * MINUTE_MS };
    });
    await service.pauseCluster("eu-1");
    expect(await isOn("ClusterProblems")).toBe(false);
    await service.resumeCluster("eu-1");
    expectFiring("ClusterProblems", [await planned(TICK())]);
    expect(schedule.log()).toContain("1 cluster cannot be read for 5 minutes: eu-1 since ");
    expect(await isOn("ClusterProblems")).toBe(false);
    clusterAnswers(true);
    await synced(messageDue(dueNow()));
    await forget();
    expect(await isOn("ClusterProblems")).toBe(false);
  });

  it("AutoscalerProblems fires where every scale is refused for 15 minutes, and not before", async () => {
    await forget();
    await scaleByHand(1);
    refuseScales();
    await synced(messageDue(dueNow()));
    expect(await isOn("AutoscalerProblems")).toBe(false);
    await since((troubles) => {
      const { refused } = troubles.of;
      if (!refused) throw new TypeError(`nothing was refused: ${sync.log().slice(-2_000)}`);
      return { of: { refused: { ...refused, since: new Map([...refused.since].map(([key, ms]) => [key, ms - 17 * MINUTE_MS])) } } };
    });
    expectFiring("AutoscalerProblems", [await planned(TICK())]);
    expect(schedule.log()).toContain("1 autoscaler could not scale for 15 minutes: eu-1/default (shop/web)");
    clusterAnswers(true);
    await synced(messageDue(dueNow()));
    await forget();
    expect(await isOn("AutoscalerProblems")).toBe(false);
  });

  it("SyncsStopped fires where a partition was not synced for three periods, and not for a cluster with a period of five minutes", async () => {
    await forget();
    await since((troubles) => troubles, 10 * MINUTE_MS);
    await service.replaceCluster({ name: "eu-1", syncPeriodMs: 5 * MINUTE_MS });
    expect(await isOn("SyncsStopped")).toBe(false);
    await service.replaceCluster({ name: "eu-1", syncPeriodMs: PERIOD_MS });
    await longAgo();
    expectFiring("SyncsStopped", [await planned(TICK())]);
    await synced(messageDue(dueNow()));
  });

  it("ItemsUnreadable fires where a page of windows is damaged", async () => {
    const { Items = [] } = await state.send(new ScanCommand({ TableName: TABLES.stateTable }));
    const pages = Items.filter(({ sk }) => sk?.S?.startsWith("page#"));
    expect(pages.length).toBe(1);
    for (const { pk, sk } of pages) {
      await state.send(
        new UpdateItemCommand({
          TableName: TABLES.stateTable,
          Key: { pk: pk ?? { S: "" }, sk: sk ?? { S: "" } },
          UpdateExpression: "SET body = :body",
          ExpressionAttributeValues: { ":body": { B: Buffer.from([9, 9, 9]) } },
        }),
      );
    }
    await sync.stop();
    sync = await startSync();
    expectFiring("ItemsUnreadable", [await synced(messageDue(dueNow()))]);
  });

  it("is one of these, or of a metric that AWS alone sends", () => {
    const alarms = Object.entries(stack.packaged.resources).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");
    expect([...driven, ...OF_AWS_ALONE].toSorted()).toEqual(alarms.map(([name]) => name).toSorted());
  });
});
