import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DeleteItemCommand, DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FunctionName } from "../../build/build.ts";
import { COMMAND_PATHS, KEY_HEADER, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { startSimulatedCluster } from "../../lib/embedded/cluster/simulated-cluster.ts";
import { openQueueJournal, openQueue, type Queue } from "../../lib/embedded/queue/queue.ts";
import { startSqsServer } from "../../lib/embedded/queue/sqs-server.ts";
import { ensureTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import {
  getConnection,
  getFleet,
  putConnection,
  putFleet,
} from "../../lib/stack/store/records/clusters.ts";
import { clusterKey, connectionKey, headKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { type Asked, eventOf } from "../api/world.ts";
import { type Call, openAccount, type Statement } from "./lambda/account.ts";
import { HAS_DYNOXIDE, startDynoxide } from "./lambda/dynoxide.ts";
import { type Environment, startEnvironment } from "./lambda/runtime-api.ts";
import { CLUSTER_ADDRESS, type LoadBalancer, startLoadBalancer } from "./load-balancer.ts";
import type { Packaged } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

/**
 * The packaged functions, each in a process of its own behind Lambda's Runtime API, with the rights
 * that the template gives its role and no other. Tables (with PartiQL), queue and cluster are real
 * servers on loopback.
 */
const NAMES = {
  StateTable: "tidemark-prod-state",
  HistoryTable: "tidemark-prod-history",
  SyncQueue: "tidemark-prod-sync",
  SyncLambdaFunction: "tidemark-prod-sync",
};
const TABLES = { stateTable: NAMES.StateTable, historyTable: NAMES.HistoryTable };
const SECRET = "tidemark-prod/eu-1";
/** As a stack has them that keeps no leases of the fleet. */
const LEASES = { TIDEMARK_WITNESS_TABLE: "none", TIDEMARK_TAKE_OVER_MINUTES: "0" };
const CONNECT_URL = "https://connect.lambda-url.eu-central-1.on.aws/";
const MINUTE_MS = 60_000;
const PERIOD_MS = 15_000;
const closing: (() => Promise<void>)[] = [];

let schedule: Environment;
let sync: Environment;
let api: Environment;
let connect: Environment;
let view: Environment;
let wake: Environment;
let service: Service;
let queue: Queue;
let calls: readonly Call[];
let balancer: LoadBalancer;
const secrets: Record<string, string> = {};
let tickInput: string;
/** A client of the tables with the rights of a role. */
let tablesFor: (role: string) => { readonly client: DynamoDBClient } & typeof TABLES;
let refusedOnPurpose = 0;
/** The queue's clock can be moved ahead, to receive at once what was delayed. */
let queueAheadMs = 0;

const POD = {
  requests: { cpuMillicores: 500, memoryBytes: 2 ** 28 },
  limits: { cpuMillicores: 600, memoryBytes: 2 ** 29 },
};
/**
 * A load of 100 units that costs 12 millicores each: four pods at 60 % of their request, two at
 * more than their limit.
 */
const WEB = {
  ...POD,
  namespace: "shop",
  name: "web",
  trace: { points: [{ atMs: 0, value: 100 }], unit: "calls", stepMs: MINUTE_MS },
  initialReplicas: 2,
  cpuMillicoresPerUnit: 12,
};

/**
 * Properties of a resource of the template; the shape is the template's, which the tests of the
 * stack assert.
 */
const propertiesOf = <Shape>(resources: Packaged["resources"], name: string): Shape => {
  const found = resources[name];
  if (found === undefined) throw new Error(`Cannot find "${name}" in the template`);
  return found.Properties as unknown as Shape;
};
const statementsOf = (resources: Packaged["resources"], role: string): readonly Statement[] =>
  propertiesOf<{
    readonly Policies: readonly {
      readonly PolicyDocument: { readonly Statement: readonly Statement[] };
    }[];
  }>(resources, role).Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

/** A cluster whose pods have been running for ten minutes when the test looks. */
const startCluster = async (dataDir: string) => {
  let aheadMs = -10 * MINUTE_MS;
  const cluster = await startSimulatedCluster({
    dataDir,
    clock: () => Date.now() + aheadMs,
    seed: 1,
    workloads: [WEB],
  });
  aheadMs = 0;
  closing.push(() => cluster.close());
  return cluster;
};

let state: DynamoDBClient;

const serviceOver = async (dynamodb: string): Promise<Service> => {
  const client = tablesClient(dynamodb);
  closing.push(async () => client.destroy());
  state = client;
  await ensureTables(client, tableDefinitions(TABLES));
  const tables = {
    client,
    ...TABLES,
    clock: Date.now,
    wait: async () => undefined,
    random: Math.random,
    token: randomUUID,
  };
  return openService({
    tables,
    insert: insertByStatement(tables),
    clock: Date.now,
    by: "test",
    newUid: randomUUID,
  });
};

const MANIFEST = JSON.stringify({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
      },
    ],
  },
});

