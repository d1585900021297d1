import type { Because, MetricPods } from "../../../rules/model/decision.ts";
import type { Evaluation } from "../../../rules/model/scale-records.ts";
import type { Condition } from "../../../rules/model/windows.ts";

/** The type of the condition that an object has while one of these holds. */
export const PODS_COUNTED = "PodsCounted";

/** Age of a sample that people should look at: by then three answers of most sources were lost. */
const OLD_SECONDS = 180;

/**
 * What is unusual about the pods behind the metrics of a decision, what matters most first. The
 * rules decide as they do: this only says it. `ownOnly` where they count only pods of the target
 * that have not ended.
 */
export const podRemarks = (
  { metrics, podsRefused }: Pick<Evaluation, "metrics" | "podsRefused">,
  ownOnly: boolean,
): readonly Because[] => {
  const all = metrics.flatMap((metric) =>
    metric.kind === "measured" && metric.pods ? [metric.pods] : [],
  );
  const refused = podsRefused
    ? [
        {
          reason: "PodsRefused",
          message: `the cluster refuses pods of the target (${podsRefused.reason}): ${podsRefused.message}`,
        },
      ]
    : [];
  const unusual = REMARKS.flatMap((remark) => {
    const message = all.map((pods) => remark.words(pods, ownOnly)).find((words) => words !== "");
    return message === undefined ? [] : [{ reason: remark.reason, message }];
  });
  return [...refused, ...unusual];
};

/** The condition that says so; undefined where there is nothing to say. */
export const podsCondition = (
  remarks: readonly Because[],
): Omit<Condition, "transitionMs"> | undefined => {
  const [first] = remarks;
  return (
    first && {
      type: PODS_COUNTED,
      status: "False",
      reason: first.reason,
      message: remarks.map(({ message }) => message).join("; "),
    }
  );
};

interface Remark {
  readonly reason: string;
  /** Empty where there is nothing to say. */
  readonly words: (pods: MetricPods, ownOnly: boolean) => string;
}

const partOf = (ownOnly: boolean): string =>
  ownOnly ? "they do not count" : "the rules do not leave them out";

const REMARKS: readonly Remark[] = [
  {
    reason: "ForeignPods",
    words: ({ matched, owned = matched }, ownOnly) =>
      matched > owned
        ? `${matched} pods match the selector and ${owned} belong to the target: ${ownOnly ? "the others do not count" : "the rules do not leave out the others"}`
        : "",
  },
  {
    reason: "FinishedPods",
    words: ({ matched, finished = 0, leftOut = 0 }, ownOnly) =>
      ownOnly || finished > leftOut
        ? several(finished, `of ${matched} pods that match the selector`, "ended", partOf(ownOnly))
        : "",
  },
  {
    reason: "OldSamples",
    words: ({ counted = 0, stale = 0, oldestSeconds = 0 }) => {
      if (stale > 0)
        return `${stale} pods have samples older than maxAgeSeconds, and count as without one`;
      return oldestSeconds > OLD_SECONDS
        ? `the oldest sample of ${counted} pods is ${oldestSeconds} s old, and counts`
        : "";
    },
  },
  {
    reason: "RolloutUnderWay",
    words: ({ matched, otherRevision = 0 }) =>
      several(
        otherRevision,
        `of ${matched} pods`,
        "another revision than most",
        "a rollout is under way",
      ),
  },
];

const several = (count: number, of: string, what: string, so: string): string => {
  if (count === 0) return "";
  const verb =
    what === "ended"
      ? `ha${count === 1 ? "s" : "ve"} ended`
      : `ha${count === 1 ? "s" : "ve"} ${what}`;
  return `${count} ${of} ${verb}: ${so}`;
};
