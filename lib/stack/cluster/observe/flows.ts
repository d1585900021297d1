import type { Namespace } from "../../../rules/model/ids.ts";
import { type ApiFailure, TENANT_OVER_SHARE } from "../../../rules/model/observation.ts";
import {
  FLOW_SHARE_MS,
  MAX_FLOW_LIST_BYTES,
  MAX_FLOW_SHARE_BYTES,
  MAX_FLOW_SHARE_CALLS,
  MAX_EARLY_QUESTIONS,
  MAX_SLOW_NAMESPACES,
  SHARED_CALLS,
  SLOW_BEGINS_MS,
  SLOW_TTL_MS,
} from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { Surroundings } from "../transport/exchange.ts";

/**
 * What is asked for only one namespace: metrics of its adapters, scales that no LIST has. Each
 * namespace has a share of the calls and bytes of the sync, and its time is measured, so that one
 * that is slow is not waited for by all others.
 */
export interface Flows {
  /**
   * Asks for a namespace, under its share of the budget, by a call that stores its answer itself. A
   * mistake that it throws comes out of the next `within`. A namespace that was slow in an earlier
   * sync is asked from `beginLate` on, and so are the questions of a namespace beyond its first
   * hundred.
   */
  readonly start: (namespace: Namespace, call: (budget: CallBudget) => Promise<void>) => void;
  /**
   * The same for what is asked after all others were decided: nothing is asked before `beginLate`.
   * A LIST has a share of bytes of its own.
   */
  readonly startLate: (
    namespace: Namespace,
    call: (budget: CallBudget) => Promise<void>,
    share: Share,
  ) => void;
  readonly beginLate: () => void;
  /** The unpacked bytes of the answers to questions so far. */
  readonly bytes: () => ReadonlyMap<Namespace, number>;
  /**
   * Waits until each flow has all its answers, or has used this time; no longer than `patienceMs`.
   */
  readonly within: (shareMs: number, patienceMs: number) => Promise<void>;
  /** True where no question is open. */
  readonly areDone: () => boolean;
}

/** Which share of its namespace a call takes from. */
type Share = "lists" | "questions";

interface Flow {
  /**
   * Questions that were started, or would have been if the namespace had not had as many already.
   */
  started: number;
  /** Questions without an answer. */
  open: number;
  /** Questions whose first call has begun, and which have no answer. */
  running: number;
  usedMs: number;
  runningSinceMs: number;
  calls: number;
  /** Unpacked, of answers to questions. */
  bytes: number;
  /** Of LISTs, on the wire. */
  listBytes: number;
}

/**
 * The namespaces whose questions took longer than their share in an earlier sync of this client.
 * Nothing waits for them again: an adapter that is slow for ever costs the others time once.
 */
export interface SlowNamespaces {
  readonly has: (namespace: Namespace) => boolean;
  readonly add: (namespace: Namespace) => void;
}

/**
 * They are forgotten after a time and not after a fast sync, so that an adapter that is slow in
 * every other sync counts as slow.
 */
export const slowNamespaces = (clock: () => number): SlowNamespaces => {
  const untilMs = new Map<Namespace, number>();
  return {
    has: (namespace) => clock() < (untilMs.get(namespace) ?? 0),
    add: (namespace) => {
      if (untilMs.size >= MAX_SLOW_NAMESPACES) untilMs.clear();
      untilMs.set(namespace, clock() + SLOW_TTL_MS);
    },
  };
};

export interface FlowsOf {
  readonly budget: CallBudget;
  readonly slow: SlowNamespaces;
  readonly elapsed: () => number;
  readonly after: Surroundings["after"];
}

