import { SendMessageBatchCommand, type SendMessageBatchCommandOutput } from "@aws-sdk/client-sqs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { markPlanned, readPlanMarks } from "../../lib/stack/store/records/plan-records.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type SyncMessage, messageOf } from "../../lib/stack/plan/message.ts";
import { dueTimes } from "../../lib/stack/plan/due-times.ts";
import { delaySeconds, minutesOfCall, planCluster } from "../../lib/stack/plan/plan.ts";
import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import {
  type DelayedMessage,
  sendBatch,
  sendParams,
  planNow,
} from "../../lib/stack/plan/send-messages.ts";
import { startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { testTables } from "./world.ts";
import { runs } from "../runs.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";

const [EU, MAIN] = [clusterName("eu-1"), partitionName("default")];
const message = (dueMs: number, periodMs = 15_000) => ({
  cluster: EU,
  partition: MAIN,
  dueMs,
  periodMs,
});

describe("minutesOfCall()", () => {
  it.each([0, 1, 30_000, 59_999])(
    "are the scheduled minute, the next, and last its own, %d ms into the scheduled one",
    (late) => {
      expect(minutesOfCall({ scheduledMs: NOON + late })).toEqual([
        NOON,
        NOON + MINUTE_MS,
        NOON + 2 * MINUTE_MS,
      ]);
    },
  );
});

describe("dueTimes()", () => {
  const periods = fc.constantFrom(5_000, 7_000, 15_000, 60_000, 90_000, 900_000);

  it("always plans each instant of a partition in exactly one minute, and a period apart", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 12 }),
        periods,
        fc.integer({ min: 0, max: 100_000 }),
        (name, periodMs, minute) => {
          const fromMs = NOON + minute * MINUTE_MS;
          const minutes = Array.from({ length: 30 }, (_, at) => ({
            fromMs: fromMs + at * MINUTE_MS,
            untilMs: fromMs + (at + 1) * MINUTE_MS,
          }));
          const due = minutes.flatMap((planned) =>
            dueTimes(clusterName(name), MAIN, periodMs, planned),
          );
          expect(due).toEqual(
            dueTimes(clusterName(name), MAIN, periodMs, {
              fromMs,
              untilMs: fromMs + 30 * MINUTE_MS,
            }),
          );
          for (const [at, dueMs] of due.slice(1).entries())
            expect(dueMs - (due[at] ?? 0)).toBe(periodMs);
          expect(due.every((dueMs) => dueMs % 1_000 === 0)).toBe(true);
          expect(due.length).toBeGreaterThanOrEqual(Math.floor((30 * MINUTE_MS) / periodMs));
        },
      ),
      runs(50),
    );
  });

  it("spreads 2,000 partitions over the seconds of the period", () => {
    const planned = { fromMs: NOON, untilMs: NOON + 15_000 };
    const seconds = Array.from(
      { length: 2_000 },
      (_, at) =>
        dueTimes(
          clusterName(`c-${at % 500}`),
          partitionName(`p-${at % 4}-${at}`),
          15_000,
          planned,
        )[0] ?? 0,
    );
    const counts = [...Map.groupBy(seconds, (dueMs) => dueMs % 15_000).values()].map(
      ({ length }) => length,
    );
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
    const cluster = {
      name: EU,
      syncPeriodMs: 30_000,
      partitions: [{ name: MAIN }, { name: partitionName("shops"), namespaces: [] }],
    };
    const planned = planCluster(cluster, { fromMs: NOON, untilMs: NOON + MINUTE_MS });
    expect(planned).toHaveLength(4);
    expect(planned.every(({ cluster: name, periodMs }) => name === EU && periodMs === 30_000)).toBe(
      true,
    );
    expect(new Set(planned.map(({ partition }) => partition))).toEqual(
      new Set(["default", "shops"]),
    );
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
      if (refuses(MessageBody, attempt))
        return [{ Id, Code: "ServiceUnavailable", SenderFault: false }];
      taken.push({ body: MessageBody, delaySeconds: DelaySeconds });
      return [];
    });
    return { Failed };
  };
  const queue = {
    client: { send: send as never },
    queueUrl: "https://queue",
    wait: async (ms: number) => void waits.push(ms),
    random: () => 1,
  };
  return { queue, taken, attempts, waits };
};

const delayed = (count: number): readonly DelayedMessage[] =>
  Array.from({ length: count }, (_, at) => ({ message: message(NOON + at), delaySeconds: at }));

