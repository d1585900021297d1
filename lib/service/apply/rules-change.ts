import type { AutoscalerSpec } from "../../model/spec.ts";
import { askDialect } from "../../policy/dialects.ts";

const rulesOf = (spec: AutoscalerSpec) => askDialect(spec, ({ name, keeps }, own) => ({ name, ...keeps(own) }));

type BeforeAndAfter = readonly [boolean, boolean];
const keptText = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (before && after ? [what] : []);
const first = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (before && !after ? [what] : []);
const second = ([before, after]: BeforeAndAfter, what: string): readonly string[] => (!before && after ? [what] : []);

/** What a change of rules does with the stored windows; undefined when the rules stay. docs/pod-autoscaler.md says the same. */
export const rulesChange = (before: AutoscalerSpec, after: AutoscalerSpec): string | undefined => {
  const [from, to] = [rulesOf(before), rulesOf(after)];
  if (from.name === to.name) return undefined;
  const recommendations = [from.recommendations, to.recommendations] as const;
  const events = [from.scaleEvents, to.scaleEvents] as const;
  const kept = ["the time of the last scale", ...keptText(recommendations, "recommendations"), ...keptText(events, "scale events of the policies")];
  const restarted = [
    ...second(recommendations, "stabilization, from the current count"),
    ...second(events, "what counts against policies"),
    "breaches and whatever else must last",
  ];
  const gone = [...first(recommendations, "recommendations"), ...first(events, "scale events of the policies")];
  const forgotten = gone.length > 0 ? `; forgotten: ${gone.join(", ")}` : "";
  return `the rules change from ${from.name} to ${to.name}: kept: ${kept.join(", ")}; begins anew: ${restarted.join(", ")}${forgotten}`;
};
