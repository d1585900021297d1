export const TROUBLE_STATES = ["failing", "forbidden", "ok", "partly failing", "unreachable"] as const;

/** The state of a partition by its evaluations. `silent`: there are none, or none of them asked the cluster. */
export interface PartitionTrouble {
  readonly state: (typeof TROUBLE_STATES)[number];
  readonly silent: boolean;
  readonly sinceMs?: number;
  readonly error?: string;
  /** An autoscaler that holds because a stored item cannot be read, as NAMESPACE/NAME, and the reason. Absent when there is none. */
  readonly unreadable?: { readonly autoscaler: string; readonly message: string };
  /** Holds that a person must end: for each reason its first autoscaler, and how many there are. */
  readonly holds: readonly TroublingHold[];
}

export interface TroublingHold {
  readonly reason: TroublingReason;
  /** NAMESPACE/NAME. */
  readonly autoscaler: string;
  readonly message: string;
  readonly autoscalers: number;
}

/** Reasons of lib/report/holds.ts and object-holds.ts that do not end by themselves. */
export const TROUBLING = ["RivalsUnknown", "RuleFailed", "SpecUnknown", "TenantOverShare"] as const;
type TroublingReason = (typeof TROUBLING)[number];
