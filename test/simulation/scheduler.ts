/**
 * Virtual time: things happen at instants, in order of time and then of planning. Nothing waits for
 * a real clock.
 */
export interface Scheduler {
  readonly nowMs: () => number;
  /** Plans something; an instant that is past counts as now. */
  readonly at: (ms: number, happen: () => void) => void;
  /**
   * To be called by whatever resolves a promise: what awaits it then runs before the next thing
   * happens.
   */
  readonly resumed: () => void;
  /** Lets everything until an instant happen; ends early once `over` says so. */
  readonly run: (untilMs: number, over: () => boolean) => Promise<void>;
}

interface Planned {
  readonly ms: number;
  readonly order: number;
  readonly happen: () => void;
}

const before = (one: Planned, other: Planned): boolean =>
  one.ms < other.ms || (one.ms === other.ms && one.order < other.order);

/**
 * Every microtask that is ready runs before this resolves: no timer is involved, and nothing here
 * does real I/O.
 */
const microtasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const newScheduler = (startMs: number): Scheduler => {
  const heap: Planned[] = [];
  let nowMs = startMs;
  let order = 0;
  let isResumed = false;
  return {
    nowMs: () => nowMs,
    at: (ms, happen) => push(heap, { ms: Math.max(ms, nowMs), order: order++, happen }),
    resumed: () => {
      isResumed = true;
    },
    run: async (untilMs, over) => {
      await microtasks();
      for (let next = heap[0]; next && next.ms <= untilMs && !over(); next = heap[0]) {
        pop(heap);
        nowMs = next.ms;
        next.happen();
        if (isResumed) {
          isResumed = false;
          await microtasks();
        }
      }
      if (!over()) nowMs = untilMs;
    },
  };
};

const push = (heap: Planned[], planned: Planned): void => {
  heap.push(planned);
  let at = heap.length - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (!above || before(above, planned)) break;
    heap[at] = above;
    heap[parent] = planned;
    at = parent;
  }
};

const pop = (heap: Planned[]): void => {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    const [one, other] = [heap[left], heap[right]];
    const child = other && one && before(other, one) ? right : left;
    const least = heap[child];
    if (!least || before(last, least)) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
};
