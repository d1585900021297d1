import { valuesIn } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { questions } from "../../../lib/rules/policy/dialects.ts";
import { isTrue } from "../../../lib/rules/policy/shared/steps.ts";
import { registeredQueryOf } from "../../../lib/rules/sources/sources.ts";
import { askedOf, partsOf } from "../../answers.ts";
import type { Decided, Invocation } from "../invocation.ts";
import { WHOLE_SECOND_MS } from "./clocks.ts";
import { type KnownEffect, type Ledger, listed } from "./ledger.ts";
import { rulesOf } from "./rules-of.ts";

/** What one evaluation saw of the load. */
export type Sight = "above" | "below" | "within";

/**
 * One evaluation. `counts` once its sync was completed: until then what it saw may have been lost.
 */
export interface Breach {
  readonly by: Invocation;
  readonly nowMs: number;
  readonly sight: Sight;
  /**
   * The whole load was at or below the activation threshold; absent where nothing was measured,
   * because the count was on its way to a bound.
   */
  readonly idle: boolean | undefined;
  counts: boolean;
}

/** Longer than any delay of a seed, in evaluations. */
const KEPT = 60;

/**
 * Notes what an evaluation saw. One without a value is no breach, but for the watermark dialect,
 * which then leaves its conditions as they are.
 */
export const noteBreach = (ledger: Ledger, decided: Decided): void => {
  const { uid, by, input } = decided;
  if (input.spec.dialect !== "watermark" && input.spec.dialect !== "native") return;
  const sight = sightOf(decided);
  if (sight === undefined) return;
  const known = listed(ledger.breaches, uid);
  const breach = { by, nowMs: input.nowMs, sight, idle: isIdle(decided), counts: false };
  known.push(breach);
  if (known.length > KEPT) known.shift();
  listed(ledger.evaluated, by).push(breach);
};

const sightOf = ({ input: { spec }, decision }: Decided): Sight | undefined => {
  if (spec.dialect === "watermark") return sightOfMarks(decision);
  const wanted = decision.steps.find(({ step }) => step === "sustain")?.before;
  if (wanted === undefined || decision.from === undefined || wanted === decision.from)
    return "within";
  return wanted > decision.from ? "above" : "below";
};

/** A value outside the marks is a breach, though the count may be at its bound already. */
const sightOfMarks = ({ steps, windows: { status } }: Decided["decision"]): Sight | undefined => {
  if (!steps.some(({ step }) => step === "propose")) return undefined;
  if (isTrue(status.conditions, "AboveHighWatermark")) return "above";
  return isTrue(status.conditions, "BelowLowWatermark") ? "below" : "within";
};

/** As the cluster's own answer says. */
const isIdle = ({
  input: { spec, namespace, observation },
  decision: { metrics },
}: Decided): boolean | undefined => {
  const threshold = spec.dialect === "native" ? spec.metrics[0]?.activationMilli : undefined;
  if (threshold === undefined || metrics.length === 0) return undefined;
  // An observation may have the answers of a whole namespace.
  const [own] = askedOf(questions(spec, namespace, observation.scale)).external;
  const registered =
    spec.dialect === "native" && spec.metrics[0]
      ? registeredQueryOf(spec.metrics[0].source)
      : undefined;
  const answer = registered
    ? valuesIn(observation.answers, queryKey(registered))
    : own && partsOf(observation.answers).external.get(queryKey(own));
  if (answer?.kind !== "answered") return false;
  return answer.items.every(({ milli }) => milli <= threshold);
};

/**
 * A breach must last as long as the spec says, though workers die and their syncs are lost: since
 * the last completed evaluation that saw none, one saw it long enough ago.
 */
export const watchSustained = (ledger: Ledger, effect: KnownEffect): void => {
  const { input } = effect.decided;
  const up = effect.to > effect.from;
  const { sustainMs } = rulesOf(input, up);
  // The very first decision of the watermark dialect waits for nothing (watermark.md 2.9).
  if (
    sustainMs === 0 ||
    (input.spec.dialect === "watermark" && input.windows.status.lastScaleMs === undefined)
  )
    return;
  const roundedMs = input.spec.dialect === "watermark" ? WHOLE_SECOND_MS : 0;
  watchLasted(
    ledger,
    effect,
    sustainMs - roundedMs,
    ({ sight }) => sight === (up ? "above" : "below"),
  );
};

/** The same of the time that a workload must be out of use before it goes to rest. */
export const watchRest = (ledger: Ledger, effect: KnownEffect): void => {
  const { spec } = effect.decided.input;
  const idle = spec.dialect === "native" ? spec.idle : undefined;
  if (idle && effect.to === idle.replicas)
    watchLasted(ledger, effect, idle.afterSeconds * 1_000, (breach) => breach.idle);
};

const watchLasted = (
  ledger: Ledger,
  { id, uid, from, to, decided }: KnownEffect,
  lastingMs: number,
  holds: (breach: Breach) => boolean | undefined,
): void => {
  const { nowMs } = decided.input;
  const all = ledger.breaches.get(uid) ?? [];
  // What a later sync saw is not known to this decision, also where both have the same time: the
  // later one takes over the time of the head.
  const own = all.findLastIndex((one) => one.by === decided.by);
  const known = all.slice(0, own === -1 ? all.length : own + 1).filter((one) => one.nowMs <= nowMs);
  // In the order of evaluation: time may stand still between two syncs.
  const lastNone = known.findLastIndex((one) => one.counts && holds(one) === false);
  const noneMs = known[lastNone]?.nowMs ?? Number.NEGATIVE_INFINITY;
  // Not the first of them: a sync that stood still evaluates after others, by an earlier time; but
  // what it saw before there was none counts no more.
  const since = known.slice(lastNone + 1).filter((one) => one.nowMs >= noneMs && holds(one));
  const firstMs = Math.min(nowMs, ...since.map((one) => one.nowMs));
  if (since.length > 0 && firstMs <= nowMs - lastingMs) return;
  // What came before the oldest that is kept is not known.
  if (lastNone === -1 && all.length === KEPT) return;
  ledger.violate(
    "a breach must last, though workers die",
    `"${id}" went from ${from} to ${to} after ${nowMs - firstMs} ms of ${lastingMs / 1_000} s`,
  );
};
