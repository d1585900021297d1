import { readEventFilter } from "../../answers/cloud-events/event-filter.ts";
import { randomUUID } from "node:crypto";
import type { Validation } from "../../rules/model/spec.ts";
import { clusterName } from "../../rules/model/ids.ts";
import type { ClusterRecord } from "../../rules/model/records.ts";
import { openMetricsText } from "../../stack/report/open-metrics.ts";
import type { ServiceContext } from "../../answers/service/context.ts";
import { openService } from "../../answers/service/open.ts";
import { insertByStatement } from "../../stack/store/history/item.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";
import {
  type RunClock,
  realClock,
  virtualClock,
  type ClusterLanes,
  type ClusterTimes,
  readSavedClock,
  type SavedClock,
  saveClock,
} from "../engine/clock.ts";
import { type Activity, type Nudge, nudges } from "../engine/event-source.ts";
import { beginSchedule } from "../engine/schedule-activity.ts";
import { openTables } from "../folder/data-folder.ts";
import { type FolderIdentity, writeIdentity } from "../folder/identity.ts";
import type { FolderLayout } from "../layout.ts";
import { closedWithNames } from "../folder/names.ts";
import type { RecordedQueue } from "../cluster/services.ts";
import { registerSources, applyMade } from "./made-fleet.ts";
import type { EmbeddedTables } from "../tables/embedded-tables.ts";
import { type StackReader, stackReader } from "../view/reader.ts";
import type { Closing } from "../host/closing.ts";
import { ensureCluster, saidOfItself } from "./ensure-cluster.ts";
import { greetingLines } from "./greeting.ts";
import type { EventsSender, EventsSenderOptions } from "./events-sender.ts";
import { fleetTimes, openFleet } from "./fleet-thread.ts";
import { openLogFile } from "./log-file.ts";
import type { BesideWhat, RunOptions } from "./options.ts";
import { applyFiles, applyFirst, putObjects } from "./put-objects.ts";
import { endDeadLeases, NOTHING_UNFINISHED } from "./recover.ts";
import { type Queues, startQueues } from "../queue/sqs-server.ts";
import { type StandInOptions, standIn } from "./stand-in.ts";
import { startRunPage } from "./run-page.ts";
import { type SeriesReader, type SeriesServer, startSeriesServer } from "./series-server.ts";
import { sealAtEnd } from "./seal-at-end.ts";
import type { Setup } from "./setup.ts";
import { localTables, type Stack, startStack } from "./stack.ts";
import { type Counter, runCounter } from "../view/tally.ts";
import { userName } from "../host/terminal.ts";
import { type World, worldsOf } from "./world.ts";
import { startQueueServer } from "./queue-server.ts";
import { startWakeServer } from "./wake-server.ts";

/** The open parts of a run. */
export interface Run {
  readonly setup: Setup;
  readonly clock: RunClock;
  readonly tables: EmbeddedTables;
  readonly queues: Queues;
  readonly worlds: readonly World[];
  /** Of many clusters: their syncs overlap. */
  readonly lanes: ClusterLanes | undefined;
  readonly stack: Stack;
  readonly counter: Counter;
  readonly reader: StackReader;
  readonly series: SeriesServer;
  /** Told of each message of the queue, which may come from another process. */
  readonly nudge: Nudge;
  /** Where the recorded queues are, in a simulated run. */
  readonly sourceQueuesUrl?: string;
  /** The stand-in of another controller, with --beside. */
  readonly standIn?: Activity;
  /** With --events-url. */
  readonly sender: EventsSender | undefined;
  /** The first lines of the view. */
  readonly greeting: readonly string[];
}

interface OpeningOf {
  readonly closer: Closing;
  /** Prints a line, where a start takes long. */
  readonly say: (line: string) => void;
}

/**
 * Opens tables, queues, clusters and functions of a folder, in the state of the last run. Nothing
 * in the folder changes before the cluster is open.
 */
