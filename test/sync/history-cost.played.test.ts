import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import type { PartitionRef } from "../../lib/rules/model/ids.ts";
import type { Evaluation, JournalPage } from "../../lib/rules/model/scale-records.ts";
import { type HistoryItem, insertByStatement } from "../../lib/stack/store/history/item.ts";
import {
  baseOf,
  basesAfter,
  baseText,
  type JournalBases,
  journalItem,
  pageOfBody,
} from "../../lib/stack/store/history/journal.ts";
import { SIX_HOURS_MS } from "../../lib/stack/projections/journal-slots.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { loadCluster, loadManifest } from "../bench/load-cluster.ts";
import { type Engine, startDynalite } from "../contracts/engines.ts";
import { metered, nothingConsumed } from "../contracts/metered.ts";
import { readyPod } from "../observation.ts";
import { newWorld, PERIOD_MS } from "./world.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startDynalite();
});
afterAll(() => engine.close());

const HOUR_SYNCS = 3_600_000 / PERIOD_MS;
const WARM_SYNCS = 24;
const REPLICAS = 6;
const UNIT_BYTES = 1_024;

/**
 * What a chart needs of an evaluation beside what explains it: the pods that were ready, the
 * generation, and the bounds in force.
 */
const withoutChart = ({
  ready: _ready,
  generation: _generation,
  bounds: _bounds,
  ...evaluation
}: Evaluation): Evaluation => evaluation;

const hasChart = ({ ready, generation, bounds }: Evaluation): boolean =>
  ready !== undefined && generation !== undefined && bounds !== undefined;

const bytesOf = ({ pk, sk, body }: HistoryItem): number =>
  pk.length + sk.length + Buffer.byteLength(body as Uint8Array) + 30;
const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, each) => total + each, 0);
const unitsOf = (items: readonly HistoryItem[]): number =>
  sum(items.map((item) => Math.ceil(bytesOf(item) / UNIT_BYTES)));

/**
 * Stores each journal page that was inserted a second time without the numbers of charts, as a
 * release without them would have, and counts both.
 */
const journalTwice = () => {
  const texts = new Map<string, Uint8Array>();
  let bases: JournalBases = new Map();
  const counted = { withChart: 0, without: 0, numbered: 0, rollups: 0, marks: 0, quarters: 0 };
  const pageOf = (item: HistoryItem): JournalPage => {
    const body = item.body as Uint8Array;
    const base = baseOf(body);
    const page = pageOfBody(body, base && texts.get(`${base.atMs}/${base.epoch}`));
    if (!page) throw new Error(`cannot read the journal item "${item.sk}"`);
    const text = base ? undefined : baseText(body);
    if (text) texts.set(`${page.atMs}/${page.epoch}`, text);
    return page;
  };
  const count = (ref: PartitionRef, items: readonly HistoryItem[]): void => {
    const journal = items.filter(({ pk }) => pk.startsWith("journal#"));
    const stripped = journal.map((item) => {
      const read = pageOf(item);
      const page = { ...read, evaluations: read.evaluations.map(withoutChart) };
      return { page, item: journalItem(ref, page, bases.get(page.page)) };
    });
    bases = basesAfter(bases, stripped);
    counted.numbered += journal
      .map(pageOf)
      .flatMap(({ evaluations }) => evaluations.filter(hasChart)).length;
    counted.withChart += unitsOf(journal);
    counted.without += unitsOf(stripped.map(({ item }) => item));
    counted.rollups += unitsOf(items.filter(({ sk }) => sk.startsWith("rollup#")));
    counted.quarters += unitsOf(items.filter(({ pk }) => pk.startsWith("quarters#")));
    counted.marks += items.filter(({ pk }) => pk.startsWith("rollups#")).length;
  };
  return { counted, count };
};

/**
 * An hour of syncs in which one in a hundred changes what it recommends, and the rollup of its six
 * hours.
 */
const played = async (autoscalers: number) => {
  const names = Array.from({ length: autoscalers }, (_, at) => `app-${at}`);
  const { client, loads } = loadCluster(names, REPLICAS);
  const workloads = Object.fromEntries(names.map((name) => [name, REPLICAS]));
  const world = await newWorld(engine.client, engine.tables, workloads, {
    manifestOf: (name) => loadManifest(name, "shop"),
    newUid: randomUUID,
  });
  let consumed = nothingConsumed();
  const tables = { ...world.tables, client: metered(engine.client, () => consumed) };
  const insert = insertByStatement(tables);
  const { counted, count } = journalTwice();
  const worker = world.worker({
    tables,
    rules: PURE_PART,
    connect: async () => withPods(client),
    insert: async (items) => {
      count(world.partition, items);
      return insert(items);
    },
  });
  const syncs = async (number: number): Promise<void> => {
    for (let at = 0; at < number; at++) {
      for (const name of names)
        loads.set(
          name,
          (Math.random() < 0.01 ? REPLICAS - 2 : REPLICAS - 1) + 0.05 + 0.9 * Math.random(),
        );
      world.nowMs += PERIOD_MS;
      const report = await world.sync(worker);
      if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
    }
  };
  await syncs(WARM_SYNCS);
  consumed = nothingConsumed();
  Object.assign(counted, { withChart: 0, without: 0, numbered: 0, quarters: 0 });
  await syncs(HOUR_SYNCS);
  const all = sum([...consumed.writeUnits.values()]);
  const journal = { ...counted };
  world.nowMs += 2 * SIX_HOURS_MS;
  await syncs(2 * (60_000 / PERIOD_MS) * 4);
  return { all, journal, rolledUp: { units: counted.rollups, marks: counted.marks } };
};

const withPods = (client: ClusterClient): ClusterClient => ({
  ...client,
  observe: async (watched, limits) => {
    const seen = await client.observe(watched, limits);
    const pods = (app: string) =>
      Array.from({ length: REPLICAS - (Math.random() < 0.1 ? 1 : 0) }, (_, at) =>
        readyPod(`${app}-${at}`, undefined, { labels: { app } }),
      );
    const observations = watched.flatMap(({ uid, spec }) => {
      const found = seen.observations.get(uid);
      return found
        ? [
            [
              uid,
              {
                ...found,
                observation: { ...found.observation, pods: labelIndex(pods(spec.target.name)) },
              },
            ] as const,
          ]
        : [];
    });
    return { ...seen, observations: new Map(observations) };
  },
});

describe("the history that charts need", () => {
  it.each([10, 100])(
    "takes at most 12 % more write units, of %d autoscalers at a period of 15 s",
    { timeout: 300_000 },
    async (autoscalers) => {
      const { all, journal, rolledUp } = await played(autoscalers);
      // Each six hours of each journal page: an item of one unit for each autoscaler, and a mark.
      expect(rolledUp.units % autoscalers).toBe(0);
      expect(rolledUp.units).toBeGreaterThanOrEqual(autoscalers);
      const aRollup = autoscalers + 1;
      // Each autoscaler once a minute.
      expect(journal.numbered).toBeGreaterThanOrEqual(60 * autoscalers);
      const without = all - journal.withChart + journal.without - journal.quarters;
      const ofCharts = journal.withChart - journal.without + aRollup / 6 + journal.quarters;
      const more = ofCharts / without;
      process.stdout.write(
        `${autoscalers} autoscalers, an hour: ${without.toFixed(0)} write units without the history of charts, ${journal.withChart - journal.without} more for the journal, ${(aRollup / 6).toFixed(1)} for the rollup, ${journal.quarters} for the quarters: +${(more * 100).toFixed(1)} %\n`,
      );
      expect(more).toBeLessThanOrEqual(0.12);
    },
  );
});
