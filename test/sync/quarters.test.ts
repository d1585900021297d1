import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newestSamples } from "../../lib/answers/service/facts/newest-samples.ts";
import {
  type AutoscalerUid,
  autoscalerName,
  autoscalerUid,
  namespace,
  type PartitionRef,
} from "../../lib/rules/model/ids.ts";
import type { Evaluation, Sample } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { type CatchUpTurn, project } from "../../lib/stack/projections/project.ts";
import {
  quarterGroupOf,
  QUARTERS,
  quarterItem,
  storedQuarters,
} from "../../lib/stack/projections/quarters.ts";
import { sampleOf } from "../../lib/stack/projections/sample.ts";
import { binned } from "../../lib/stack/projections/samples.ts";
import { type HistoryItem, insertByStatement } from "../../lib/stack/store/history/item.ts";
import { journalPageOf, journalPages } from "../../lib/stack/store/pages/plan.ts";
import { summaryKeyOf } from "../../lib/stack/store/summary/summary-codec.ts";
import { quarterKey } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { PARTITION } from "../store/records.ts";
import { insertJournal } from "../store/insert-journal.ts";
import { testTables } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const SINCE_MS = 400 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;
/** 36 minutes are journaled: two whole quarters, and six minutes of the third. */
const MINUTES = 36;
const NOW_MS = SINCE_MS + MINUTES * MINUTE_MS;

const UIDS = Array.from({ length: 60 }, (_, at) => autoscalerUid(`uid-of-${at}`));
const [ONE = autoscalerUid("uid")] = UIDS;

const evaluationOf = (uid: AutoscalerUid, at: number, minute: number): Evaluation => {
  const milli = 700 + ((at * 37 + minute * 91) % 400);
  return {
    ...{ uid, namespace: namespace("shop"), name: autoscalerName(`app-${at}`), kind: "hold" },
    ...{ failed: at % 13 === 5, from: 6, bounds: { min: 2, max: 10 + (at % 3) }, generation: 1 },
    because: {
      reason: minute % 7 === 0 ? "ScaleDownStabilized" : "DesiredWithinRange",
      message: "",
    },
    metrics: [
      {
        ...{ name: "external metric load(nil)", type: "External", kind: "measured" },
        ...{ value: `${milli}m`, target: "1", ratio: (milli - 0.4) / 1_000, proposal: 6 },
        ...(at % 2 === 0 && { pods: { matched: 6, counted: 6 - (minute % 2) } }),
      },
      ...(at % 5 === 0
        ? [{ name: "cpu", type: "Resource", kind: "failed" as const, message: "no samples" }]
        : []),
    ],
    steps: [{ step: "propose", before: 6, after: 6 + (minute % 3) }],
    events: [],
    ...(at % 4 !== 0 && { ready: 6 }),
  } as unknown as Evaluation;
};

let made = 0;
/** A partition of 60 autoscalers with a journal of 36 minutes. */
const journaled = async (windowsPages: number) => {
  made += 1;
  const ref: PartitionRef = {
    ...PARTITION,
    cluster: `${PARTITION.cluster}-q${made}` as PartitionRef["cluster"],
  };
  const tables: Tables = testTables(engine.client, engine.tables, () => NOW_MS);
  const insert = insertByStatement(tables);
  const pages = journalPages(windowsPages).flatMap((page) =>
    Array.from({ length: MINUTES }, (_, minute) => ({
      ...{ atMs: SINCE_MS + minute * MINUTE_MS, epoch: minute + 1, page },
      evaluations: UIDS.flatMap((uid, at) =>
        journalPageOf(uid, windowsPages) === page ? [evaluationOf(uid, at, minute)] : [],
      ),
    })),
  );
  await insertJournal(insert, ref, pages);
  const turn: CatchUpTurn = {
    ...{ tables, insert, cluster: { name: ref.cluster, partitions: [{ name: ref.partition }] } },
    ...{ partition: ref.partition, nowMs: NOW_MS, beforeMs: NOW_MS - HOUR_MS },
    ...{ untilMs: Number.POSITIVE_INFINITY, memory: {}, windowsPages },
  };
  const stretch = { sinceMs: SINCE_MS, untilMs: NOW_MS };
  const stored = (uid: AutoscalerUid, pagesNow = windowsPages) =>
    storedQuarters(tables, { ref, windowsPages: pagesNow, uid }, stretch);
  const stream = { ref, page: journalPageOf(ONE, windowsPages), syncedMs: NOW_MS, windowsPages };
  const read = async () => {
    const facts: { readonly sinceMs: number; readonly untilMs: number }[] = [];
    const samples = await newestSamples(
      { tables, clock: () => NOW_MS },
      { uid: ONE, stream },
      stretch,
      async (gap) => {
        facts.push(gap);
        return factsOf(ONE, gap.sinceMs, gap.untilMs);
      },
    );
    return { facts, samples };
  };
  return { ref, tables, insert, turn, stored, read };
};

