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
  /** A sum left 64 bits and was wrapped: the controller goes on with what is left of it (hpa.md 3.3), native rules do not. */
  readonly overflowed?: true;
}

/** A metric that could not be evaluated, in the words that its event gives. Nothing shrinks on it. */
export interface Failure {
  readonly kind: "failure";
  readonly message: string;
}

export const failure = (message: string): Failure => ({ kind: "failure", message });
