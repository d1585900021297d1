import type { RunClock } from "./clock.ts";

/** A part of the run that does work at certain instants: the scheduler, the event source mapping. */
export interface Activity {
  /** The next instant with work. Undefined when there is none, or when no further work may begin now. */
  readonly nextMs: () => number | undefined;
  /** Does the work that is due. It takes that work before it first waits, so that a second call finds only the rest. Never rejects. */
  readonly happen: () => Promise<void>;
  /** Settles when what `happen` left under way has ended. No other activity begins before. Absent where it leaves nothing. */
  readonly settled?: () => Promise<void>;
}

export interface Drive {
  /** In order of precedence within one instant. */
  readonly activities: readonly Activity[];
  readonly clock: RunClock;
  /** The last instant whose work is still done. */
  readonly endMs: number;
  readonly signal: AbortSignal;
  /** True: time stands still until the work of an instant is done. False: in real time, work of several instants may overlap. */
  readonly oneAtATime: boolean;
}

/** Without a next instant the drive looks again after this time, because a command may have sent a message. */
const IDLE_MS = 1_000;

/** Does all work in the order of time until the end or until the signal aborts. Work that has begun is always finished. */
export const drive = async ({ activities, clock, endMs, signal, oneAtATime }: Drive): Promise<void> => {
  const underWay = new Set<Promise<void>>();
  const settled = async (except?: Activity): Promise<void> => {
    for (const other of activities) if (other !== except) await other.settled?.();
  };
  const begin = async (activity: Activity): Promise<void> => {
    await settled(activity);
    const work = activity.happen();
    if (oneAtATime) return work;
    underWay.add(work);
    void work.then(() => underWay.delete(work));
  };
  while (!signal.aborted) {
    const nextMs = earliest(activities) ?? clock.now() + IDLE_MS;
    await clock.until(Math.min(nextMs, endMs), signal);
    if (signal.aborted || (nextMs > endMs && clock.now() >= endMs)) break;
    const due = activities.find((activity) => (activity.nextMs() ?? Number.POSITIVE_INFINITY) <= clock.now());
    if (due) await begin(due);
  }
  await Promise.all([...underWay, settled()]);
};

const earliest = (activities: readonly Activity[]): number | undefined => {
  const times = activities.flatMap((activity) => activity.nextMs() ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
};
