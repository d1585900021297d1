import type { AuditedPut } from "./audit.ts";

/** A stored scale event, as far as it is held against the audit log. */
export interface StoredEvent {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly outcome: "applied" | "refused" | "unknown";
}

/** One policy of pods for both directions, and the bounds: those of every autoscaler of a run. */
export interface Rules {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly pods: number;
  readonly periodMs: number;
  /** A PUT takes effect so long after its decision at most. */
  readonly deadlineMs: number;
}

/** Clocks are those of one machine; answers and event times differ by what a call takes. */
const ALLOWANCE_MS = 4_000;

const executed = ({ status }: AuditedPut): boolean => status >= 200 && status < 300;
const pathOf = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${namespace}/${name}`;

/** Holds what the API server saw against what the history tells; every sentence is a breach. */
export const breaches = (
  puts: readonly AuditedPut[],
  events: readonly StoredEvent[],
  rules: Rules,
): readonly string[] => {
  const made = Map.groupBy(puts.filter(executed), pathOf);
  const told = Map.groupBy(events, pathOf);
  return [...new Set([...made.keys(), ...told.keys()])].flatMap((path) => [
    ...unmatched(path, made.get(path) ?? [], told.get(path) ?? [], rules),
    ...overLimits(path, made.get(path) ?? [], rules),
  ]);
};

/**
 * Every PUT that was executed has an event of its own that does not say refused, and every applied
 * event a PUT.
 */
const unmatched = (
  path: string,
  puts: readonly AuditedPut[],
  events: readonly StoredEvent[],
  { deadlineMs }: Rules,
): readonly string[] => {
  const left = [...events].sort((one, other) => one.atMs - other.atMs);
  const faults: string[] = [];
  for (const put of puts) {
    const isItsEvent = ({ to, atMs, outcome }: StoredEvent): boolean =>
      outcome !== "refused" &&
      to === put.replicas &&
      atMs <= put.untilMs + ALLOWANCE_MS &&
      put.untilMs <= atMs + deadlineMs;
    const at = left.findIndex(isItsEvent);
    if (at === -1)
      faults.push(
        `${path}: the PUT of ${put.replicas} at ${new Date(put.untilMs).toISOString()} has no event, applied or unknown`,
      );
    else left.splice(at, 1);
  }
  const without = left.filter(({ outcome }) => outcome === "applied");
  return [
    ...faults,
    ...without.map(
      ({ id, to }) => `${path}: the event "${id}" says that ${to} was applied, and no PUT did it`,
    ),
  ];
};

/**
 * Pods added or removed in any period, a little shorter than the policy's, and the bounds. What the
 * other direction gave back counts over a period a little longer, and a deadline more.
 */
const overLimits = (
  path: string,
  puts: readonly AuditedPut[],
  { minReplicas, maxReplicas, pods, periodMs, deadlineMs }: Rules,
): readonly string[] => {
  const faults: string[] = [];
  const changes: { readonly atMs: number; readonly by: number }[] = [];
  let count = 1;
  for (const { replicas, untilMs, fromMs } of puts) {
    const by = replicas - count;
    const moved = (up: boolean, sinceMs: number): number =>
      changes.reduce(
        (sum, change) =>
          change.by > 0 === up && change.atMs > sinceMs ? sum + Math.abs(change.by) : sum,
        0,
      );
    const same = moved(by > 0, fromMs - periodMs + ALLOWANCE_MS);
    const undone = moved(by < 0, fromMs - periodMs - deadlineMs);
    if (Math.abs(by) > pods - same + undone)
      faults.push(
        `${path}: from ${count} to ${replicas}, and ${pods} in ${periodMs / 1_000} s are allowed`,
      );
    if (replicas < minReplicas || replicas > maxReplicas)
      faults.push(`${path}: ${replicas} is outside ${minReplicas} to ${maxReplicas}`);
    changes.push({ atMs: untilMs, by });
    count = replicas;
  }
  return faults;
};
