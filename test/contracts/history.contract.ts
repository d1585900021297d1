import { BatchExecuteStatementCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import type { ChangeRecord } from "../../lib/rules/model/changes.ts";
import { autoscalerName, autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";
import {
  changeBaseOf,
  changesOf,
  insertChange,
  isBaseOfChange,
} from "../../lib/stack/store/history/changes.ts";
import {
  EVENT_DAYS_KEPT,
  eventsOfAutoscaler,
  insertEvents,
} from "../../lib/stack/store/history/events.ts";
import { changesOfFleet } from "../../lib/stack/store/history/fleet-changes.ts";
import { eventsOfFleet } from "../../lib/stack/store/history/fleet-events.ts";
import { type HistoryItem, insertByStatement } from "../../lib/stack/store/history/item.ts";
import { journalOfPage } from "../../lib/stack/store/history/journal.ts";
import { clusterChangesPk } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { NOON } from "../noon.ts";
import { insertJournal } from "../store/insert-journal.ts";
import { newestJournalPage } from "../store/newest-journal-page.ts";
import { event, PARTITION, REF } from "../store/records.ts";
import { collected, testTables } from "../sync/world.ts";
import type { Engine } from "./engines.ts";
import { around, once, type TableFault, withFaults } from "./faults.ts";

let clusters = 0;

/** What history must do on every engine, keep what was first, and give it back in order. */
export const historyContract = (engine: () => Engine): void => {
  describe("history", () => {
    let tables: Tables;
    let cluster: ScaleEventRecord["cluster"];
    const insert = (items: readonly HistoryItem[], by = tables) => insertByStatement(by)(items);
    const item = (sk: string, body: HistoryItem["body"] = sk): HistoryItem => ({
      pk: `test#${cluster}`,
      sk,
      body,
      ttlSeconds: 4_000_000_000,
    });
    const at = (ms: number, parts: Partial<ScaleEventRecord> = {}): ScaleEventRecord =>
      event({ cluster, atMs: ms, settledMs: ms, id: `uid-web:${ms - NOON}`, ...parts });
    const failing = (fault: TableFault): Tables => {
      return {
        ...tables,
        client: withFaults(
          engine().client,
          once({ command: "BatchExecuteStatementCommand", fault }),
        ),
      };
    };

    beforeEach(() => {
      cluster = clusterName(`history-${++clusters}`);
      tables = testTables(engine().client, engine().tables, () => 0);
    });

    it("gives the item that was first to every later insert of its key", async () => {
      expect(await insert([item("a", "first")])).toEqual([{ kind: "inserted" }]);
      expect(await insert([item("a", "second"), item("b")])).toEqual([
        { kind: "duplicate", stored: item("a", "first") },
        { kind: "inserted" },
      ]);
      expect(await insert([item("a", "third")])).toMatchObject([{ stored: { body: "first" } }]);
    });

    it("takes many items at once and answers for each, in order", async () => {
      await insert([item("007"), item("042")]);
      const outcomes = await insert(
        Array.from({ length: 60 }, (_, index) =>
          item(String(index).padStart(3, "0"), `new ${index}`),
        ),
      );
      expect(outcomes.flatMap(({ kind }, index) => (kind === "duplicate" ? [index] : []))).toEqual([
        7, 42,
      ]);
    });

    it("keeps bytes as they are", async () => {
      const bytes = new Uint8Array(100_000).map((_, index) => index % 251);
      await insert([item("bytes", bytes)]);
      const [outcome] = await insert([item("bytes", "other")]);
      expect(
        outcome?.kind === "duplicate" &&
          Buffer.compare(Buffer.from(outcome.stored.body), Buffer.from(bytes)),
      ).toBe(0);
    });

    it.each(["lost answer", "lost request", "throttled", "server error"] as const)(
      "counts an item once after a call with %s",
      async (fault) => {
        const [outcome] = await insert([item("a", "mine")], failing(fault));
        const counts = outcome?.kind === "duplicate" ? outcome.stored.body : "mine";
        expect(counts).toBe("mine");
        expect(await insert([item("a", "other")])).toMatchObject([
          { kind: "duplicate", stored: { body: "mine" } },
        ]);
      },
    );

    it("gives up with an error that can be named when it cannot be written", async () => {
      const client = withFaults(engine().client, (command) =>
        command === "GetItemCommand" ? undefined : "throttled",
      );
      await expect(insert([item("a")], { ...tables, client })).rejects.toMatchObject({
        name: "TidemarkError",
        code: "store.unclear",
      });
    });

    it("holds each event twice, and lets the first outcome stand", async () => {
      const first = at(NOON);
      expect(await insertEvents(insertByStatement(tables), [first])).toEqual([first]);
      expect(
        await insertEvents(insertByStatement(tables), [
          at(NOON, { outcome: "unknown", settledMs: NOON + 60_000 }),
        ]),
      ).toEqual([first]);
      const stretch = { sinceMs: NOON, untilMs: NOON };
      expect(await collected(eventsOfAutoscaler(tables, first, stretch))).toEqual([first]);
      expect(await collected(eventsOfFleet(tables, [cluster], stretch))).toEqual([first]);
    });

    it("completes an event of which only the first half was stored", async () => {
      const half = at(NOON);
      const insertOnce = insertByStatement(tables);
      let calls = 0;
      const dying = (items: readonly HistoryItem[]) =>
        ++calls === 1 ? insertOnce(items) : Promise.reject(new Error("died"));
      await expect(insertEvents(dying, [half])).rejects.toThrow("died");
      expect(
        await collected(eventsOfFleet(tables, [cluster], { sinceMs: 0, untilMs: NOON })),
      ).toEqual([]);
      await insertEvents(insertOnce, [at(NOON, { outcome: "unknown" })]);
      expect(
        await collected(eventsOfFleet(tables, [cluster], { sinceMs: 0, untilMs: NOON })),
      ).toEqual([half]);
    });

    it("gives events in order of time, page by page, across days, from and until inclusive", async () => {
      const times = [-DAY_MS, -1, 0, 1, 2, DAY_MS].map((shift) => NOON + shift);
      await insertEvents(
        insertByStatement(tables),
        times.toReversed().map((ms) => at(ms)),
      );
      const found = async (stretch: Parameters<typeof eventsOfFleet>[2]) =>
        (await collected(eventsOfFleet(tables, [cluster], stretch))).map(({ atMs }) => atMs - NOON);
      expect(await found({ sinceMs: NOON - DAY_MS, untilMs: NOON + DAY_MS, pageSize: 1 })).toEqual([
        -DAY_MS,
        -1,
        0,
        1,
        2,
        DAY_MS,
      ]);
      expect(await found({ sinceMs: NOON, untilMs: NOON + 1 })).toEqual([0, 1]);
      const own = await collected(
        eventsOfAutoscaler(
          tables,
          { ...REF, cluster },
          { sinceMs: NOON, untilMs: NOON + DAY_MS, pageSize: 2 },
        ),
      );
      expect(own.map(({ atMs }) => atMs - NOON)).toEqual([0, 1, 2, DAY_MS]);
    });

    it("gives the events of several clusters as one stretch in order of time", async () => {
      const others = [clusterName(`${cluster}-b`), clusterName(`${cluster}-c`)];
      const events = Array.from({ length: 90 }, (_, index) =>
        at(NOON + index, { cluster: [cluster, ...others][(index * 7) % 3] ?? cluster }),
      );
      await insertEvents(insertByStatement(tables), events);
      const merged = await collected(
        eventsOfFleet(tables, [...others, cluster], { sinceMs: NOON, untilMs: NOON + DAY_MS }),
      );
      expect(merged).toEqual(events);
    });

    it("leaves out what has expired, whether it was deleted yet or not", async () => {
      await insertEvents(insertByStatement(tables), [at(NOON)]);
      const kept = { sinceMs: NOON, untilMs: NOON + EVENT_DAYS_KEPT * DAY_MS - 1_000 };
      expect(await collected(eventsOfAutoscaler(tables, { ...REF, cluster }, kept))).toHaveLength(
        1,
      );
      expect(
        await collected(
          eventsOfAutoscaler(
            tables,
            { ...REF, cluster },
            { ...kept, untilMs: kept.untilMs + 1_000 },
          ),
        ),
      ).toEqual([]);
    });

    it("keeps the first of two changes that claim the same generation", async () => {
      const change = {
        ...REF,
        cluster,
        id: "uid-web:2",
        atMs: NOON,
        by: "ann",
        verb: "apply",
        after: "{}",
      } as const;
      const context = { tables, insert: insertByStatement(tables) };
      expect(await insertChange(context, change)).toEqual({ stored: change, isWhole: true });
      expect(await insertChange(context, { ...change, by: "bob" })).toMatchObject({
        stored: change,
      });
      expect(await collected(changesOf(tables, change))).toEqual([change]);
    });

    it("stores the copy under the cluster of a change whose first insert an earlier attempt has made, and none for that of another editor", async () => {
      const change = {
        ...REF,
        cluster,
        id: "uid-web:2",
        atMs: NOON,
        by: "ann",
        verb: "apply",
        after: "{}",
      } as const;
      const insertOnce = insertByStatement(tables);
      const died = new Error("it died between the two");
      const dying: typeof insertOnce = async (items) => {
        if (items.some(({ pk }) => pk === clusterChangesPk(cluster))) throw died;
        return insertOnce(items);
      };
      await expect(insertChange({ tables, insert: dying }, change)).rejects.toThrow(died);
      await insertChange({ tables, insert: insertOnce }, { ...change, by: "bob" });
      expect(
        await collected(changesOfFleet(tables, { clusters: [cluster], scopes: [], sinceMs: NOON })),
      ).toEqual([]);
      await insertChange({ tables, insert: insertOnce }, change);
      expect(
        await collected(changesOfFleet(tables, { clusters: [cluster], scopes: [], sinceMs: NOON })),
      ).toEqual([change]);
    });

    it("stores changes as differences from a whole one, and gives each of them whole: of one autoscaler, and of a cluster since any instant", async () => {
      const context = { tables, insert: insertByStatement(tables) };
      const manifest = (max: number) =>
        JSON.stringify({ max, note: Array.from({ length: 500 }, (_, index) => index * index) });
      const change = (generation: number): ChangeRecord => ({
        ...{
          ...REF,
          cluster,
          id: `uid-web:${generation}`,
          atMs: NOON + generation,
          by: "ann",
          verb: "apply",
          after: manifest(generation),
        },
        ...(generation > 1 && { baseGeneration: generation - 1, before: manifest(generation - 1) }),
      });
      const all = [1, 2, 3, 4].map(change);
      for (const each of all) {
        const base = await changeBaseOf(tables, each, {
          uid: autoscalerUid("uid-web"),
          wholeChange: { generation: 1, atMs: NOON },
        });
        expect(await insertChange(context, each, base)).toEqual({
          stored: each,
          isWhole: each === all[0],
        });
        expect(await insertChange(context, { ...each, by: "bob" }, base)).toMatchObject({
          stored: each,
        });
      }
      expect(await collected(changesOf(tables, { ...REF, cluster }))).toEqual(all);
      expect(
        await collected(
          changesOfFleet(tables, { clusters: [cluster], scopes: [], sinceMs: NOON + 3 }),
        ),
      ).toEqual(all.slice(2));
      expect(await isBaseOfChange(tables, { ...REF, cluster }, autoscalerUid("uid-web"), 3)).toBe(
        true,
      );
    });

    it("reads the bases of many changes at once", async () => {
      const context = { tables, insert: insertByStatement(tables) };
      const names = Array.from({ length: 12 }, (_, number) => autoscalerName(`web-${number}`));
      const manifest = (max: number) =>
        JSON.stringify({ max, note: Array.from({ length: 500 }, (_, number) => number * number) });
      for (const [index, name] of names.entries()) {
        const of = { ...REF, cluster, name, by: "ann", verb: "apply" } as const;
        const uid = autoscalerUid(`uid-${name}`);
        await insertChange(context, {
          ...of,
          id: `${uid}:1`,
          atMs: NOON + index,
          after: manifest(1),
        });
        const base = await changeBaseOf(tables, of, {
          uid,
          wholeChange: { generation: 1, atMs: NOON },
        });
        await insertChange(
          context,
          {
            ...of,
            id: `${uid}:2`,
            atMs: NOON + 100 + index,
            baseGeneration: 1,
            before: manifest(1),
            after: manifest(2),
          },
          base,
        );
      }
      const reads: string[] = [];
      const client = around(tables.client, (command, send) => {
        if (/Get/.test(command)) reads.push(command);
        return send();
      });
      const read = await collected(
        changesOfFleet(
          { ...tables, client: client as Tables["client"] },
          { clusters: [cluster], scopes: [], sinceMs: NOON + 100 },
        ),
      );
      expect(read.map(({ name }) => name)).toEqual(names);
      expect(reads).toEqual(["BatchGetItemCommand"]);
    });

    it("finds the newest journal page, and a stretch of them", async () => {
      const partition = { ...PARTITION, cluster };
      const page = (atMs: number, index: number) => ({
        atMs,
        epoch: 1,
        page: index,
        previousMs: atMs - 1,
        evaluations: [],
      });
      await insertJournal(insertByStatement(tables), partition, [
        page(NOON, 0),
        page(NOON + 1, 0),
        page(NOON + 2, 1),
      ]);
      expect(await newestJournalPage(tables, partition, 0, NOON + 10)).toEqual(page(NOON + 1, 0));
      expect(await newestJournalPage(tables, partition, 2, NOON + 10)).toBeUndefined();
      expect(
        await collected(
          journalOfPage(tables, partition, { page: 0, sinceMs: NOON, untilMs: NOON }),
        ),
      ).toEqual([page(NOON, 0)]);
    });

    it("inserts by a statement that refuses an existing key without any condition", async () => {
      await insert([item("a", "first")]);
      const Statement = `INSERT INTO "${tables.historyTable}" VALUE {'pk': ?, 'sk': ?, 'body': ?}`;
      const Parameters = [{ S: `test#${cluster}` }, { S: "a" }, { S: "second" }];
      const { Responses } = await engine().client.send(
        new BatchExecuteStatementCommand({ Statements: [{ Statement, Parameters }] }),
      );
      expect(Responses?.[0]?.Error?.Code).toMatch(/^DuplicateItem/);
    });
  });
};
