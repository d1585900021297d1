import type { AutoscalerSpec } from "../../model/spec.ts";

type Rules = "native" | "hpa" | "watermark" | "the first design";

const rulesOf = (spec: AutoscalerSpec): Rules => {
  if (spec.dialect === "native") return "native";
  return spec.dialect === "hpa" && spec.rules === "original" ? "the first design" : spec.dialect;
};

const keepsRecommendations = (rules: Rules): boolean => rules === "native" || rules === "hpa";

/** Scales inside the periods of policies; without behavior an HPA has none. */
const keepsEvents = (spec: AutoscalerSpec): boolean => spec.dialect === "native" || (spec.dialect === "hpa" && spec.behavior !== undefined);

type BeforeAndAfter = readonly [boolean, boolean];
const keptText = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (before && after ? [what] : []);
const first = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (before && !after ? [what] : []);
const second = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (!before && after ? [what] : []);

/** What an edit from some rules to others does with the history; nothing while they stay. docs/pod-autoscaler.md says the same. */
export const rulesChange = (before: AutoscalerSpec, after: AutoscalerSpec): string | undefined => {
  const [from, to] = [rulesOf(before), rulesOf(after)];
  if (from === to) return undefined;
  const recommendations = [keepsRecommendations(from), keepsRecommendations(to)] as const;
  const events = [keepsEvents(before), keepsEvents(after)] as const;
  const kept = ["the time of the last scale", ...keptText(recommendations, "recommendations"), ...keptText(events, "scale events of the policies")];
  const anew = [
    ...second(recommendations, "stabilization, from the current count"),
    ...second(events, "what counts against policies"),
    "breaches and whatever else must last",
  ];
  const gone = [...first(recommendations, "recommendations"), ...first(events, "scale events of the policies")];
  const forgotten = gone.length > 0 ? `; forgotten: ${gone.join(", ")}` : "";
  return `the rules change from ${from} to ${to}: kept: ${kept.join(", ")}; begins anew: ${anew.join(", ")}${forgotten}`;
};
