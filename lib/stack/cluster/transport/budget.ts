import type { ApiFailure } from "../../../rules/model/observation.ts";
import { heldPartsMax } from "../wire/message.ts";
import { AsyncResource } from "node:async_hooks";
import { MAX_FLOW_CALLS, MAX_PARALLEL_CALLS, SLOW_CALL_MS } from "../request-limits.ts";
import type { Surroundings } from "./exchange.ts";

/**
 * The calls, bytes and time that one observation may still use. Every call takes from it, also
 * repeats.
 */
export interface CallBudget {
  readonly remainingMs: () => number;
  /** Takes one call, or returns the failure of the limit that is reached. */
  readonly take: () => ApiFailure | undefined;
  /** Counts the bytes of an answer on the wire; `unpacked` are those that must be read. */
  readonly receive: (bytes: number, unpacked?: number) => void;
  /** Counts values that are kept of an answer. False: the memory has no room for them. */
  readonly keep: (parts: number) => boolean;
  /** Gives back the room of an answer that turned out to be broken. */
  readonly free: (parts: number) => void;
  /** What may still be taken. */
  readonly left: () => { readonly calls: number };
  readonly spent: () => { readonly calls: number; readonly bytes: number };
}

export interface BudgetLimits {
  readonly budgetMs: number;
  readonly maxCalls: number;
  readonly maxBytes: number;
  /** Milliseconds of a monotonic clock, because the wall clock may be virtual or be set. */
  readonly elapsed: () => number;
}

/** A new budget that starts now. A failure of `take` has code 0 and reason BudgetExhausted. */
export const callBudget = ({ budgetMs, maxCalls, maxBytes, elapsed }: BudgetLimits): CallBudget => {
  const startMs = elapsed();
  let calls = 0;
  let bytes = 0;
  let partsLeft = heldPartsMax();
  const remainingMs = (): number => Math.max(0, budgetMs - (elapsed() - startMs));
  const exhausted = (what: string): ApiFailure => ({
    code: 0,
    reason: "BudgetExhausted",
    message: `Cannot call the cluster: ${what}`,
  });
  return {
    remainingMs,
    take: () => {
      if (remainingMs() <= 0) return exhausted(`the time for this sync is spent, ${budgetMs} ms`);
      if (calls >= maxCalls) return exhausted(`the calls for this sync are spent, ${maxCalls}`);
      if (bytes >= maxBytes) return exhausted(`the bytes for this sync are spent, ${maxBytes}`);
      calls++;
      return undefined;
    },
    receive: (more) => {
      bytes += more;
    },
    keep: (more) => {
      if (more > partsLeft) return false;
      partsLeft -= more;
      return true;
    },
    free: (parts) => {
      partsLeft += parts;
    },
    left: () => ({ calls: maxCalls - calls }),
    spent: () => ({ calls, bytes }),
  };
};

/**
 * Bounds the reads in flight, and gives each namespace its turn (fair queuing by flow, as in API
 * Priority and Fairness of Kubernetes). Without a flow a read is of all namespaces: it goes first.
 */
export interface FairGate {
  readonly run: <Result>(flow: string | undefined, call: () => Promise<Result>) => Promise<Result>;
}

interface Flow {
  readonly waiting: (() => void)[];
  inFlight: number;
}

/*
 *  all namespaces   ▓▓▓▓                                    go first
 *  shop             ▓─────────── slow: after a tenth of a second its room is free for the others
 *  bank              ▓▓ ▓▓ ▓▓                                one call a turn
 *  mill              ▓▓ ▓▓ ▓▓
 */
export const fairGate = (after: Surroundings["after"]): FairGate => {
  const shared: Flow = { waiting: [], inFlight: 0 };
  /** The flows with a call that waits or is in flight, in the order of their next turn. */
  const flows = new Map<string, Flow>();
  let [recent, ofFlows, isDue] = [0, 0, false];

  /**
   * Starts what there is room for, once all calls of this turn of the event loop have come: the
   * first namespace must not take all the room before the second has asked.
   */
  const startSoon = (): void => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      while (shared.inFlight < MAX_PARALLEL_CALLS && shared.waiting.length > 0)
        shared.waiting.shift()?.();
      while (recent < MAX_PARALLEL_CALLS && ofFlows < MAX_FLOW_CALLS) {
        const next = nextOf(flows);
        if (!next) break;
        next.waiting.shift()?.();
      }
    });
  };

  const perform = async <Result>(
    name: string | undefined,
    flow: Flow,
    call: () => Promise<Result>,
  ): Promise<Result> => {
    const ofFlow = name === undefined ? 0 : 1;
    flow.inFlight++;
    ofFlows += ofFlow;
    recent++;
    if (name !== undefined) {
      // The others have the next turn.
      flows.delete(name);
      flows.set(name, flow);
    }
    let takesRoom = true;
    const giveRoom = (): void => {
      if (takesRoom) recent--;
      takesRoom = false;
      startSoon();
    };
    const cancel = after(SLOW_CALL_MS, giveRoom);
    try {
      return await call();
    } finally {
      cancel();
      flow.inFlight--;
      ofFlows -= ofFlow;
      if (name !== undefined && flow.inFlight === 0 && flow.waiting.length === 0)
        flows.delete(name);
      giveRoom();
    }
  };

  const flowOf = (name: string | undefined): Flow => {
    if (name === undefined) return shared;
    const known = flows.get(name) ?? { waiting: [], inFlight: 0 };
    flows.set(name, known);
    return known;
  };

  return {
    run: (name, call) =>
      new Promise((resolve, reject) => {
        const flow = flowOf(name);
        // The call that ends starts a waiting call. The waiting call keeps the context of its own
        // caller.
        flow.waiting.push(
          AsyncResource.bind(() => void perform(name, flow, call).then(resolve, reject)),
        );
        startSoon();
      }),
  };
};

/**
 * The flow with the fewest calls in flight, and among equal ones the one that waits for its turn
 * the longest. So one with slow calls gets what the others leave, and no more than a namespace gets
 * that is alone.
 */
const nextOf = (flows: ReadonlyMap<string, Flow>): Flow | undefined => {
  let best: Flow | undefined;
  for (const flow of flows.values()) {
    if (flow.waiting.length === 0 || flow.inFlight >= MAX_PARALLEL_CALLS) continue;
    if (!best || flow.inFlight < best.inFlight) best = flow;
    if (best.inFlight === 0) return best;
  }
  return best;
};
