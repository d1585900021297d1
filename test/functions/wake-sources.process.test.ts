import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { wakeHandler } from "../../functions/wake.ts";
import { servesWakes } from "../../lib/lambda/serve-wakes.ts";
import { syncQueue } from "../../lib/lambda/sync-queue.ts";
import { clusterName, namespace, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { messageOf } from "../../lib/stack/plan/message.ts";
import { wakerOf } from "../../lib/stack/plan/wake.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { putWakeRecord } from "../../lib/stack/store/records/wakes.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { ROOT } from "../architecture/source.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { HAS_MOTO, type Moto, motoServer } from "../source-client/moto.ts";
import { testTables } from "../sync/world.ts";

/**
 * Each source of wakes, from what a person or a service does to the message in the queue of syncs,
 * in an emulated account: its buses match the rules of infra/wakes.yml, its topic delivers. The
 * emulator calls no function: a queue is the target, and the function gets what came there in the
 * form in which Lambda gives it. It takes some seconds to start.
 */
const REGION = "eu-central-1";
const OURS = "123456789012";
const THEIRS = "210987654321";
const ALARM = `arn:aws:cloudwatch:${REGION}:${OURS}:alarm:web-queue`;
const BUS = `arn:aws:events:${REGION}:${OURS}:event-bus/default`;
const TOPIC = `arn:aws:sns:${REGION}:${OURS}:wakes`;
const PERIOD_MS = 15 * 60_000;
const { Resources: RULES } = parse(readFileSync(join(ROOT, "infra/wakes.yml"), "utf8"), {
  // Tags of CloudFormation are no part of a pattern.
  logLevel: "error",
}) as {
  readonly Resources: Readonly<
    Record<string, { readonly Properties: { readonly EventPattern: object } }>
  >;
};

let emulator: Moto;
let engine: Engine;
let tables: Tables;
let sqs: SQSClient;
let nowMs = NOON;
const urls: Record<string, string> = {};

const call = async (
  service: "events" | "sns" | "monitoring",
  given: { readonly headers?: Readonly<Record<string, string>>; readonly body: string },
): Promise<string> => {
  const scope = `Credential=AKIAANY/20260101/${REGION}/${service}/aws4_request`;
  const response = await fetch(emulator.url, {
    method: "POST",
    headers: {
      authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=any`,
      ...given.headers,
    },
    body: given.body,
  });
  const answer = await response.text();
  expect(response.status, answer).toBe(200);
  return answer;
};
const events = (action: string, body: object, account = OURS): Promise<string> =>
  call("events", {
    headers: {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": `AWSEvents.${action}`,
      "x-moto-account-id": account,
    },
    body: JSON.stringify(body),
  });
const query = (
  service: "sns" | "monitoring",
  Action: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> =>
  call(service, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      ...{ Action, Version: service === "sns" ? "2010-03-31" : "2010-08-01" },
      ...fields,
    }).toString(),
  });
const putEvent = async (entry: object, account = OURS): Promise<void> => {
  const answer = await events("PutEvents", { Entries: [entry] }, account);
  expect(JSON.parse(answer)).toMatchObject({ FailedEntryCount: 0 });
};

/** What a queue has, and then has no more. */
const taken = async (name: string): Promise<readonly string[]> => {
  const QueueUrl = urls[name];
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
  );
  for (const { ReceiptHandle } of Messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.map(({ Body = "" }) => Body);
};

/** Gives the function what came to its place, and returns the syncs that it sent. */
const woken = async (from: "bus" | "topic") => {
  const handler = wakeHandler({
    serve: servesWakes(tables, wakerOf({ tables, queue: syncQueue(urls["sync"] ?? "") })),
    reporter: { line: () => {} },
  });
  for (const body of await taken(from)) {
    const got = JSON.parse(body) as object;
    const event =
      from === "bus"
        ? // A bus adds its account to each event. The one of the emulator does not.
          { account: OURS, ...got }
        : { Records: [{ EventSource: "aws:sns", EventVersion: "1.0", Sns: got }] };
    await handler(event, {} as Context);
  }
  return (await taken("sync")).map((body) => messageOf(body));
};
const syncOf = (reason: string, more: object = { namespace: "shop", names: ["web"] }) => [
  expect.objectContaining({
    ...{ cluster: "eu-1", partition: WHOLE_CLUSTER },
    woken: { reason, ...more },
  }),
];

describe.skipIf(!HAS_MOTO)("the sources of wakes, in an emulated account", () => {
  beforeAll(async () => {
    emulator = await motoServer();
    vi.stubEnv("AWS_ENDPOINT_URL", emulator.url);
    vi.stubEnv("AWS_REGION", REGION);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "any");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "any");
    sqs = new SQSClient({});
    for (const name of ["bus", "topic", "sync"]) {
      const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
      urls[name] = QueueUrl;
    }
    for (const Name of ["WakeEvents", "WakeAlarms"]) {
      const EventPattern = JSON.stringify(RULES[Name]?.Properties.EventPattern);
      await events("PutRule", { Name, EventPattern });
      const Arn = `arn:aws:sqs:${REGION}:${OURS}:bus`;
      await events("PutTargets", { Rule: Name, Targets: [{ Id: "wake", Arn }] });
    }
    await query("sns", "CreateTopic", { Name: "wakes" });
    const Endpoint = `arn:aws:sqs:${REGION}:${OURS}:topic`;
    await query("sns", "Subscribe", { TopicArn: TOPIC, Protocol: "sqs", Endpoint });
    engine = await startMemory();
    tables = testTables(engine.client, engine.tables, () => nowMs);
    const [cluster, inside] = [clusterName("eu-1"), namespace("shop")];
    const record = {
      ...{ name: cluster, uid: "uid-of-cluster", syncPeriodMs: PERIOD_MS, version: 1 },
      ...{ partitions: [{ name: WHOLE_CLUSTER }], settings: DEFAULT_SETTINGS },
    };
    await putCluster(tables, record, undefined);
    const wake = { name: "web-queue", alarm: ALARM, cluster, namespace: inside, names: ["web"] };
    const edited = { version: 1, updatedMs: NOON, updatedBy: "ada" };
    await putWakeRecord(tables, { ...wake, ...edited }, undefined);
  }, 60_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await engine.close();
    await emulator.close();
  });
  beforeEach(() => {
    // Ten minutes after the test before: its extra sync is long past.
    nowMs += 10 * 60_000 + 1;
  });

  const DETAIL = { cluster: "eu-1", namespace: "shop", names: ["web"], reason: "deploy 42" };

  it("a custom event on the default bus", async () => {
    await putEvent({
      ...{ Source: "tidemark.wake", DetailType: "wake", Detail: JSON.stringify(DETAIL) },
    });
    expect(await woken("bus")).toEqual(syncOf("deploy 42"));
  });

  it("no event of another source", async () => {
    await putEvent({ Source: "shop.deploys", DetailType: "wake", Detail: JSON.stringify(DETAIL) });
    expect(await woken("bus")).toEqual([]);
  });

  it("an event of another account, by a rule there whose target is this bus", async () => {
    await events("PutPermission", {
      ...{ EventBusName: "default", Action: "events:PutEvents", Principal: THEIRS },
      StatementId: "wakes-of-shop",
    });
    const EventPattern = JSON.stringify({ source: ["tidemark.wake"] });
    await events("PutRule", { Name: "to-tidemark", EventPattern }, THEIRS);
    const Targets = [{ Id: "bus", Arn: BUS }];
    await events("PutTargets", { Rule: "to-tidemark", Targets }, THEIRS);
    await putEvent(
      { Source: "tidemark.wake", DetailType: "wake", Detail: JSON.stringify(DETAIL) },
      THEIRS,
    );
    expect(await woken("bus")).toEqual(syncOf("deploy 42"));
  });

  it("a registered alarm that begins, and none that ends", async () => {
    await query("monitoring", "PutMetricAlarm", {
      ...{ AlarmName: "web-queue", Namespace: "AWS/SQS", Statistic: "Maximum", Period: "60" },
      ...{ MetricName: "ApproximateNumberOfMessagesVisible", EvaluationPeriods: "1" },
      ...{ Threshold: "0", ComparisonOperator: "GreaterThanThreshold" },
    });
    for (const [value, syncs] of [
      ["ALARM", syncOf("alarm of wake web-queue")],
      ["OK", []],
    ] as const) {
      nowMs += 10 * 60_000;
      const state = { StateValue: value, StateReason: "planted" };
      await query("monitoring", "SetAlarmState", { AlarmName: "web-queue", ...state });
      const shown = await query("monitoring", "DescribeAlarms", {});
      expect(shown).toContain(`<StateValue>${value}</StateValue>`);
      expect(shown).toContain(`<AlarmArn>${ALARM}</AlarmArn>`);
      // CloudWatch puts this event on the bus for a change of the state. The emulator puts none.
      await putEvent({
        ...{ Source: "aws.cloudwatch", DetailType: "CloudWatch Alarm State Change" },
        Resources: [ALARM],
        Detail: JSON.stringify({
          alarmName: "web-queue",
          configuration: { metrics: [] },
          previousState: { value: "INSUFFICIENT_DATA" },
          state: { value, reason: "planted", timestamp: "2026-11-21T12:00:00.000+0000" },
        }),
      });
      expect(await woken("bus")).toEqual(syncs);
    }
  });

  it.each([
    [
      "an alarm",
      { AlarmName: "web-queue", AlarmArn: ALARM, NewStateValue: "ALARM", OldStateValue: "OK" },
      "alarm of wake web-queue",
    ],
    ["the JSON of a wake", DETAIL, "deploy 42"],
    [
      "the text that docs/wake.md gives for Alertmanager",
      {
        alerts: [
          {
            status: "firing",
            labels: { alertname: "Fills", cluster: "eu-1", namespace: "shop", autoscaler: "web" },
          },
          { status: "resolved", labels: { alertname: "Other", cluster: "eu-2" } },
        ],
      },
      "alert Fills",
    ],
  ])("a message of the topic: %s", async (_what, message, reason) => {
    await query("sns", "Publish", { TopicArn: TOPIC, Message: JSON.stringify(message) });
    expect(await woken("topic")).toEqual(syncOf(reason));
  });
});
