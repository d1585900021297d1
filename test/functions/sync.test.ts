import { randomUUID } from "node:crypto";
import type { Context, SQSEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { syncHandler } from "../../functions/sync.ts";
import type { SyncReport } from "../../lib/stack/report/sync-report.ts";
import { startMemory } from "../contracts/engines.ts";
import { newWorld, PERIOD_MS, type World, workloadOf } from "../sync/world.ts";

const CONTEXT = {
  functionName: "tidemark-sync",
  awsRequestId: "1",
  getRemainingTimeInMillis: () => 30_000,
} as Context;

/** An event as the queue's event source mapping makes it. */
const eventOf = (...bodies: readonly string[]): SQSEvent => ({
  Records: bodies.map((body, at) => ({
    messageId: `m${at}`,
    receiptHandle: randomUUID(),
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "0",
      SenderId: "A",
      ApproximateFirstReceiveTimestamp: "0",
      MessageGroupId: "eu-1",
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:tidemark-sync",
    awsRegion: "eu-central-1",
  })),
});

const handled = async () => {
  const engine = await startMemory();
  const world = await newWorld(engine.client, engine.tables, { web: 2 });
  workloadOf(world, "web").demand = 5;
  const reports: SyncReport[] = [];
  const failures: unknown[] = [];
  const reporter = {
    sync: (report: SyncReport) => void reports.push(report),
    failed: (error: unknown) => void failures.push(error),
  };
  return {
    world,
    reports,
    failures,
    handler: (ports = world.worker()) => syncHandler({ ports, reporter }),
  };
};

const body = (world: World, dueMs = world.nowMs): string =>
  JSON.stringify({ ...world.partition, dueMs, periodMs: PERIOD_MS });

describe("the handler of sync", () => {
  it("syncs the partition of its message and has nothing to deliver again", async () => {
    const { world, reports, handler } = await handled();
    expect(await handler()(eventOf(body(world)), CONTEXT)).toEqual({ batchItemFailures: [] });
    expect(workloadOf(world, "web").replicas).toBe(5);
    expect(reports).toMatchObject([{ kind: "completed", dueMs: world.nowMs }]);
  });

  it("returns the messages that failed, and those alone", async () => {
    const { world, reports, failures, handler } = await handled();
    const answer = await handler()(
      eventOf("no JSON", body(world), JSON.stringify({ cluster: "" })),
      CONTEXT,
    );
    expect(answer).toEqual({
      batchItemFailures: [{ itemIdentifier: "m0" }, { itemIdentifier: "m2" }],
    });
    expect(reports).toHaveLength(1);
    expect(failures).toHaveLength(2);
  });

  it("returns its message when the tables cannot be written", async () => {
    const { world, failures, handler } = await handled();
    const answer = await handler(
      world.worker({ insert: () => Promise.reject(new Error("history is full")) }),
    )(eventOf(body(world)), CONTEXT);
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "m0" }] });
    expect(failures).toMatchObject([{ message: "history is full" }]);
  });

  it("drops a message that has no work left, and does not ask for it again", async () => {
    const { world, reports, handler } = await handled();
    expect(await handler()(eventOf(body(world), body(world)), CONTEXT)).toEqual({
      batchItemFailures: [],
    });
    expect(reports).toMatchObject([{ kind: "completed" }, { kind: "dropped", why: "done" }]);
  });
});
