import { SendMessageBatchCommand, type SendMessageBatchCommandOutput } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterName, partitionName } from "../../lib/model/ids.ts";
import type { ClusterRecord } from "../../lib/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/model/settings.ts";
import { putCluster } from "../../lib/store/records/clusters.ts";
import type { SyncMessage } from "../../lib/sync/message.ts";
import { messageOf } from "../../lib/sync/message.ts";
import { delaySeconds, dueTimes, MINUTE_MS, planCluster, plannedTime, plannedTimeOf } from "../../lib/sync/plan.ts";
import { planNow } from "../../lib/sync/plan-now.ts";
import { schedule } from "../../lib/sync/schedule.ts";
import { type DelayedMessage, sendBatch, sendParams } from "../../lib/sync/send-messages.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "./world.ts";

const [EU, MAIN] = [clusterName("eu-1"), partitionName("default")];
const message = (dueMs: number, periodMs = 15_000) => ({ cluster: EU, partition: MAIN, dueMs, periodMs });

describe("plannedTime()", () => {
  it.each([0, 1, 30_000, 59_999])("is the minute that begins two minutes after the scheduled one, %d ms into it", (late) => {
    expect(plannedTime(NOON + late, false)).toEqual({ fromMs: NOON + 2 * MINUTE_MS, untilMs: NOON + 3 * MINUTE_MS });
  });

  it("begins at once at a start, when nothing is planned yet", () => {
    expect(plannedTime(NOON + 30_000, true)).toEqual({ fromMs: NOON, untilMs: NOON + 3 * MINUTE_MS });
  });
});

describe("dueTimes()", () => {
  const periods = fc.constantFrom(5_000, 7_000, 15_000, 60_000, 90_000, 900_000);

  it("always plans each instant of a partition in exactly one minute, and a period apart", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 12 }), periods, fc.integer({ min: 0, max: 100_000 }), (name, periodMs, minute) => {
        const fromMs = NOON + minute * MINUTE_MS;
        const minutes = Array.from({ length: 30 }, (_, at) => ({ fromMs: fromMs + at * MINUTE_MS, untilMs: fromMs + (at + 1) * MINUTE_MS }));
        const due = minutes.flatMap((planned) => dueTimes(clusterName(name), MAIN, periodMs, planned));
        expect(due).toEqual(dueTimes(clusterName(name), MAIN, periodMs, { fromMs, untilMs: fromMs + 30 * MINUTE_MS }));
        for (const [at, dueMs] of due.slice(1).entries()) expect(dueMs - (due[at] ?? 0)).toBe(periodMs);
        expect(due.every((dueMs) => dueMs % 1_000 === 0)).toBe(true);
        expect(due.length).toBeGreaterThanOrEqual(Math.floor((30 * MINUTE_MS) / periodMs));
      }),
      { numRuns: 200 },
    );
  });

  it("spreads 2,000 partitions over the seconds of the period", () => {
    const planned = { fromMs: NOON, untilMs: NOON + 15_000 };
    const seconds = Array.from(
      { length: 2_000 },
      (_, at) => dueTimes(clusterName(`c-${at % 500}`), partitionName(`p-${at % 4}-${at}`), 15_000, planned)[0] ?? 0,
    );
    const counts = [...Map.groupBy(seconds, (dueMs) => dueMs % 15_000).values()].map(({ length }) => length);
    expect(counts).toHaveLength(15);
    expect(Math.max(...counts)).toBeLessThan(1.5 * (2_000 / 15));
  });
});

describe("delaySeconds()", () => {
  it.each([
    [NOON + 60_000, 60],
    [NOON + 59_001, 60],
    [NOON + 1, 1],
    [NOON, 0],
    [NOON - 45_000, 0],
    [NOON - 45_001, undefined],
    [NOON + 2_000_000, 900],
  ])("of a message due at %d is %s", (dueMs, seconds) => {
    expect(delaySeconds(message(dueMs), NOON)).toBe(seconds);
  });
});

describe("planCluster()", () => {
  it("plans every partition of a cluster, under its own period", () => {
    const cluster = { name: EU, syncPeriodMs: 30_000, partitions: [{ name: MAIN }, { name: partitionName("shops"), namespaces: [] }] };
    const planned = planCluster(cluster, { fromMs: NOON, untilMs: NOON + MINUTE_MS });
    expect(planned).toHaveLength(4);
    expect(planned.every(({ cluster: name, periodMs }) => name === EU && periodMs === 30_000)).toBe(true);
    expect(new Set(planned.map(({ partition }) => partition))).toEqual(new Set(["default", "shops"]));
  });
});

