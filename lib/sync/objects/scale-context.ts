import type { Evaluation, ScaleEventRecord } from "../../model/records.ts";
import type { StatusContext } from "../../report/objects/object-conditions.ts";
import type { Verdict } from "../decide.ts";

interface Outcome {
  readonly evaluation: Pick<Evaluation, "because" | "withoutHold">;
  /** The scale events that this sync has settled for the autoscaler. */
  readonly events: readonly ScaleEventRecord[];
  /** The time of the sync. An event that was decided earlier is of an earlier sync. */
  readonly nowMs: number;
}

/** What the status of an object tells of scales: how many were decided, those of a dry run included, and the condition that was set last (watermark.md 1.5, 2.10). */
export const scaleContext = (verdict: Verdict, { evaluation, events, nowMs }: Outcome): Pick<StatusContext, "scales" | "lastCondition"> => {
  const { because, withoutHold } = evaluation;
  const made = events.filter(({ outcome }) => outcome !== "refused").length;
  const inDryRun = (withoutHold?.because ?? because).reason === DRY_RUN ? 1 : 0;
  const lastCondition = lastConditionOf(
    verdict,
    events.find(({ atMs }) => atMs >= nowMs),
  );
  return { scales: made + inDryRun, ...(lastCondition && { lastCondition }) };
};

const DRY_RUN = "DryRun";

/** A write sets AbleToScale after all that the rules have set. */
const lastConditionOf = (verdict: Verdict, written: ScaleEventRecord | undefined): StatusContext["lastCondition"] => {
  const ofRules = verdict.kind === "unevaluated" ? undefined : verdict.decision.lastCondition;
  return ofRules && written ? { type: "AbleToScale", status: written.outcome === "refused" ? "False" : "True" } : ofRules;
};
