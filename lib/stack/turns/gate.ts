import { AsyncResource } from "node:async_hooks";
import { fairQueue } from "./turns.ts";

/**
 * Bounds the work under way, and gives each flow its turn (turns.ts). Without a flow the work is of
 * all flows: it has places of its own, and goes first.
 */
export interface FairGate {
  readonly run: <Result>(flow: string | undefined, work: () => Promise<Result>) => Promise<Result>;
}

export interface GateOptions {
  /** How much may be under way. */
  readonly places: number | (() => number);
  /** How much of one flow may be under way; as much as of all where it is absent. */
  readonly ofFlow?: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /**
   * Work that takes longer than `afterMs` gives its place to others, up to so many places in all: a
   * slow flow then delays none of them. Absent where nothing is that slow, or where each counts.
   */
  readonly slow?: {
    readonly afterMs: number;
    readonly places: number;
    /** Calls after a time; what it returns cancels that. */
    readonly after: (ms: number, happen: () => void) => () => void;
  };
}

const NOTHING = (): void => undefined;

/*
 *  of all flows     ▓▓▓▓                                    go first
 *  shop             ▓─────────── slow: after a tenth of a second its place is free for the others
 *  bank              ▓▓ ▓▓ ▓▓                                one call a turn
 *  mill              ▓▓ ▓▓ ▓▓
 */
export const fairGate = ({ places, ofFlow, elapsed, slow }: GateOptions): FairGate => {
  const most = typeof places === "number" ? () => places : places;
  const queue = fairQueue<() => void>(ofFlow ?? Number.POSITIVE_INFINITY);
  const shared: (() => void)[] = [];
  let [sharedUnderWay, recent, underWay, isDue] = [0, 0, 0, false];
  /**
   * Starts what there is room for, once all calls of this turn of the event loop have come: the
   * first flow must not take all places before the second has asked.
   */
  const startSoon = (): void => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(startAll);
  };
  const startAll = (): void => {
    isDue = false;
    while (sharedUnderWay < most() && shared.length > 0) shared.shift()?.();
    while (hasPlace()) {
      const next = queue.next();
      if (!next) return;
      next.work();
    }
  };
  const hasPlace = (): boolean => recent < most() && underWay < (slow?.places ?? most());
  const performShared = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    sharedUnderWay++;
    try {
      return await work();
    } finally {
      sharedUnderWay--;
      startSoon();
    }
  };
  const perform = async <Result>(flow: string, work: () => Promise<Result>): Promise<Result> => {
    const fromMs = elapsed();
    recent++;
    underWay++;
    let takesPlace = true;
    const givePlace = (): void => {
      if (takesPlace) recent--;
      takesPlace = false;
      startSoon();
    };
    const cancel = slow?.after(slow.afterMs, givePlace) ?? NOTHING;
    try {
      return await work();
    } finally {
      cancel();
      underWay--;
      queue.end(flow, elapsed() - fromMs);
      givePlace();
    }
  };
  return {
    run: (flow, work) =>
      new Promise((resolve, reject) => {
        // Work that ends starts waiting work, which keeps the context of its own caller.
        const start = AsyncResource.bind(() => {
          const running = flow === undefined ? performShared(work) : perform(flow, work);
          running.then(resolve, reject);
        });
        if (flow === undefined) shared.push(start);
        else queue.add(flow, start);
        startSoon();
      }),
  };
};

/**
 * Does the work for every item in fair turns, so many at once, and waits for all of it; then it
 * throws the first failure. No request is left under way, which a frozen environment would send
 * when it runs again.
 */
export const mapInTurns = async <Item, Result>(
  items: readonly Item[],
  { flowOf, ...options }: GateOptions & { readonly flowOf: (item: Item) => string },
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const gate = fairGate(options);
  const settled = await Promise.allSettled(
    items.map((item) => gate.run(flowOf(item), () => work(item))),
  );
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
};
