import { foreignBlock } from "../../fields/field-types.ts";
import { all, atLeast, atMost, multipleOf, type Rule, isSet, unset } from "../../fields/rule.ts";
import { CONSTRAINT_FIELDS } from "../hpa/constraints.ts";
import { METRIC_FIELD } from "../hpa/metric-fields.ts";
import { THRESHOLD_DESCRIPTIONS } from "../hpa/thresholds.ts";
import { BEHAVIOR_FIELD } from "../hpa/validate-behavior.ts";
import { integer, listOf, object, saying } from "./field-descriptions.ts";

const { delaySeconds: DELAY, ...RATE } = CONSTRAINT_FIELDS;
/** A value of the draft block may stand in two places, with the same number in both. */
const sameValue = (name: string, one: string, other: string): Rule =>
  saying(`${name} may not have two values`, all(atMost(one, other), atLeast(one, other)));
const DIRECTION = object(
  "How fast in this direction.",
  { ...RATE, rate: object("The same, nested.", RATE), delaySeconds: DELAY },
  Object.keys(RATE).map((name) => sameValue(name, name, `rate.${name}`)),
);

const WHOLE_FACTORS: readonly Rule[] = ["scaleUpLimitFactor", "scaleDownLimitFactor"].map((name) =>
  saying(`${name} must be a whole percentage`, multipleOf(name, 1)),
);

/** With `rules: hpa`: the fields of autoscaling/v2 beside target and bounds. */
export const HPA_BLOCK = foreignBlock(
  "With rules: hpa, metrics and behavior as in autoscaling/v2, or cpuUtilization as in extensions/v1beta1 (docs/manifests.md).",
  {
    metrics: listOf("As in autoscaling/v2; without any, CPU at 80 percent.", METRIC_FIELD),
    behavior: BEHAVIOR_FIELD,
    cpuUtilization: object(
      "Instead of all others: the rules of the first design, as in extensions/v1beta1.",
      {
        targetPercentage: integer("Percent of the CPU that each pod requests.", {
          least: 1,
          default: 80,
        }),
      },
    ),
    constraints: object(
      "The draft block of rates (docs/manifests.md).",
      {
        scaleUp: DIRECTION,
        scaleDown: DIRECTION,
        delaySeconds: { ...DELAY, meaning: "Stabilization window of scaleDown." },
      },
      [sameValue("delaySeconds", "delaySeconds", "scaleDown.delaySeconds")],
    ),
    ...THRESHOLD_DESCRIPTIONS,
  },
  [
    saying(
      "constraints may not be set together with behavior",
      unset("constraints"),
      isSet("behavior"),
    ),
    saying(
      "cpuUtilization may not be set together with metrics, behavior and constraints",
      unset("metrics", "behavior", "constraints"),
      isSet("cpuUtilization"),
    ),
    ...WHOLE_FACTORS,
  ],
);
