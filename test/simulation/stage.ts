import type { TableIds } from "../../lib/rules/model/records.ts";
import { PAGE_ENTRIES } from "../../lib/stack/store/pages/plan.ts";
import { CLUSTER_SK_PREFIX, CONNECTIONS_PK, FLEET_PK } from "../../lib/stack/store/table/keys.ts";
import { DEFAULT_TIMING, type Timing } from "../../lib/stack/plan/message.ts";
import { type Accident, accidentOf } from "./accidents.ts";
import { drawPersonSkew, hasWrongClocks } from "./clock-errors.ts";
import type { SimulatedCluster } from "./cluster.ts";
import { type Coverage, countCoverage } from "./coverage.ts";
import { calmFates, faultyFates, TEMPERS, type Temper } from "./fates.ts";
import { type PlannedReturn, planReturns } from "./goes-back.ts";
import type { Invocation } from "./invocation.ts";
import { lateAnswers } from "./late-answers.ts";
import { type Machine, newMachine, planStops } from "./machine.ts";
import { shapesOf } from "./manifests/shapes.ts";
import { hasObjects, withObjects } from "./objects/plan-objects.ts";
import { hasBounds, withBounds } from "./plan-bounds.ts";
import { hasForecasts, withForecasts } from "./plan-forecasts.ts";
import { type Network, newNetwork, type Process } from "./process.ts";
import { type Random, randomOf } from "./random.ts";
import { FORMER_IDS, type PlannedRestore, planRestore, RESTORED_IDS } from "./restores.ts";
import { type Hiding, planHidings } from "./rivals.ts";
import { newScheduler, type Scheduler } from "./scheduler.ts";
import { clientOverSockets } from "./sockets/socket-tables.ts";
import { askingShapes, hasSources, withSources } from "./sources/plan-sources.ts";
import { newStory, type Story } from "./story.ts";
import { type Behind, behindAt, hasSwaps, type PlannedSwap, planSwaps } from "./swaps.ts";
import { TABLE_NAMES, tablesOf } from "./tables.ts";
import { type PlannedTakeover, planTakeover } from "./takeovers.ts";
import { FAULTS_MS, newTimetable, type Timetable } from "./timetable.ts";
import type { Item } from "./watch/head.ts";
import { type Invariant, type Ledger, newLedger } from "./watch/ledger.ts";
import { copyLedger, type Stack } from "./watch/restored.ts";
import { type WatchedTables, watchedTables } from "./watched-tables.ts";
import { clustersOf, elsewhereOf, fillTables } from "./world.ts";

export const START_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

/** Everything of a seed but its workers: time, network, clusters, tables, and the eyes on them. */
export interface Stage {
  readonly scheduler: Scheduler;
  readonly nowMs: () => number;
  readonly story: Story;
  readonly ledger: Ledger;
  readonly network: Network;
  readonly coverage: Coverage;
  readonly random: Random;
  readonly timetable: Timetable;
  readonly timing: Timing;
  readonly temper: Temper;
  /**
   * Chance of a fault per call now, or of what is done at another instant; 0 once faults are over.
   */
  readonly rate: (atMs?: number) => number;
  readonly clusters: ReadonlyMap<string, SimulatedCluster>;
  /** Syncs that one process may run at once. */
  readonly parallel: number;
  /** Environments that are kept warm. */
  readonly warmMax: number;
  /**
   * Wanted entries of a windows page now. It changes with time, so that pages divide and merge, as
   * they do when autoscalers come and go by the hundred.
   */
  readonly pageEntries: () => number;
  /** Where clusters that are removed are added again: other API servers, under the same names. */
  readonly elsewhere: ReadonlyMap<string, SimulatedCluster>;
  /** When addresses lead to other clusters. */
  readonly swaps: readonly PlannedSwap[];
  /** Who answers at the address of a cluster now; absent where no address moves. */
  readonly behind?: (site: SimulatedCluster) => Behind;
  /** How far a clock of people or of the planner is ahead; absent where they are all right. */
  readonly personSkew?: () => number;
  /** When other controllers cannot be looked for. */
  readonly hidings: readonly Hiding[];
  /** A workload that moves from another controller to Tidemark, and perhaps back. */
  readonly takeover: PlannedTakeover | undefined;
  readonly accident: Accident | undefined;
  /** When the etcd of a cluster is restored. */
  readonly returns: readonly PlannedReturn[];
  /** Where everything but the clusters is on one machine, as in an embedded run. */
  readonly machine: Machine | undefined;
  /** Clusters are reached over connections in memory. */
  readonly clustersOverSockets: boolean;
  /** The path in the stored connection of a cluster; absent while there is no such cluster. */
  readonly connectedTo: (cluster: string) => string | undefined;
  /** An item of the state table as it is now. */
  readonly read: WatchedTables["read"];
  /** The state table, past every request: for damage. */
  readonly stored: WatchedTables["stored"];
  readonly onWrite: WatchedTables["onWrite"];
  /** Draws what is damaged. */
  readonly damages: Random;
  /** When both tables are restored. */
  readonly restore: PlannedRestore | undefined;
  /** Which of two stacks this is. */
  readonly stack: Stack | undefined;
  /** Copies of the tables as they are now, and of what is known of them. */
  readonly copy: () => Pick<
    Stage,
    "ledger" | "tablesFor" | "read" | "stored" | "onWrite" | "connectedTo"
  >;
  readonly tablesFor: (process: Process, by: Invocation | undefined) => ReturnType<typeof tablesOf>;
}

