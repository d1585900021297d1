/** What a look at the fleet finds of an autoscaler, or of a whole cluster, and how long it must last. */
export const NOTICE_KINDS = [
  "held",
  "flapBudget",
  "atMax",
  "unmeasured",
  "refused",
  "failing",
  "unreachable",
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** What was found of an autoscaler when its notice was made. */
export interface NoticedAutoscaler {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly reason?: string;
  readonly heldBy?: string;
  readonly current?: number;
  readonly desired?: number;
  readonly max?: number;
  readonly targets?: readonly string[];
  readonly missing?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/**
 * Something about an autoscaler or a cluster that has lasted, or that is over. A notice follows
 * from what syncs stored; no decision depends on it.
 */
export interface StateNotice {
  readonly kind: NoticeKind;
  /** Made of what it is about and since when, so that the same notice has the same id. */
  readonly id: string;
  readonly phase: "began" | "ended";
  readonly atMs: number;
  readonly sinceMs: number;
  readonly cluster: string;
  /** Absent for a notice of a whole cluster. */
  readonly autoscaler?: NoticedAutoscaler;
  /** True where a storm has it in its count. */
  readonly inStorm?: true;
}

/**
 * A minute in which more happened to one cluster than people read one by one: scales, or notices of
 * one kind.
 */
export interface StormNotice {
  readonly kind: "storm";
  readonly id: string;
  /** The begin of the minute. */
  readonly atMs: number;
  readonly cluster: string;
  readonly what: "scale" | NoticeKind;
  /** Of notices. */
  readonly phase?: StateNotice["phase"];
  readonly count: number;
  /** How many by namespace, the most first. */
  readonly namespaces: readonly { readonly namespace: string; readonly count: number }[];
  /** Of scales. */
  readonly scales?: StormOfScales;
}

export interface StormOfScales {
  readonly up: number;
  readonly down: number;
  readonly refused: number;
  readonly unknown: number;
  readonly outside: number;
  readonly added: number;
  readonly removed: number;
  /** Those with the largest steps. */
  readonly largest: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly from: number;
    readonly to: number;
  }[];
}

export type NoticeRecord = StateNotice | StormNotice;

/** What people read one by one of a cluster and minute: more is a storm. */
export const STORM_OVER = 5;
