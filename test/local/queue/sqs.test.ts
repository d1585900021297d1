import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  openQueueJournal,
  type QueueJournal,
  openQueue,
  type Queue,
} from "../../../lib/embedded/queue/queue.ts";
import type { QueueMessage } from "../../../lib/embedded/queue/message.ts";
import { type SqsServer, startSqsServer } from "../../../lib/embedded/queue/sqs-server.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../../lib/embedded/host/loopback.ts";

const START_MS = Date.UTC(2026, 0, 5, 8);
const DAY_MS = 86_400_000;
let nowMs = START_MS;
let dir: string;
let journal: QueueJournal;
let queue: Queue;
let dead: Queue;
let server: SqsServer;
let client: SQSClient;
let QueueUrl: string;

const open = async () => {
  journal = openQueueJournal(join(dir, "queue.jsonl"));
  const clock = () => nowMs;
  queue = openQueue(journal, clock, {
    name: "work",
    visibilityTimeoutMs: 30_000,
    retentionMs: 4 * DAY_MS,
    redrive: { deadLetterQueue: "work-dead", maxReceiveCount: 2 },
  });
  dead = openQueue(journal, clock, {
    name: "work-dead",
    visibilityTimeoutMs: 30_000,
    retentionMs: 14 * DAY_MS,
  });
  server = await startSqsServer([queue, dead]);
  QueueUrl = server.urlOf(queue);
  client = new SQSClient({
    endpoint: server.endpoint,
    region: LOOPBACK_REGION,
    credentials: LOOPBACK_CREDENTIALS,
    maxAttempts: 1,
  });
};
const close = async () => {
  client.destroy();
  await server.close();
  journal.close();
};

beforeEach(async () => {
  nowMs = START_MS;
  dir = mkdtempSync(join(tmpdir(), "tidemark-queue-"));
  await open();
});
afterEach(async () => {
  await close();
  rmSync(dir, { recursive: true, force: true });
});

const send = async (MessageBody: string, more: object = {}) => {
  const { Failed = [] } = await client.send(
    new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: "0", MessageBody, ...more }] }),
  );
  return Failed[0]?.Code;
};
const receive = (most = 10) => queue.receive(most);
const bodies = () => receive().map(({ body }) => body);
const receiptOf = (message: QueueMessage | undefined): string => message?.inFlight?.receipt ?? "";

