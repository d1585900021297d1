import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { openMetricsText } from "../report/open-metrics.ts";
import type { Desk } from "../service/desk.ts";
import { openService } from "../service/open.ts";
import { insertByPut } from "../store/history-put.ts";
import { tableDefinitions } from "../store/tables.ts";
import { writeAbout } from "./about.ts";
import { applyFiles, applyFirst } from "./apply-first.ts";
import type { Closing } from "./closing.ts";
import { ensureCluster } from "./cluster-record.ts";
import { type RunClock, realClock, virtualClock } from "./engine/clock.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { greetingLines } from "./greeting.ts";
import { openLogFile } from "./log-file.ts";
import { TABLE_NAMES } from "./names.ts";
import type { RunOptions } from "./options.ts";
import { type Queues, startQueues } from "./queues.ts";
import { endDeadLeases, NOTHING_UNFINISHED } from "./recover.ts";
import { readSavedClock, saveClock } from "./saved-clock.ts";
import { type SeriesServer, startSeriesServer } from "./series-server.ts";
import type { Setup } from "./setup.ts";
import { localTables, type Stack, startStack } from "./stack.ts";
import { ensureTables, startTables, type Tables, tablesClient } from "./tables.ts";
import { type Counter, runCounter } from "./tally.ts";
import { type StackReader, stackReader } from "./view/reader.ts";
import { realWorld, simulatedWorld, type World } from "./world.ts";

/** Everything of a run that is open. */
export interface Run {
  readonly setup: Setup;
  readonly clock: RunClock;
  readonly tables: Tables;
  readonly queues: Queues;
  readonly world: World;
  readonly stack: Stack;
  readonly counter: Counter;
  readonly reader: StackReader;
  readonly series: SeriesServer;
  /** What to tell people first. */
  readonly greeting: readonly string[];
}

/** Opens the folder for a run: tables, queues, cluster and functions, with what the last run left in them. */
export const openRun = async (layout: FolderLayout, setup: Setup, options: RunOptions, closer: Closing): Promise<Run> => {
  const clock = clockOf(layout, setup, options.speed);
  const world = await worldOf(layout, setup, options, clock.now);
  closer.add(world.close);
  const tables = await startTables(layout.tables);
  closer.add(tables.close);
  const [syncClient, scheduleClient, deskClient] = [tablesClient(tables.endpoint), tablesClient(tables.endpoint), tablesClient(tables.endpoint)];
  for (const client of [syncClient, scheduleClient, deskClient]) closer.add(() => client.destroy());
  await ensureTables(deskClient, tableDefinitions(TABLE_NAMES));
  const queues = await startQueues(layout.queue, clock.now);
  closer.add(queues.close);
  const log = openLogFile(layout.log);
  closer.add(log.close);
  const counter = runCounter();
  counter.watch(syncClient);
  const stack = startStack({ clock: clock.now, syncClient, scheduleClient, queues, teller: log.teller });
  closer.add(stack.close);

  const store = localTables(deskClient, clock.now);
  const desk: Desk = { tables: store, insert: insertByPut(store), clock: clock.now, by: person(), newUid: randomUUID };
  const service = openService(desk);
  const series = await startSeriesServer(async (labels) => openMetricsText(await service.series(labels)), options.metricsPort);
  closer.add(series.close);
  const cluster = await ensureCluster(desk, world.name, world.connection);
  // A kubeconfig that cannot be used is told now; and the large library that reads it is loaded before the first sync.
  await stack.connect(cluster);
  const first = !setup.resumed && setup.about.kind === "simulated" ? setup.about.seed : undefined;
  const applied = await (first === undefined ? applyFiles(desk, world.name, setup.manifests) : applyFirst(desk, world.name, setup.manifests, first));
  if (!setup.resumed) writeAbout(layout, setup.about);
  // On a real cluster a write of the run that died may still be under way: there its lease and its intents run out by themselves.
  const dead = { tables: store, cluster, connect: stack.connect, nowMs: clock.now() };
  const unfinished = setup.about.kind === "simulated" ? await endDeadLeases(dead) : NOTHING_UNFINISHED;
  return {
    setup,
    clock,
    tables,
    queues,
    world,
    stack,
    counter,
    reader: stackReader(service, clock.now()),
    series,
    greeting: greetingLines({
      layout,
      setup,
      nowMs: clock.now(),
      speed: options.speed,
      recovered: queues.recovered,
      unfinished,
      applied,
      cluster: world.name,
      seriesUrl: series.url,
    }),
  };
};

const clockOf = (layout: FolderLayout, { about }: Setup, speed: number): RunClock => {
  const save = (state: Parameters<typeof saveClock>[1]) => saveClock(layout, state);
  const saved = readSavedClock(layout);
  return about.kind === "kubeconfig" ? realClock(save) : virtualClock({ startMs: saved?.nowMs ?? about.startMs, speed, save });
};

const worldOf = async (layout: FolderLayout, { about }: Setup, { kubeconfig, context }: RunOptions, clock: () => number): Promise<World> =>
  about.kind === "simulated" ? simulatedWorld(layout, about, clock) : realWorld(resolve(kubeconfig ?? ""), context);

/** Edits are recorded for who made them; a container may know its user by number only. */
const person = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