/**
 * By the seed, so that nothing else that is drawn depends on it. Of twenty autoscalers few scale at
 * once: these make several waves of them.
 */
const SCALES_PER_WAVE = [1, 2, DEFAULT_TIMING.scalesPerWave];

/**
 * The order of these times is what safety rests on, not their size: shorter ones bring the same
 * edges closer. In some the lease is shorter than a life, so that nothing but the fence keeps
 * order.
 */
const timingOf = (seed: number, random: Random): Timing => {
  const usual = {
    ...DEFAULT_TIMING,
    scalesPerWave: SCALES_PER_WAVE[seed % SCALES_PER_WAVE.length] ?? DEFAULT_TIMING.scalesPerWave,
  };
  if (random.chance(1 / 3)) return usual;
  const lifeMs = random.pick([20_000, 30_000]);
  return {
    ...usual,
    lifeMs,
    leaseMs: random.pick([5_000, 10_000, lifeMs + DEFAULT_TIMING.clockDifferenceMs]),
  };
};

/** By the seed: each part of a stream of its own. */
const timetableOf = (seed: number): Timetable => {
  const drawn = newTimetable(
    randomOf(seed, "timetable"),
    hasSources(seed) ? askingShapes : shapesOf,
  );
  const planned = hasBounds(seed) ? withBounds(drawn, randomOf(seed, "bounds"), START_MS) : drawn;
  const asking = hasSources(seed) ? withSources(planned, randomOf(seed, "sources")) : planned;
  const advised = hasForecasts(seed) ? withForecasts(asking) : asking;
  const all = hasObjects(seed) ? withObjects(advised, randomOf(seed, "objects")) : advised;
  // What is done to the fleet and to whole clusters is the restore, there.
  return accidentOf(seed) === "tables go back" ? { ...all, orders: [] } : all;
};

type Accidents = Pick<Stage, "accident" | "returns" | "machine" | "restore">;

/** What befalls a whole cluster, machine or table; nothing in the run without faults. */
const accidentsOf = (
  seed: number,
  faults: boolean,
  world: Omit<Parameters<typeof newMachine>[1], "startMs">,
): Accidents => {
  const accident = faults ? accidentOf(seed) : undefined;
  const random = randomOf(seed, "accidents");
  return {
    accident,
    returns: accident === "a cluster goes back" ? planReturns(random) : [],
    machine:
      accident === "one machine"
        ? newMachine(planStops(random), { ...world, startMs: START_MS })
        : undefined,
    restore: accident === "tables go back" ? planRestore(random) : undefined,
  };
};

const swapsOf = (
  seed: number,
  faults: boolean,
  { timetable, nowMs, ...places }: Pick<Stage, "clusters" | "elsewhere" | "timetable" | "nowMs">,
): Pick<Stage, "swaps" | "behind"> => {
  if (!faults || !hasSwaps(seed)) return { swaps: [] };
  const swaps = planSwaps(randomOf(seed, "swaps"), timetable);
  return { swaps, behind: (site) => behindAt(swaps, places, site, nowMs() - START_MS) };
};