const startAll = async (): Promise<void> => {
  const stack = await sharedStack();
  closing.push(stack.done);
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  const journal = openQueueJournal(join(stack.folder, "queue.jsonl"));
  queue = openQueue(journal, () => Date.now() + queueAheadMs, {
    name: NAMES.SyncQueue,
    visibilityTimeoutMs: MINUTE_MS,
    retentionMs: 60 * MINUTE_MS,
  });
  const sqs = await startSqsServer([queue]);
  closing.push(sqs.close, async () => journal.close());
  const cluster = await startCluster(join(stack.folder, "cluster"));
  balancer = await startLoadBalancer(cluster.kubeconfigPath);
  closing.push(balancer.close);
  for (const name of [SECRET, "tidemark-prod/eu-2"]) secrets[name] = balancer.kubeconfig;
  const { resources } = stack.packaged;
  tickInput = propertiesOf<{ readonly Target: { readonly Input: string } }>(resources, "Tick")
    .Target.Input;
  const account = await openAccount({
    dynamodb: dynoxide.endpoint,
    sqs: sqs.endpoint,
    eks: {
      prod: {
        name: "prod",
        endpoint: `https://${CLUSTER_ADDRESS}:${balancer.port}`,
        certificateAuthority: { data: Buffer.from(balancer.ca).toString("base64") },
      },
    },
    secrets,
    invoke: async (name, payload) => {
      expect(name).toBe(NAMES.SyncLambdaFunction);
      return (await sync.invoke(payload)).body;
    },
    roles: {
      schedule: statementsOf(resources, "ScheduleRole"),
      sync: statementsOf(resources, "SyncRole"),
      api: statementsOf(resources, "ApiRole"),
      connect: statementsOf(resources, "ConnectRole"),
      view: statementsOf(resources, "ViewRole"),
      wake: statementsOf(resources, "WakeRole"),
    },
    names: NAMES,
  });
  closing.push(account.close);
  calls = account.calls;
  service = await serviceOver(dynoxide.endpoint);
  tablesFor = (role) => {
    const client = new DynamoDBClient({
      endpoint: account.endpoint,
      region: "eu-central-1",
      credentials: { accessKeyId: role, secretAccessKey: "none" },
      maxAttempts: 1,
    });
    closing.push(async () => client.destroy());
    return { client, ...TABLES };
  };
  await service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: SECRET } });
  await service.apply([{ file: "web.json", text: MANIFEST }], { dryRun: false });
  const start = async (
    name: FunctionName,
    environment: Readonly<Record<string, string>>,
  ): Promise<Environment> => {
    const started = await startEnvironment({
      taskRoot: stack.folder,
      handler: `dist/${name}/index.handler`,
      timeoutMs: 30_000,
      environment: {
        ...environment,
        STAND_IN_ROUTE: `${CLUSTER_ADDRESS}=127.0.0.1`,
        AWS_ENDPOINT_URL: account.endpoint,
        AWS_ACCESS_KEY_ID: name,
        TIDEMARK_STATE_TABLE: TABLES.stateTable,
        TIDEMARK_SYNC_DEAD_LETTERS_URL: `${account.endpoint}/000000000000/sync-dead-letters`,
        TIDEMARK_TICK_DEAD_LETTERS_URL: `${account.endpoint}/000000000000/tick-dead-letters`,
      },
    });
    closing.push(started.stop);
    return started;
  };
  // The SDK sends to the host of the URL of the queue, and that of an account is its own.
  const queueUrl = sqs.urlOf(queue).replace(sqs.endpoint, account.endpoint);
  schedule = await start("schedule", {
    TIDEMARK_SYNC_QUEUE_URL: queueUrl,
    TIDEMARK_ALARM_OWNERS: "none",
    TIDEMARK_OWNER_TOPICS: "none",
    TIDEMARK_ALARM_TOPIC: "none",
    ...LEASES,
  });
  sync = await start("sync", {
    TIDEMARK_HISTORY_TABLE: TABLES.historyTable,
    TIDEMARK_CLUSTER_METRICS: "few",
    TIDEMARK_EXTERNAL_ID: "none",
  });
  const answering = { TIDEMARK_CALLED_BY: "url" };
  api = await start("api", {
    ...answering,
    TIDEMARK_HISTORY_TABLE: TABLES.historyTable,
    TIDEMARK_CONNECT_URL: CONNECT_URL,
    TIDEMARK_SYNC_QUEUE_URL: queueUrl,
  });
  connect = await start("connect", {
    ...answering,
    TIDEMARK_HISTORY_TABLE: TABLES.historyTable,
    TIDEMARK_SYNC_QUEUE_URL: queueUrl,
    TIDEMARK_SYNC_FUNCTION: NAMES.SyncLambdaFunction,
    ...LEASES,
  });
  view = await start("view", { ...answering, TIDEMARK_HISTORY_TABLE: TABLES.historyTable });
  wake = await start("wake", { TIDEMARK_SYNC_QUEUE_URL: queueUrl });
};