describe("the queue, filled by the SDK", () => {
  it("keeps a message back for its delay, to the millisecond", async () => {
    await send("late", { DelaySeconds: 15 });
    expect(bodies()).toEqual([]);
    nowMs += 14_999;
    expect(bodies()).toEqual([]);
    nowMs += 1;
    expect(bodies()).toEqual(["late"]);
  });

  it.each([
    ["DelaySeconds -1", { DelaySeconds: -1 }, "InvalidParameterValue"],
    ["DelaySeconds 901", { DelaySeconds: 901 }, "InvalidParameterValue"],
    ["DelaySeconds 1.5", { DelaySeconds: 1.5 }, "InvalidParameterValue"],
    ["an empty body", { MessageBody: "" }, "MissingParameter"],
    ["a character that XML cannot hold", { MessageBody: "a\u0000b" }, "InvalidMessageContents"],
    ["a group id of 129 characters", { MessageGroupId: "g".repeat(129) }, "InvalidParameterValue"],
    ["a group id with a space", { MessageGroupId: "a b" }, "InvalidParameterValue"],
  ])("refuses %s", async (_, more, name) => {
    expect(await send("body", more)).toBe(name);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  it.each([
    ["DelaySeconds 0", { DelaySeconds: 0 }],
    ["DelaySeconds 900", { DelaySeconds: 900 }],
    ["a body of exactly 1 MiB", { MessageBody: "x".repeat(1_048_576) }],
    ["a group id of 128 characters", { MessageGroupId: "g".repeat(128) }],
  ])("accepts %s", async (_, more) => {
    await send("body", more);
    nowMs += 900_000;
    expect(receive()).toHaveLength(1);
  });

  it("gives back body and group as they were sent, with a digest that the SDK verifies", async () => {
    const { Successful: [answer] = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [{ Id: "0", MessageBody: "täglich", MessageGroupId: "eu-1" }],
      }),
    );
    expect(receive()).toMatchObject([
      {
        id: answer?.MessageId,
        body: "täglich",
        groupId: "eu-1",
        sentMs: START_MS,
        receiveCount: 1,
      },
    ]);
  });

  it("hides a received message for its visibility timeout, then gives it again and counts", async () => {
    await send("again");
    const [first] = receive();
    expect(receive()).toEqual([]);
    nowMs += 29_999;
    expect(receive()).toEqual([]);
    nowMs += 1;
    const [second] = receive();
    expect(receiptOf(second)).not.toBe(receiptOf(first));
    expect(second).toMatchObject({ receiveCount: 2, firstReceivedMs: START_MS });
  });

  it("moves a message to the dead-letter queue instead of giving it more often than allowed", async () => {
    await send("poison", { MessageGroupId: "eu-1" });
    for (let count = 0; count < 2; count++) {
      expect(bodies()).toEqual(["poison"]);
      nowMs += 30_000;
    }
    expect(bodies()).toEqual([]);
    expect(dead.receive(1)).toMatchObject([{ body: "poison", receiveCount: 3, groupId: "eu-1" }]);
  });

  it("deletes by the newest receipt only, and refuses what never was one", async () => {
    await send("once");
    const [first] = receive();
    nowMs += 30_000;
    const [second] = receive();
    expect(queue.remove(receiptOf(first))).toBe(true);
    expect(queue.counts().inFlight).toBe(1);
    expect(queue.remove(receiptOf(second))).toBe(true);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(queue.remove(receiptOf(second))).toBe(true);
    expect(queue.remove("nonsense")).toBe(false);
  });

  it("fails the bad entries of a batch and takes the others", async () => {
    const Entries = [
      { Id: "good", MessageBody: "1", DelaySeconds: 15 },
      { Id: "bad", MessageBody: "2", DelaySeconds: 901 },
    ];
    const { Successful, Failed } = await client.send(
      new SendMessageBatchCommand({ QueueUrl, Entries }),
    );
    expect(Successful?.map(({ Id }) => Id)).toEqual(["good"]);
    expect(Failed).toMatchObject([{ Id: "bad", SenderFault: true, Code: "InvalidParameterValue" }]);
    expect(queue.counts().delayed).toBe(1);
  });

  const entries = (count: number, of: (at: number) => object = () => ({})) =>
    Array.from({ length: count }, (_, at) => ({ Id: `e${at}`, MessageBody: "x", ...of(at) }));
  it.each([
    ["no entries", entries(0), "EmptyBatchRequest"],
    ["11 entries", entries(11), "TooManyEntriesInBatchRequest"],
    ["an id twice", entries(2, () => ({ Id: "same" })), "BatchEntryIdsNotDistinct"],
    ["an id with a dot", entries(1, () => ({ Id: "a.b" })), "InvalidBatchEntryId"],
    [
      "more than 1 MiB in all",
      entries(2, () => ({ MessageBody: "x".repeat(524_289) })),
      "BatchRequestTooLong",
    ],
  ])("refuses a batch with %s, whole", async (_, Entries, name) => {
    await expect(
      client.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
    ).rejects.toMatchObject({ name });
    expect(queue.counts().visible).toBe(0);
  });

  it("takes 10 entries at once, and gives at most as many as asked for", async () => {
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries(10) }));
    expect(receive(4)).toHaveLength(4);
    expect(receive()).toHaveLength(6);
  });

  it("refuses every other operation, and a queue that is not there", async () => {
    await expect(
      client.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })),
    ).rejects.toMatchObject({ name: "UnsupportedOperation" });
    const elsewhere = `${QueueUrl}-2`;
    await expect(
      client.send(new SendMessageBatchCommand({ QueueUrl: elsewhere, Entries: entries(1) })),
    ).rejects.toMatchObject({
      name: "QueueDoesNotExist",
    });
  });

  it("gives messages in the order in which they became visible", async () => {
    await send("second", { DelaySeconds: 10 });
    await send("first", { DelaySeconds: 5 });
    await send("third", { DelaySeconds: 10 });
    nowMs += 60_000;
    expect(bodies()).toEqual(["first", "second", "third"]);
  });

  it("forgets a message at the end of its retention", async () => {
    await send("old");
    nowMs += 4 * DAY_MS;
    expect(bodies()).toEqual([]);
  });
});

describe("the journal of the queue", () => {
  it("gives everything back after the process died", async () => {
    await send("delayed", { DelaySeconds: 60, MessageGroupId: "eu-1" });
    await send("taken");
    await send("gone");
    queue.remove(receiptOf(receive()[1]));
    await close();
    await open();
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 1 });
    nowMs += 60_000;
    expect(bodies()).toEqual(["taken", "delayed"]);
  });

  it("takes back what was in flight when its receiver died, at its old place and with its old count", async () => {
    await send("unfinished");
    receive();
    await send("next");
    await close();
    await open();
    expect(queue.recoverInFlight()).toBe(1);
    expect(receive()).toMatchObject([{ body: "unfinished", receiveCount: 1 }, { body: "next" }]);
  });

  it("drops half a line at its end: that message was never answered", async () => {
    await send("whole");
    await close();
    const path = join(dir, "queue.jsonl");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}${text.trim().slice(0, -9)}`);
    await open();
    expect(bodies()).toEqual(["whole"]);
  });

  it("says which line it cannot read, and changes nothing", async () => {
    await close();
    const path = join(dir, "queue.jsonl");
    writeFileSync(path, `{"put":{}}\n`);
    expect(() => openQueueJournal(path)).toThrow(
      expect.objectContaining({
        code: "local.queue-unreadable",
        message: `Cannot read the queue: line 1 of "${path}" is not what was written there`,
      }),
    );
    expect(readFileSync(path, "utf8")).toBe(`{"put":{}}\n`);
    writeFileSync(path, "");
    await open();
  });
});
