import type { Because } from "../../model/decision.ts";
import { foreignWords } from "../../model/foreign-words.ts";
import type { Evaluation } from "../../model/records.ts";
import type { ClusterState } from "../views/cluster-state.ts";

/** What evaluations say of their cluster. `silent`: there are none, or none of them asked the cluster. */
export interface PartitionTrouble {
  readonly state: Extract<ClusterState, "forbidden" | "ok" | "partly failing" | "unreachable">;
  readonly silent: boolean;
  readonly sinceMs?: number;
  readonly error?: string;
}

/** How the question of one autoscaler ended. `fault`: the cluster answered, and it could not be evaluated all the same. `unasked`: something stored by us cannot be understood. */
type FailureKind = "fault" | "fine" | "forbidden" | "unasked" | "unreachable";

/** Reasons of lib/report/holds.ts for which the cluster is not asked. */
const UNASKED: ReadonlySet<string> = new Set(["InvalidSpec", "UnreadableAutoscaler", "UnreadableWindows"]);

/** The journal keeps the words of a failure, not its code: these are the API server's own, and ours where it sent none (lib/cluster/transport/failure.ts). */
const REFUSED = / is forbidden\b|does not allow access|: Unauthorized\b|^Unauthorized\b|client to provide credentials/;
const NOT_THERE = / not found\b|could not find the requested resource|no matches for kind/;
/** The watermark dialect says this of every scale that cannot be read, whatever the reason. */
const SCALE_NOT_FOUND = /^scale not found: /;

/** What failed, in the words of its own rules; a freeze or a pause may stand before them. */
const causeOf = ({ because, withoutHold, status }: Evaluation): Because => {
  const failed = (status?.conditions ?? []).filter((condition) => condition.status === "False");
  return [withoutHold?.because, because, ...failed].find((cause) => cause?.reason.startsWith("Failed")) ?? because;
};

const failureKindOf = (evaluation: Evaluation): FailureKind => {
  if (!evaluation.failed) return "fine";
  const { reason, message } = causeOf(evaluation);
  if (UNASKED.has(reason)) return "unasked";
  if (REFUSED.test(message)) return "forbidden";
  // Fails to "unreachable", which is looked at first: a count that was not read, in words that no workload explains.
  const unread = evaluation.from === undefined && !NOT_THERE.test(message.replace(SCALE_NOT_FOUND, ""));
  return unread ? "unreachable" : "fault";
};

/** When the failure began: the time of the condition's last transition. */
const beganMs = (evaluation: Evaluation): number | undefined => {
  const { reason } = causeOf(evaluation);
  return evaluation.status?.conditions.find((condition) => condition.status === "False" && condition.reason === reason)?.transitionMs;
};

/** The instant at which most failures began; of several the earliest. One autoscaler that failed long before does not date an outage. */
const sinceMsOf = (failed: readonly Evaluation[]): number | undefined => {
  const began = Map.groupBy(
    failed.map(beganMs).filter((ms) => ms !== undefined),
    (ms) => ms,
  );
  const [first] = [...began].toSorted(([oneMs, one], [otherMs, other]) => other.length - one.length || oneMs - otherMs);
  return first?.[0];
};

/** Which failure is shown when there are several kinds. */
const SHOWN_FIRST: readonly FailureKind[] = ["unreachable", "forbidden", "fault", "unasked"];

const stateOf = (kinds: ReadonlySet<FailureKind>, failed: number): PartitionTrouble["state"] => {
  if (failed === 0) return "ok";
  const [only, ...others] = kinds;
  return others.length === 0 && (only === "unreachable" || only === "forbidden") ? only : "partly failing";
};

/** Summarizes the newest evaluations of a partition. */
export const troubleOf = (evaluations: readonly Evaluation[]): PartitionTrouble => {
  const byEnding = Map.groupBy(evaluations, failureKindOf);
  const kinds = new Set([...byEnding.keys()].filter((ending) => ending !== "unasked"));
  const failed = evaluations.filter((one) => one.failed);
  const state = stateOf(kinds, failed.length);
  const [shown] = SHOWN_FIRST.flatMap((ending) => byEnding.get(ending) ?? []);
  if (!shown) return { state, silent: kinds.size === 0 };
  const sinceMs = sinceMsOf(failed);
  const words = foreignWords(causeOf(shown).message);
  const error = state === "partly failing" ? `autoscaler "${shown.namespace}/${shown.name}": ${words}` : words;
  return { state, silent: kinds.size === 0, ...(sinceMs !== undefined && { sinceMs }), error };
};
