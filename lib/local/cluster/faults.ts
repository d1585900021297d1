/** A fault that a test or a demonstration plants in requests to the simulated API server. */
export type Fault = {
  readonly path: string;
  readonly method?: string /** How many requests it meets; then it is over. Without it: all. */;
  readonly times?: number;
} & FaultKind;

type FaultKind =
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
      readonly when?: When;
    }
  /** No answer, the connection stays open. */
  | { readonly kind: "hang"; readonly when?: When }
  /** The connection is cut. */
  | { readonly kind: "reset"; readonly when?: When }
  /** The answer comes late, by wall time. */
  | { readonly kind: "slow"; readonly delayMs: number };

/** "after": the request has its effect, only the answer is lost. Default "before". */
type When = "before" | "after";

/** The faults in force: the first one that fits a request meets it. */
export interface Faults {
  /** Begins a fault. The returned function ends it. */
  add(fault: Fault): () => void;
  clear(): void;
  /** The fault that meets this request, counted as one of its times. */
  take(method: string, path: string): Fault | undefined;
}

export const faultSwitches = (): Faults => {
  const inForce = new Map<symbol, { readonly fault: Fault; left: number }>();
  return {
    add: (fault) => {
      const key = Symbol(fault.kind);
      inForce.set(key, { fault, left: fault.times ?? Number.POSITIVE_INFINITY });
      return () => {
        inForce.delete(key);
      };
    },
    clear: () => inForce.clear(),
    take: (method, path) => {
      for (const [key, entry] of inForce) {
        if (!path.startsWith(entry.fault.path) || (entry.fault.method ?? method) !== method) continue;
        entry.left--;
        if (entry.left <= 0) inForce.delete(key);
        return entry.fault;
      }
      return undefined;
    },
  };
};
