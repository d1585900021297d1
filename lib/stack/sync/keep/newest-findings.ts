import { type Diagnosis, examineNewest } from "../../../rules/doctor/examine.ts";
import { asObject, type Json, jsonIn, present } from "../../../rules/model/json.ts";
import { opens } from "../../projections/project.ts";
import { evaluationOf } from "../decide/evaluation.ts";
import type { After, Loaded, Verdict } from "../hand-over.ts";
import type { RuleFailures } from "../rule-failures.ts";
import { JOURNAL_EVERY_MS } from "./store-pages.ts";

/** What the doctor finds at an autoscaler. */
export type FindingsOf = (verdict: Verdict) => readonly Diagnosis[];

const NONE: readonly Diagnosis[] = [];

/**
 * What the doctor finds by the newest evaluation of each autoscaler; undefined in a sync that does
 * not look. One sync of a minute looks: it makes every evaluation whole for the journal, with the
 * pods behind each metric, so that the rules cost little beside it.
 */
export const newestFindings = (
  { nowMs, head, cluster: { syncPeriodMs } }: Pick<Loaded, "nowMs" | "head" | "cluster">,
  after: After,
  failures: RuleFailures,
): FindingsOf | undefined => {
  if (!opens(JOURNAL_EVERY_MS, nowMs, head.nowMs)) return undefined;
  const known = new Map<Verdict, readonly Diagnosis[]>();
  const look = (verdict: Verdict): readonly Diagnosis[] => {
    const { autoscaler } = verdict;
    if (autoscaler.kind !== "ready") return NONE;
    const { record, spec } = autoscaler;
    const evaluation = evaluationOf(verdict, after);
    let manifest: Json | undefined;
    return failures.guarded(
      record.uid,
      () =>
        examineNewest({
          createdMs: record.createdMs,
          spec,
          // Several rules look into it, and it is kept no longer than for them.
          get manifest() {
            manifest ??= asObject(jsonIn(record.manifest));
            return manifest;
          },
          syncPeriodMs,
          ...present({ evaluation }),
          nowMs,
        }),
      () => NONE,
    );
  };
  return (verdict) => {
    const found = known.get(verdict) ?? look(verdict);
    known.set(verdict, found);
    return found;
  };
};
