import { SKEW_MAX_MS } from "../clock-errors.ts";
import type { Invocation } from "../invocation.ts";
import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";

/** Since when something must stand still, and until when. `since` counts what the world did, so that two things at one instant have an order. */
interface Stop {
  readonly since: number;
  readonly untilMs: number;
}

/** Everything that a person stopped: the fleet, a cluster, an autoscaler. */
export interface Stops {
  /** The next number of what the world does. */
  readonly tick: () => number;
  /** An autoscaler was paused or deleted, and its editor was told that it is done. */
  readonly stop: (autoscaler: string, untilMs: number) => void;
  /** Somebody is about to let it go on. */
  readonly goOn: (autoscaler: string) => void;
  /** A record of the fleet or of a cluster was written. */
  readonly recordWritten: (key: string, after: Item | undefined) => void;
  /** What stopped this autoscaler before a claim was made, and still does. */
  readonly stopping: (cluster: string, autoscaler: string, claimedAt: number, nowMs: number) => string | undefined;
}

export const newStops = (): Stops => {
  const stopped = new Map<string, Stop>();
  let ticks = 0;
  const tick = (): number => ++ticks;
  const set = (key: string, isStopped: boolean, untilMs: number): void => {
    if (!isStopped) stopped.delete(key);
    else if (!stopped.has(key)) stopped.set(key, { since: tick(), untilMs });
  };
  return {
    tick,
    stop: (autoscaler, untilMs) => stopped.set(`autoscaler ${autoscaler}`, { since: tick(), untilMs }),
    goOn: (autoscaler) => stopped.delete(`autoscaler ${autoscaler}`),
    recordWritten: (key, after) => set(key, (after?.["frozen"] ?? after?.["paused"]) !== undefined, Number.POSITIVE_INFINITY),
    stopping: (cluster, autoscaler, claimedAt, nowMs) =>
      ["fleet", `cluster ${cluster}`, `autoscaler ${autoscaler}`].find((key) => {
        const stop = stopped.get(key);
        return stop !== undefined && stop.since < claimedAt && nowMs < stop.untilMs - CLOCK_ALLOWANCE_MS;
      }),
  };
};

/** Looks at a PUT that is being sent: by whoever claimed after a freeze or a pause was stored, none is; nor for a workload that was seen to have another controller. */
export const watchSent = (
  ledger: Ledger,
  by: Invocation,
  write: { readonly target: { readonly name: string }; readonly replicas: number },
  nowMs: number,
): void => {
  const { name } = write.target;
  const words = `${by.name} sends a PUT of "${name}" to ${write.replicas}`;
  const stop = ledger.stops.stopping(by.message.cluster, name, by.claimedAt, nowMs);
  if (stop) ledger.violate("nothing is sent that was claimed after a freeze or a pause", `${words}, and "${stop}" was stopped before its claim`);
  const { skewMs } = by.process;
  if (Math.abs(skewMs) > SKEW_MAX_MS)
    ledger.violate("nothing is sent under a clock that is wrong", `${words}, and its clock is wrong by ${skewMs} ms`);
  if (by.rivals.has(name)) ledger.violate("nothing is sent where another controller was seen or may be", words);
};
