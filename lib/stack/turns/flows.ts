/**
 * Work of flows that goes on beside what all flows need. The time of each flow is measured, so that
 * the others do not wait for one that is slow, and a flow that was slow begins after them.
 *
 *     bank    ▓▓ ▓▓       ┐ within: no longer than the time of one flow
 *     mill    ▓▓▓         ┘
 *     shop      (was slow)  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓ …    from beginLate on, or after a second
 */
export interface Flows {
  /**
   * Starts work of a flow. A mistake that it throws comes out of the next `within`. Work of a flow
   * that was slow in an earlier sync starts late, and so does the work of a flow beyond its first
   * pieces.
   */
  readonly start: (flow: string, work: FlowWork) => void;
  /** Starts it at `beginLate`. */
  readonly startLate: (flow: string, work: FlowWork) => void;
  readonly beginLate: () => void;
  /**
   * Waits until each flow has done all its work, or has used this time; no longer than
   * `patienceMs`.
   */
  readonly within: (shareMs: number, patienceMs: number) => Promise<void>;
  /** True where no work is open. */
  readonly areDone: () => boolean;
  readonly usedMs: (flow: string) => number;
}

export interface FlowWork {
  /** `begin` is called once the work no longer waits for others: from then on its time counts. */
  readonly run: (begin: () => void) => Promise<void>;
  /** True for work that takes long in any flow, so that a flow is not slow because of it. */
  readonly isLong?: boolean;
}

export interface FlowOptions {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Calls after a time; what it returns cancels that. */
  readonly after: (ms: number, happen: () => void) => () => void;
  readonly slow: SlowFlows;
  /** A flow is slow once it has used so much time. */
  readonly slowMs: number;
  /** Pieces of work of one flow that start before `beginLate`. */
  readonly mostEarly: number;
  /** When a slow flow starts at the latest, however late `beginLate` is. */
  readonly slowBeginsMs: number;
}

/**
 * The flows whose work took longer than their share in an earlier sync. Nothing waits for them
 * again: a flow that is slow for ever costs the others time once.
 */
export interface SlowFlows {
  readonly has: (flow: string) => boolean;
  readonly add: (flow: string) => void;
}

/**
 * They are forgotten after a time and not after a fast sync, so that a flow that is slow in every
 * other sync counts as slow.
 */
export const slowFlows = (
  clock: () => number,
  { ttlMs, most }: { readonly ttlMs: number; readonly most: number },
): SlowFlows => {
  const untilMs = new Map<string, number>();
  return {
    has: (flow) => clock() < (untilMs.get(flow) ?? 0),
    add: (flow) => {
      if (untilMs.size >= most) untilMs.clear();
      untilMs.set(flow, clock() + ttlMs);
    },
  };
};

interface Flow {
  /** Pieces of work that were started, or would have been if there had not been as many already. */
  started: number;
  open: number;
  /** Pieces of work that have begun. */
  running: number;
  usedMs: number;
  runningSinceMs: number;
}

const NOTHING = (): void => undefined;

export const newFlows = (options: FlowOptions): Flows => {
  const { elapsed, after, slow, slowMs, mostEarly, slowBeginsMs } = options;
  const flows = new Map<string, Flow>();
  const open = new Set<Flow>();
  const mistakes: unknown[] = [];
  let changed = NOTHING;
  const flowOf = (name: string): Flow => {
    const flow = flows.get(name) ?? NEW_FLOW();
    flows.set(name, flow);
    return flow;
  };
  const usedMs = (flow: Flow): number =>
    flow.usedMs + (flow.running > 0 ? elapsed() - flow.runningSinceMs : 0);

  const perform = async (name: string, { run, isLong = false }: FlowWork): Promise<void> => {
    const flow = flowOf(name);
    flow.open++;
    open.add(flow);
    let hasBegun = false;
    try {
      await run(() => {
        if (hasBegun) return;
        hasBegun = true;
        if (flow.running++ === 0) flow.runningSinceMs = elapsed();
        changed();
      });
    } catch (mistake) {
      mistakes.push(mistake);
    }
    if (hasBegun && --flow.running === 0) flow.usedMs += elapsed() - flow.runningSinceMs;
    if (--flow.open === 0) open.delete(flow);
    if (!isLong && usedMs(flow) >= slowMs) slow.add(name);
    changed();
  };
  const late: (() => void)[] = [];
  /** It begins with what is late, and waits for the decisions of the others, not for a burst of writes. */
  const lateSlow: (() => void)[] = [];
  let cancelSlow = NOTHING;
  const beginSlow = (): void => {
    cancelSlow();
    cancelSlow = NOTHING;
    for (const begin of lateSlow.splice(0)) begin();
  };
  return {
    start: (name, work) => {
      if (!slow.has(name) && flowOf(name).started++ < mostEarly) return void perform(name, work);
      if (lateSlow.length === 0) cancelSlow = after(slowBeginsMs, beginSlow);
      lateSlow.push(() => void perform(name, work));
    },
    startLate: (name, work) => {
      late.push(() => void perform(name, work));
    },
    beginLate: () => {
      beginSlow();
      for (const begin of late.splice(0)) begin();
    },
    within: async (shareMs, patienceMs) => {
      await new Promise<void>((resolve) => {
        let cancelLook = NOTHING;
        const finish = (): void => {
          changed = NOTHING;
          cancelLook();
          cancelPatience();
          resolve();
        };
        const cancelPatience = after(patienceMs, finish);
        const look = (): void => {
          cancelLook();
          cancelLook = NOTHING;
          const waitedFor = firstOf(open, (flow) => usedMs(flow) < shareMs);
          if (!waitedFor) finish();
          else if (waitedFor.running > 0)
            cancelLook = after(Math.max(1, Math.ceil(shareMs - usedMs(waitedFor))), look);
        };
        changed = look;
        look();
      });
      if (mistakes.length > 0) throw mistakes[0];
    },
    areDone: () => open.size + late.length + lateSlow.length === 0,
    usedMs: (name) => usedMs(flowOf(name)),
  };
};

const NEW_FLOW = (): Flow => ({ started: 0, open: 0, running: 0, usedMs: 0, runningSinceMs: 0 });

const firstOf = <Item>(
  items: Iterable<Item>,
  isWanted: (item: Item) => boolean,
): Item | undefined => {
  for (const item of items) if (isWanted(item)) return item;
  return undefined;
};
