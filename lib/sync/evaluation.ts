import type { Evaluation } from "../model/records.ts";
import type { Verdict } from "./decide.ts";
import { failedReadOf } from "./failed-read.ts";
import type { After } from "./windows-after.ts";

/** What a sync found and decided for one autoscaler, as the journal stores it and the status of its object tells it. */
export const evaluationOf = (verdict: Verdict, after: After): Evaluation | undefined => {
  const { autoscaler, because } = verdict;
  if (autoscaler.kind === "unreadable") return undefined;
  const { uid, namespace, name } = autoscaler.record;
  const { windows, totals } = after.entries.get(uid) ?? {};
  const gauges = after.gauges.get(uid);
  const refused = verdict.kind === "scale" ? after.refused.get(uid) : undefined;
  const decision = verdict.kind === "unevaluated" ? undefined : verdict.decision;
  return {
    uid,
    namespace,
    name,
    ...outcomeOf(verdict),
    because,
    ...circumstancesOf(verdict),
    ...(refused && { refused }),
    metrics: decision?.metrics ?? [],
    steps: decision?.steps ?? [],
    events: after.events.get(uid) ?? [],
    ...(windows && { status: windows.status }),
    ...(totals && { totals }),
    ...(gauges && { gauges }),
  };
};

/** What surrounds the decision: the hold, the other controllers, the failed read. */
const circumstancesOf = (verdict: Verdict): Pick<Evaluation, "waiting" | "withoutHold" | "rivals" | "failedRead"> => {
  if (verdict.kind === "unevaluated") return {};
  const { rivals, waiting, input, decision } = verdict;
  const failedRead = failedReadOf(input.observation, decision);
  return {
    ...(verdict.kind === "hold" && verdict.withoutHold && { withoutHold: verdict.withoutHold }),
    ...(rivals && { rivals }),
    ...(waiting && { waiting }),
    ...(failedRead && { failedRead }),
  };
};

const outcomeOf = (verdict: Verdict): Pick<Evaluation, "kind" | "failed" | "from" | "to"> => {
  if (verdict.kind === "unevaluated") return { kind: "hold", failed: true };
  if (verdict.kind === "scale") return { kind: "scale", failed: false, from: verdict.decision.from, to: verdict.decision.to };
  const { decision } = verdict;
  return { kind: "hold", failed: decision.kind === "hold" && decision.failed, ...(decision.from !== undefined && { from: decision.from }) };
};