/** A queue that keeps what it takes, and refuses what the test says. */
const fakeQueue = (refuses: (body: string, attempt: number) => boolean = () => false) => {
  const taken: { readonly body: string; readonly delaySeconds: number }[] = [];
  const attempts = new Map<string, number>();
  const waits: number[] = [];
  const send = async (command: unknown): Promise<Partial<SendMessageBatchCommandOutput>> => {
    if (!(command instanceof SendMessageBatchCommand)) throw new TypeError("only batches are sent");
    const entries = command.input.Entries ?? [];
    expect(entries.length).toBeLessThanOrEqual(10);
    const Failed = entries.flatMap(({ Id, MessageBody = "", DelaySeconds = 0 }) => {
      const attempt = (attempts.get(MessageBody) ?? 0) + 1;
      attempts.set(MessageBody, attempt);
      if (refuses(MessageBody, attempt)) return [{ Id, Code: "ServiceUnavailable", SenderFault: false }];
      taken.push({ body: MessageBody, delaySeconds: DelaySeconds });
      return [];
    });
    return { Failed };
  };
  const queue = { client: { send: send as never }, queueUrl: "https://queue", wait: async (ms: number) => void waits.push(ms), random: () => 1 };
  return { queue, taken, attempts, waits };
};

const delayed = (count: number): readonly DelayedMessage[] =>
  Array.from({ length: count }, (_, at) => ({ message: message(NOON + at), delaySeconds: at }));

const messages = (count: number): readonly SyncMessage[] => delayed(count).map(({ message: one }) => one);

describe("sendBatch()", () => {
  it("groups by cluster and delays each message by itself", () => {
    expect(sendParams("https://queue", delayed(2))).toEqual({
      QueueUrl: "https://queue",
      Entries: [0, 1].map((at) => ({
        Id: String(at),
        MessageBody: JSON.stringify(message(NOON + at)),
        DelaySeconds: at,
        MessageGroupId: "eu-1",
      })),
    });
  });

  it("sends again what was not taken, alone, after growing waits", async () => {
    const { queue, taken, attempts, waits } = fakeQueue((body, attempt) => body.includes(String(NOON + 1)) && attempt < 3);
    await sendBatch(queue, messages(3), () => 0);
    expect(taken).toHaveLength(3);
    expect([...attempts.values()]).toEqual([1, 3, 1]);
    expect(waits).toEqual([100, 200]);
  });

  it("gives up with the words of the queue", async () => {
    const { queue } = fakeQueue((body) => body.includes(String(NOON)));
    await expect(sendBatch(queue, messages(2), () => 0)).rejects.toMatchObject({
      name: "TidemarkError",
      code: "plan.unsent",
      message: "Cannot send 1 planned syncs: ServiceUnavailable: no reason was given",
    });
  });
});

describe("plannedTimeOf()", () => {
  it("always leaves no gap after a change, whenever the ticks around it read the cluster", () => {
    const lateMs = fc.integer({ min: 0, max: MINUTE_MS });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 * MINUTE_MS }), fc.array(lateMs, { minLength: 10, maxLength: 10 }), (changedMs, lates) => {
        const ticks = lates.map((late, minute) => ({ scheduledMs: NOON + minute * MINUTE_MS, readMs: NOON + minute * MINUTE_MS + late }));
        const seen = ticks.filter(({ readMs }) => readMs >= NOON + changedMs);
        const planned = seen.map(({ scheduledMs }) => plannedTimeOf({ plannedFromMs: NOON + changedMs }, { scheduledMs, start: false }));
        let coveredMs = NOON + changedMs + 2 * MINUTE_MS;
        for (const { fromMs, untilMs } of planned.toSorted((one, other) => one.fromMs - other.fromMs)) {
          expect(fromMs).toBeLessThanOrEqual(coveredMs);
          coveredMs = Math.max(coveredMs, untilMs);
        }
        // The first tick that sees the change plans from its own minute on, so that nothing waits for a later one.
        expect(planned[0]?.fromMs).toBeLessThanOrEqual(seen[0]?.readMs ?? 0);
      }),
    );
  });
});

describe("planNow()", () => {
  it("plans every partition for two minutes from now on, the first sync within one period", async () => {
    const { queue, taken } = fakeQueue();
    const partitions = ["a", "b", "c"].map((name) => ({ name: partitionName(name) }));
    await planNow({ queue, clock: () => NOON + 700 }, { name: clusterName("new"), partitions, syncPeriodMs: 15_000 });
    const due = taken.map(({ body, delaySeconds: delay }) => ({ ...messageOf(body), delay }));
    expect(due).toHaveLength(3 * 8);
    for (const { name } of partitions) {
      const own = due.filter(({ partition }) => partition === name).map(({ dueMs }) => dueMs - NOON);
      expect(Math.min(...own)).toBeLessThanOrEqual(15_700);
      expect(Math.max(...own)).toBeGreaterThan(105_000);
    }
    for (const { dueMs, delay } of due) expect(NOON + 700 + delay * 1_000 - dueMs).toBeGreaterThanOrEqual(0);
  });
});