const deliver = (bodies: readonly string[]): ReturnType<Environment["invoke"]> =>
  sync.invoke({
    Records: bodies.map((body, at) => ({
      messageId: `m${at}`,
      receiptHandle: `r${at}`,
      body,
      attributes: {},
      messageAttributes: {},
      eventSource: "aws:sqs",
    })),
  });
/** What a function that answers people says to one request. */
const answered = async (
  environment: Environment,
  asked: Asked,
): Promise<{ readonly status: number; readonly json: unknown }> => {
  const { body } = await environment.invoke(eventOf(asked));
  const { statusCode, body: text } = body as { readonly statusCode: number; readonly body: string };
  return { status: statusCode, json: JSON.parse(text) };
};
/** The calls of the account that one request makes, counted by action. */
const callsOf = async (work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> => {
  const before = calls.length;
  await work();
  return Object.fromEntries(
    Object.entries(
      Object.groupBy(calls.slice(before), ({ action }) => action.split(":")[1] ?? ""),
    ).map(([action, made = []]) => [action, made.length]),
  );
};

const events = async (): Promise<
  readonly { readonly from: number; readonly to: number; readonly outcome: string }[]
> => {
  const found = [];
  for await (const { from, to, outcome } of service.events({})) found.push({ from, to, outcome });
  return found;
};

describe.skipIf(!HAS_DYNOXIDE)(
  "the packaged functions, which needs the table engine @dynoxide/linux-x64",
  () => {
    beforeAll(startAll);
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
    });
    let bodies: readonly string[] = [];
    let plannedMs = 0;

    it("plan from what the schedule sends: a sync of the only partition for each period from now on, since it was just added", async () => {
      // Late by a minute, so that the minute planned is the next one and the messages are not far
      // ahead.
      const scheduled = new Date(Date.now() - MINUTE_MS).toISOString().replace(/\.\d+Z/, "Z");
      const event: unknown = JSON.parse(
        tickInput.replace("<aws.scheduler.scheduled-time>", scheduled),
      );
      expect(await schedule.invoke(event)).toEqual({ kind: "response", body: null });
      expect(queue.counts().delayed).toBeGreaterThan(0);
      queueAheadMs = 10 * MINUTE_MS;
      bodies = queue.receive(10).map(({ body }) => body);
      const messages: readonly {
        readonly cluster: string;
        readonly partition: string;
        readonly dueMs: number;
      }[] = bodies.map((body) => JSON.parse(body));
      expect(new Set(messages.map(({ cluster, partition }) => `${cluster}/${partition}`))).toEqual(
        new Set(["eu-1/default"]),
      );
      const dues = messages.map(({ dueMs }) => dueMs).toSorted((one, other) => one - other);
      expect(dues.length).toBeGreaterThanOrEqual(4);
      plannedMs = dues[0] ?? 0;
      expect(dues.map((dueMs, at) => dueMs - at * 15_000)).toEqual(dues.map(() => dues[0]));
      // Nothing here waits for an instant: what is delivered below is due a second after the other,
      // and lately.
      const dueFromMs = Date.now() - MINUTE_MS / 3;
      bodies = messages.map((message, at) =>
        JSON.stringify({ ...message, dueMs: dueFromMs + at * 1_000 }),
      );
    });

    it("scale a workload of a cluster known by a kubeconfig in a secret", async () => {
      expect(await deliver(bodies.slice(0, 1))).toEqual({
        kind: "response",
        body: { batchItemFailures: [] },
      });
      expect(await events(), sync.log()).toEqual([{ from: 2, to: 4, outcome: "applied" }]);
    });

    it("do nothing with a copy of a message", async () => {
      expect(await deliver(bodies.slice(0, 1))).toEqual({
        kind: "response",
        body: { batchItemFailures: [] },
      });
      expect((await events()).length).toBe(1);
    });

    it("wake by what the bus and a topic send: one extra sync, which the second of them joins", async () => {
      // No planned sync may be near, which would do the work of the wake.
      const sinceMs = (Date.now() - plannedMs) % PERIOD_MS;
      const untilNextMs = (sinceMs < 0 ? 0 : PERIOD_MS) - sinceMs;
      if (untilNextMs < PERIOD_MS / 2) await wait(untilNextMs + 100);
      queue.receive(10);
      const detail = { cluster: "eu-1", namespace: "shop", names: ["web"], reason: "deploy 42" };
      const time = new Date().toISOString();
      const ofBus = {
        ...{ version: "0", id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718", "detail-type": "wake" },
        ...{ source: "tidemark.wake", account: "210987654321", time, region: "eu-central-1" },
        ...{ resources: [], detail },
      };
      const topic = "arn:aws:sns:eu-central-1:123456789012:wakes";
      const ofTopic = {
        Records: [
          {
            ...{ EventSource: "aws:sns", EventVersion: "1.0", EventSubscriptionArn: `${topic}:1` },
            Sns: {
              ...{ Type: "Notification", MessageId: "95df01b4", TopicArn: topic, Timestamp: time },
              ...{ Subject: null, SignatureVersion: "1", Signature: "EXAMPLE", SigningCertUrl: "" },
              ...{ UnsubscribeUrl: "", MessageAttributes: {}, Message: JSON.stringify(detail) },
            },
          },
        ],
      };
      for (const event of [ofBus, ofTopic, { source: "tidemark.wake", detail: { replicas: 900 } }])
        expect(await wake.invoke(event)).toEqual({ kind: "response", body: null });
      const woken = queue
        .receive(10)
        .map(({ body }) => JSON.parse(body) as object)
        .filter((message) => "woken" in message);
      expect(woken, wake.log()).toEqual([
        expect.objectContaining({
          ...{ cluster: "eu-1", partition: "default" },
          woken: { reason: "deploy 42", namespace: "shop", names: ["web"] },
        }),
      ]);
      expect(wake.log()).toContain("Cannot read an event");
    });

    it("give back what they cannot read, alone", async () => {
      expect(await deliver(["no message", ...bodies.slice(0, 1)])).toEqual({
        kind: "response",
        body: { batchItemFailures: [{ itemIdentifier: "m0" }] },
      });
    });

    it("answer people with what the sync has found, with and without the right to edit", async () => {
      for (const environment of [api, view]) {
        expect(
          await answered(environment, { path: QUERY_PATHS.get, query: "name=shop/web" }),
        ).toMatchObject({
          status: 200,
          json: { name: "web", currentReplicas: 2, desiredReplicas: 4 },
        });
        expect(
          await answered(environment, {
            path: QUERY_PATHS.events,
            query: `since=${new Date(Date.now() - 60 * MINUTE_MS).toISOString()}`,
          }),
        ).toMatchObject({
          json: { items: [{ from: 2, to: 4, outcome: "applied" }] },
        });
        expect(
          (await answered(environment, { path: QUERY_PATHS.describe, query: "name=web" })).status,
          environment.log(),
        ).toBe(200);
      }
    });

    it("raise the version of a cluster in which a move of namespaces was abandoned, and may write nothing else of it", async () => {
      const before = await service.cluster("eu-1");
      const partition = { cluster: clusterName("eu-1"), partition: partitionName("default") };
      await state.send(
        new UpdateItemCommand({
          TableName: TABLES.stateTable,
          Key: itemKey(headKey(partition)),
          UpdateExpression: "SET movingVersion = :version",
          ExpressionAttributeValues: { ":version": { N: String(before.version) } },
        }),
      );
      expect(await deliver(bodies.slice(1, 2)), sync.log()).toEqual({
        kind: "response",
        body: { batchItemFailures: [] },
      });
      expect(await service.cluster("eu-1")).toMatchObject({ version: Number(before.version) + 1 });
      expect(calls.filter(({ role, allowed }) => role === "sync" && !allowed)).toEqual([]);
    });

    it("read the secret of a cluster again as soon as its API server refuses the token, and complete the same sync", async () => {
      const reads = async (): Promise<number | undefined> => {
        const message = JSON.stringify({ ...JSON.parse(bodies[0] ?? ""), dueMs: Date.now() });
        const made = await callsOf(async () => {
          expect(await deliver([message]), sync.log()).toEqual({
            kind: "response",
            body: { batchItemFailures: [] },
          });
        });
        return made["GetSecretValue"];
      };
      expect(await reads()).toBeUndefined();
      const rotated = balancer.rotate();
      for (const name of Object.keys(secrets)) secrets[name] = rotated;
      // What was read within the last second is not read again.
      await wait(1_100);
      expect(await reads(), sync.log()).toBe(1);
      expect(balancer.refused()).toBeGreaterThan(0);
      expect(sync.log()).not.toContain("Unauthorized");
    });

    it("make every edit that people can make, once for each key", async () => {
      const headers = { [KEY_HEADER]: "0123456789abcdef" };
      const pause = () =>
        answered(api, {
          path: COMMAND_PATHS.pause,
          body: JSON.stringify({ name: "web" }),
          headers,
          by: "arn:aws:iam::1:user/ada",
        });
      expect(await pause()).toEqual(await pause());
      expect(await service.get({ name: "web" })).toMatchObject({
        generation: 2,
        paused: { by: "arn:aws:iam::1:user/ada" },
      });
      const edits: readonly (readonly [path: string, body: object])[] = [
        [COMMAND_PATHS.resume, { name: "web" }],
        [COMMAND_PATHS.freeze, { reason: "drill" }],
        [COMMAND_PATHS.thaw, {}],
        [
          COMMAND_PATHS.replaceCluster,
          {
            name: "eu-1",
            connection: { kind: "secret", secretId: SECRET },
            partitions: [{ name: "shop", namespaces: ["shop"] }, { name: "rest" }],
          },
        ],
        [COMMAND_PATHS.pauseCluster, { name: "eu-1" }],
        [COMMAND_PATHS.resumeCluster, { name: "eu-1" }],
        [COMMAND_PATHS.delete, { name: "web" }],
        [COMMAND_PATHS.apply, { sources: [{ file: "web.json", text: MANIFEST }] }],
        [COMMAND_PATHS.delete, { name: "web" }],
        [COMMAND_PATHS.removeCluster, { name: "eu-1" }],
        [
          COMMAND_PATHS.addCluster,
          { name: "eu-2", connection: { kind: "secret", secretId: "tidemark-prod/eu-2" } },
        ],
      ];
      for (const [path, body] of edits) {
        const connects = "connection" in body;
        const asked = { path, body: JSON.stringify(body) };
        if (connects)
          expect(await answered(api, asked)).toMatchObject({
            status: 403,
            json: { code: "api.connects-elsewhere", url: CONNECT_URL },
          });
        expect(
          (await answered(connects ? connect : api, asked)).status,
          `${path}\n${api.log()}\n${connect.log()}`,
        ).toBe(200);
      }
      expect(
        await answered(view, { path: COMMAND_PATHS.freeze, body: JSON.stringify({ reason: "x" }) }),
      ).toMatchObject({ status: 403 });
    });

    it("store a connection by the right to connect alone: the role of the function that edits is refused each kind of write of it", async () => {
      const as = (role: string) => ({
        ...tablesFor(role),
        clock: Date.now,
        wait: async () => undefined,
        random: Math.random,
        token: randomUUID,
      });
      const cluster = clusterName("eu-2");
      const key = itemKey(connectionKey(cluster));
      const refused = { name: "AccessDeniedException" };
      const stored = await getConnection(as("view"), cluster);
      const stolen = { kind: "secret", secretId: "tidemark-prod/eu-1" } as const;
      for (const role of ["api", "view", "sync", "schedule"]) {
        const tables = as(role);
        await expect(
          putConnection(
            tables,
            { cluster, uid: "uid-of-cluster", connection: stolen, version: 9 },
            stored,
          ),
          role,
        ).rejects.toThrow(/may not dynamodb:PutItem/);
        const update = {
          UpdateExpression: "SET connection = :stolen",
          ExpressionAttributeValues: { ":stolen": { S: "x" } },
        };
        await expect(
          tables.client.send(
            new UpdateItemCommand({ TableName: TABLES.stateTable, Key: key, ...update }),
          ),
          role,
        ).rejects.toMatchObject(refused);
        await expect(
          tables.client.send(new DeleteItemCommand({ TableName: TABLES.stateTable, Key: key })),
          role,
        ).rejects.toMatchObject(refused);
      }
      expect(await getConnection(as("view"), cluster)).toEqual(stored);
      // What the function that edits may write of a cluster connects nothing.
      const forged = new UpdateItemCommand({
        TableName: TABLES.stateTable,
        Key: itemKey(clusterKey(cluster)),
        UpdateExpression: "SET #connection = :stolen, #version = #version + :one",
        ExpressionAttributeNames: { "#connection": "connection", "#version": "version" },
        ExpressionAttributeValues: {
          ":stolen": { M: { kind: { S: "secret" }, secretId: { S: stolen.secretId } } },
          ":one": { N: "1" },
        },
      });
      await as("api").client.send(forged);
      expect(await service.cluster("eu-2")).toMatchObject({
        connection: { secretId: "tidemark-prod/eu-2" },
      });
      const before = calls.length;
      await deliver([
        JSON.stringify({
          cluster: "eu-2",
          partition: "default",
          dueMs: Date.now(),
          periodMs: 15_000,
        }),
      ]);
      const read = calls
        .slice(before)
        .filter(({ action }) => action === "secretsmanager:GetSecretValue");
      expect(read.filter(({ resource }) => resource !== "tidemark-prod/eu-2")).toEqual([]);
      refusedOnPurpose = calls.filter(({ allowed }) => !allowed).length;
    });

    it("look at a cluster from the function that syncs, with its role and its network", async () => {
      const before = calls.length;
      const looked = await answered(connect, {
        path: COMMAND_PATHS.checkCluster,
        body: JSON.stringify({ name: "eu-2" }),
      });
      expect(looked, `${connect.log()}\n${sync.log()}`).toMatchObject({
        status: 200,
        json: { name: "eu-2", usable: true },
      });
      expect(
        (looked.json as { checks: readonly { check: string; result: string }[] }).checks,
      ).toContainEqual(expect.objectContaining({ check: "deployments.apps", result: "passed" }));
      const made = calls.slice(before).map(({ role, action }) => `${role} ${action}`);
      expect(made.filter((call) => !call.includes("dynamodb:"))).toEqual([
        "connect lambda:InvokeFunction",
        "sync secretsmanager:GetSecretValue",
      ]);
      const elsewhere = await answered(api, {
        path: COMMAND_PATHS.checkCluster,
        body: JSON.stringify({ name: "eu-2" }),
      });
      expect(elsewhere).toMatchObject({
        status: 403,
        json: { code: "api.connects-elsewhere", url: CONNECT_URL },
      });
    });

    it("ask a metric source from the function that syncs", async () => {
      const source = {
        name: "main",
        kind: "prometheus",
        url: "https://prometheus.invalid",
        clusters: ["*"],
        namespaces: ["*"],
      };
      expect(
        await answered(connect, { path: COMMAND_PATHS.putSource, body: JSON.stringify(source) }),
      ).toMatchObject({ status: 200 });
      const before = calls.length;
      const asked = await answered(connect, {
        path: COMMAND_PATHS.checkSource,
        body: JSON.stringify({ name: "main", cluster: "eu-2" }),
      });
      expect(asked, `${connect.log()}\n${sync.log()}`).toMatchObject({
        status: 200,
        json: {
          name: "main",
          usable: false,
          checks: [
            { check: "answer", message: expect.stringContaining("its name does not resolve") },
          ],
        },
      });
      const made = calls.slice(before).map(({ role, action }) => `${role} ${action}`);
      expect(made.filter((call) => !call.includes("dynamodb:"))).toEqual([
        "connect lambda:InvokeFunction",
      ]);
      const elsewhere = await answered(api, {
        path: COMMAND_PATHS.checkSource,
        body: JSON.stringify({ name: "main" }),
      });
      expect(elsewhere).toMatchObject({
        status: 403,
        json: { code: "api.connects-elsewhere", url: CONNECT_URL },
      });
    });

    it("connect an EKS cluster as AWS describes it, and from no other source", async () => {
      const add = (more: object, force = false) =>
        answered(connect, {
          path: COMMAND_PATHS.addCluster,
          body: JSON.stringify({
            name: "eks-1",
            connection: { kind: "eks", clusterId: "prod", region: "eu-central-1", ...more },
            force,
          }),
        });
      expect(await add({ endpoint: "https://attacker.example", caData: "QUFB" })).toMatchObject({
        status: 409,
        json: {
          code: "service.unusable",
          report: { usable: false, checks: [{ check: "credentials", result: "failed" }] },
        },
      });
      // The certificate of the load balancer is for another name than the one that EKS gives here.
      expect(await add({})).toMatchObject({
        status: 409,
        json: { code: "service.unusable", detail: expect.stringContaining("tls:") },
      });
      const planned = queue.counts().delayed;
      expect((await add({}, true)).status, connect.log()).toBe(200);
      // Two minutes of syncs, the first of them within one period.
      expect(queue.counts().delayed - planned).toBe(8);
      expect(calls.filter(({ action }) => action === "eks:DescribeCluster")).toMatchObject([
        { role: "sync", resource: "cluster/prod", allowed: true },
        { role: "sync", resource: "cluster/prod", allowed: true },
      ]);
      await service.removeCluster("eks-1");
    });

    it("ask the tables as little as docs/api.md says", async () => {
      const path = COMMAND_PATHS.apply;
      const apply = (file: string): Promise<unknown> =>
        answered(api, { path, body: JSON.stringify({ sources: [{ file, text: MANIFEST }] }) });
      const counted = async (work: () => Promise<unknown>) => {
        const { GetItem: items = 0, Query: queries = 0, ...writes } = await callsOf(work);
        return { items, queries, writes };
      };
      const atMost = async (
        work: () => Promise<unknown>,
        items: number,
        queries: number,
      ): Promise<object> => {
        const made = await counted(work);
        expect(made.items).toBeLessThanOrEqual(items);
        expect(made.queries).toBeLessThanOrEqual(queries);
        return made.writes;
      };
      expect(await atMost(() => apply("first.json"), 4, 2)).toEqual({
        PartiQLInsert: 2,
        PutItem: 1,
        UpdateItem: 2,
      });
      expect(await atMost(() => apply("again.json"), 4, 2)).toEqual({ UpdateItem: 2 });
      expect(
        await atMost(
          () => answered(view, { path: QUERY_PATHS.get, query: "name=eu-2/shop/web" }),
          5,
          1,
        ),
        // What a whole name says is read beside the grants, and the rest after them.
      ).toEqual({ BatchGetItem: 2 });
      expect(await atMost(() => answered(view, { path: QUERY_PATHS.autoscalers }), 3, 3)).toEqual({
        BatchGetItem: 1,
      });
    });

    it("hold in tables that the fleet record does not name, until a person who may connect clusters adopts them", async () => {
      const tables = {
        client: state,
        ...TABLES,
        clock: Date.now,
        wait: async () => undefined,
        random: Math.random,
        token: randomUUID,
      };
      const { version, ...fleet } = await getFleet(tables);
      await putFleet(tables, { ...fleet, tables: { state: "former", history: "former" } }, version);
      const message = { ...JSON.parse(bodies[0] ?? "{}"), dueMs: Date.now() };
      expect(await deliver([JSON.stringify(message)])).toEqual({
        kind: "response",
        body: { batchItemFailures: [] },
      });
      expect(sync.log()).toContain('"outcome":"restored"');
      expect(await answered(view, { path: QUERY_PATHS.fleet })).toMatchObject({
        status: 200,
        json: { restored: true },
      });
      const adopt = {
        path: COMMAND_PATHS.adopt,
        body: "{}",
        headers: { [KEY_HEADER]: "0123456789adopt0" },
        by: "arn:aws:iam::1:user/ada",
      };
      expect((await answered(api, adopt)).status).not.toBe(200);
      expect(await answered(connect, adopt), connect.log()).toMatchObject({
        status: 200,
        json: { clusters: 1, frozen: { by: adopt.by } },
      });
      expect((await answered(view, { path: QUERY_PATHS.fleet })).json).not.toHaveProperty(
        "restored",
      );
    });

    it("were refused nothing by their roles, and asked for the secret once for each version of its cluster, for a token that was refused, and for each look", () => {
      expect(calls.filter(({ allowed }) => !allowed)).toHaveLength(refusedOnPurpose);
      // Two versions were synced; a token was refused; one connection was replaced, one added and
      // one checked.
      expect(calls.filter(({ action }) => action === "secretsmanager:GetSecretValue").length).toBe(
        2 + 1 + 3,
      );
      expect(
        calls.filter(({ action }) => action === "dynamodb:PartiQLInsert").length,
      ).toBeGreaterThan(0);
    });
  },
);