export const openRun = async (
  layout: FolderLayout,
  setup: Setup,
  options: RunOptions,
  { closer, say }: OpeningOf,
): Promise<Run> => {
  // The ports are opened first, so that a port in use is reported before anything is changed, and
  // closed first, so that no request asks tables that are closed.
  let readSeries: SeriesReader = () => Promise.reject(new Error("the run is starting"));
  const series = await startSeriesServer((labels) => readSeries(labels), options.metricsPort);
  closer.addDoor(series.close);
  const page = await startRunPage(layout, options);
  closer.addDoor(page.close);
  const wakes = await startWakeServer(options.wakePort);
  closer.addDoor(wakes.close);
  const nudge = nudges();
  const times = fleetTimes(setup.identity);
  const { clock, beginSaving } = runClock(layout, setup.identity, { speed: options.speed, times });
  const seal = sealAtEnd(layout, closer);
  const functionLines = { write: (_lines: string): void => {} };
  const fleet = await openFleet(layout, setup.identity, {
    times,
    closer,
    log: (lines) => functionLines.write(lines),
  });
  const worlds =
    fleet?.worlds ?? (await worldsOf(layout, setup.identity, { clock: clock.now, closer }));
  const [world] = worlds;
  seal.break();
  beginSaving();
  const tables = await openTables(layout, {
    usedBefore: setup.resumed,
    durable: setup.identity.kind !== "simulated",
    inThread: times !== undefined,
  });
  closer.add(async () => seal.allow(await closedWithNames(tables)));
  if (setup.resumed) closer.add(compacting(tables));
  const [syncClient, scheduleClient, contextClient] = [
    tables.client(),
    tables.client(),
    tables.client(),
  ];
  for (const client of [syncClient, scheduleClient, contextClient])
    closer.add(() => client.destroy());
  const queues = await startQueues(layout.queue, clock.now, nudge.now);
  closer.add(queues.close);
  const log = openLogFile(layout.log);
  closer.add(log.close);
  functionLines.write = log.write;
  const counter = runCounter();
  counter.watch(syncClient);
  const recorded =
    setup.identity.kind === "simulated"
      ? await startQueueServer((name) => queueIn(worlds, name))
      : undefined;
  if (recorded) closer.add(recorded.close);
  const started = startStack({
    clock: clock.now,
    comparesClock: setup.identity.kind !== "simulated",
    syncClient,
    scheduleClient,
    queues,
    connections: worlds.map(({ connection }) => connection),
    reporter: counter.hear(log.reporter),
    ...(recorded && { queuesUrl: recorded.url }),
    newestKindMs: () => Math.max(...worlds.map(({ newestMadeMs }) => newestMadeMs?.() ?? 0)),
  });
  closer.add(started.close);
  const stack: Stack = fleet
    ? { ...started, sync: await fleet.startSyncs({ tables, queuesUrl: recorded?.url, counter }) }
    : started;

  const store = localTables(contextClient, clock.now);
  const context: ServiceContext = {
    tables: store,
    insert: insertByStatement(store),
    clock: clock.now,
    by: userName(),
    newUid: randomUUID,
    wake: stack.wake,
  };
  const service = openService(context);
  const served = {
    service,
    tables: store,
    insert: context.insert,
    clock: clock.now,
    by: context.by,
  };
  page.serve(served, log.reporter.line);
  wakes.serve(served, log.reporter.line);
  readSeries = async (labels) => openMetricsText(await service.series({ labels }));
  const sender = await senderOf(options, {
    path: layout.events,
    service,
    tables: store,
    insert: context.insert,
    clock: clock.now,
    writes: tables.writes,
    log: log.reporter.line,
  });
  const [cluster, ...others] = await ensureClusters(context, worlds, options);
  // An unusable kubeconfig is reported now, and the large library that reads it is loaded before
  // the first sync.
  await stack.connect(cluster);
  await registerSources(context, {
    simulated: recorded !== undefined,
    sourceUrl: options.sourceUrl,
  });
  const { beside } = setup.identity.kind === "simulated" ? setup.identity : {};
  const manifests = putObjects(cluster, setup.manifests, {
    put: world.putObject,
    beside,
    resumed: setup.resumed,
  });
  const applied = await applySetup(
    context,
    { ...setup, manifests },
    { cluster: world.name, validation: options.validate, say },
  );
  if (!setup.resumed) {
    beginSchedule(layout.schedule, clock.now());
    writeIdentity(layout, setup.identity);
  }
  // On a real cluster a write of a run that died may still be under way, so its lease and its
  // intents expire by themselves.
  const dead = {
    tables: store,
    clusters: [cluster, ...others],
    connect: stack.connect,
    nowMs: clock.now(),
  };
  const unfinished =
    setup.identity.kind === "simulated" ? await endDeadLeases(dead) : NOTHING_UNFINISHED;
  const controller = await controllerOf(
    world,
    { ...cluster, connection: world.connection },
    { clock: clock.now, beside, closer },
  );
  return {
    setup,
    ...(controller && { standIn: controller }),
    ...(recorded && { sourceQueuesUrl: recorded.url }),
    clock,
    tables,
    queues,
    worlds,
    lanes: fleet?.lanes,
    stack,
    counter,
    reader: stackReader(service, clock.now(), {
      writes: tables.writes,
      syncing: () => counter.underWay() > 0,
      total: counter.autoscalers,
      clock: clock.now,
    }),
    series,
    nudge,
    sender,
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
      pageUrl: page.url,
      wakeUrl: wakes.url,
    }),
  };
};

