import type { Intent, ScaleEventRecord } from "../../../lib/model/records.ts";
import type { Decided, Invocation } from "../invocation.ts";

/** The invariants, by the names that violations carry. */
export type Invariant =
  | "nothing breaks"
  | "no PUT takes effect without an intent that every later holder counts"
  | "at most one open intent per workload"
  | "per-period limits are never exceeded as seen from the cluster"
  | "stabilization windows hold what was recommended, no more and no less"
  | "forbidden windows are never cut short"
  | "every intent ends in exactly one event"
  | "every PUT that took effect has an event, applied or unknown"
  | "nothing leaves [min, max]"
  | "time and epochs never run backwards"
  | "after faults stop, replicas equal those of the run without faults";

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
}

/** An intent that the head held at some instant, and all that became of it. */
export interface KnownIntent {
  readonly intent: Intent;
  readonly partition: string;
  readonly decided: Decided | undefined;
  readonly carried: readonly Recommendation[];
  readonly effects: KnownEffect[];
  open: boolean;
  event: ScaleEventRecord | undefined;
  dayEvents: number;
}

/** A count that a PUT moved, as the cluster saw it. */
export interface KnownEffect {
  readonly id: string;
  readonly uid: string;
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly decided: Decided;
}

/** A recommendation of a sync. `counts` once that sync was completed, or its intent stored; until then it may have been lost. */
export interface Recommendation {
  readonly replicas: number;
  readonly nowMs: number;
  counts: boolean;
}

/** What the simulation knows of the truth, which no worker sees. */
export interface Ledger {
  readonly intents: Map<string, KnownIntent>;
  /** By uid of the autoscaler, in order of time. */
  readonly effects: Map<string, KnownEffect[]>;
  readonly recommendations: Map<string, Recommendation[]>;
  /** Of each invocation, until it is completed. */
  readonly pending: Map<Invocation, Map<string, Recommendation[]>>;
  /** By cluster and partition: whose claim was the last. */
  readonly holders: Map<string, Invocation>;
  violation: Violation | undefined;
  readonly violate: (invariant: Invariant, message: string) => void;
}

export const newLedger = (tell: (who: string, what: string) => void): Ledger => {
  const ledger: Ledger = {
    intents: new Map(),
    effects: new Map(),
    recommendations: new Map(),
    pending: new Map(),
    holders: new Map(),
    violation: undefined,
    violate: (invariant, message) => {
      tell("VIOLATION", `${invariant}: ${message}`);
      ledger.violation ??= { invariant, message };
    },
  };
  return ledger;
};

/** Largest difference of any two clocks: what no reader of two clocks can do better than. */
export const CLOCK_ALLOWANCE_MS = 4_000;

export const listed = <Item>(lists: Map<string, Item[]>, key: string): Item[] => {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
};
