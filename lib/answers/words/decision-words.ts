import { ageText, untilText } from "../../stack/report/duration-text.ts";
import type { DecisionView, Explanation } from "../views/autoscaler.ts";
import type { StepView } from "../views/event.ts";

/** Which of the stored decisions is shown for an instant. */
export const shownText = (stored: Explanation["stored"], beforeSeconds: number): string => {
  const what =
    stored === "evaluation"
      ? "the nearest stored evaluation"
      : "the nearest scale event, because no evaluation is stored any more";
  return `${what}, ${ageText(beforeSeconds * 1000)} before`;
};

export const outcomeText = ({ decision }: Explanation): string => {
  const refused = decision.refused === undefined ? "" : `, which was refused: ${decision.refused}`;
  if (decision.kind === "scale") return `scale from ${decision.from} to ${decision.to}${refused}`;
  return decision.from === undefined ? "hold, without an evaluation" : `hold at ${decision.from}`;
};

/** For example "scale 2 -> 5: AboveTarget: …", or why the rules would hold too. */
export const withoutHoldText = (
  { to, reason, message }: NonNullable<DecisionView["withoutHold"]>,
  from: number | undefined,
): string => `${to === undefined ? "hold" : `scale ${from} -> ${to}`}: ${reason}: ${message}`;

/** A step of the rules: its name, the counts before and after it, and what limited it. */
export const stepRow = (
  { step, before, after, limit }: StepView,
  atMs: number,
): readonly string[] => {
  const count = before === after ? `${before}` : `${before} -> ${after}`;
  if (!limit) return [step, count, before === after ? "unchanged" : ""];
  const end =
    limit.until === undefined
      ? ""
      : `, until ${limit.until} (${untilText(Date.parse(limit.until), atMs)})`;
  return [step, count, `${limit.reason} ${limit.value}: ${limit.message}${end}`];
};
