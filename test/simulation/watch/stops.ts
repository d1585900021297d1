import type { ScaleWrite } from "../../../lib/cluster/port.ts";
import { SKEW_MAX_MS } from "../clock-errors.ts";
import type { Invocation } from "../invocation.ts";
import { besideWhat } from "../rivals.ts";
import type { Item } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { sentIntent } from "./sent-intent.ts";

/** Everything that is stopped as a whole: the fleet, a cluster. What stops an autoscaler, the history of its edits tells (edits.ts). */
export interface Stops {
  /** The next number of what the world does, so that two things at one instant have an order. */
  readonly tick: () => number;
  /** A record of the fleet or of a cluster was written. */
  readonly recordWritten: (key: string, after: Item | undefined) => void;
  /** What had stopped this cluster before a claim was made, and still does. */
  readonly stopping: (cluster: string, claimedAt: number) => string | undefined;
}

export const newStops = (): Stops => {
  /** Since when each is stopped. */
  const stopped = new Map<string, number>();
  let ticks = 0;
  const tick = (): number => ++ticks;
  return {
    tick,
    recordWritten: (key, after) => {
      if ((after?.["frozen"] ?? after?.["paused"]) === undefined) stopped.delete(key);
      else if (!stopped.has(key)) stopped.set(key, tick());
    },
    stopping: (cluster, claimedAt) => ["fleet", `cluster ${cluster}`].find((key) => (stopped.get(key) ?? Infinity) < claimedAt),
  };
};

/** Looks at a PUT that is being sent: a sync that claimed after a freeze or a pause was stored sends none; nor for a workload that has another controller which it could know of. */
export const watchSent = (ledger: Ledger, by: Invocation, write: ScaleWrite, way: { readonly overSockets: boolean }): void => {
  const target = write.target.name;
  const words = `${by.name} sends a PUT of "${target}" to ${write.replicas}`;
  // Beside its own autoscaler a workload may have another one, with a name of its own.
  const intent = sentIntent(ledger, by, write)?.intent;
  const name = intent?.name ?? target;
  const whole = ledger.stops.stopping(by.message.cluster, by.claimedAt);
  const stop = whole ?? (ledger.edits.isStopped(name, by.claimedAt) ? `autoscaler ${name}` : undefined);
  if (stop) ledger.violate("nothing is sent that was claimed after a freeze or a pause", `${words}, and "${stop}" was stopped before its claim`);
  const { skewMs } = by.process;
  if (Math.abs(skewMs) > SKEW_MAX_MS)
    ledger.violate("nothing is sent under a clock that is wrong", `${words}, and its clock is wrong by ${skewMs} ms`);
  if (by.rivals.has(target)) ledger.violate("nothing is sent where another controller was seen or may be", words);
  const beside = intent && besideWhat(ledger.rivals, by, intent.uid, way);
  if (beside !== undefined)
    ledger.violate("nothing is sent where another controller was seen or may be", `${words}, and another controller is there: ${beside}`);
};
