/** `skipped` is a point that nothing needs here, such as the rights of an API that is not installed. */
export type CheckResult = "passed" | "warning" | "failed" | "skipped";

/** What was found at one point of a connection. Words of the cluster in it are cut and escaped; it never holds an address or a credential. */
export interface CheckedPoint {
  /** What was looked at: "reachable", "deployments.apps". */
  readonly check: string;
  readonly result: CheckResult;
  readonly message: string;
  /** What to do. Every point that failed or warns has it. */
  readonly fix?: string;
}

/** What a look at a cluster found. */
export interface ConnectionReport {
  readonly name: string;
  /** False where a necessary point failed: no sync could read and scale a workload. */
  readonly usable: boolean;
  readonly checks: readonly CheckedPoint[];
  /** The uid of the namespace kube-system; absent where it could not be read. */
  readonly kubeSystemUid?: string;
}

export const passed = (check: string, message: string): CheckedPoint => ({ check, result: "passed", message });
export const skipped = (check: string, message: string): CheckedPoint => ({ check, result: "skipped", message });
export const warning = (check: string, message: string, fix: string): CheckedPoint => ({ check, result: "warning", message, fix });
export const failed = (check: string, message: string, fix: string): CheckedPoint => ({ check, result: "failed", message, fix });

export const reportOf = (name: string, checks: readonly CheckedPoint[], kubeSystemUid?: string): ConnectionReport => ({
  name,
  ...(kubeSystemUid !== undefined && { kubeSystemUid }),
  usable: checks.every(({ result }) => result !== "failed"),
  checks,
});
