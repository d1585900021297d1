import type { RunClock } from "./clock.ts";

/** Something that happens at instants of the run: the scheduler, the event source mapping. */
export interface Source {
  /** When it happens next; undefined when nothing is to come, or nothing more may begin now. */
  readonly nextMs: () => number | undefined;
  /** Lets happen what is due. It takes what is due before it first waits, so that a second call finds the rest only. Never rejects. */
  readonly happen: () => Promise<void>;
}

export interface Drive {
  /** In order of precedence within one instant. */
  readonly sources: readonly Source[];
  readonly clock: RunClock;
  /** Last instant that still happens. */
  readonly endMs: number;
  readonly signal: AbortSignal;
  /** True: time stands still until what happens is done. False: in real time, several things are under way together. */
  readonly oneAtATime: boolean;
}

/** When nothing is to come the drive looks again after this much time: a command, or a client of the queue, may have brought something. */
const IDLE_MS = 1_000;

/** Lets everything happen in the order of time until the end, or until the signal aborts; what was begun is always finished. */
export const drive = async ({ sources, clock, endMs, signal, oneAtATime }: Drive): Promise<void> => {
  const underWay = new Set<Promise<void>>();
  const begin = async (source: Source): Promise<void> => {
    const work = source.happen();
    if (oneAtATime) return work;
    underWay.add(work);
    void work.then(() => underWay.delete(work));
  };
  while (!signal.aborted) {
    const nextMs = earliest(sources) ?? clock.now() + IDLE_MS;
    await clock.until(Math.min(nextMs, endMs), signal);
    if (signal.aborted || (nextMs > endMs && clock.now() >= endMs)) break;
    const due = sources.find((source) => (source.nextMs() ?? Number.POSITIVE_INFINITY) <= clock.now());
    if (due) await begin(due);
  }
  await Promise.all(underWay);
};

const earliest = (sources: readonly Source[]): number | undefined => {
  const times = sources.flatMap((source) => source.nextMs() ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
};
