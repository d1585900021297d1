import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerName, autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import {
  ofJournal,
  SIX_HOURS_MS,
  slotItems,
  slotKey,
} from "../../lib/stack/projections/journal-slots.ts";
import { type CatchUpTurn, project } from "../../lib/stack/projections/project.ts";
import { PROJECTIONS } from "../../lib/stack/projections/projections.ts";
import { SAMPLES, storedWithPods } from "../../lib/stack/projections/samples.ts";
import { ttlOf } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { runs } from "../runs.ts";
import { PARTITION } from "../store/records.ts";
import { insertJournal } from "../store/insert-journal.ts";
import { filesBelow, ROOT } from "../architecture/source.ts";
import { testTables } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startMemory();
});
afterAll(() => engine.close());

const SINCE_MS = 40 * SIX_HOURS_MS;
const NOW_MS = SINCE_MS + SIX_HOURS_MS + HOUR_MS;

interface Pods {
  readonly atMs: number;
  readonly ready?: number;
  readonly counted?: number;
  readonly wanted?: number;
  readonly stale?: number;
  readonly otherRevision?: number;
}

/** A new autoscaler, and what its syncs found. */
let made = 0;
const journaled = async (found: readonly Pods[]) => {
  made += 1;
  const partition = {
    ...PARTITION,
    cluster: `${PARTITION.cluster}-${made}` as typeof PARTITION.cluster,
  };
  const tables: Tables = testTables(engine.client, engine.tables, () => NOW_MS);
  const of = {
    cluster: partition.cluster,
    namespace: namespace("shop"),
    name: autoscalerName("web"),
    uid: autoscalerUid("uid-web"),
  };
  const evaluations = found.map(
    ({ atMs, ready, counted, wanted, ...unusual }): Evaluation & { readonly atMs: number } => ({
      ...{ atMs, uid: of.uid, namespace: of.namespace, name: of.name, kind: "hold", failed: false },
      because: { reason: "WithinTarget", message: "" },
      metrics: [
        {
          ...{ name: "cpu", type: "Resource", kind: "measured", value: "1", target: "2" },
          proposal: 1,
          pods: { matched: 9, ...(counted !== undefined && { counted }), ...unusual },
        },
      ],
      steps: wanted === undefined ? [] : [{ step: "propose", before: 1, after: wanted }],
      events: [],
      ...(ready !== undefined && { ready }),
    }),
  );
  const insert = insertByStatement(tables);
  await insertJournal(
    insert,
    partition,
    evaluations.map(({ atMs, ...evaluation }, at) => ({
      ...{ atMs, epoch: at + 1, page: 0, evaluations: [evaluation] },
    })),
  );
  const turn: CatchUpTurn = {
    ...{
      tables,
      insert,
      cluster: { name: partition.cluster, partitions: [{ name: partition.partition }] },
    },
    ...{ partition: partition.partition, nowMs: NOW_MS, beforeMs: NOW_MS - HOUR_MS },
    ...{ untilMs: Number.POSITIVE_INFINITY, memory: {} },
  };
  const stored = async () =>
    (await storedWithPods(tables, of, { sinceMs: SINCE_MS, untilMs: NOW_MS })).pods;
  return { tables, of, turn, stored };
};

const at = (minute: number, seconds = 0): number =>
  SINCE_MS + minute * MINUTE_MS + seconds * SECOND_MS;

