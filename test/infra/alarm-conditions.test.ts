import { readFileSync } from "node:fs";
import * as https from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Queues, startQueues } from "../../lib/embedded/queue/sqs-server.ts";
import { ensureTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import {
  NO_TROUBLES,
  type Troubles,
  troublesOf,
  troublesText,
} from "../../lib/stack/store/head/troubles.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import {
  alarmsIn,
  called,
  clusterFolder,
  eventOfMessage,
  hpaOf,
  ofQueue,
  openFunctions,
  propertiesIn,
  SCALE_OF_WEB,
  serviceOn,
  startReachedCluster,
  TABLES,
} from "./alarm-stack.ts";
import { HAS_DYNOXIDE, startDynoxide } from "./lambda/dynoxide.ts";
import type { Sample } from "./lambda/emitted.ts";
import { fires } from "./lambda/fires.ts";
import type { Environment } from "./lambda/runtime-api.ts";
import type { LoadBalancer } from "./load-balancer.ts";
import type { Resource, Stack } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

/**
 * The condition of each alarm happens once to the packaged functions, and the alarm of the template
 * is evaluated on what they sent. What Lambda and SQS count of calls and messages is counted here
 * by what was seen of them, with the dimensions that they have.
 */
const SECRET = "tidemark-prod/eu-1";
const PERIOD_MS = 15_000;
const MINUTE_MS = 60_000;
/**
 * A scale whose answer was lost stays open until no copy of its request can take effect any more.
 */
const OUTCOME_MS = 100_000;
const VISIBILITY_MS = 180_000;

/**
 * Nothing on this machine makes these happen: Lambda and DynamoDB alone send the throttles, and
 * only Lambda moves a failed asynchronous call to its destination.
 */
const OF_AWS_ALONE = [
  "FunctionsThrottled",
  "RequestsThrottled",
  "TablesThrottled",
  "TickDeadLettersFilled",
];

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

const startCluster = async (): Promise<void> => {
  const reached = await startReachedCluster(clusterFolder(stack.folder, "eu-1"), Date.now);
  closing.push(reached.close);
  const { cluster } = reached;
  ({ balancer } = reached);
  ({ kubeconfigPath } = cluster);
  clusterAnswers = (answers) => {
    cluster.faults.clear();
    if (!answers)
      cluster.faults.add({
        kind: "status",
        code: 500,
        reason: "InternalError",
        message: "etcd is gone",
        path: "/",
      });
  };
  refuseScales = () =>
    void cluster.faults.add({
      kind: "status",
      code: 403,
      reason: "Forbidden",
      message: "no right to scale",
      path: SCALE_OF_WEB,
      method: "PUT",
    });
  loseAnswerOfScale = () =>
    void cluster.faults.add({ kind: "reset", path: SCALE_OF_WEB, method: "PUT", times: 1 });
};

const startTables = async (endpoint: string): Promise<void> => {
  state = tablesClient(endpoint);
  closing.push(async () => state.destroy());
  await ensureTables(state, tableDefinitions(TABLES));
  service = serviceOn(state);
  await service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: SECRET } });
  await service.apply([{ file: "web.json", text: hpaOf(10) }], { dryRun: false });
};

const propertiesOf = (name: string): Resource["Properties"] => propertiesIn(stack, name);