const messages = (count: number): readonly SyncMessage[] =>
  delayed(count).map(({ message: one }) => one);

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
    const { queue, taken, attempts, waits } = fakeQueue(
      (body, attempt) => body.includes(String(NOON + 1)) && attempt < 3,
    );
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

describe("planNow()", () => {
  it("plans every partition for two minutes from now on, the first sync within one period", async () => {
    const { queue, taken } = fakeQueue();
    const partitions = ["a", "b", "c"].map((name) => ({ name: partitionName(name) }));
    await planNow(
      { queue, clock: () => NOON + 700 },
      { name: clusterName("new"), partitions, syncPeriodMs: 15_000 },
    );
    const due = taken.map(({ body, delaySeconds: delay }) => ({ ...messageOf(body), delay }));
    expect(due).toHaveLength(3 * 8);
    for (const { name } of partitions) {
      const own = due
        .filter(({ partition }) => partition === name)
        .map(({ dueMs }) => dueMs - NOON);
      expect(Math.min(...own)).toBeLessThanOrEqual(15_700);
      expect(Math.max(...own)).toBeGreaterThan(105_000);
    }
    for (const { dueMs, delay } of due)
      expect(NOON + 700 + delay * 1_000 - dueMs).toBeGreaterThanOrEqual(0);
  });
});