const minutesOf = (sinceMs: number, untilMs: number): readonly number[] =>
  Array.from({ length: MINUTES }, (_, minute) => minute).filter((minute) => {
    const atMs = SINCE_MS + minute * MINUTE_MS;
    return atMs >= sinceMs && atMs <= untilMs;
  });
const factOf = (uid: AutoscalerUid, minute: number) => ({
  atMs: SINCE_MS + minute * MINUTE_MS,
  evaluation: evaluationOf(uid, UIDS.indexOf(uid), minute),
});
const factsOf = (uid: AutoscalerUid, sinceMs: number, untilMs: number): readonly Sample[] =>
  minutesOf(sinceMs, untilMs).map((minute) => {
    const { atMs, evaluation } = factOf(uid, minute);
    return sampleOf(atMs, evaluation);
  });
/** What the journal of a stretch says in steps of five minutes. */
const binsOf = (uid: AutoscalerUid, sinceMs: number, untilMs: number): readonly Sample[] => {
  const bins = new Map<number, Sample>();
  for (const minute of minutesOf(sinceMs, untilMs)) binned(bins, factOf(uid, minute));
  return [...bins.values()];
};
/** A turn whose items are kept beside. */
const kept = (turn: CatchUpTurn, items: HistoryItem[]): CatchUpTurn => ({
  ...turn,
  insert: (some) => {
    items.push(...some);
    return turn.insert(some);
  },
});
const TWO_QUARTERS = SINCE_MS + 2 * QUARTER_MS - 1;

