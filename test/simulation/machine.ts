import type { Network, Process } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import { FAULTS_MS } from "./timetable.ts";

/** What is done to the one machine of an embedded run. Offsets from the start. */
export interface PlannedStop {
  readonly atMs: number;
  /**
   * `suspend`: everything stands still and goes on. `cut`: the power goes, and after a while the
   * run is started again.
   */
  readonly kind: "suspend" | "cut";
  readonly forMs: number;
  /**
   * It waits for the next PUT: the moment before a request goes out is the one that deadlines are
   * for.
   */
  readonly atPut: boolean;
}

const STOPS_MAX = 6;
const AWAKE_MS = 60_000;

export const planStops = (random: Random): readonly PlannedStop[] =>
  Array.from({ length: random.int(2, STOPS_MAX) }, () => ({
    atMs: random.int(20_000, FAULTS_MS - 2 * AWAKE_MS),
    kind: random.pick(["suspend", "suspend", "cut"] as const),
    forMs: random.chance(1 / 2) ? random.int(100, 10_000) : random.int(10_000, AWAKE_MS),
    atPut: random.chance(2 / 3),
  }));

/**
 * The machine on which everything of an embedded run is: its syncs, its tables, its queue and the
 * commands of people. Clusters are elsewhere.
 */
export interface Machine {
  /** A process of this machine. */
  readonly began: (process: Process) => void;
  /** Before a PUT leaves. */
  readonly beforePut: () => void;
  /**
   * A request to the tables of a process that a cut has ended is never executed: the tables were on
   * the same machine, and their log ends before it.
   */
  readonly mustBeThere: (process: string) => void;
  /** Called at a cut, with the instant: for a planted mistake. */
  readonly onCut: Set<() => void>;
  /** Until when it stands still. */
  readonly stillUntilMs: () => number;
  /** For how long a process has stood still with the machine. */
  readonly stoodStillMs: (process: Process) => number;
}

/** The watchdog of a run looks so often, and stands still with it. */
export const WATCHDOG_MS = 250;

export const newMachine = (
  stops: readonly PlannedStop[],
  {
    scheduler,
    network,
    story,
    startMs,
  }: {
    readonly scheduler: Scheduler;
    readonly network: Network;
    readonly story: Story;
    readonly startMs: number;
  },
): Machine => {
  const processes = new Set<Process>();
  const cut = new Set<string>();
  const onCut = new Set<() => void>();
  const stood = new Map<Process, number>();
  const waiting: PlannedStop[] = [];
  let stillUntilMs = startMs;
  const stop = ({ kind, forMs }: PlannedStop): void => {
    story.tell(
      "machine",
      kind === "cut" ? `loses its power for ${forMs} ms` : `is suspended for ${forMs} ms`,
    );
    stillUntilMs = Math.max(stillUntilMs, scheduler.nowMs() + forMs);
    for (const process of [...processes].filter(({ alive }) => alive)) {
      if (kind === "suspend") hold(process);
      else {
        cut.add(process.name);
        network.end(process, "the power is cut");
      }
    }
    if (kind === "cut") for (const happen of onCut) happen();
  };
  const hold = (process: Process): void => {
    stood.set(
      process,
      (stood.get(process) ?? 0) +
        Math.max(0, stillUntilMs - Math.max(process.pausedUntilMs, scheduler.nowMs())),
    );
    process.pausedUntilMs = Math.max(process.pausedUntilMs, stillUntilMs);
  };
  for (const planned of stops)
    scheduler.at(startMs + planned.atMs, () => {
      if (planned.atPut) waiting.push(planned);
      else stop(planned);
    });
  return {
    began: (process) => {
      processes.add(process);
      process.pausedUntilMs = Math.max(process.pausedUntilMs, stillUntilMs);
      for (const one of processes) if (!one.alive) processes.delete(one);
    },
    beforePut: () => {
      const planned = waiting.shift();
      // No stop lasts into the time without faults.
      if (planned && scheduler.nowMs() < startMs + FAULTS_MS - AWAKE_MS) stop(planned);
    },
    mustBeThere: (process) => {
      if (cut.has(process))
        throw Object.assign(new Error("the machine is off"), { name: "TimeoutError" });
    },
    onCut,
    stillUntilMs: () => stillUntilMs,
    stoodStillMs: (process) => stood.get(process) ?? 0,
  };
};
