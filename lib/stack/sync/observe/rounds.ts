import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import type { Observed, ObservedCluster } from "../../cluster/cluster-client.ts";
import { OF_THE_MACHINE } from "../../cluster/transport/exchange.ts";

/**
 * A round of a sync waits until nothing more has come for this part of the time that it waits
 * altogether, and for so long at least. So what is slow delays what is quick by that part only, and
 * answers that come one by one are decided together.
 */
const QUIET_SHARE = 0.05;
const QUIET_MS = 20;

/** The longest that the first of these rounds waits. Each later round waits twice as long. */
const ROUND_MS = 200;

/**
 * What is observed, with what is asked beside the cluster (`complete`). An autoscaler whose answers
 * are there is in this round; the others come later, each as soon as its own answers are there. The
 * answers of others are not waited for: neither of the same source nor of another part of the
 * cluster.
 *
 *     cluster        ─ first ─┬──────────────────────── … ─┬ its later rounds
 *     shop             ▓──────┤                            │
 *     bank             ▓▓▓────│─┬ a round: quiet for 20 ms │
 *     slow             ▓▓▓▓▓▓▓│▓│▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│▓ … ─┬ a later round
 */
export const inRounds = (
  first: ObservedCluster,
  complete: (uid: AutoscalerUid, observed: Observed) => Observed | Promise<Observed>,
  /** The calls of what is asked beside the cluster, so far. */
  callsBeside: () => number,
): ObservedCluster => {
  const ready = new Map<AutoscalerUid, Observed>();
  const mistakes: unknown[] = [];
  let waiting = 0;
  let changed = NOTHING;
  let ofCluster = first;
  let isClusterAsked = false;
  let roundMs = ROUND_MS;

  const completeLater = async (uid: AutoscalerUid, coming: Promise<Observed>): Promise<void> => {
    waiting++;
    try {
      ready.set(uid, await coming);
    } catch (mistake) {
      mistakes.push(mistake);
    }
    waiting--;
    changed();
  };
  const take = (part: ObservedCluster): void => {
    ofCluster = part;
    for (const [uid, observed] of part.observations) {
      const completed = complete(uid, observed);
      if (completed instanceof Promise) void completeLater(uid, completed);
      else ready.set(uid, completed);
    }
  };
  const askCluster = async (): Promise<void> => {
    if (isClusterAsked || !ofCluster.later) return;
    isClusterAsked = true;
    try {
      take(await ofCluster.later());
    } catch (mistake) {
      mistakes.push(mistake);
    }
    isClusterAsked = false;
    changed();
  };
  const isOver = (): boolean => waiting === 0 && !isClusterAsked && !ofCluster.later;
  const handedOut = (): ObservedCluster => {
    const { later: _ofCluster, ...read } = ofCluster;
    const calls = read.calls + callsBeside();
    const part = { ...read, calls, observations: new Map(ready) };
    ready.clear();
    return isOver() ? part : { ...part, later };
  };
  const later = async (): Promise<ObservedCluster> => {
    void askCluster();
    await untilQuiet(
      () => ({
        isComplete: mistakes.length > 0 || (waiting === 0 && !isClusterAsked),
        hasSome: ready.size > 0,
      }),
      roundMs,
      (look) => {
        changed = look;
      },
    );
    roundMs *= 2;
    if (mistakes.length > 0) throw mistakes[0];
    return ready.size === 0 && !isOver() ? later() : handedOut();
  };
  take(first);
  return handedOut();
};

interface Progress {
  /** Nothing more comes. */
  readonly isComplete: boolean;
  readonly hasSome: boolean;
}

/** Waits until all has come, or until some has come and then nothing for a while. */
const untilQuiet = (
  look: () => Progress,
  mostMs: number,
  onChange: (changed: () => void) => void,
): Promise<void> =>
  new Promise((resolve) => {
    const fromMs = performance.now();
    let cancel = NOTHING;
    const finish = (): void => {
      cancel();
      onChange(NOTHING);
      resolve();
    };
    const changed = (): void => {
      cancel();
      const { isComplete, hasSome } = look();
      const waitedMs = performance.now() - fromMs;
      if (isComplete || (hasSome && waitedMs >= mostMs)) finish();
      else if (hasSome)
        cancel = OF_THE_MACHINE.after(
          Math.min(mostMs - waitedMs, Math.max(QUIET_MS, QUIET_SHARE * waitedMs)),
          finish,
        );
    };
    onChange(changed);
    changed();
  });

const NOTHING = (): void => undefined;
