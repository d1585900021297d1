import type { Effect } from "../cluster.ts";
import type { Decided, Invocation } from "../invocation.ts";
import { watchRest, watchSustained } from "./breaches.ts";
import { CLOCK_ALLOWANCE_MS } from "./clocks.ts";
import { watchForbidden } from "./forbidden.ts";
import { type KnownEffect, type KnownIntent, type Ledger, listed } from "./ledger.ts";
import { watchFlaps, watchLimits, watchModulo, watchStep } from "./limits.ts";
import { watchStabilization } from "./recommendations.ts";
import { withLost } from "./restored.ts";
import { rulesOf } from "./rules-of.ts";
import { sentIntent } from "./sent-intent.ts";

const INTENT = "no PUT takes effect without an intent that every later holder counts";

/** Looks at a count that a PUT of this invocation has just moved. */
export const watchEffect = (ledger: Ledger, by: Invocation, effect: Effect): void => {
  const { workload, from, to, atMs } = effect;
  const named = `the PUT of ${by.name} that moved "${workload.target.name}" from ${from} to ${to}`;
  const known = intentOf(ledger, by, effect);
  if (!known?.decided) {
    ledger.violate(INTENT, `${named} has none`);
    return;
  }
  watchFence(ledger, known, named);
  const { intent, effects, decided } = known;
  // What a bound of an override forced counts for no limit: only what the rules wanted of it.
  const { ruled } = intent;
  const made: KnownEffect = {
    id: intent.id,
    uid: intent.uid,
    atMs,
    from: intent.from,
    to: ruled ?? to,
    decided,
    forgettable: false,
  };
  const watches = watchesOf(
    ledger,
    { decided, from: intent.from, to, isForced: ruled !== undefined },
    named,
  );
  for (const watch of watches) watch(ledger, made);
  if (ledger.lost)
    for (const watch of watches.filter((one) => OF_LOST.includes(one)))
      watch(withLost(ledger, made), made);
  effects.push(made);
  if (made.to !== made.from) countEffect(ledger, made);
};

interface Moved {
  readonly decided: Decided;
  readonly from: number;
  readonly to: number;
  readonly isForced: boolean;
}

/** What a move is held against, after a look at its bounds. */
const watchesOf = (
  ledger: Ledger,
  { decided, from, to, isForced }: Moved,
  named: string,
): readonly Watch[] => {
  const { spec } = decided.input;
  const { minReplicas, maxReplicas } = boundsOf(decided);
  const rest = spec.dialect === "native" ? spec.idle?.replicas : undefined;
  if ((to < minReplicas || to > maxReplicas) && to !== rest) {
    ledger.violate(
      "nothing leaves [min, max]",
      `${named}: ${minReplicas} to ${maxReplicas} are allowed`,
    );
  }
  if (isForced || from < minReplicas || from > maxReplicas) return STRAIGHT;
  return to === rest ? RESTING : MOVING;
};

/** The bounds that the decision went by. */
const boundsOf = ({ input: { spec }, decision: { bounds } }: Decided) => ({
  minReplicas: bounds?.min.replicas ?? spec.minReplicas,
  maxReplicas: bounds?.max.replicas ?? spec.maxReplicas,
});

const countEffect = (ledger: Ledger, made: KnownEffect): void => {
  markForgettable(ledger, made, made.decided.input);
  listed(ledger.effects, made.uid).push(made);
};

type Watch = (ledger: Ledger, effect: KnownEffect) => void;

const MOVING: readonly Watch[] = [
  watchLimits,
  watchStep,
  watchModulo,
  watchFlaps,
  watchStabilization,
  watchSustained,
  watchForbidden,
];
/** A workload that is out of use goes past all but cool-down and flap budget. */
const RESTING: readonly Watch[] = [watchRest, watchFlaps, watchForbidden];
/** What holds over a restore too. */
const OF_LOST: readonly Watch[] = [watchLimits, watchForbidden];
/** A count outside its bounds goes straight to the bound, past limits and windows. */
const STRAIGHT: readonly Watch[] = [];

/**
 * What had left every period of its direction may be forgotten once another change in this
 * direction is recorded, of ours or of others.
 */
export const markForgettable = (
  ledger: Ledger,
  { uid, atMs, from, to }: Pick<KnownEffect, "uid" | "atMs" | "from" | "to">,
  rules: Parameters<typeof rulesOf>[0],
): void => {
  const { keptMs } = rulesOf(rules, to > from);
  for (const one of ledger.effects.get(uid) ?? []) {
    if (one.to > one.from === to > from && one.atMs < atMs - keptMs + CLOCK_ALLOWANCE_MS)
      one.forgettable = true;
  }
};

const watchFence = (
  ledger: Ledger,
  { intent, event, effects, open }: KnownIntent,
  named: string,
): void => {
  if (!open && !event)
    ledger.violate(INTENT, `${named}: "${intent.id}" was cleared without an event`);
  if (event?.outcome === "refused") {
    ledger.violate(
      "every PUT that took effect has an event, applied or unknown",
      `${named}: "${intent.id}" had ended as refused`,
    );
  }
  if (effects.length > 0)
    ledger.violate(INTENT, `${named}: "${intent.id}" had taken effect before`);
};

const intentOf = (
  ledger: Ledger,
  by: Invocation,
  { workload, to }: Effect,
): KnownIntent | undefined => sentIntent(ledger, by, { targetUid: workload.uid, replicas: to });

/**
 * A sync that is about to scale has seen every scale that may have happened inside its longest
 * period: it is in the windows that it decided on.
 */
export const watchCounted = (ledger: Ledger, { uid, input, atMs }: Decided): void => {
  const { scaleUps, scaleDowns } = input.windows.memory;
  const counted = new Set([...scaleUps, ...scaleDowns].map(({ eventId }) => eventId));
  for (const effect of ledger.effects.get(uid) ?? []) {
    const { keptMs } = rulesOf(input, effect.to > effect.from);
    const isRecent = effect.atMs > atMs - keptMs + CLOCK_ALLOWANCE_MS && !effect.forgettable;
    if (isRecent && !counted.has(effect.id))
      ledger.violate(INTENT, `"${effect.id}" took effect and is not counted by a later decision`);
  }
};