export const newStage = (
  seed: number,
  options: {
    readonly faults: boolean;
    readonly told: boolean;
    /** What becomes of every request to the tables before it is executed, of every sender. */
    readonly sent?: ((command: unknown) => unknown) | undefined;
    /** An invariant that is not told of. */
    readonly unwatched?: Invariant | undefined;
    /** Called with each item that the history gets, in order: the stream of its table. */
    readonly onHistory?: ((item: Item) => void) | undefined;
  },
): Stage => {
  const { sent = (command: unknown) => command } = options;
  const settings = randomOf(seed, "settings");
  const random = randomOf(seed, options.faults ? "faults" : "jitter");
  const timetable = timetableOf(seed);
  const timing = timingOf(seed, settings);
  const temper = settings.pick(TEMPERS);
  const scheduler = newScheduler(START_MS);
  const { nowMs } = scheduler;
  const story = newStory(nowMs, START_MS, options.told);
  const ledger = newLedger(story.tell, nowMs, options.unwatched);
  const calm = (atMs = nowMs()): boolean => !options.faults || atMs >= START_MS + FAULTS_MS;
  const coverage = countCoverage();
  const network = newNetwork(
    scheduler,
    options.faults ? faultyFates(random, temper, calm) : calmFates(random),
    {
      ...{ story, note: coverage.note },
      late: options.faults ? lateAnswers(seed, { calm, nowMs }) : undefined,
    },
  );
  const tables = watchedTables(ledger, options.onHistory);
  const tablesThrough =
    (into: WatchedTables, ids: TableIds | undefined): Stage["tablesFor"] =>
    (process, by) => {
      const execute = (command: unknown): object => {
        accidents.machine?.mustBeThere(process.name);
        return into.execute(sent(command), { by, process: process.name });
      };
      return tablesOf(
        network,
        process,
        { nowMs, random: random.real, token: () => `token-${++tokens}`, execute, by, ids },
        options.faults && isOverSockets(seed) ? clientOverSockets : undefined,
      );
    };
  const goesBack = accidentOf(seed) === "tables go back";
  const ids = goesBack ? FORMER_IDS : undefined;
  const forecasts = hasForecasts(seed)
    ? { random: randomOf(seed, "forecasts"), faults: options.faults }
    : undefined;
  fillTables(timetable, { startMs: START_MS, ids, forecasts }, (command) =>
    tables.execute(command, { by: undefined, process: "" }),
  );
  let tokens = 0;
  const places = {
    clusters: clustersOf(timetable, nowMs),
    elsewhere: elsewhereOf(timetable, nowMs),
  };
  const clocks = randomOf(seed, "clocks");
  const accidents = accidentsOf(seed, options.faults, { scheduler, network, story });
  return {
    scheduler,
    nowMs,
    story,
    ledger,
    network,
    coverage: coverage.counts,
    random,
    timetable,
    timing,
    temper,
    rate: (atMs) => (calm(atMs) ? 0 : temper.rate),
    ...places,
    parallel: settings.int(1, 2),
    warmMax: settings.pick([2, 3, 6]),
    pageEntries: pageEntriesOf(settings, nowMs),
    ...swapsOf(seed, options.faults, { ...places, timetable, nowMs }),
    ...(options.faults &&
      hasWrongClocks(seed) && {
        personSkew: () => (calm() ? 0 : drawPersonSkew(clocks)),
      }),
    hidings: options.faults ? planHidings(randomOf(seed, "rivals"), timetable) : [],
    takeover:
      isClusterOverSockets(seed) || goesBack
        ? undefined
        : planTakeover(randomOf(seed, "takeovers"), timetable),
    ...accidents,
    clustersOverSockets: options.faults && isClusterOverSockets(seed),
    damages: randomOf(seed, "damages"),
    ...placesIn(tables),
    tablesFor: tablesThrough(tables, goesBack ? FORMER_IDS : undefined),
    stack: undefined,
    copy: () => {
      const copies = newLedger(story.tell, nowMs, options.unwatched);
      const contents = tables.contents();
      copyLedger(ledger, copies, contents.get(TABLE_NAMES.stateTable) ?? []);
      const into = watchedTables(copies);
      into.fill(contents);
      return { ledger: copies, tablesFor: tablesThrough(into, RESTORED_IDS), ...placesIn(into) };
    },
  };
};

/**
 * In a share of the seeds requests to the tables pass the real client of the SDK and HTTP, in the
 * run with faults: they cost several times as much, and without faults only the counts at the end
 * matter.
 */
const SOCKET_SEEDS = 20;
export const isOverSockets = (seed: number): boolean => seed % SOCKET_SEEDS === SOCKET_SEEDS - 1;

/**
 * In a share of the seeds clusters are reached by their real client, over HTTP too; in half of
 * these some clusters hold their autoscalers themselves.
 */
const CLUSTER_SOCKET_SEEDS: ReadonlySet<number> = new Set([9, 10]);
export const isClusterOverSockets = (seed: number): boolean =>
  CLUSTER_SOCKET_SEEDS.has(seed % SOCKET_SEEDS) || hasSwaps(seed);

/** Changes of the wanted entries, while there are faults and while there are none. */
const PAGES_CHANGE_MS = 70_000;
const FEW_ENTRIES = [2, 3, 4];

const pageEntriesOf = (settings: Random, nowMs: () => number): (() => number) => {
  if (settings.chance(1 / 2)) return () => PAGE_ENTRIES;
  const few = settings.pick(FEW_ENTRIES);
  return () => (Math.floor((nowMs() - START_MS) / PAGES_CHANGE_MS) % 2 === 0 ? few : PAGE_ENTRIES);
};

const placesIn = ({
  read,
  stored,
  onWrite,
}: WatchedTables): Pick<Stage, "read" | "stored" | "onWrite" | "connectedTo"> => ({
  read,
  stored,
  onWrite,
  connectedTo: (cluster) =>
    pathOf(read(FLEET_PK, `${CLUSTER_SK_PREFIX}${cluster}`), read(CONNECTIONS_PK, cluster)),
});

/** The path of a connection that was stored for this very cluster. */
const pathOf = (record: Item | undefined, connection: Item | undefined): string | undefined =>
  record && record["deletedMs"] === undefined && record["uid"]?.S === connection?.["uid"]?.S
    ? connection?.["connection"]?.M?.["path"]?.S
    : undefined;
