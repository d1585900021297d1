/**
 * Time that passes only where something waits for it. It replaces the clocks and timers of the
 * process, so that a whole sync with its real HTTP client takes the same time on every machine.
 */
export interface VirtualTime {
  readonly nowMs: () => number;
  /** Calls after a time; what it returns cancels that. */
  readonly after: (ms: number, happen: () => void) => () => void;
  /** The processor works for so long, and nothing else happens meanwhile. */
  readonly spend: (ms: number) => void;
  /** Lets time pass until the work has ended. */
  readonly until: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Gives the process its own clocks and timers back. */
  readonly end: () => void;
}

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
}

/** Turns of the event loop without work in them, after which everything waits for time. */
const QUIET_TURNS = 4;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Everything that is ready has run: parsers, streams, and what yields to the event loop. */
const quiet = async (): Promise<void> => {
  for (let turns = 0; turns < QUIET_TURNS; turns++) {
    await turn();
    if (process.getActiveResourcesInfo().includes("Immediate")) turns = 0;
  }
};

export const virtualTime = (): VirtualTime => {
  let nowMs = 0;
  let order = 0;
  const planned = new Set<Planned>();
  const after = (ms: number, happen: () => void): (() => void) => {
    const one = { atMs: nowMs + Math.max(0, ms), order: order++, happen };
    planned.add(one);
    return () => void planned.delete(one);
  };
  const next = (): Planned | undefined => {
    let first: Planned | undefined;
    for (const one of planned)
      if (!first || one.atMs < first.atMs || (one.atMs === first.atMs && one.order < first.order))
        first = one;
    return first;
  };
  const giveBack = replaced({ nowMs: () => nowMs, after });
  return {
    nowMs: () => nowMs,
    after,
    spend: (ms) => {
      nowMs += ms;
    },
    until: async (work) => {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      work.then(over, over);
      for (await quiet(); !isOver; await quiet()) {
        const first = next();
        if (!first) throw new Error("the work waits, and nothing is due");
        nowMs = Math.max(nowMs, first.atMs);
        for (const one of [...planned].filter(({ atMs }) => atMs === first.atMs))
          if (planned.delete(one)) one.happen();
      }
      return work;
    },
    end: giveBack,
  };
};

/** Puts the virtual clock and timers in place of those of the process. */
const replaced = ({ nowMs, after }: Pick<VirtualTime, "nowMs" | "after">): (() => void) => {
  const own = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
  };
  const ownNow = performance.now;
  let timers = 0;
  const cancels = new Map<unknown, () => void>();
  const handleOf = () => {
    const handle = { id: ++timers, unref: () => handle, ref: () => handle };
    return handle;
  };
  const cancel = (handle: unknown): void => {
    cancels.get(handle)?.();
    cancels.delete(handle);
  };
  const once = (happen: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
    const handle = handleOf();
    cancels.set(
      handle,
      after(ms, () => happen(...given)),
    );
    return handle;
  };
  const again = (happen: () => void, ms = 0) => {
    const handle = handleOf();
    const plan = (): void =>
      void cancels.set(
        handle,
        after(Math.max(1, ms), () => {
          plan();
          happen();
        }),
      );
    plan();
    return handle;
  };
  const virtual = {
    setTimeout: once,
    clearTimeout: cancel,
    setInterval: again,
    clearInterval: cancel,
  };
  Object.assign(globalThis, virtual);
  performance.now = nowMs;
  return () => {
    Object.assign(globalThis, own);
    performance.now = ownNow;
  };
};