export const newFlows = ({ budget, slow, elapsed, after }: FlowsOf): Flows => {
  const flows = new Map<Namespace, Flow>();
  const open = new Set<Flow>();
  let changed = NOTHING;
  const usedMs = (flow: Flow): number =>
    flow.usedMs + (flow.running > 0 ? elapsed() - flow.runningSinceMs : 0);

  const flowOf = (namespace: Namespace): Flow => {
    const flow = flows.get(namespace) ?? {
      started: 0,
      open: 0,
      running: 0,
      usedMs: 0,
      runningSinceMs: 0,
      calls: 0,
      bytes: 0,
      listBytes: 0,
    };
    flows.set(namespace, flow);
    return flow;
  };
  const begin = (flow: Flow): void => {
    if (flow.running++ === 0) flow.runningSinceMs = elapsed();
    changed();
  };
  const end = (flow: Flow, hasBegun: boolean): void => {
    if (hasBegun && --flow.running === 0) flow.usedMs += elapsed() - flow.runningSinceMs;
    if (--flow.open === 0) open.delete(flow);
    changed();
  };

  const late: (() => void)[] = [];
  /**
   * The questions of slow namespaces, and of the others beyond the first hundred. They begin with
   * what is late, and no later than `SLOW_BEGINS_MS` after the first: they wait for the decisions
   * of the others, not for a burst of writes.
   */
  const lateSlow: (() => void)[] = [];
  let cancelSlow = NOTHING;
  const beginSlow = (): void => {
    cancelSlow();
    cancelSlow = NOTHING;
    for (const start of lateSlow.splice(0)) start();
  };

  const askFrom = async <Result>(
    share: Share,
    namespace: Namespace,
    call: (budget: CallBudget) => Promise<Result>,
  ): Promise<Result> => {
    const flow = flowOf(namespace);
    flow.open++;
    open.add(flow);
    let hasBegun = false;
    const take = (): ApiFailure | undefined => {
      if (!hasBegun) begin(flow);
      hasBegun = true;
      const over = overShare(namespace, flow, { budget, used: usedMs(flow) });
      if (!over) flow.calls++;
      return over ?? budget.take();
    };
    const receive = (bytes: number, unpacked = bytes): void => {
      if (share === "lists") flow.listBytes += bytes;
      else flow.bytes += unpacked;
      budget.receive(bytes);
    };
    try {
      return await call({ ...budget, take, receive });
    } finally {
      end(flow, hasBegun);
      if (share === "questions" && usedMs(flow) >= FLOW_SHARE_MS) slow.add(namespace);
    }
  };
  const mistakes: unknown[] = [];

  const startFrom = (share: Share, ...[namespace, call]: Parameters<Flows["start"]>): void => {
    askFrom(share, namespace, call).catch((mistake: unknown) => mistakes.push(mistake));
  };

  return {
    start: (namespace, call) => {
      const flow = flowOf(namespace);
      if (!slow.has(namespace) && flow.started++ < MAX_EARLY_QUESTIONS)
        return startFrom("questions", namespace, call);
      if (lateSlow.length === 0) cancelSlow = after(SLOW_BEGINS_MS, beginSlow);
      lateSlow.push(() => startFrom("questions", namespace, call));
    },
    startLate: (namespace, call, share) => {
      late.push(() => startFrom(share, namespace, call));
    },
    beginLate: () => {
      beginSlow();
      for (const start of late.splice(0)) start();
    },
    bytes: () => new Map([...flows].map(([namespace, { bytes }]) => [namespace, bytes])),
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
  };
};

const NOTHING = (): void => undefined;

const firstOf = <Item>(
  items: Iterable<Item>,
  isWanted: (item: Item) => boolean,
): Item | undefined => {
  for (const item of items) if (isWanted(item)) return item;
  return undefined;
};

/**
 * Why nothing more is asked for the namespace in this sync. On doubt, hold what is not answered;
 * the next sync begins with it.
 */
const overShare = (
  namespace: Namespace,
  { calls, bytes, listBytes }: Flow,
  { budget, used }: { readonly budget: CallBudget; readonly used: number },
): ApiFailure | undefined => {
  const seconds = (used / 1_000).toFixed(1);
  if (budget.remainingMs() <= 0)
    return failure(
      namespace,
      `the time of this sync, ${seconds} s of it for ${calls} calls of the namespace`,
    );
  if (calls >= MAX_FLOW_SHARE_CALLS)
    return failure(namespace, `${calls} calls, the most for one namespace`);
  if (bytes >= MAX_FLOW_SHARE_BYTES)
    return failure(namespace, `${bytes} bytes of ${MAX_FLOW_SHARE_BYTES} for one namespace`);
  if (listBytes >= MAX_FLOW_LIST_BYTES)
    return failure(
      namespace,
      `${listBytes} bytes of LISTs of ${MAX_FLOW_LIST_BYTES} for one namespace`,
    );
  // What is left is for the LISTs, which all namespaces need.
  return budget.left().calls <= SHARED_CALLS
    ? failure(namespace, "the calls of this sync")
    : undefined;
};

const failure = (namespace: Namespace, used: string): ApiFailure => ({
  code: 0,
  reason: TENANT_OVER_SHARE,
  message: `Cannot ask more for namespace "${namespace}" in this sync: its share is used, ${used}; the next sync goes on with what was not asked; ask its metrics adapter for faster answers, or use fewer metrics`,
});
