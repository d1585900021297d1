import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  virtualClock,
  clusterLanes,
  timesFor,
  timesIn,
} from "../../../lib/embedded/engine/clock.ts";
import {
  type Activity,
  drive,
  type Delivery,
  eventSource,
} from "../../../lib/embedded/engine/event-source.ts";
import { scheduler, type ScheduledTick } from "../../../lib/embedded/engine/schedule-activity.ts";
import {
  openQueueJournal,
  type QueueJournal,
  openQueue,
  type Queue,
} from "../../../lib/embedded/queue/queue.ts";

const START_MS = Date.UTC(2026, 0, 5, 8);
const REGION = "local";
let dir: string;
let journal: QueueJournal;
let clock = virtualClock({ startMs: START_MS, speed: 1e9, save: () => {} });
let queue: Queue;
let dead: Queue;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-delivery-"));
  journal = openQueueJournal(join(dir, "queue.jsonl"));
  clock = virtualClock({ startMs: START_MS, speed: 1e9, save: () => {} });
  const redrive = { deadLetterQueue: "dead", maxReceiveCount: 2 };
  queue = openQueue(journal, clock.now, {
    name: "work",
    visibilityTimeoutMs: 30_000,
    retentionMs: 3_600_000,
    redrive,
  });
  dead = openQueue(journal, clock.now, {
    name: "dead",
    visibilityTimeoutMs: 30_000,
    retentionMs: 3_600_000,
  });
});
afterEach(() => {
  journal.close();
  rmSync(dir, { recursive: true, force: true });
});

const run = (activities: Parameters<typeof drive>[0]["activities"], forMs: number) =>
  drive({
    activities,
    clock,
    endMs: START_MS + forMs,
    signal: new AbortController().signal,
    oneAtATime: true,
  });

const mapping = (
  handler: (event: SQSEvent) => Promise<SQSBatchResponse | undefined>,
  deliveries: Delivery[] = [],
) =>
  eventSource({
    queue,
    clock: clock.now,
    region: REGION,
    functionName: "sync",
    timeoutMs: 30_000,
    handler,
    concurrency: 2,
    onBegin: () => {},
    onDelivered: (delivery) => deliveries.push(delivery),
  });
const seconds = () => (clock.now() - START_MS) / 1000;

