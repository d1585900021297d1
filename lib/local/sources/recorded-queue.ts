import type { SimulatedWorkload } from "../cluster/simulation.ts";
import { waitingAt } from "../cluster/simulated-workload.ts";
import { isReady } from "../cluster/simulated-pod.ts";

/** The load of the workloads of one name as a queue of messages: what was asked for and not served yet waits in it. */
export interface RecordedQueue {
  /** Whole messages that wait to be received. */
  readonly waiting: number;
  /** Messages that pods have received and not deleted yet: one for each ready pod, while there are any. */
  readonly inFlight: number;
}

/** The queue that is named as the workloads; undefined where none has the name. */
export const recordedQueue = (workloads: readonly SimulatedWorkload[], name: string, nowMs: number): RecordedQueue | undefined => {
  const named = workloads.filter(({ model }) => model.name === name);
  if (named.length === 0) return undefined;
  const each = named.map(({ model, state, live }) => {
    const { demand } = state.segments.at(-1) ?? state.segments[0];
    const waiting = waitingAt(model, state, nowMs);
    const ready = live.filter((pod) => isReady(pod, nowMs)).length;
    return { waiting: Math.ceil(waiting), inFlight: Math.min(ready, Math.ceil(demand + waiting)) };
  });
  return each.reduce((sum, one) => ({ waiting: sum.waiting + one.waiting, inFlight: sum.inFlight + one.inFlight }));
};
