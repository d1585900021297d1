import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openQueueJournal, type QueueJournal } from "../../../lib/local/queue/journal.ts";
import { openQueue, type Queue } from "../../../lib/local/queue/queue.ts";
import { type SqsServer, startSqsServer } from "../../../lib/local/queue/sqs-server.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../../lib/local/run/loopback.ts";

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
  dead = openQueue(journal, clock, { name: "work-dead", visibilityTimeoutMs: 30_000, retentionMs: 14 * DAY_MS });
  server = await startSqsServer([queue, dead]);
  QueueUrl = server.urlOf(queue);
  client = new SQSClient({ endpoint: server.endpoint, region: LOOPBACK_REGION, credentials: LOOPBACK_CREDENTIALS, maxAttempts: 1 });
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

const send = (MessageBody: string, more: object = {}) => client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
const receive = async (more: object = {}) =>
  (await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All"], ...more }))).Messages ?? [];
const bodies = async (more: object = {}) => (await receive(more)).map(({ Body }) => Body);

describe("the queue, asked by the SDK", () => {
  it("keeps a message back for its delay, to the millisecond", async () => {
    await send("late", { DelaySeconds: 15 });
    expect(await bodies()).toEqual([]);
    nowMs += 14_999;
    expect(await bodies()).toEqual([]);
    nowMs += 1;
    expect(await bodies()).toEqual(["late"]);
  });

  it.each([
    ["DelaySeconds -1", { DelaySeconds: -1 }, "InvalidParameterValue"],
    ["DelaySeconds 901", { DelaySeconds: 901 }, "InvalidParameterValue"],
    ["DelaySeconds 1.5", { DelaySeconds: 1.5 }, "InvalidParameterValue"],
    ["an empty body", { MessageBody: "" }, "MissingParameter"],
    ["a body one byte too long", { MessageBody: "x".repeat(1_048_577) }, "InvalidParameterValue"],
    ["a character that XML cannot hold", { MessageBody: "a\u0000b" }, "InvalidMessageContents"],
    ["a group id of 129 characters", { MessageGroupId: "g".repeat(129) }, "InvalidParameterValue"],
    ["a group id with a space", { MessageGroupId: "a b" }, "InvalidParameterValue"],
    ["an attribute without a value", { MessageAttributes: { a: { DataType: "String" } } }, "InvalidParameterValue"],
  ])("refuses %s", async (_, more, name) => {
    await expect(send("body", more)).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 400 } });
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
    expect(await receive()).toHaveLength(1);
  });

  it("gives back body, group and attributes as they were sent, with digests that the SDK verifies", async () => {
    const MessageAttributes = {
      trace: { DataType: "String", StringValue: "ü1" },
      raw: { DataType: "Binary", BinaryValue: Uint8Array.of(1, 2, 255) },
    };
    const answer = await send("täglich", { MessageGroupId: "eu-1", MessageAttributes });
    const [message] = await receive({ MessageAttributeNames: ["All"] });
    expect(message).toMatchObject({ Body: "täglich", MessageId: answer.MessageId, MD5OfMessageAttributes: answer.MD5OfMessageAttributes });
    expect(message?.MessageAttributes).toEqual(MessageAttributes);
    expect(message?.Attributes).toMatchObject({ MessageGroupId: "eu-1", SentTimestamp: String(START_MS), ApproximateReceiveCount: "1" });
  });

  it("hides a received message for its visibility timeout, then gives it again and counts", async () => {
    await send("again");
    const [first] = await receive();
    expect(await receive()).toEqual([]);
    nowMs += 29_999;
    expect(await receive()).toEqual([]);
    nowMs += 1;
    const [second] = await receive();
    expect(second?.ReceiptHandle).not.toBe(first?.ReceiptHandle);
    expect(second?.Attributes).toMatchObject({ ApproximateReceiveCount: "2", ApproximateFirstReceiveTimestamp: String(START_MS) });
  });

  it("moves a message to the dead-letter queue instead of giving it more often than allowed", async () => {
    await send("poison", { MessageGroupId: "eu-1" });
    for (let count = 0; count < 2; count++) {
      expect(await bodies()).toEqual(["poison"]);
      nowMs += 30_000;
    }
    expect(await bodies()).toEqual([]);
    const [buried] = await receive({ QueueUrl: server.urlOf(dead) });
    expect(buried).toMatchObject({ Body: "poison", Attributes: { ApproximateReceiveCount: "3", MessageGroupId: "eu-1" } });
  });

  it("deletes by the newest receipt only, and refuses what never was one", async () => {
    await send("once");
    const [first] = await receive();
    nowMs += 30_000;
    const [second] = await receive();
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: first?.ReceiptHandle }));
    expect(queue.counts().inFlight).toBe(1);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: second?.ReceiptHandle }));
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: second?.ReceiptHandle }));
    await expect(client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: "nonsense" }))).rejects.toMatchObject({
      name: "ReceiptHandleIsInvalid",
    });
  });

  it("changes the visibility of what is in flight, and of nothing else", async () => {
    await send("slow");
    const [{ ReceiptHandle } = {}] = await receive();
    const change = (VisibilityTimeout: number) => client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
    await change(100);
    nowMs += 30_000;
    expect(await bodies()).toEqual([]);
    await change(0);
    expect(await bodies()).toEqual(["slow"]);
    await expect(change(10)).rejects.toMatchObject({ name: "MessageNotInflight" });
    await expect(change(43_201)).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  it("fails the bad entries of a batch and takes the others", async () => {
    const Entries = [
      { Id: "good", MessageBody: "1", DelaySeconds: 15 },
      { Id: "bad", MessageBody: "2", DelaySeconds: 901 },
    ];
    const { Successful, Failed } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
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
    ["more than 1 MiB in all", entries(2, () => ({ MessageBody: "x".repeat(524_289) })), "BatchRequestTooLong"],
  ])("refuses a batch with %s, whole", async (_, Entries, name) => {
    await expect(client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).rejects.toMatchObject({ name });
    expect(queue.counts().visible).toBe(0);
  });

  it("takes and deletes 10 entries at once, and gives at most as many as asked for", async () => {
    await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries(10) }));
    expect(await receive({ MaxNumberOfMessages: 4 })).toHaveLength(4);
    const rest = await receive();
    expect(rest).toHaveLength(6);
    const Entries = rest.map(({ ReceiptHandle }, at) => ({ Id: `${at}`, ReceiptHandle }));
    expect((await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))).Successful).toHaveLength(6);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 4, delayed: 0 });
    await expect(receive({ MaxNumberOfMessages: 11 })).rejects.toMatchObject({ name: "InvalidParameterValue" });
    await expect(receive({ WaitTimeSeconds: 21 })).rejects.toMatchObject({ name: "InvalidParameterValue" });
  });

  it("gives messages in the order in which they became visible", async () => {
    await send("second", { DelaySeconds: 10 });
    await send("first", { DelaySeconds: 5 });
    await send("third", { DelaySeconds: 10 });
    nowMs += 60_000;
    expect(await bodies()).toEqual(["first", "second", "third"]);
  });

  it("forgets a message at the end of its retention", async () => {
    await send("old");
    nowMs += 4 * DAY_MS;
    expect(await bodies()).toEqual([]);
  });

  it("tells its address, its counts and its settings", async () => {
    await send("now");
    await send("later", { DelaySeconds: 60 });
    await receive({ MaxNumberOfMessages: 1 });
    expect((await client.send(new GetQueueUrlCommand({ QueueName: "work" }))).QueueUrl).toBe(QueueUrl);
    await expect(client.send(new GetQueueUrlCommand({ QueueName: "none" }))).rejects.toMatchObject({ name: "QueueDoesNotExist" });
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
    expect(Attributes).toMatchObject({
      ApproximateNumberOfMessages: "0",
      ApproximateNumberOfMessagesNotVisible: "1",
      ApproximateNumberOfMessagesDelayed: "1",
      VisibilityTimeout: "30",
    });
  });
});

describe("the journal of the queue", () => {
  it("gives everything back after the process died", async () => {
    await send("delayed", { DelaySeconds: 60, MessageGroupId: "eu-1" });
    await send("taken");
    await send("gone");
    const received = await receive();
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: received[1]?.ReceiptHandle }));
    await close();
    await open();
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 1 });
    nowMs += 60_000;
    expect(await bodies()).toEqual(["taken", "delayed"]);
  });

  it("takes back what was in flight when its receiver died, at its old place and with its old count", async () => {
    await send("unfinished");
    await receive();
    await send("next");
    await close();
    await open();
    expect(queue.recoverInFlight()).toBe(1);
    const [first, second] = await receive();
    expect([first?.Body, second?.Body]).toEqual(["unfinished", "next"]);
    expect(first?.Attributes?.["ApproximateReceiveCount"]).toBe("1");
  });

  it("drops half a line at its end: that message was never answered", async () => {
    await send("whole");
    await close();
    const path = join(dir, "queue.jsonl");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, `${text}${text.trim().slice(0, -9)}`);
    await open();
    expect(await bodies()).toEqual(["whole"]);
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
