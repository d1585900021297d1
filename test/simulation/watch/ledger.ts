import type { Decided, Invocation } from "../invocation.ts";
import type { RivalLedger } from "../rivals.ts";
import type { Breach } from "./breaches.ts";
import { type EditLog, newEditLog } from "./edits.ts";
import type { Item } from "./head.ts";
import type { Measured } from "./measured.ts";
import { newObjectLedger, type ObjectLedger } from "./object-ledger.ts";
import { newOutsideLedger, type OutsideLedger } from "./outside.ts";
import { newStops, type Stops } from "./stops.ts";
import type { Intent, ScaleEventRecord } from "../../../lib/rules/model/scale-records.ts";

/** The invariants, by the names that violations carry. */
export type Invariant =
  | "nothing breaks"
  | "no PUT takes effect without an intent that every later holder counts"
  | "at most one open intent per workload"
  | "per-period limits are never exceeded as seen from the cluster"
  | "stabilization windows hold what was recommended, no more and no less"
  | "forbidden windows are never cut short"
  | "a breach must last, though workers die"
  | "nothing is sent that was claimed after a freeze or a pause"
  | "nothing is sent where another controller was seen or may be"
  | "a workload that is taken over or handed back has one controller"
  | "a count that others set is an event, and limits count it; a count that Tidemark set is none"
  | "no PUT goes to an API server that its cluster does not name"
  | "every intent ends in exactly one event"
  | "every step is one that the model of the protocol allows"
  | "every PUT that took effect has an event, applied or unknown"
  | "nothing is sent under a clock that is wrong"
  | "windows count only scales that may have been made"
  | "the totals of an autoscaler are the sums of its scale events"
  | "nothing is written outside the bounds that hold at the instant of the decision"
  | "nothing shrinks on a value that was not measured"
  | "nothing leaves [min, max]"
  | "a forecast takes no pod away, and changes no window"
  | "what a sync reads of its cluster, the cluster had while it was asked"
  | "an autoscaler of an object acts by what the same sync has read of it"
  | "no autoscaler of an object acts by a spec that is not stored"
  | "an autoscaler of an object ends after two answers without it"
  | "every edit of an autoscaler is among its changes"
  | "after faults stop, every object is one autoscaler within a minute and two periods"
  | "edits of one autoscaler happen one after the other, each once"
  | "restored and copied tables scale nothing before a person has adopted them and thaws"
  | "limits count what a restore took away"
  | "a stack holds where the other one was the last to scale"
  | "time and epochs never run backwards"
  | "what people set holds until it ends, or a person clears it"
  | "a minute is marked as planned only where all of it was sent"
  | "no stored time is ahead of what a clock may tell"
  | "after faults stop, every partition syncs within two periods"
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
  /**
   * It was damaged, and a reset cleared it when its autoscaler was deleted or invalid: no event is
   * known of it, and a change in history tells of it.
   */
  forgotten: boolean;
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
  /**
   * It had left every period of its direction when a later scale was recorded: its place may have
   * been used again (hpa.md 3.9).
   */
  forgettable: boolean;
}

/**
 * A recommendation of a sync. `counts` once that sync was completed, or its intent stored; until
 * then it may have been lost.
 */
export interface Recommendation {
  readonly replicas: number;
  readonly nowMs: number;
  counts: boolean;
}

export interface EventSums {
  ups: number;
  added: number;
  downs: number;
  removed: number;
}

/** What the simulation knows of the truth, which no worker sees. */
export interface Ledger {
  /** The true time. */
  readonly nowMs: () => number;
  readonly intents: Map<string, KnownIntent>;
  /** By uid of the autoscaler, in order of time. */
  readonly effects: Map<string, KnownEffect[]>;
  /**
   * By uid: effects that the cluster has lost since, with its etcd. They count on where they give
   * room, because what is settled counts on in both directions (docs/protocol.md).
   */
  readonly unmade: Map<string, KnownEffect[]>;
  /** By uid: when the newest of its scales that counts was settled. */
  readonly settledMs: Map<string, number>;
  /** By uid: the sums of its events, without refused ones. */
  readonly totals: Map<string, EventSums>;
  /** What was damaged in the state table: ids of intents, and clusters of which a page was. */
  readonly damaged: Set<string>;
  /** By uid: the instant at which a person reset its windows. */
  readonly resetMs: Map<string, number>;
  readonly recommendations: Map<string, Recommendation[]>;
  /**
   * By uid: the newest recommendation that had left every window, so that nothing is known of what
   * was made before it.
   */
  readonly leftMs: Map<string, number>;
  /** Of each invocation, until it is completed. */
  readonly pending: Map<Invocation, Map<string, Recommendation[]>>;
  /** By key of the partition: whose claim was the last, unless it was a person's. */
  readonly holders: Map<string, Invocation>;
  /** By uid, in order of evaluation. */
  readonly breaches: Map<string, Breach[]>;
  /** What each invocation saw, until it is completed. */
  readonly evaluated: Map<Invocation, Breach[]>;
  /** By key of the partition: when a sync was completed. */
  readonly releases: Map<string, number[]>;
  /**
   * By name of the cluster: when its record was last written, so that its partitions may be others.
   */
  readonly clusterWrites: Map<string, number>;
  /**
   * By key of the partition: the page of a reset whose editor had lost the partition when it took
   * effect, and whose holder had read the pages before.
   */
  readonly lateResets: Map<string, Item>;
  /** The syncs whose messages the queue has taken, each as `syncName` has it. */
  readonly queued: Set<string>;
  readonly stops: Stops;
  readonly edits: EditLog;
  readonly objects: ObjectLedger;
  readonly rivals: RivalLedger;
  readonly outside: OutsideLedger;
  /** By source and query: what was measured. */
  readonly measured: Map<string, Measured[]>;
  /** Where restored tables were adopted: what was made before, of which they do not tell. */
  lost?: (uid: string) => readonly KnownEffect[];
  adoptedMs?: number;
  violation: Violation | undefined;
  readonly violate: (invariant: Invariant, message: string) => void;
}

/** `unwatched` is an invariant that this seed does not tell of. */
export const newLedger = (
  tell: (who: string, what: string) => void,
  nowMs: () => number,
  unwatched?: Invariant,
): Ledger => {
  const stops = newStops(nowMs);
  const ledger: Ledger = {
    nowMs,
    intents: new Map(),
    effects: new Map(),
    unmade: new Map(),
    settledMs: new Map(),
    totals: new Map(),
    damaged: new Set(),
    resetMs: new Map(),
    recommendations: new Map(),
    leftMs: new Map(),
    pending: new Map(),
    holders: new Map(),
    breaches: new Map(),
    evaluated: new Map(),
    releases: new Map(),
    clusterWrites: new Map(),
    lateResets: new Map(),
    queued: new Set(),
    stops,
    edits: newEditLog({
      nowMs,
      tick: stops.tick,
      violate: (invariant, message) => ledger.violate(invariant, message),
    }),
    objects: newObjectLedger(),
    rivals: { answered: new Set(), shown: new Map() },
    outside: newOutsideLedger(),
    measured: new Map(),
    violation: undefined,
    violate: (invariant, message) => {
      if (invariant === unwatched) return;
      tell("VIOLATION", `${invariant}: ${message}`);
      ledger.violation ??= { invariant, message };
    },
  };
  return ledger;
};

export const listed = <Key, Listed>(lists: Map<Key, Listed[]>, key: Key): Listed[] => {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
};
