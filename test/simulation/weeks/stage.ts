import { isTidemarkError } from "../../../lib/rules/model/errors.ts";
import type { TableIds } from "../../../lib/rules/model/records.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { warmCache } from "../../../lib/stack/sync/load/warm-cache.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { THIS_BUILD } from "../beside/build.ts";
import { drawSkew } from "../clock-errors.ts";
import { type Fates, faultyFates, type Temper } from "../fates.ts";
import { type Network, newNetwork, type Process } from "../process.ts";
import { type Random, randomOf } from "../random.ts";
import { FORMER_IDS } from "../restores.ts";
import { newScheduler, type Scheduler } from "../scheduler.ts";
import { newStory, type Story } from "../story.ts";
import { tablesOf } from "../tables.ts";
import { listed } from "../watch/ledger.ts";
import type { Answering } from "./readers.ts";
import { replicatedTables, type ReplicatedTables } from "./replicas.ts";
import type { WeekViolation } from "./shown.ts";
import { CLUSTERS, PLACES } from "./places.ts";
import { WEEKS_START_MS } from "./timetable.ts";
import { newTruth, noteWritten, type WeekTruth } from "./truth.ts";
import { type WeekCluster, weekCluster } from "./week-cluster.ts";

/** A mistake that is planted on purpose. */
export interface WeekMistake {
  /** What the tables are asked, as it is executed; `undefined`: it is not executed. */
  readonly sent?: (command: unknown) => unknown;
  readonly answering?: Answering;
  /** Which tables readers are told that they read. */
  readonly idsForReaders?: TableIds;
  /** Called as a sync has ended, before the next thing happens. */
  readonly afterSync?: (ports: SyncPorts, partition: WeekPartition) => Promise<unknown>;
}

export interface WeekPartition {
  readonly cluster: string;
  readonly partition: string;
}

/** Faults are as rare as in life: a request in some hundred, and a PUT in ten. */
const TEMPER: Temper = {
  ...{ name: "weeks", rate: 0.004, putRate: 0.08, pageRate: 0.004, metricRate: 0.01 },
  ...{ stallRate: 0.002, extreme: 0.4, pauseMs: [100, 20_000], brink: 0.1 },
};
/** One answer in so many comes only just within the patience of its caller. */
const SLOW = 1 / 25;
const SLOW_MS = 1_900;

/** Some answers are late, so that they come after answers to later requests of the same process. */
const withSlowAnswers = (fates: Fates, random: Random): Fates => ({
  next: (kind) => {
    const fate = fates.next(kind);
    return kind === "table" && random.chance(SLOW)
      ? { ...fate, backMs: random.int(100, SLOW_MS) }
      : fate;
  },
});

export const FIRST_MAX = 20;
export const PERIOD_MS = 15_000;

/** Everything that a seed of weeks is played on. */
export interface WeekStage {
  readonly scheduler: Scheduler;
  readonly nowMs: () => number;
  readonly story: Story;
  /** Of faults, and of everything that syncs draw. */
  readonly random: Random;
  /** Of clocks, and of what readers draw. */
  readonly settings: Random;
  readonly network: Network;
  readonly truth: WeekTruth;
  readonly broken: WeekViolation[];
  readonly broke: (what: string) => (error: unknown) => void;
  readonly newProcess: (name: string) => Process;
  readonly tablesFor: (process: Process) => Tables;
  /** The tables without faults, for what is set up and looked at. */
  readonly direct: Tables;
  readonly copy: ReplicatedTables["copy"];
  /** The ids of the tables, which others have after a restore. */
  readonly ids: { now: TableIds };
  readonly clusters: ReadonlyMap<string, WeekCluster>;
}

export const newWeekStage = (
  seed: number,
  {
    told,
    mistake: { sent = (command: unknown) => command },
  }: {
    readonly told: boolean;
    readonly mistake: WeekMistake;
  },
): WeekStage => {
  const scheduler = newScheduler(WEEKS_START_MS);
  const { nowMs } = scheduler;
  const story = newStory(nowMs, WEEKS_START_MS, told);
  const random = randomOf(seed, "faults");
  const settings = randomOf(seed, "settings");
  const truth = newTruth(nowMs, FIRST_MAX);
  const broken: WeekViolation[] = [];
  const isCalm = (): boolean => nowMs() < WEEKS_START_MS + PERIOD_MS;
  const fates = withSlowAnswers(faultyFates(random, TEMPER, isCalm), random);
  const network = newNetwork(scheduler, fates, { story, note: () => {} });
  const replicated = replicatedTables(nowMs, random, (written) => noteWritten(truth, written));
  const ids: WeekStage["ids"] = { now: FORMER_IDS };
  let tokens = 0;
  const tablesFor = (process: Process): Tables => ({
    ...tablesOf(network, process, {
      ...{ nowMs, random: random.real, by: undefined, token: () => `token-${++tokens}` },
      execute: (command) => replicated.execute(sent(command)),
    }),
    ids: () => Promise.resolve(ids.now),
  });
  const newProcess = (name: string): Process => ({
    ...{ name, skewMs: drawSkew(settings, 0, 0), pausedUntilMs: 0, alive: true },
    ...{ build: THIS_BUILD, cache: warmCache(), busy: 0, onEnd: new Set<() => void>() },
    endsMs: Number.POSITIVE_INFINITY,
  });
  const send = async (command: unknown): Promise<object> => replicated.execute(command);
  const clusters = new Map(
    CLUSTERS.map((name) => {
      const paths = PLACES.filter(({ cluster }) => cluster === name).map(
        ({ namespace, name: own }) => `${namespace}/${own}`,
      );
      const counted = (path: string, replicas: number): void => {
        listed(truth.counts, `${name}/${path}`).push({ atMs: nowMs(), replicas });
      };
      for (const path of paths) counted(path, 2);
      return [name as string, weekCluster(name, paths, network, counted)] as const;
    }),
  );
  return {
    ...{ scheduler, nowMs, story, random, settings, network, truth, broken, clusters, ids },
    ...{ newProcess, tablesFor, copy: replicated.copy },
    broke: (what) => (error) => {
      const message = error instanceof Error ? error.message : String(error);
      story.tell(what, message);
      if (!isTidemarkError(error))
        broken.push({
          invariant: "nothing breaks",
          message: `${what}: ${error instanceof Error ? (error.stack ?? message) : message}`,
        });
    },
    direct: {
      ...tablesFor(newProcess("set-up")),
      client: { send } as unknown as Tables["client"],
    },
  };
};