describe("eventSource()", () => {
  it("delivers each message alone, at the instant of its delay, with every member of an SQS record", async () => {
    const seen: (readonly [number, SQSEvent])[] = [];
    queue.send({ body: "b", delayMs: 30_000, groupId: "eu-1" });
    queue.send({ body: "a", delayMs: 15_000 });
    await run([mapping(async (event) => void seen.push([seconds(), event]))], 60_000);
    expect(seen.map(([at, { Records }]) => [at, Records.map(({ body }) => body)])).toEqual([
      [15, ["a"]],
      [30, ["b"]],
    ]);
    expect(seen[1]?.[1].Records[0]).toEqual({
      messageId: expect.any(String),
      receiptHandle: expect.any(String),
      body: "b",
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: String(START_MS),
        SenderId: expect.any(String),
        ApproximateFirstReceiveTimestamp: String(START_MS + 30_000),
        MessageGroupId: "eu-1",
      },
      messageAttributes: {},
      md5OfBody: "92eb5ffee6ae2fec3ad71c777531578f",
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:local:000000000000:work",
      awsRegion: "local",
    });
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  it.each([
    [
      "reported",
      async ({ Records }: SQSEvent) => ({
        batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
      }),
    ],
    [
      "thrown",
      async () => {
        throw new Error("down");
      },
    ],
  ])(
    "delivers again after the visibility timeout what was %s as failed, then buries it",
    async (_, handler) => {
      const deliveries: Delivery[] = [];
      const times: number[] = [];
      queue.send({ body: "a", delayMs: 0 });
      const counting = async (event: SQSEvent) => {
        times.push(seconds());
        return handler(event);
      };
      await run([mapping(counting, deliveries)], 120_000);
      expect(times).toEqual([0, 30]);
      expect(
        deliveries.map(({ failure, message }) => [failure instanceof Error, message.receiveCount]),
      ).toEqual([
        [true, 1],
        [true, 2],
      ]);
      expect(dead.counts().visible).toBe(1);
    },
  );

  it("hands over no more at once than allowed, and finishes what it began when it is stopped", async () => {
    for (let at = 0; at < 5; at++) queue.send({ body: String(at), delayMs: 0 });
    const stop = new AbortController();
    let busy = 0;
    let most = 0;
    const handler = async () => {
      busy++;
      most = Math.max(most, busy);
      await new Promise((resolve) => setTimeout(resolve, 20));
      stop.abort();
      busy--;
      return undefined;
    };
    await drive({
      activities: [mapping(handler)],
      clock,
      endMs: START_MS + 1000,
      signal: stop.signal,
      oneAtATime: false,
    });
    expect([most, busy]).toEqual([2, 0]);
    expect(queue.counts().inFlight).toBe(0);
  });
});

describe("eventSource() with lanes", () => {
  const CLUSTERS = ["a", "b", "c"] as const;
  const shared = () => {
    const times = timesFor(CLUSTERS.length);
    clock = virtualClock({ startMs: START_MS, speed: 1e9, save: times.set });
    queue = openQueue(journal, clock.now, {
      name: "work",
      visibilityTimeoutMs: 30_000,
      retentionMs: 3_600_000,
    });
    return { times, ...clusterLanes(CLUSTERS, times) };
  };
  const laned = (
    most: number,
    hold: (lane: string, atMs: number) => () => void,
    handler: (body: string) => Promise<void>,
  ) =>
    eventSource({
      ...{
        queue,
        clock: clock.now,
        region: REGION,
        functionName: "sync",
        timeoutMs: 30_000,
        concurrency: 50,
        onBegin: () => {},
        onDelivered: () => {},
      },
      handler: async ({ Records: [record] }) => {
        await handler(record?.body ?? "");
        return undefined;
      },
      lanes: { laneOf: (body) => body[0] ?? "", most, hold },
    });
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it("overlap the messages of different clusters, also of different instants; each cluster stays at its own instant until its message is handled", async () => {
    const { timeOf, hold } = shared();
    const log: string[] = [];
    for (const [at, body] of ["a1", "b1", "a2", "c1"].entries())
      queue.send({ body, delayMs: at * 1_000 });
    const at = (cluster: string) => (timeOf(cluster) - START_MS) / 1_000;
    await run(
      [
        laned(3, hold, async (body) => {
          const [cluster = ""] = body;
          log.push(`${body} begins at ${at(cluster)}`);
          await pause(body === "a1" ? 60 : 20);
          log.push(`${body} ends at ${at(cluster)}`);
        }),
      ],
      10_000,
    );
    // b1 begins while a1 is at work, a2 waits for a1.
    expect(log).toEqual([
      "a1 begins at 0",
      "b1 begins at 1",
      "b1 ends at 1",
      "a1 ends at 0",
      "a2 begins at 2",
      "c1 begins at 3",
      "a2 ends at 2",
      "c1 ends at 3",
    ]);
    expect(CLUSTERS.map(at)).toEqual([10, 10, 10]);
  });

  it("has no more messages under way than allowed, and all of them have ended when another activity begins and when the run ends", async () => {
    const { hold } = shared();
    let [busy, most, ended] = [0, 0, 0];
    for (const [at, body] of ["a", "b", "c"].entries()) queue.send({ body, delayMs: at * 1_000 });
    queue.send({ body: "b", delayMs: 9_000 });
    const atTick: number[] = [];
    let ticksAt: number | undefined = START_MS + 2_500;
    const other: Activity = {
      nextMs: () => ticksAt,
      happen: async () => {
        ticksAt = undefined;
        atTick.push(busy, ended);
      },
    };
    const source = laned(2, hold, async () => {
      most = Math.max(most, ++busy);
      await pause(30);
      busy--;
      ended++;
    });
    await run([other, source], 10_000);
    expect({ most, atTick, busy, ended }).toEqual({ most: 2, atTick: [0, 3], busy: 0, ended: 4 });
  });

  it("reads the times of another thread from the memory that it shares", () => {
    const { times, hold } = shared();
    const there = timesIn(times.memory, () => 2_000);
    times.set({ kind: "virtual", nowMs: 1_000_000, wallMs: 1_000, speed: 60, untilMs: 1_090_000 });
    expect([there.of(0), there.of(undefined)]).toEqual([1_060_000, 1_060_000]);
    const release = hold("b", 1_030_000);
    expect([there.of(0), there.of(1)]).toEqual([1_060_000, 1_030_000]);
    release();
    expect(there.of(1)).toBe(1_060_000);
    expect(timesIn(times.memory, () => 9_000).of(0)).toBe(1_090_000);
  });
});

describe("scheduler()", () => {
  const failures: string[] = [];
  const ticking = (handler: (tick: ScheduledTick) => Promise<unknown>, skipsMissed = false) =>
    scheduler({
      path: join(dir, "schedule.json"),
      clock: () => clock.now(),
      region: REGION,
      functionName: "schedule",
      timeoutMs: 30_000,
      handler,
      onFailure: (scheduledTime) => failures.push(scheduledTime),
      skipsMissed,
    });

  it("fires at every full minute with the time that was scheduled, and goes on after it in the next run", async () => {
    const ticks: string[] = [];
    const handler = async ({ scheduledTime }: ScheduledTick) => ticks.push(scheduledTime);
    await run([ticking(handler)], 120_000);
    await run([ticking(handler)], 180_000);
    expect(ticks).toEqual([
      "2026-01-05T08:00:00Z",
      "2026-01-05T08:01:00Z",
      "2026-01-05T08:02:00Z",
      "2026-01-05T08:03:00Z",
    ]);
  });

  it("fires a minute again whose handler did not return before the run died", async () => {
    const ticks: string[] = [];
    const source = ticking(async ({ scheduledTime }) => {
      ticks.push(scheduledTime);
      return new Promise(() => {});
    });
    void source.happen();
    await run([ticking(async ({ scheduledTime }) => ticks.push(scheduledTime))], 0);
    expect(ticks).toEqual(["2026-01-05T08:00:00Z", "2026-01-05T08:00:00Z"]);
  });

  it("repeats what failed as long as the template allows, while the next minutes come in their time", async () => {
    const times: (readonly [string, number])[] = [];
    await run(
      [
        ticking(async ({ scheduledTime }) => {
          times.push([scheduledTime.slice(14, 16), seconds()]);
          if (scheduledTime.includes("08:00")) throw new Error("down");
        }),
      ],
      130_000,
    );
    expect(times).toEqual([
      ["00", 0],
      ["00", 10],
      ["00", 30],
      ["01", 60],
      ["00", 70],
      ["02", 120],
    ]);
  });

  it("owes nothing for minutes in which a run in real time did not run", async () => {
    await run([ticking(async () => {})], 60_000);
    await clock.until(START_MS + 3_600_000, new AbortController().signal);
    expect(ticking(async () => {}, false).nextMs()).toBe(START_MS + 120_000);
    expect(ticking(async () => {}, true).nextMs()).toBe(START_MS + 3_600_000);
  });

  it("begins a minute anew that was saved under a clock that was an hour ahead, also while the run goes on", async () => {
    const hour = 3_600_000;
    await clock.until(START_MS + hour, new AbortController().signal);
    const running = ticking(async () => {}, true);
    await running.happen();
    expect(running.nextMs()).toBe(START_MS + hour + 60_000);
    clock = virtualClock({ startMs: START_MS + 120_000, speed: 1e9, save: () => {} });
    expect(running.nextMs()).toBe(START_MS + 120_000);
    expect(ticking(async () => {}, true).nextMs()).toBe(START_MS + 120_000);
  });
});
