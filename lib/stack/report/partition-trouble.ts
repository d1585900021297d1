import type { Because } from "../../rules/model/decision.ts";
import { foreignText } from "../../rules/model/foreign-text.ts";
import { type PartitionTrouble, TROUBLING, type TroublingHold } from "../../rules/model/summary.ts";
import { REFUSING_CODES, failureOf, seriousRefusal, scaleRefused } from "./evaluation-state.ts";
import type { Evaluation } from "../../rules/model/scale-records.ts";
import { NOT_FOUND } from "../../rules/model/http-status.ts";

/**
 * How one evaluation ended. `fault`: the cluster answered, and the autoscaler could not be
 * evaluated, or its scale was refused. `gone`: it has no such workload. `made`: it scaled.
 * `unasked`: a stored item cannot be read, so the cluster was not asked.
 */
type FailureKind = "fault" | "fine" | "forbidden" | "gone" | "made" | "unasked" | "unreachable";

/** Reasons of lib/stack/report/holds.ts for which the cluster is not read. */
const UNASKED: ReadonlySet<string> = new Set([
  "InvalidSpec",
  "SpecUnread",
  "RuleFailed",
  "UnreadableAutoscaler",
  "UnreadableWindows",
]);

/** Codes of an API server that was too slow or too busy to answer. */
const BUSY: ReadonlySet<number> = new Set([408, 429]);

const hasAnswered = (code: number): boolean => code >= 400 && code < 500 && !BUSY.has(code);

/** The reason of the failure in the words of the rules; a freeze or a pause may come before it. */
const causeOf = (evaluation: Evaluation): Because => {
  const { because, withoutHold, status } = evaluation;
  const refusal = seriousRefusal(evaluation);
  if (refusal) return scaleRefused(evaluation, refusal);
  const failed = (status?.conditions ?? []).filter((condition) => condition.status === "False");
  return (
    [withoutHold?.because, because, ...failed].find((cause) =>
      cause?.reason.startsWith("Failed"),
    ) ?? because
  );
};

const failureKindOf = (evaluation: Evaluation): FailureKind => {
  const failure = failureOf(evaluation);
  if (!failure) return evaluation.kind === "scale" ? "made" : "fine";
  if (!evaluation.failed) return failure === "forbidden" ? "forbidden" : "fault";
  return UNASKED.has(causeOf(evaluation).reason) ? "unasked" : failedReadKind(evaluation);
};

const failedReadKind = ({ failedRead, from }: Evaluation): FailureKind => {
  if (failedRead && REFUSING_CODES.has(failedRead.code)) return "forbidden";
  if (failedRead?.of === "scale" && failedRead.code === NOT_FOUND) return "gone";
  // On doubt, "unreachable", which is shown first: a count that was not read, unless the server
  // answered why.
  const unread = from === undefined && !(failedRead && hasAnswered(failedRead.code));
  return unread ? "unreachable" : "fault";
};

/** When the failure began: the time of the condition's last transition. */
const beganMs = (evaluation: Evaluation): number | undefined => {
  const { reason } = causeOf(evaluation);
  return evaluation.status?.conditions.find(
    (condition) => condition.status === "False" && condition.reason === reason,
  )?.transitionMs;
};

/**
 * The instant at which most failures began; of several the latest, so that no outage is said to be
 * older than it is. One autoscaler that failed long before does not date an outage.
 */
const sinceMsOf = (failed: readonly Evaluation[]): number | undefined => {
  const began = Map.groupBy(
    failed.map(beganMs).filter((ms) => ms !== undefined),
    (ms) => ms,
  );
  const [first] = [...began].toSorted(
    ([oneMs, one], [otherMs, other]) => other.length - one.length || otherMs - oneMs,
  );
  return first?.[0];
};

/** Which failure is shown when there are several kinds. */
const SHOWN_FIRST: readonly FailureKind[] = [
  "unreachable",
  "forbidden",
  "fault",
  "gone",
  "unasked",
];

/**
 * Autoscalers at rest say nothing about scales: where every scale was refused, the cluster is as
 * bad as its scales are. One scale that was made, or one evaluation beside those that failed, makes
 * it "partly failing".
 */
const stateOf = (
  kinds: ReadonlySet<FailureKind>,
  { failed, refused }: { readonly failed: number; readonly refused: number },
): PartitionTrouble["state"] => {
  if (failed + refused === 0) return "ok";
  const bad = [...kinds].filter((kind) => kind !== "fine" || failed > 0);
  const [only, ...others] = bad;
  if (others.length > 0) return "partly failing";
  if (only === "unreachable" || only === "forbidden") return only;
  return only === "fault" ? "failing" : "partly failing";
};

/** Summarizes the newest evaluations of a partition. */
export const troubleOf = (evaluations: readonly Evaluation[]): PartitionTrouble => {
  const byEnding = Map.groupBy(evaluations, failureKindOf);
  const kinds = new Set([...byEnding.keys()].filter((ending) => ending !== "unasked"));
  const failed = evaluations.filter((evaluation) => evaluation.failed);
  const refused = evaluations.filter(
    (evaluation) => !evaluation.failed && seriousRefusal(evaluation),
  ).length;
  const state = stateOf(kinds, { failed: failed.length, refused });
  const [shown] = SHOWN_FIRST.flatMap((ending) => byEnding.get(ending) ?? []);
  const holds = holdsIn(evaluations);
  if (!shown) return { state, silent: kinds.size === 0, holds };
  const unreadable = unreadableIn(evaluations);
  const sinceMs = sinceMsOf(failed);
  const words = foreignText(causeOf(shown).message);
  const error =
    state === "partly failing" || state === "failing"
      ? `autoscaler "${shown.namespace}/${shown.name}": ${words}`
      : words;
  return {
    state,
    silent: kinds.size === 0,
    holds,
    ...(sinceMs !== undefined && { sinceMs }),
    error,
    ...(unreadable && { unreadable }),
  };
};

const holdsIn = (evaluations: readonly Evaluation[]): readonly TroublingHold[] => {
  const troubling = evaluations.filter(isTroubling);
  return TROUBLING.flatMap((reason) => {
    const causes = troubling.flatMap(({ namespace, name, because, withoutHold }) => {
      // A freeze or a pause may come before it.
      const cause = [because, withoutHold?.because].find((one) => one?.reason === reason);
      return cause
        ? [{ autoscaler: `${namespace}/${name}`, message: foreignText(cause.message) }]
        : [];
    });
    const [first] = causes;
    return first ? [{ reason, ...first, autoscalers: causes.length }] : [];
  });
};

const TROUBLING_REASONS: ReadonlySet<string> = new Set(TROUBLING);
const isTroubling = ({ because, withoutHold }: Evaluation): boolean =>
  TROUBLING_REASONS.has(because.reason) ||
  (withoutHold !== undefined && TROUBLING_REASONS.has(withoutHold.because.reason));

/** Reasons of lib/stack/report/holds.ts for an item that cannot be read. */
const UNREADABLE: ReadonlySet<string> = new Set([
  "InvalidSpec",
  "UnreadableAutoscaler",
  "UnreadableWindows",
  "UnreadableIntent",
]);

const unreadableIn = (evaluations: readonly Evaluation[]): PartitionTrouble["unreadable"] => {
  for (const evaluation of evaluations) {
    const { reason, message } = causeOf(evaluation);
    if (evaluation.failed && UNREADABLE.has(reason))
      return {
        autoscaler: `${evaluation.namespace}/${evaluation.name}`,
        message: foreignText(message),
      };
  }
  return undefined;
};