describe("schedule()", () => {
  const cluster = (name: string, partitions: number): ClusterRecord => ({
    name: clusterName(name),
    uid: `uid-of-${name}`,
    syncPeriodMs: 15_000,
    partitions: Array.from({ length: partitions }, (_, at) => ({
      name: partitionName(`p${at}`),
      namespaces: [],
    })),
    settings: DEFAULT_SETTINGS,
    version: 1,
  });

  /** The two calls before the one at noon have done their work. */
  const planned = (tables: Tables): Promise<void> => markPlanned(tables, [NOON, NOON + MINUTE_MS]);

  it("plans a minute of 500 clusters with 4 partitions in one run, each message once and aimed at its instant", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 20_000);
    for (let at = 0; at < 500; at++) await putCluster(tables, cluster(`c-${at}`, 4), undefined);
    await planned(tables);
    const { queue, taken } = fakeQueue((body, attempt) => body.includes('"p3"') && attempt === 1);
    const { items, ...report } = await planSyncs({ tables, queue }, { scheduledMs: NOON });
    expect(report).toEqual({
      fromMs: NOON + 2 * MINUTE_MS,
      untilMs: NOON + 3 * MINUTE_MS,
      missed: [],
      clusters: 500,
      sent: 8_000,
      skipped: 0,
      unreadable: [],
    });
    expect(new Set(taken.map(({ body }) => body)).size).toBe(8_000);
    for (const { body, delaySeconds: delay } of taken)
      expect(messageOf(body).dueMs).toBe(NOON + 20_000 + delay * 1_000);
  });

  it.each([2 * MINUTE_MS, 365 * 24 * 60 * MINUTE_MS])(
    "plans nothing for a call that is %d ms ahead of the clock: its messages would stop their partitions",
    async (aheadMs) => {
      const engine = await startMemory();
      const tables = testTables(engine.client, engine.tables, () => NOON);
      await putCluster(tables, cluster("good", 1), undefined);
      const { queue, taken } = fakeQueue();
      await expect(
        planSyncs({ tables, queue }, { scheduledMs: NOON + aheadMs }),
      ).rejects.toMatchObject({
        code: "plan.ahead",
        message: expect.stringMatching(
          /^Cannot plan the minute after .*: it is 2026-03-01T12:00:00.000Z, and no call is scheduled for the future$/,
        ),
      });
      expect(taken).toEqual([]);
    },
  );

  /** Tables of a machine whose clock is ahead of the service's by so much. */
  const ahead = (tables: Tables, byMs: () => number): Tables => ({
    ...tables,
    clock: () => tables.clock() + byMs(),
    serverClock: () => ({ leastMs: byMs() - 1_000, mostMs: byMs() + 1_000 }),
  });

  it("by a clock that is 240 s ahead fails in each of ten minutes, marks none, and a right clock plans what is ahead", async () => {
    const engine = await startMemory();
    let nowMs = NOON;
    const right = testTables(engine.client, engine.tables, () => nowMs);
    await putCluster(right, cluster("late", 1), undefined);
    const { queue, taken } = fakeQueue();
    for (let minute = 0; minute < 10; minute++, nowMs += MINUTE_MS) {
      await expect(
        planSyncs({ tables: ahead(right, () => 240_000), queue }, { scheduledMs: nowMs }),
      ).rejects.toMatchObject({
        code: "store.clock-wrong",
        message: expect.stringMatching(/^Cannot plan: the clock of this machine is 239\.0 s ahead/),
      });
    }
    expect(taken).toEqual([]);
    expect(await readPlanMarks(right)).toEqual(new Set());
    const { sent } = await planSyncs({ tables: right, queue }, { scheduledMs: nowMs });
    expect(sent).toBe(12);
    const marks = [nowMs, nowMs + MINUTE_MS, nowMs + 2 * MINUTE_MS];
    expect(await readPlanMarks(right)).toEqual(new Set(marks));
  });

  it("whose clock steps ahead while it sends marks nothing, so that the next call sends", async () => {
    const engine = await startMemory();
    const right = testTables(engine.client, engine.tables, () => NOON);
    await putCluster(right, cluster("slow", 40), undefined);
    await planned(right);
    let sends = 0;
    const { queue } = fakeQueue();
    const client = {
      send: (async (command: object) => {
        sends++;
        return (queue.client.send as unknown as (command: object) => Promise<unknown>)(command);
      }) as never,
    };
    const tables = ahead(right, () => (sends > 3 ? 240_000 : 0));
    await expect(
      planSyncs({ tables, queue: { ...queue, client } }, { scheduledMs: NOON }),
    ).rejects.toMatchObject({ code: "store.clock-wrong" });
    expect(await readPlanMarks(right)).toEqual(new Set([NOON, NOON + MINUTE_MS]));
  });

  it("marks a minute only where all of it was sent, or nothing was due", async () => {
    const engine = await startMemory();
    // The call comes three minutes late: of its own minute a half has passed.
    const tables = testTables(engine.client, engine.tables, () => NOON + 150_000);
    await planSyncs({ tables, queue: fakeQueue().queue }, { scheduledMs: NOON });
    expect(await readPlanMarks(tables)).toEqual(
      new Set([NOON, NOON + MINUTE_MS, NOON + 2 * MINUTE_MS]),
    );
    await putCluster(tables, cluster("late", 1), undefined);
    await markPlanned(tables, [NOON]);
    expect(
      await planSyncs({ tables, queue: fakeQueue().queue }, { scheduledMs: NOON }),
    ).toMatchObject({ sent: 2, skipped: 2 });
    expect(await readPlanMarks(tables)).toEqual(new Set([NOON]));
  });

  it("plans the clusters that can be read, and names those that cannot", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON);
    await putCluster(tables, cluster("good", 1), undefined);
    await putCluster(tables, { ...cluster("bad", 1), syncPeriodMs: 1 }, undefined);
    const { queue } = fakeQueue();
    expect(await planSyncs({ tables, queue }, { scheduledMs: NOON })).toMatchObject({
      clusters: 1,
      sent: 12,
      missed: [NOON, NOON + MINUTE_MS],
      unreadable: [{ name: "bad" }],
    });
  });

  it("plans a cluster that was just added or divided from the scheduled minute on, and its neighbours as ever", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 20_000);
    await putCluster(tables, { ...cluster("new", 1), plannedFromMs: NOON + 5_000 }, undefined);
    await putCluster(
      tables,
      { ...cluster("old", 1), plannedFromMs: NOON - 10 * MINUTE_MS },
      undefined,
    );
    await planned(tables);
    const { queue, taken } = fakeQueue();
    await planSyncs({ tables, queue }, { scheduledMs: NOON });
    const due = (name: string) =>
      taken
        .map(({ body }) => messageOf(body))
        .flatMap((one) => (one.cluster === name ? [one.dueMs - NOON] : []));
    expect(Math.min(...due("new"))).toBeGreaterThanOrEqual(20_000);
    expect(Math.min(...due("new"))).toBeLessThan(20_000 + 15_000);
    expect(Math.max(...due("new"))).toBeGreaterThanOrEqual(3 * MINUTE_MS - 15_000);
    expect(due("old").every((dueMs) => dueMs >= 2 * MINUTE_MS)).toBe(true);
  });

  it("takes the delay of a message when its batch is sent, so that slow sends do not make it late", async () => {
    const engine = await startMemory();
    let nowMs = NOON;
    const tables = testTables(engine.client, engine.tables, () => nowMs);
    await putCluster(tables, cluster("slow", 40), undefined);
    await planned(tables);
    const { queue, taken } = fakeQueue();
    const client = {
      send: (async (command: object) => {
        nowMs += 400;
        return (queue.client.send as unknown as (command: object) => Promise<unknown>)(command);
      }) as never,
    };
    await planSyncs({ tables, queue: { ...queue, client } }, { scheduledMs: NOON });
    expect(taken).toHaveLength(160);
    const early = taken.filter(
      ({ body, delaySeconds: delay }) => messageOf(body).dueMs - NOON < delay * 1_000,
    );
    expect(early).toEqual([]);
    expect(
      taken.some(({ body, delaySeconds: delay }) => messageOf(body).dueMs - NOON > delay * 1_000),
    ).toBe(true);
  });

  it("leaves out what is due in the past when it was called late", async () => {
    const engine = await startMemory();
    const tables = testTables(engine.client, engine.tables, () => NOON + 2 * MINUTE_MS + 30_000);
    await putCluster(tables, cluster("late", 1), undefined);
    const { queue, taken } = fakeQueue();
    expect(await planSyncs({ tables, queue }, { scheduledMs: NOON })).toMatchObject({
      sent: 2,
      skipped: 2,
    });
    expect(
      taken
        .map(({ body }) => messageOf(body).dueMs)
        .every((dueMs) => dueMs >= NOON + 2 * MINUTE_MS + 30_000),
    ).toBe(true);
  });

  it("plans the minute of a call that failed before it had sent all, and marks no minute before", async () => {
    const engine = await startMemory();
    let nowMs = NOON;
    const tables = testTables(engine.client, engine.tables, () => nowMs);
    await putCluster(tables, cluster("eu-1", 4), undefined);
    await planned(tables);
    let fails = true;
    const { queue, taken } = fakeQueue((body) => fails && body.includes('"p3"'));
    await expect(planSyncs({ tables, queue }, { scheduledMs: NOON })).rejects.toMatchObject({
      code: "plan.unsent",
    });
    [nowMs, fails] = [NOON + MINUTE_MS, false];
    taken.length = 0;
    expect(await planSyncs({ tables, queue }, { scheduledMs: nowMs })).toMatchObject({
      missed: [NOON + 2 * MINUTE_MS],
      sent: 32,
    });
    nowMs += MINUTE_MS;
    expect(await planSyncs({ tables, queue }, { scheduledMs: nowMs })).toMatchObject({
      missed: [],
      sent: 16,
    });
  });

  it("always plans every due time that is ahead of the next call that succeeds, whichever calls fail, never come, are late or come twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(CALL, { minLength: 4, maxLength: 10 }), async (calls) => {
        const { made, sent } = await playCalls(calls);
        const wanted = made.flatMap(({ atMs, minuteMs }) =>
          dueTimes(clusterName("eu-1"), partitionName("p0"), 15_000, {
            fromMs: Math.max(minuteMs, atMs),
            untilMs: minuteMs + 3 * MINUTE_MS,
          }),
        );
        expect(wanted.filter((dueMs) => !sent.has(dueMs))).toEqual([]);
      }),
      runs(20),
    );
  });

  const CALL = fc.record({
    fate: fc.constantFrom("fails", "never", "comes", "twice"),
    lateMs: fc.integer({ min: 0, max: MINUTE_MS - 1 }),
  });

  /**
   * One call for each minute from noon on: when each that succeeded was made, and the due times
   * that were sent.
   */
  const playCalls = async (
    calls: readonly { readonly fate: string; readonly lateMs: number }[],
  ) => {
    const engine = await startMemory();
    let nowMs = NOON;
    let fails = false;
    const tables = testTables(engine.client, engine.tables, () => nowMs);
    await putCluster(tables, cluster("eu-1", 1), undefined);
    const { queue, taken } = fakeQueue(() => fails);
    const made: { readonly atMs: number; readonly minuteMs: number }[] = [];
    const call = async (minuteMs: number, fate: string): Promise<void> => {
      fails = fate === "fails";
      const ended = planSyncs({ tables, queue }, { scheduledMs: minuteMs });
      if (fails) return expect(ended).rejects.toThrow("Cannot send");
      await ended;
      made.push({ atMs: nowMs, minuteMs });
    };
    for (const [minute, { fate, lateMs }] of calls.entries()) {
      const minuteMs = NOON + minute * MINUTE_MS;
      nowMs = Math.max(nowMs, minuteMs + lateMs);
      const times = { never: 0, twice: 2 }[fate] ?? 1;
      for (let time = 0; time < times; time++) await call(minuteMs, fate);
    }
    await engine.close();
    return { made, sent: new Set(taken.map(({ body }) => messageOf(body).dueMs)) };
  };
});