beforeAll(async () => {
  if (!HAS_DYNOXIDE) return;
  stack = await sharedStack();
  closing.push(stack.done);
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  queues = await startQueues(join(stack.folder, "queues.jsonl"), () => Date.now() + queueAheadMs);
  closing.push(queues.close);
  await startCluster();
  await startTables(dynoxide.endpoint);
  const functions = await openFunctions({
    stack,
    dynamodb: dynoxide.endpoint,
    queues,
    secrets: { [SECRET]: balancer.kubeconfig },
  });
  closing.push(functions.close);
  schedule = await functions.start("schedule");
  startSync = () => functions.start("sync");
  sync = await startSync();
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const HEAD = { pk: { S: "partition#eu-1#default" }, sk: { S: "head" } };
/**
 * The edit of a period gives a partition time for its first sync by it: as if that was long ago.
 */
const longAgo = (): Promise<unknown> =>
  state.send(
    new UpdateItemCommand({
      TableName: TABLES.stateTable,
      Key: { pk: { S: "fleet" }, sk: { S: "cluster#eu-1" } },
      UpdateExpression: "SET plannedFromMs = :zero",
      ExpressionAttributeValues: { ":zero": { N: "0" } },
    }),
  );

const messageDue = (dueMs: number): string =>
  JSON.stringify({ cluster: "eu-1", partition: "default", dueMs, periodMs: PERIOD_MS });
let lastDueMs = 0;
/** Due times rise, so that no message is dropped as a copy. */
const dueNow = (): number => {
  lastDueMs = Math.max(lastDueMs + 1, Date.now());
  return lastDueMs;
};

const synced = (body: string): Promise<readonly Sample[]> =>
  called(sync, "SyncLambdaFunction", eventOfMessage(body));
const planned = (event: unknown): Promise<readonly Sample[]> =>
  called(schedule, "ScheduleLambdaFunction", event);
const TICK = () => ({ scheduledTime: new Date(Date.now()).toISOString() });

const UNREADABLE = "no message";

/** As many minutes in a row as the alarm looks at, in each of which the condition happens once. */
const minutesOf = async (
  condition: () => Promise<readonly Sample[]>,
  count = 5,
): Promise<readonly (readonly Sample[])[]> => {
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
      const request = https.request(
        url,
        { method, ca, headers },
        (answer) => void text(answer).then(resolve, reject),
      );
      request.on("error", reject);
      request.end(body);
    });
  const scale = JSON.parse(await call("GET"));
  await call("PUT", JSON.stringify({ ...scale, spec: { replicas } }));
};

