import type { Namespace } from "../../../rules/model/ids.ts";
import { type ApiFailure, TENANT_OVER_SHARE } from "../../../rules/model/observation.ts";
import { type Flows, newFlows, type SlowFlows } from "../../turns/flows.ts";
import { flowShares, type UsedUp } from "../../turns/shares.ts";
import {
  FLOW_SHARE_MS,
  MAX_EARLY_QUESTIONS,
  MAX_FLOW_LIST_BYTES,
  MAX_FLOW_SHARE_BYTES,
  MAX_FLOW_SHARE_CALLS,
  SHARED_CALLS,
  SLOW_BEGINS_MS,
} from "../request-limits.ts";
import type { CallBudget } from "../transport/budget.ts";
import type { Surroundings } from "../transport/exchange.ts";

/**
 * The calls for only one namespace: metrics of its adapters, scales that no LIST has, LISTs of a
 * heavy namespace. They go on in the flow of the namespace, and each takes from the share of the
 * namespace of the budget of the sync.
 */
export interface NamespaceCalls extends Pick<Flows, "beginLate" | "within" | "areDone"> {
  /** Asks for a namespace, by a call that stores its answer itself. */
  readonly ask: (namespace: Namespace, call: Call) => void;
  /** The same, after the others were decided. */
  readonly askLate: (namespace: Namespace, call: Call) => void;
  /** Reads a LIST after the others were decided. It has a share of bytes of its own. */
  readonly listLate: (namespace: Namespace, call: Call) => void;
  /** The unpacked bytes of the answers to questions so far. */
  readonly bytes: () => ReadonlyMap<Namespace, number>;
}

type Call = (budget: CallBudget) => Promise<void>;

/** The bytes of answers are unpacked, the bytes of LISTs are on the wire. */
const SHARES = {
  calls: MAX_FLOW_SHARE_CALLS,
  bytes: MAX_FLOW_SHARE_BYTES,
  listBytes: MAX_FLOW_LIST_BYTES,
} as const;

type Spent = UsedUp<keyof typeof SHARES>;

const WORDS: Readonly<Record<keyof typeof SHARES, (used: Spent) => string>> = {
  calls: ({ spent }) => `${spent} calls, the most for one namespace`,
  bytes: ({ spent, most }) => `${spent} bytes of ${most} for one namespace`,
  listBytes: ({ spent, most }) => `${spent} bytes of LISTs of ${most} for one namespace`,
};

export const namespaceCalls = ({
  budget,
  ...surroundings
}: {
  readonly budget: CallBudget;
  readonly slow: SlowFlows;
  readonly elapsed: () => number;
  readonly after: Surroundings["after"];
}): NamespaceCalls => {
  const shares = flowShares<keyof typeof SHARES, Namespace>(SHARES);
  const flows = newFlows({
    ...surroundings,
    slowMs: FLOW_SHARE_MS,
    mostEarly: MAX_EARLY_QUESTIONS,
    slowBeginsMs: SLOW_BEGINS_MS,
  });
  /**
   * Why nothing more is asked for the namespace in this sync. On doubt, hold what is not answered;
   * the next sync begins with it.
   */
  const usedUp = (namespace: Namespace): string | undefined => {
    const seconds = (flows.usedMs(namespace) / 1_000).toFixed(1);
    const calls = shares.spent(namespace, "calls");
    if (budget.remainingMs() <= 0)
      return `the time of this sync, ${seconds} s of it for ${calls} calls of the namespace`;
    const used = shares.usedUp(namespace);
    if (used) return WORDS[used.resource](used);
    // What is left is for the LISTs, which all namespaces need.
    return budget.left().calls <= SHARED_CALLS ? "the calls of this sync" : undefined;
  };
  const budgetOf = (namespace: Namespace, isList: boolean, begin: () => void): CallBudget => ({
    ...budget,
    take: () => {
      begin();
      const used = usedUp(namespace);
      if (used !== undefined) return overShare(namespace, used);
      shares.spend(namespace, "calls", 1);
      return budget.take();
    },
    receive: (bytes, unpacked = bytes) => {
      if (isList) shares.spend(namespace, "listBytes", bytes);
      else shares.spend(namespace, "bytes", unpacked);
      budget.receive(bytes);
    },
  });
  const workOf = (namespace: Namespace, call: Call, isLong = false) => ({
    run: (begin: () => void) => call(budgetOf(namespace, isLong, begin)),
    isLong,
  });
  return {
    ...flows,
    ask: (namespace, call) => flows.start(namespace, workOf(namespace, call)),
    askLate: (namespace, call) => flows.startLate(namespace, workOf(namespace, call)),
    listLate: (namespace, call) => flows.startLate(namespace, workOf(namespace, call, true)),
    bytes: () => shares.all("bytes"),
  };
};

const overShare = (namespace: Namespace, used: string): ApiFailure => ({
  code: 0,
  reason: TENANT_OVER_SHARE,
  message: `Cannot ask more for namespace "${namespace}" in this sync: its share is used, ${used}; the next sync goes on with what was not asked; ask its metrics adapter for faster answers, or use fewer metrics`,
});
