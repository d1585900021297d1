import type { ShadowView } from "../../views/over-time.ts";

/** `ready`: a takeover changes nothing that is not said here. `look at`: a person should see why they differ. `too early`: too little was compared. */
export const VERDICTS = ["ready", "look at", "too early"] as const;

export interface Verdict {
  readonly verdict: (typeof VERDICTS)[number];
  /** Absent where it is ready. */
  readonly why?: string;
}

const HOUR_MS = 3_600_000;
/** Share of syncs that may differ by a rule: two that measure a moving load at different instants keep different peaks in their windows now and then. */
const RULE_SHARE_MAX = 0.01;
const UNDECIDED_SHARE_MAX = 0.05;

/** Whether an autoscaler can be taken over by what a comparison has seen. Fails to `look at`, and to `too early` below an hour. */
export const verdictOf = ({ stretches, syncs, undecided }: Pick<ShadowView, "stretches" | "syncs" | "undecided">): Verdict => {
  const byRule = stretches.filter(({ difference }) => difference === "rule").reduce((sum, stretch) => sum + stretch.syncs, 0);
  if (byRule > RULE_SHARE_MAX * syncs) return { verdict: "look at", why: `${byRule} of ${syncs} syncs differ by a rule` };
  if (undecided > UNDECIDED_SHARE_MAX * (syncs + undecided)) return { verdict: "look at", why: `in ${undecided} syncs one of them did not decide` };
  const comparedMs = stretches
    .filter(({ own, rival, difference }) => own !== undefined && rival !== undefined && difference !== "young")
    .reduce((sum, { at, until }) => sum + Date.parse(until) - Date.parse(at), 0);
  if (comparedMs < HOUR_MS) return { verdict: "too early", why: "less than an hour was compared" };
  return { verdict: "ready" };
};