describe("quarters of an hour", () => {
  it("say of each autoscaler what the journal says in steps of five minutes, two minutes after they end", async () => {
    const { turn, stored } = await journaled(9);
    const early = SINCE_MS + QUARTER_MS + 90_000;
    expect(await project({ ...turn, nowMs: early, memory: {} }, [QUARTERS])).toEqual([]);
    expect(await stored(ONE)).toEqual([]);
    expect(await project(turn, [QUARTERS])).toEqual([]);
    for (const uid of UIDS) expect(await stored(uid)).toEqual(binsOf(uid, SINCE_MS, TWO_QUARTERS));
    expect(await stored(autoscalerUid("of nothing"))).toEqual([]);
  });

  it("take one write unit for some 30 autoscalers with a metric", async () => {
    const { turn } = await journaled(9);
    const items: HistoryItem[] = [];
    await project(kept(turn, items), [QUARTERS]);
    expect(items.length).toBe(4);
    for (const { pk, sk, body } of items)
      expect(pk.length + sk.length + body.length).toBeLessThan(1_000);
  });

  it("are read in place of the journal, but for the newest minutes, of which each step shows its first sync", async () => {
    const { turn, read } = await journaled(9);
    await project(turn, [QUARTERS]);
    const { facts, samples } = await read();
    expect(facts).toEqual([]);
    expect(samples).toEqual([
      ...binsOf(ONE, SINCE_MS, TWO_QUARTERS),
      ...[30, 35].flatMap((minute) => {
        const atMs = SINCE_MS + minute * MINUTE_MS;
        return factsOf(ONE, atMs, atMs);
      }),
    ]);
  });

  it("that are damaged or missing are read from the journal", async () => {
    const { turn, tables, ref, read } = await journaled(9);
    await project(turn, [QUARTERS]);
    const { page = 0, group = 0 } = quarterGroupOf(ONE, 9) ?? {};
    const { pk, sk } = quarterKey(ref, { page, group, fromMs: SINCE_MS + QUARTER_MS });
    await tables.client.send(
      new PutItemCommand({
        TableName: tables.historyTable,
        Item: {
          ...{ pk: { S: pk }, sk: { S: sk }, ttl: { N: "9999999999" } },
          body: { B: Buffer.of(0x81, 1, 2) },
        },
      }),
    );
    const { facts, samples } = await read();
    expect(facts).toEqual([{ sinceMs: SINCE_MS + QUARTER_MS, untilMs: TWO_QUARTERS }]);
    expect(samples.length).toBe(3 + 15 + 2);
  });

  it("are not found after a division of the partition, whose readers ask the journal", async () => {
    const { turn, stored } = await journaled(9);
    await project(turn, [QUARTERS]);
    const moved = UIDS.filter(
      (uid) => quarterGroupOf(uid, 8)?.group !== quarterGroupOf(uid, 9)?.group,
    );
    expect(moved.length).toBeGreaterThan(10);
    for (const uid of moved) expect(await stored(uid, 8)).toEqual([]);
  });

  it("of a small partition are not made, and cost no request", async () => {
    const { turn } = await journaled(3);
    const client = {
      send: async () => {
        throw new Error("a request was sent");
      },
    } as unknown as Tables["client"];
    const untouchable = { ...turn, tables: { ...turn.tables, client } };
    expect(await project(untouchable, [QUARTERS])).toEqual([]);
    expect(quarterGroupOf(ONE, 3)).toBeUndefined();
  });

  it("are the same after turns that died at any of their calls, and of turns that had time for one page only", async () => {
    const pages = 15;
    const all = async (diesAt: number | undefined) => {
      const { turn, stored } = await journaled(pages);
      let calls = 0;
      const dying: CatchUpTurn["insert"] = async (items) => {
        calls += 1;
        if (calls === diesAt) throw new Error("the call died");
        return turn.insert(items);
      };
      await project({ ...turn, insert: dying }, [QUARTERS]);
      await project({ ...turn, memory: {} }, [QUARTERS]);
      return { calls, found: await Promise.all(UIDS.map((uid) => stored(uid))) };
    };
    const whole = await all(undefined);
    expect(whole.calls).toBe(4);
    expect(whole.found.every(({ length }) => length === 6)).toBe(true);
    for (let call = 1; call <= whole.calls; call++)
      expect((await all(call)).found).toEqual(whole.found);

    const { turn, stored } = await journaled(pages);
    const sks: string[] = [];
    let nowMs = NOW_MS;
    for (let at = 0; at < 4; at++) {
      // After the first part the turn has no time left.
      let left = 1;
      const tables = { ...turn.tables, clock: () => (left > 0 ? 0 : 10_000) };
      const insert: CatchUpTurn["insert"] = async (items) => {
        left -= 1;
        sks.push(...items.map(({ pk, sk }) => `${pk} ${sk}`));
        return turn.insert(items);
      };
      await project({ ...turn, tables, insert, nowMs, beforeMs: nowMs - HOUR_MS }, [QUARTERS]);
      nowMs += MINUTE_MS;
    }
    expect(new Set(sks).size).toBe(sks.length);
    expect(await Promise.all(UIDS.map((uid) => stored(uid)))).toEqual(whole.found);
  });

  it("have gone after a day, and are made again by nobody", async () => {
    const { turn, stored, tables } = await journaled(9);
    const items: HistoryItem[] = [];
    await project(kept(turn, items), [QUARTERS]);
    for (const { ttlSeconds } of items) expect(ttlSeconds * 1_000).toBeLessThan(NOW_MS + DAY_MS);
    const again: HistoryItem[] = [];
    await project(kept({ ...turn, memory: {} }, again), [QUARTERS]);
    expect(again).toEqual([]);
    const later = { ...tables, clock: () => NOW_MS + 2 * DAY_MS };
    expect(await stored(ONE)).not.toEqual([]);
    expect(
      await storedQuarters(
        later,
        {
          ref: { cluster: turn.cluster.name, partition: turn.partition },
          windowsPages: 9,
          uid: ONE,
        },
        { sinceMs: SINCE_MS, untilMs: NOW_MS + 2 * DAY_MS },
      ),
    ).toEqual([]);
  });

  it("leave out two autoscalers whose short keys are equal, as nobody could tell them apart", async () => {
    const short = (uid: AutoscalerUid): string => summaryKeyOf(uid).slice(0, 5);
    const known = new Map<string, AutoscalerUid>();
    let pair: readonly AutoscalerUid[] = [];
    for (let at = 0; pair.length === 0; at++) {
      const uid = autoscalerUid(`uid ${at}`);
      const other = known.get(short(uid));
      if (other) pair = [other, uid];
      known.set(short(uid), uid);
    }
    const { ref, insert, tables } = await journaled(9);
    const { page = 0, group = 0 } = quarterGroupOf(ONE, 9) ?? {};
    const [twin = ONE, otherTwin = ONE] = pair;
    const bins = binned(undefined, factOf(ONE, 0));
    const found = new Map([twin, ONE, otherTwin].map((uid) => [uid, bins]));
    const slot = { fromMs: SINCE_MS, endMs: SINCE_MS + QUARTER_MS };
    await insert([quarterItem(ref, { page, group }, slot, found)]);
    const stretch = { sinceMs: SINCE_MS, untilMs: NOW_MS };
    const of = (uid: AutoscalerUid) =>
      storedQuarters(tables, { ref, windowsPages: 9, uid }, stretch);
    expect(await of(ONE)).toEqual([...bins.values()]);
    for (const uid of pair)
      if (quarterGroupOf(uid, 9)?.group === group) expect(await of(uid)).toEqual([]);
  });
});
