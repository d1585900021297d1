import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import type { Observed, ObservedCluster } from "../../cluster/cluster-client.ts";
import { OF_THE_MACHINE } from "../../cluster/transport/exchange.ts";
import { flowShares, heaviest } from "../../turns/shares.ts";

/**
 * A round of a sync waits until nothing more has come for this part of the time that it waits
 * altogether, and for so long at least. So what is slow delays what is quick by that part only, and
 * answers that come one by one are decided together.
 */
const QUIET_SHARE = 0.05;
const QUIET_MS = 20;

/**
 * A namespace with so many late answers, and more than this part of all, holds no round open for
 * the others: its answers come one by one for as long as it likes.
 */
const HEAVY = { least: 8, part: 0.1, flows: 3 };

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
  {
    callsBeside,
    flowOf,
  }: {
    /** The calls of what is asked beside the cluster, so far. */
    readonly callsBeside: () => number;
    readonly flowOf: (uid: AutoscalerUid) => Namespace;
  },
): ObservedCluster => {
  const answers = flowShares<"answers", Namespace>({ answers: Number.POSITIVE_INFINITY });
  const ready = new Map<AutoscalerUid, Observed>();
  const mistakes: unknown[] = [];
  let waiting = 0;
  let changed: Changed = NOTHING;
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
    const flow = flowOf(uid);
    answers.spend(flow, "answers", 1);
    changed(flow);
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
      {
        look: () => ({
          isComplete: mistakes.length > 0 || (waiting === 0 && !isClusterAsked),
          hasSome: ready.size > 0,
        }),
        isHeavy: (flow) => heaviest(answers.all("answers"), HEAVY).has(flow),
      },
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

/** `by`: the namespace that an answer is of. */
type Changed = (by?: Namespace) => void;

/**
 * Waits until all has come, or until some has come and then nothing for a while. Where another
 * namespace has had an answer, answers of a heavy one do not count as something that comes.
 */
const untilQuiet = (
  {
    look,
    isHeavy,
  }: { readonly look: () => Progress; readonly isHeavy: (flow: Namespace) => boolean },
  mostMs: number,
  onChange: (changed: Changed) => void,
): Promise<void> =>
  new Promise((resolve) => {
    const fromMs = performance.now();
    let cancel = NOTHING;
    /** The newest answer is of a namespace that is not heavy. */
    let isForOthers = false;
    const finish = (): void => {
      cancel();
      onChange(NOTHING);
      resolve();
    };
    const isOfHeavy = (by?: Namespace): boolean => by !== undefined && isHeavy(by);
    const isOfOther = (by?: Namespace): boolean => by !== undefined && !isHeavy(by);
    const waitAnew = (waitedMs: number): void => {
      cancel();
      const quietMs = Math.max(QUIET_MS, QUIET_SHARE * waitedMs);
      cancel = OF_THE_MACHINE.after(Math.min(mostMs - waitedMs, quietMs), finish);
    };
    const changed: Changed = (by) => {
      const { isComplete, hasSome } = look();
      const waitedMs = performance.now() - fromMs;
      if (isComplete || (hasSome && waitedMs >= mostMs)) return finish();
      if (isForOthers && isOfHeavy(by)) return;
      isForOthers = isOfOther(by);
      if (hasSome) waitAnew(waitedMs);
    };
    onChange(changed);
    changed();
  });

const NOTHING = (): void => undefined;
