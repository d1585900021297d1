import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import Table from "cli-table3";
import { FULL_CPU_GB } from "../../lib/answers/cost/units.ts";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import type { IndexRow, PartitionIndex, SummaryRow } from "../../lib/rules/model/summary.ts";
import { openMetricsText } from "../../lib/stack/report/open-metrics.ts";
import { rowOf } from "../../lib/answers/service/views/known-row.ts";
import { seriesOf } from "../../lib/answers/service/series/autoscaler-series.ts";
import { decodeIndex, encodeIndex } from "../../lib/stack/store/summary/summary-items.ts";
import {
  decodeSummary,
  encodeSummary,
  summaryKeyOf,
} from "../../lib/stack/store/summary/summary-codec.ts";
import { NOON } from "../noon.ts";

const CLUSTERS = 100;
const AUTOSCALERS = 100;
const ROUNDS = 7;
/** Memory of the functions `api` and `view` in serverless.yml. */
const VIEW_MEMORY_GB = 1;

const random = (most: number): number => Math.floor(Math.random() * most);

const partition = (): { readonly index: Uint8Array; readonly summary: Uint8Array } => {
  const rows = Array.from({ length: AUTOSCALERS }, (_, at): IndexRow => {
    const name = `checkout-worker-${at}`;
    const target = { apiVersion: "apps/v1", kind: "Deployment", name };
    const common = {
      namespace: "shop",
      name,
      uid: randomUUID(),
      generation: 1,
      kind: "HorizontalPodAutoscaler",
      labels: { app: name },
    };
    return { ...common, createdMs: NOON, minReplicas: 1, maxReplicas: 100, target };
  });
  const summary = rows.map(
    ({ uid }): SummaryRow => ({
      ...{
        key: summaryKeyOf(autoscalerUid(uid)),
        state: "active",
        reason: "ReadyForNewScale",
        current: random(40),
        desired: random(40),
      },
      ...{ targets: [`${random(100)}%/60%`], lastScaleMs: NOON - random(1_000_000) * 1_000 },
      totals: {
        ups: random(3_000),
        added: random(9_000),
        downs: random(3_000),
        removed: random(9_000),
        refusedUps: 0,
        refusedDowns: 0,
      },
    }),
  );
  return {
    index: encodeIndex({ specVersion: 1, clusterIncarnation: "uid:1", rows }).body,
    summary: encodeSummary(summary, NOON) ?? new Uint8Array(),
  };
};

const AROUND = {
  partition: "default",
  isPaused: false,
  measuredMs: NOON,
  fleet: { version: 1, restores: 0 },
  nowMs: NOON,
};

interface Read {
  readonly index: PartitionIndex;
  readonly rows: ReadonlyMap<string, SummaryRow>;
}

const rowsIn = (read: readonly Read[]) =>
  read.flatMap(({ index, rows }) =>
    index.rows.map((one) => rowOf(one, rows.get(summaryKeyOf(autoscalerUid(one.uid))), AROUND)),
  );

const scrape = (read: readonly Read[]): string => {
  const samples = rowsIn(read).flatMap((row) =>
    seriesOf({ cluster: "eu-1", row: { ...row, name: row.uid }, isSwitchedOff: false }),
  );
  const families = Map.groupBy(samples, ({ name }) => name);
  return openMetricsText(
    [...families].map(([name, own]) => ({
      name,
      type: "gauge",
      help: "of the bench",
      samples: own,
    })),
  );
};

/** The median CPU of the rounds in ms, and what the work gave last. */
const measured = <Result>(work: () => Result): { readonly ms: number; readonly result: Result } => {
  let result = work();
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    result = work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return { ms: times.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0, result };
};

/**
 * CPU of what `get` and `/metrics` do of 10,000 autoscalers, and the time that it takes a function
 * by its share of a CPU. The reads of the tables come beside it (docs/speed.md).
 */
export const run = async (): Promise<void> => {
  const stored = Array.from({ length: CLUSTERS }, partition);
  const indexes = measured(() => stored.map(({ index }) => decodeIndex(index)));
  const summaries = measured(() => stored.map(({ summary }) => decodeSummary(summary)));
  const read = stored.flatMap((_, at): readonly Read[] => {
    const [index, summary] = [indexes.result[at], summaries.result[at]];
    return index && summary
      ? [{ index, rows: new Map(summary.rows.map((row) => [row.key, row])) }]
      : [];
  });
  const rows = measured(() => gzipSync(JSON.stringify(rowsIn(read)), { level: 5 }));
  const series = measured(() => gzipSync(scrape(read), { level: 5 }));
  const table = new Table({
    head: ["10,000 autoscalers in 100 clusters", "own CPU ms", "ms of a function", "KiB"],
    style: { head: [], border: [] },
  });
  const line = (what: string, ms: number, bytes?: number) =>
    table.push([
      what,
      Math.round(ms),
      Math.round((ms * FULL_CPU_GB) / VIEW_MEMORY_GB),
      bytes === undefined ? "" : Math.round(bytes / 1_024),
    ]);
  line("indexes, read once", indexes.ms);
  line("summaries, once a minute", summaries.ms);
  line("rows of `get`", rows.ms, rows.result.length);
  line("series of `/metrics`", series.ms, series.result.length);
  process.stdout.write(`${table.toString()}\n`);
};
