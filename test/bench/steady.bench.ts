import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { ENGINES, startDynalite } from "../contracts/engines.ts";
import { controlPlaneBinaries } from "../control-plane/binaries.ts";
import { appsOf, fillCluster } from "../control-plane/fill.ts";
import { startMetricsAdapter } from "../control-plane/metrics-adapter.ts";
import { startControlPlane } from "../control-plane/start.ts";
import { CPU, type Subject, subjectOf } from "./burst-subject.ts";

/**
 * The CPU of a steady minute: syncs of a cluster in which nothing changes, on a clock of their own that goes on by one period from sync to sync, as in production. `STEADY_AGAINST=FOLDER` plays
 * another checkout of this project turn by turn, because times of two runs on a machine with other work cannot be compared. A real API server and the tables are other processes.
 */
const AUTOSCALERS = Number(process.env["STEADY_AUTOSCALERS"] ?? 1_000);
const MINUTES = Number(process.env["STEADY_MINUTES"] ?? 20);
const WARM_MINUTES = Number(process.env["STEADY_WARM"] ?? 8);
const PERIOD_MS = Number(process.env["STEADY_PERIOD_MS"] ?? 15_000);
const SYNCS_A_MINUTE = 60_000 / PERIOD_MS;

interface Sample {
  readonly userMs: number;
  readonly pages: number;
  readonly calls: number;
  readonly bytes: number;
}

interface Player {
  readonly subject: Subject;
  readonly samples: Sample[];
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const oneSync = async ({ name, cluster, ports, sync }: Subject, dueMs: number): Promise<Sample> => {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const message = { cluster: cluster.name, partition: cluster.partitions[0]?.name, dueMs, periodMs: PERIOD_MS };
  const report = await sync({ ...ports, tables: { ...ports.tables, clock: () => dueMs } }, message);
  const { user } = process.cpuUsage(cpu);
  if (report.kind !== "completed") throw new Error(`a sync of ${name} was ${JSON.stringify(report)}`);
  if (report.events.length > 0) throw new Error(`a sync of ${name} scaled, so that it was not steady`);
  const { pagesWritten, journalPages, calls, bytes } = report;
  return { userMs: user / 1_000, pages: pagesWritten + journalPages, calls, bytes };
};

export const run = async (): Promise<void> => {
  const binaries = controlPlaneBinaries();
  if (binaries.kind === "missing") {
    process.stdout.write(`Not measured: ${binaries.message}\n`);
    process.exitCode = 1;
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "tidemark-steady-"));
  const fast = ENGINES.find(({ name, missing }) => name === "dynoxide" && missing === undefined);
  const [plane, engine] = [await startControlPlane(binaries.folder), await (fast ? fast.start() : startDynalite())];
  const apps = appsOf(AUTOSCALERS);
  await fillCluster(plane, apps);
  const adapter = await startMetricsAdapter(plane, apps, dir);
  adapter.cpuMilli = CPU.calm;
  const other = process.env["STEADY_AGAINST"];
  const folders = { ...(other !== undefined && { other }), this: join(import.meta.dirname, "../..") };
  const players: Player[] = [];
  try {
    for (const [name, folder] of Object.entries(folders)) players.push({ subject: await subjectOf(name, folder, plane, engine, apps), samples: [] });
    await play(players);
    print(players);
  } finally {
    for (const { subject } of players) subject.client.close();
    await adapter.close();
    await plane.close();
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
};

/** Turn by turn, and each goes first as often as the other. */
const play = async (players: readonly Player[]): Promise<void> => {
  const startMs = Date.now();
  for (let at = 0; at < (WARM_MINUTES + MINUTES) * SYNCS_A_MINUTE; at++) {
    const turn = at % 2 === 0 ? players : players.toReversed();
    for (const { subject, samples } of turn) {
      const sample = await oneSync(subject, startMs + at * PERIOD_MS);
      if (at >= WARM_MINUTES * SYNCS_A_MINUTE) samples.push(sample);
    }
  }
};

const KINDS = { "within a minute": (pages: number) => pages === 0, "first of a minute": (pages: number) => pages > 0 } as const;

const print = (players: readonly Player[]): void => {
  const table = new Table({ head: ["checkout", "sync", "number", "CPU ms", "calls", "KB read"], style: { head: [], border: [] } });
  const minutes = new Map<string, number>();
  for (const { subject, samples } of players) {
    let minuteMs = 0;
    for (const [kind, isOfKind] of Object.entries(KINDS)) {
      const rows = samples.filter(({ pages }) => isOfKind(pages));
      const userMs = median(rows.map((sample) => sample.userMs));
      minuteMs += rows.length === 0 ? 0 : (userMs * rows.length) / MINUTES;
      table.push([
        subject.name,
        kind,
        String(rows.length),
        userMs.toFixed(1),
        String(median(rows.map(({ calls }) => calls))),
        (median(rows.map(({ bytes }) => bytes)) / 1_000).toFixed(0),
      ]);
    }
    minutes.set(subject.name, minuteMs);
  }
  process.stdout.write(`${table.toString()}\nMedians of ${MINUTES} minutes, ${AUTOSCALERS} autoscalers with one CPU metric\n`);
  const [before, after] = [minutes.get("other"), minutes.get("this")];
  if (before === undefined || after === undefined) return;
  const ratios = Object.entries(KINDS).map(([kind, isOfKind]) => `${kind} ${ratioOf(players, isOfKind)}`);
  process.stdout.write(
    `A steady minute takes ${(after / before).toFixed(3)} times the CPU of the other checkout; by pairs of syncs: ${ratios.join(", ")}\n`,
  );
};

/** The median of the ratios of syncs that were played one after the other: other work on the machine slows both. */
const ratioOf = ([other, here]: readonly Player[], isOfKind: (pages: number) => boolean): string => {
  const ratios = (here?.samples ?? []).flatMap((sample, at) => {
    const before = other?.samples[at];
    return before && isOfKind(sample.pages) && isOfKind(before.pages) ? [sample.userMs / before.userMs] : [];
  });
  return median(ratios).toFixed(3);
};
