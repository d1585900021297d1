/** What one metric proposes, before windows and limits. Amounts are thousandths. */
export interface Proposal {
  readonly kind: "proposal";
  /** Raw count; negative only where numbers overflow. */
  readonly replicas: number;
  /** The amount that status shows: mean, total, or total per replica. */
  readonly usageMilli: bigint;
  /** Percent of the requests, for targets in percent. */
  readonly utilization?: number;
  /** value ÷ target, before anything was assumed for missing pods. */
  readonly ratio: number;
}

/** A metric that could not be evaluated, in the words that its event gives. Nothing shrinks on it. */
export interface Failure {
  readonly kind: "failure";
  readonly message: string;
}

export const failure = (message: string): Failure => ({ kind: "failure", message });