describe("the pods that count, by minute", () => {
  it("are the fewest of the syncs of a minute, equal minutes are one, and a time without syncs is none", async () => {
    const { turn, stored } = await journaled([
      { atMs: at(0), ready: 5, counted: 5, wanted: 5 },
      { atMs: at(1), ready: 5, counted: 5, wanted: 5 },
      { atMs: at(2), ready: 5, counted: 4, wanted: 6 },
      { atMs: at(2, 15), ready: 3, counted: 5, wanted: 7 },
      { atMs: at(9), ready: 5 },
    ]);
    expect(await project(turn, PROJECTIONS)).toEqual([]);
    expect(await stored()).toEqual([
      { atMs: at(0), minutes: 2, ready: 5, counted: 5 },
      { atMs: at(2), minutes: 1, ready: 3, counted: 4 },
      { atMs: at(9), minutes: 1, ready: 5 },
    ]);
    // A call that died makes the same once more.
    await project({ ...turn, memory: {} }, PROJECTIONS);
    expect(await stored()).toHaveLength(3);
  });

  it("have the most of a minute that had an old sample, and that were of another revision", async () => {
    const { turn, stored } = await journaled([
      { atMs: at(0), counted: 5 },
      { atMs: at(1), counted: 5, stale: 1, otherRevision: 2 },
      { atMs: at(1, 15), counted: 5, stale: 3 },
      { atMs: at(2), counted: 5, otherRevision: 2 },
    ]);
    await project(turn, [SAMPLES]);
    expect(await stored()).toEqual([
      { atMs: at(0), minutes: 1, counted: 5 },
      { atMs: at(1), minutes: 1, counted: 5, stale: 3, otherRevision: 2 },
      { atMs: at(2), minutes: 1, counted: 5, otherRevision: 2 },
    ]);
  });

  it("share the item of the samples where both fit, and take no write unit then", async () => {
    const { turn, stored } = await journaled(
      Array.from({ length: 360 }, (_, minute) => ({
        ...{ atMs: at(minute), ready: 5, wanted: 5 },
        counted: minute % 50 === 0 ? 4 : 5,
      })),
    );
    const keys: string[] = [];
    const insert: CatchUpTurn["insert"] = (items) => {
      keys.push(...items.map(({ sk }) => sk.slice(0, sk.indexOf("#"))));
      return turn.insert(items);
    };
    await project({ ...turn, insert }, [SAMPLES]);
    // The second one is the mark.
    expect(keys).toEqual(["rollup", expect.stringMatching(/^1970-01-11T/)]);
    expect(await stored()).toHaveLength(16);
  });

  it("always take one write unit for six hours, never say that more counted than did, and cover every minute", async () => {
    const count = fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: undefined });
    const all = fc.array(fc.tuple(count, count, count, count, count), {
      minLength: 360,
      maxLength: 360,
    });
    await fc.assert(
      fc.asyncProperty(all, async (minutes) => {
        const { turn, stored } = await journaled(
          minutes.map(([ready, counted, wanted, stale, otherRevision], minute) => ({
            atMs: at(minute),
            ...(ready !== undefined && { ready }),
            ...(counted !== undefined && { counted }),
            ...(wanted !== undefined && { wanted }),
            ...(stale !== undefined && { stale }),
            ...(otherRevision !== undefined && { otherRevision }),
          })),
        );
        let bytes = 0;
        const insert: CatchUpTurn["insert"] = (items) => {
          for (const { sk, body } of items) if (sk.startsWith("pods#")) bytes = body.length;
          return turn.insert(items);
        };
        await project({ ...turn, insert }, [SAMPLES]);
        const isCounted = minutes.some(([, counted]) => counted !== undefined);
        expect(bytes > 0).toBe(isCounted);
        expect(bytes).toBeLessThanOrEqual(780);
        if (!isCounted) return;
        const runsStored = await stored();
        for (const [minute, [, counted]] of minutes.entries()) {
          const run = runsStored.find(
            (one) => one.atMs <= at(minute) && at(minute) < one.atMs + one.minutes * MINUTE_MS,
          );
          expect(run).toBeDefined();
          if (counted !== undefined) expect(run?.counted).toBeLessThanOrEqual(counted);
        }
      }),
      runs(5),
    );
  });
});

describe("an autoscaler whose metrics are not measured by pods", () => {
  it("has no item: its samples say all that there is to say", async () => {
    const { turn, stored } = await journaled([
      { atMs: at(0), ready: 5, wanted: 5 },
      { atMs: at(1), ready: 4 },
    ]);
    await project(turn, [SAMPLES]);
    expect(await stored()).toEqual([]);
  });
});

describe("a read model", () => {
  it("is one file: only the item that it is in and its readers name it", () => {
    const names = (path: string): boolean => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return path.startsWith("lib/stack/projections/")
        ? text.includes('from "./pods.ts"')
        : text.includes('/projections/pods.ts"');
    };
    expect(filesBelow("lib").filter(names)).toEqual([
      "lib/answers/service/facts/samples-between.ts",
      "lib/answers/service/history/history.ts",
      "lib/stack/projections/samples.ts",
    ]);
  });

  it("needs no more than what it makes of one fact: due, marks, catching up and damage are the loop's", async () => {
    const HIGHEST = ofJournal<number>({
      name: "highest",
      mark: "highest",
      fold: (highest = 0, { evaluation }) => Math.max(highest, evaluation.ready ?? 0),
      itemOf: (page, of, highest) => ({
        ...slotKey("highest#", page, of),
        body: Buffer.of(highest),
        ttlSeconds: ttlOf(page.slot.endMs, 1_000_000),
      }),
    });
    const { turn, of, tables } = await journaled([
      { atMs: at(0), ready: 5 },
      { atMs: at(100), ready: 9 },
      { atMs: at(300), ready: 7 },
    ]);
    expect(await project(turn, [...PROJECTIONS, HIGHEST])).toEqual([]);
    const stretch = { sinceMs: SINCE_MS, untilMs: NOW_MS };
    const items = await slotItems(tables, "highest#", of, stretch);
    expect(items.map(({ body }) => [...body])).toEqual([[9]]);
  });
});
