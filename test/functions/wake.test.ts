import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { wakeHandler, type WakeHandler } from "../../functions/wake.ts";
import { clusterName, namespace, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { messageOf, type SyncMessage } from "../../lib/stack/plan/message.ts";
import { servesWakes } from "../../lib/lambda/serve-wakes.ts";
import { wakerOf } from "../../lib/stack/plan/wake.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { putWakeRecord } from "../../lib/stack/store/records/wakes.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

const ACCOUNT = "123456789012";
const ALARM = `arn:aws:cloudwatch:eu-central-1:${ACCOUNT}:alarm:web-queue`;
const PERIOD_MS = 15 * 60_000;

let engine: Engine;
let tables: Tables;
let handler: WakeHandler;
let sent: SyncMessage[];
let lines: LogLine[];
let requests: number;
let nowMs = NOON;
beforeAll(async () => {
  engine = await startMemory();
  tables = testTables(
    around(engine.client, (_command, send) => {
      requests++;
      return send();
    }),
    engine.tables,
    () => nowMs,
  );
  const name = clusterName("eu-1");
  await putCluster(
    tables,
    {
      name,
      uid: "uid-of-cluster",
      syncPeriodMs: PERIOD_MS,
      partitions: [{ name: WHOLE_CLUSTER }],
      settings: DEFAULT_SETTINGS,
      version: 1,
    },
    undefined,
  );
  const wake = { alarm: ALARM, cluster: name, namespace: namespace("shop"), names: ["web"] };
  const edited = { version: 1, updatedMs: NOON, updatedBy: "ada" };
  await putWakeRecord(tables, { name: "web-queue", ...wake, ...edited }, undefined);
});
afterAll(() => engine.close());

const send = (async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
  sent.push(...Entries.map(({ MessageBody = "" }) => messageOf(MessageBody)));
  return {};
}) as never;
const queue = { client: { send }, queueUrl: "https://q", wait: async () => {}, random: () => 0 };

beforeEach(() => {
  // Ten minutes after the test before: its extra sync is long past.
  nowMs += 10 * 60_000 + 1;
  [sent, lines, requests] = [[], [], 0];
  handler = wakeHandler({
    serve: servesWakes(tables, wakerOf({ tables, queue })),
    reporter: { line: (line) => void lines.push(line) },
  });
});

const wakes = (event: unknown): Promise<void> => handler(event, {} as Context);

/** As EventBridge delivers it. */
const busEvent = (source: string, detail: object, more: object = {}) => ({
  version: "0",
  id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
  "detail-type": "wake",
  source,
  account: ACCOUNT,
  time: "2026-11-21T12:00:00Z",
  region: "eu-central-1",
  resources: [],
  detail,
  ...more,
});
const alarmEvent = (value: string, arn = ALARM) =>
  busEvent(
    "aws.cloudwatch",
    { alarmName: "web-queue", state: { value, reason: "Threshold Crossed" }, configuration: {} },
    { "detail-type": "CloudWatch Alarm State Change", resources: [arn] },
  );
/** As SNS calls a function. */
const topicEvent = (message: string) => ({
  Records: [
    {
      EventSource: "aws:sns",
      EventVersion: "1.0",
      EventSubscriptionArn: `arn:aws:sns:eu-central-1:${ACCOUNT}:alerts:1`,
      Sns: {
        Type: "Notification",
        MessageId: "1",
        TopicArn: `arn:aws:sns:eu-central-1:${ACCOUNT}:alerts`,
        Subject: "ALARM",
        Message: message,
        Timestamp: "2026-11-21T12:00:00.000Z",
      },
    },
  ],
});
const SHOP = { cluster: "eu-1", namespace: "shop", names: ["web"] };