const senderOf = async (
  { eventsUrl: url, eventsFilter = [] }: Pick<RunOptions, "eventsUrl" | "eventsFilter">,
  options: Omit<EventsSenderOptions, "url" | "filters">,
): Promise<EventsSender | undefined> => {
  if (url === undefined) return undefined;
  const { eventsSender } = await import("./events-sender.ts");
  return eventsSender({ url, filters: eventsFilter.map(readEventFilter), ...options });
};

/** The stand-in of the other controller; undefined without `--beside`. */
const controllerOf = async (
  { call }: World,
  cluster: StandInOptions["cluster"],
  {
    clock,
    beside,
    closer,
  }: {
    readonly clock: () => number;
    readonly beside: BesideWhat | undefined;
    readonly closer: Closing;
  },
): Promise<Activity | undefined> => {
  if (beside === undefined || !call) return undefined;
  const controller = await standIn({ clock, beside, cluster, call });
  closer.add(async () => controller.close());
  return controller;
};

/** The queue of a name in the first cluster that has it. */
const queueIn = async (
  worlds: readonly World[],
  name: string,
): Promise<RecordedQueue | undefined> => {
  for (const { queueOf } of worlds) {
    const found = await queueOf?.(name);
    if (found) return found;
  }
  return undefined;
};

const ensureClusters = async (
  context: ServiceContext,
  [first, ...others]: readonly [World, ...World[]],
  { specs }: RunOptions,
) => {
  const ensure = ({ name, connection }: World): Promise<ClusterRecord> =>
    ensureCluster(context, {
      name: clusterName(name),
      connection,
      readSaid: saidOfItself,
      ...(specs !== undefined && { specs }),
    });
  const clusters: [ClusterRecord, ...ClusterRecord[]] = [await ensure(first)];
  for (const world of others) clusters.push(await ensure(world));
  return clusters;
};

/** Applies what a start applies: of a new simulated folder with uids that follow from its seed. */
const applySetup = async (
  context: ServiceContext,
  { identity, resumed, manifests }: Setup,
  {
    cluster,
    validation,
    say,
  }: {
    readonly cluster: string;
    readonly validation: Validation;
    readonly say: (line: string) => void;
  },
): Promise<readonly Applied[]> => {
  if (resumed || identity.kind !== "simulated")
    return applyFiles(context, cluster, manifests, validation);
  const { seed, fleet } = identity;
  if (fleet) await applyMade(context, fleet, { seed, say });
  return applyFirst(context, cluster, manifests, { seed, validation });
};

/**
 * The tables compact themselves while they are written to; what an earlier run left is given free
 * beside the start. A failure is reported when the run closes.
 */
const compacting = (tables: EmbeddedTables): (() => Promise<void>) => {
  const compacted = Promise.allSettled([tables.compact()]);
  return async () => {
    for (const result of await compacted) if (result.status === "rejected") throw result.reason;
  };
};

/**
 * The clock of a run, which continues at the time of the folder. It is saved from `beginSaving` on,
 * because a start that is refused before that must not change the folder.
 */
const runClock = (
  layout: FolderLayout,
  identity: FolderIdentity,
  { speed, times }: { readonly speed: number; readonly times: ClusterTimes | undefined },
): { readonly clock: RunClock; readonly beginSaving: () => void } => {
  let last: SavedClock | undefined;
  let saving = false;
  const save = (state: SavedClock) => {
    last = state;
    times?.set(state);
    if (saving) saveClock(layout, state);
  };
  const clock =
    identity.kind === "kubeconfig"
      ? realClock()
      : virtualClock({ startMs: readSavedClock(layout)?.nowMs ?? identity.startMs, speed, save });
  return {
    clock,
    beginSaving: () => {
      saving = true;
      saveClock(layout, last ?? { kind: "real", nowMs: clock.now() });
    },
  };
};