describe.skipIf(!HAS_DYNOXIDE)(
  "each alarm on what the packaged functions send, which needs the table engine @dynoxide/linux-x64",
  () => {
    it("is silent while minutes are planned and syncs complete", async () => {
      const quiet = await minutesOf(async () => [
        ...(await planned(TICK())),
        ofQueue("NumberOfMessagesSent", "SyncQueue", 4),
        ...(await synced(messageDue(dueNow()))),
      ]);
      expect(
        alarmsIn(stack)
          .filter(([, properties]) => fires(properties, quiet))
          .map(([name]) => name),
      ).toEqual([]);
      expect(JSON.stringify(quiet)).toContain("CompletedSyncs");
    });

    it("PlanningStopped fires where no call comes, and where every call fails", async () => {
      expectFiring("PlanningStopped", []);
      expectFiring("PlanningStopped", await minutesOf(() => planned({ scheduledTime: "noon" }), 2));
    });

    it("FunctionsFail fires where the function sync fails", async () => {
      expectFiring(
        "FunctionsFail",
        await minutesOf(() => called(sync, "SyncLambdaFunction", null)),
      );
    });

    it("SyncsFailed fires where messages fail", async () => {
      expectFiring("SyncsFailed", await minutesOf(() => synced(UNREADABLE)));
    });

    it("SyncDeadLettersFilled fires where a message was received five times and failed", async () => {
      queues.sync.send({ body: UNREADABLE, delayMs: 0 });
      for (let receives = 0; receives < 6; receives++) {
        for (const { body } of queues.sync.receive(1_000))
          if (body === UNREADABLE) await synced(body);
        queueAheadMs += VISIBILITY_MS + 1;
      }
      expectFiring("SyncDeadLettersFilled", [
        [
          ofQueue(
            "ApproximateNumberOfMessagesVisible",
            "SyncDeadLetters",
            queues.dead.counts().visible,
          ),
        ],
      ]);
    });

    it("SyncsLate fires where messages wait for more than 15 s", async () => {
      let dueMs = Date.now() - 25_000;
      expectFiring("SyncsLate", await minutesOf(() => synced(messageDue(dueMs++))));
    });

    it("ClocksWrong fires where messages are due in the future", async () => {
      expectFiring(
        "ClocksWrong",
        await minutesOf(() => synced(messageDue(Date.now() + 10 * MINUTE_MS))),
      );
    });

    it("ScalesUnknown fires where the answer to a scale is lost and the workload moves before the next look", async () => {
      await scaleByHand(1);
      loseAnswerOfScale();
      const lost = await synced(messageDue(dueNow()));
      await scaleByHand(2);
      const later: Sample[] = [...lost];
      for (
        const deadline = Date.now() + OUTCOME_MS;
        Date.now() < deadline && !JSON.stringify(later).includes("ScalesUnknown");
      ) {
        later.push(...(await synced(messageDue(dueNow()))));
        await wait(1_000);
      }
      expectFiring("ScalesUnknown", [later]);
    }, 120_000);

    /**
     * What the head has of this partition, as if it had lasted: the functions run by the real
     * clock.
     */
    const since = async (
      change: (troubles: Troubles) => Troubles,
      syncedAgoMs = 0,
    ): Promise<void> => {
      const { Item = {} } = await state.send(
        new GetItemCommand({ TableName: TABLES.stateTable, Key: HEAD }),
      );
      const troubles = troublesText(change(troublesOf(Item["troubles"]?.S)));
      await state.send(
        new UpdateItemCommand({
          TableName: TABLES.stateTable,
          Key: HEAD,
          UpdateExpression:
            troubles === undefined
              ? "SET nowMs = :now, evaluatedMs = :now REMOVE troubles"
              : "SET nowMs = :now, evaluatedMs = :now, troubles = :troubles",
          ExpressionAttributeValues: {
            ":now": { N: String(Date.now() - syncedAgoMs) },
            ...(troubles !== undefined && { ":troubles": { S: troubles } }),
          },
        }),
      );
    };
    /** As if no problem was told yet. */
    const forget = (): Promise<unknown> =>
      state.send(
        new DeleteItemCommand({
          TableName: TABLES.stateTable,
          Key: { pk: { S: "plan" }, sk: { S: "problems" } },
        }),
      );
    const isOn = async (name: string): Promise<boolean> =>
      fires(propertiesOf(name), [await planned(TICK())]);

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
      await since(() => NO_TROUBLES);
      await scaleByHand(1);
      refuseScales();
      await synced(messageDue(dueNow()));
      expect(await isOn("AutoscalerProblems")).toBe(false);
      await since((troubles) => {
        const { refused } = troubles.of;
        if (!refused) throw new TypeError(`nothing was refused: ${sync.log().slice(-2_000)}`);
        return {
          of: {
            refused: {
              ...refused,
              since: new Map([...refused.since].map(([key, ms]) => [key, ms - 17 * MINUTE_MS])),
            },
          },
        };
      });
      expectFiring("AutoscalerProblems", [await planned(TICK())]);
      expect(schedule.log()).toContain(
        "1 autoscaler could not scale for 15 minutes: eu-1/default (shop/web)",
      );
      clusterAnswers(true);
      await synced(messageDue(dueNow()));
      expect(await isOn("AutoscalerProblems")).toBe(false);
      await since(() => NO_TROUBLES);
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

    it("HistoryBehind fires where days of events have waited for months to be counted, for three hours", async () => {
      const day = new Date(Date.now() - 390 * 24 * 60 * MINUTE_MS).toISOString().slice(0, 10);
      await state.send(
        new PutItemCommand({
          TableName: TABLES.historyTable,
          Item: {
            pk: { S: "days#eu-1" },
            sk: { S: day },
            ttl: { N: "9999999999" },
            body: { S: "uncounted" },
          },
        }),
      );
      const hours = await minutesOf(async () => {
        await since((troubles) => troubles, 11 * MINUTE_MS);
        await sync.stop();
        sync = await startSync();
        return synced(messageDue(dueNow()));
      }, 3);
      expect(fires(propertiesOf("HistoryBehind"), hours.slice(1))).toBe(false);
      expectFiring("HistoryBehind", hours);
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
      expect([...driven, ...OF_AWS_ALONE].toSorted()).toEqual(
        alarmsIn(stack)
          .map(([name]) => name)
          .toSorted(),
      );
    });
  },
);
