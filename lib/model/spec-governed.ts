/** What only a `tidemark.dev/v1` manifest says of an autoscaler, whatever rules decide it. */
export interface Governed {
  /** Who answers for it; for people. */
  readonly owner?: string;
  /** Everything is decided and told, nothing is written. */
  readonly dryRun?: boolean;
  /** Held before this instant, and decided all the same. */
  readonly pausedUntilMs?: number;
}

/** The workload whose scale subresource is written. */
export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}