describe("schedule()", () => {
  const cluster = (name: string, partitions: number): ClusterRecord => ({
    name: clusterName(name),
    connection: { kind: "secret", secretId: "x" },
    syncPeriodMs: 15_000,
    partitions: Array.from({ length: partitions }, (_, at) => ({ name: partitionName(`p${at}`), namespaces: [] })),
    settings: DEFAULT_SETTINGS,
    version: 1,
  });

  it("plans a minute of 500 clusters with 4 partitions in one run, each message once and aimed at its instant", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 20_000);
    for (let at = 0; at < 500; at++) await putCluster(tables, cluster(`c-${at}`, 4), undefined);
    const { queue, taken } = fakeQueue((body, attempt) => body.includes('"p3"') && attempt === 1);
    const report = await schedule({ tables, queue }, { scheduledMs: NOON, start: false });
    expect(report).toEqual({ fromMs: NOON + 2 * MINUTE_MS, untilMs: NOON + 3 * MINUTE_MS, clusters: 500, sent: 8_000, skipped: 0, unreadable: [] });
    expect(new Set(taken.map(({ body }) => body)).size).toBe(8_000);
    for (const { body, delaySeconds: delay } of taken) expect(messageOf(body).dueMs).toBe(NOON + 20_000 + delay * 1_000);
  });

  it.each([2 * MINUTE_MS, 365 * 24 * 60 * MINUTE_MS])(
    "plans nothing for a call that is %d ms ahead of the clock: its messages would stop their partitions",
    async (aheadMs) => {
      const engine = await startMemory();
      const tables = testTables(engine.client, engine.tables, () => NOON);
      await putCluster(tables, cluster("good", 1), undefined);
      const { queue, taken } = fakeQueue();
      await expect(schedule({ tables, queue }, { scheduledMs: NOON + aheadMs, start: true })).rejects.toMatchObject({
        code: "plan.ahead",
        message: expect.stringMatching(/^Cannot plan the minute after .*: it is 2026-03-01T12:00:00.000Z, and no call is scheduled for the future$/),
      });
      expect(taken).toEqual([]);
    },
  );

  it("plans the clusters that can be read, and names those that cannot", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON);
    await putCluster(tables, cluster("good", 1), undefined);
    await putCluster(tables, { ...cluster("bad", 1), syncPeriodMs: 1 }, undefined);
    const { queue } = fakeQueue();
    expect(await schedule({ tables, queue }, { scheduledMs: NOON, start: true })).toMatchObject({
      clusters: 1,
      sent: 12,
      unreadable: [{ name: "bad" }],
    });
  });

  it("plans a cluster that was just added or divided from the scheduled minute on, and its neighbours as ever", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 20_000);
    await putCluster(tables, { ...cluster("new", 1), plannedFromMs: NOON + 5_000 }, undefined);
    await putCluster(tables, { ...cluster("old", 1), plannedFromMs: NOON - 10 * MINUTE_MS }, undefined);
    const { queue, taken } = fakeQueue();
    await schedule({ tables, queue }, { scheduledMs: NOON, start: false });
    const due = (name: string) => taken.map(({ body }) => messageOf(body)).flatMap((one) => (one.cluster === name ? [one.dueMs - NOON] : []));
    expect(Math.min(...due("new"))).toBeLessThan(20_000 + 15_000);
    expect(due("new")).toHaveLength(12);
    expect(due("old").every((dueMs) => dueMs >= 2 * MINUTE_MS)).toBe(true);
  });

  it("takes the delay of a message when its batch is sent, so that slow sends do not make it late", async () => {
    const engine = await startMemory();
    let nowMs = NOON;
    const tables = testTables(engine.client, engine.tables, () => nowMs);
    await putCluster(tables, cluster("slow", 40), undefined);
    const { queue, taken } = fakeQueue();
    const client = {
      send: (async (command: object) => {
        nowMs += 400;
        return (queue.client.send as unknown as (command: object) => Promise<unknown>)(command);
      }) as never,
    };
    await schedule({ tables, queue: { ...queue, client } }, { scheduledMs: NOON, start: false });
    expect(taken).toHaveLength(160);
    const early = taken.filter(({ body, delaySeconds: delay }) => messageOf(body).dueMs - NOON < delay * 1_000);
    expect(early).toEqual([]);
    expect(taken.some(({ body, delaySeconds: delay }) => messageOf(body).dueMs - NOON > delay * 1_000)).toBe(true);
  });

  it("leaves out what is too old when it was called late", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 3 * MINUTE_MS + 30_000);
    await putCluster(tables, cluster("late", 1), undefined);
    const { queue, taken } = fakeQueue();
    expect(await schedule({ tables, queue }, { scheduledMs: NOON, start: false })).toMatchObject({ sent: 1, skipped: 3 });
    expect(taken.every(({ delaySeconds: delay }) => delay === 0)).toBe(true);
  });
});