describe("wake", () => {
  it.each([
    [
      "an event of the bus",
      busEvent("tidemark.wake", { ...SHOP, reason: "deploy 42" }),
      "deploy 42",
    ],
    ["an event without a reason", busEvent("tidemark.wake", SHOP), `event of account ${ACCOUNT}`],
    ["an alarm that begins", alarmEvent("ALARM"), "alarm of wake web-queue"],
    [
      "an alarm in a topic",
      topicEvent(
        JSON.stringify({ AlarmName: "web-queue", AlarmArn: ALARM, NewStateValue: "ALARM" }),
      ),
      "alarm of wake web-queue",
    ],
    [
      "alerts in a topic",
      topicEvent(
        JSON.stringify({
          alerts: [
            {
              status: "firing",
              labels: { alertname: "Fills", cluster: "eu-1", namespace: "shop", autoscaler: "web" },
            },
          ],
        }),
      ),
      "alert Fills",
    ],
    ["a wake in a topic", topicEvent(JSON.stringify({ ...SHOP, reason: "cron" })), "cron"],
  ])("sends a sync for %s", async (_what, event, reason) => {
    await wakes(event);
    expect(sent).toEqual([
      {
        cluster: "eu-1",
        partition: WHOLE_CLUSTER,
        dueMs: nowMs,
        periodMs: PERIOD_MS,
        woken: { reason, namespace: "shop", names: ["web"] },
      },
    ]);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["info", "Woke 1 of 1 places"],
    ]);
  });

  it.each([
    ["an alarm that ends", alarmEvent("OK"), "info", "Woke 0 of 0 places"],
    [
      "an alarm that nobody has registered",
      alarmEvent("ALARM", `${ALARM}-other`),
      "info",
      "No wake is registered for an alarm",
    ],
    [
      "an unknown cluster",
      busEvent("tidemark.wake", { cluster: "eu-9" }),
      "warn",
      "Woke 0 of 1 places",
    ],
    ["another source", busEvent("aws.ec2", {}), "warn", "Cannot read an event"],
    [
      "a count",
      busEvent("tidemark.wake", { ...SHOP, replicas: 900 }),
      "warn",
      "Cannot read an event",
    ],
    ["no JSON in a topic", topicEvent("ALARM: web-queue"), "warn", "Cannot read an event"],
    ["nothing", null, "warn", "Cannot read an event"],
  ])("sends none for %s", async (_what, event, level, message) => {
    await wakes(event);
    expect(sent).toEqual([]);
    expect(lines).toMatchObject([{ level, message: expect.stringContaining(message) }]);
  });

  it("reads clusters and wakes once in ten seconds, however many events come", async () => {
    for (let second = 0; second < 9; second++) {
      nowMs += 1_000;
      await Promise.all(Array.from({ length: 100 }, () => wakes(alarmEvent("ALARM"))));
    }
    expect(sent).toHaveLength(3);
    // A cluster, all wakes, and two for each mark.
    expect(requests).toBeLessThanOrEqual(2 + 2 * sent.length);
  });

  it("lets an error of the tables through, so that Lambda repeats the event, and reads again then", async () => {
    const { client } = tables;
    let broken = true;
    const failing = around(client, async (_command, work) => {
      if (broken) throw new Error("planted");
      return work();
    });
    const own = { ...tables, client: failing };
    const repeated = wakeHandler({
      serve: servesWakes(own, wakerOf({ tables: own, queue })),
      reporter: { line: () => {} },
    });
    await expect(repeated(alarmEvent("ALARM"), {} as Context)).rejects.toThrow("planted");
    broken = false;
    await repeated(alarmEvent("ALARM"), {} as Context);
    expect(sent).toHaveLength(1);
  });

  it("writes no text of an event into the log as it is", async () => {
    await wakes(
      busEvent("tidemark.wake", { cluster: "eu-1", reason: `\u001b[2J${"x".repeat(900)}` }),
    );
    const [{ fields } = { fields: {} }] = lines;
    expect(JSON.stringify(fields)).not.toContain("\u001b");
    expect(JSON.stringify(fields).length).toBeLessThan(600);
  });
});
