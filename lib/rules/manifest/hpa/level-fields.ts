import type { FieldDescription } from "../../fields/field-types.ts";
import {
  above,
  all,
  any,
  atLeast,
  atMost,
  atMostOne,
  type Rule,
  isSet,
  unset,
} from "../../fields/rule.ts";
import {
  choice,
  inParts,
  integer,
  object,
  quantity,
  REQUIRED,
  saying,
} from "../native/field-descriptions.ts";

/**
 * The target of a metric or its marks: what they mean, their bounds and rules as they are printed,
 * and what the API says where one is broken (hpa.md 1.3, proposals.md §5).
 */

const POSITIVE = {
  least: 0.001,
  api: {
    least: ["must be positive", "write a quantity above 0, such as 500m"],
    most: [
      "must be at most 9223372036854775807 thousandths",
      "write a smaller quantity, such as 4P",
    ],
  },
} as const;

/** The API does not check whether the values fit to `type` either (hpa.md 1.3). */
const TARGET = {
  type: choice(
    "The meaning of the value; for Object it selects the value that counts.",
    ["Utilization", "Value", "AverageValue"],
    {
      ...REQUIRED,
      api: {
        required: [
          "must specify a metric target type",
          "write type: Utilization, Value or AverageValue",
        ],
        choices: ["must be either Utilization, Value, or AverageValue", "write one of the three"],
      },
    },
  ),
  value: quantity("For the whole. Object and External.", POSITIVE),
  averageValue: quantity("Per pod.", POSITIVE),
  averageUtilization: integer("Percent of what the pods request. Resource and ContainerResource.", {
    least: 1,
    api: { least: ["must be greater than 0", "write a percentage of 1 or more"] },
  }),
};

const target = (says: string, ...parts: readonly [Rule, ...Rule[]]): FieldDescription =>
  object("The target.", TARGET, [inParts(says, ...parts)]);

type Value = "value" | "averageValue" | "averageUtilization";

/** Neither is reported at the one field, and both at the other. */
const exactlyOne = (
  [one, other]: readonly [Value, Value],
  at: { readonly neither: Value; readonly both: Value },
  [first, second]: readonly [string, string],
  fix: string,
): [Rule, Rule] => [
  {
    needs: any(isSet(one), isSet(other)),
    at: at.neither,
    type: "FieldValueRequired",
    detail: `must set either a ${first} or a ${second}`,
    fix,
  },
  {
    needs: atMostOne(one, other),
    at: at.both,
    detail: `may not set both a ${first} and a ${second}`,
    fix,
  },
];

/**
 * The target of each source: what it means, how its rules are printed, and what the API says where
 * one is broken.
 */
export const TARGETS = {
  use: target(
    "write either averageUtilization or averageValue",
    ...exactlyOne(
      ["averageUtilization", "averageValue"],
      { neither: "averageUtilization", both: "averageValue" },
      ["target raw value", "target utilization"],
      "write target.averageUtilization in percent of the request, or target.averageValue per pod, not both",
    ),
  ),
  pods: target("write averageValue", {
    needs: isSet("averageValue"),
    detail: "must specify a positive target averageValue",
    fix: "write target.averageValue: the wanted value per pod",
  }),
  object: target("write value or averageValue", {
    needs: any(isSet("value"), isSet("averageValue")),
    at: "averageValue",
    type: "FieldValueRequired",
    detail: "must set either a target value or averageValue",
    fix: "write target.value for the whole, or target.averageValue per pod",
  }),
  external: target(
    "write either value or averageValue",
    ...exactlyOne(
      ["value", "averageValue"],
      { neither: "averageValue", both: "value" },
      ["target value for metric", "per-pod target"],
      "write target.value for the whole, or target.averageValue per pod, not both",
    ),
  ),
};

const MARK_FIX = "write a quantity such as 150m";
export const LEVEL_MARKS = {
  highWatermark: quantity(
    "Instead of a target: above it the count grows; by default the low mark.",
    POSITIVE,
  ),
  lowWatermark: quantity(
    "Instead of a target: below it the count shrinks; by default the high mark.",
    {
      least: 0,
      api: { most: POSITIVE.api.most },
    },
  ),
};
const MARKED = any(isSet("highWatermark"), isSet("lowWatermark"));

/**
 * What is said of a mark beside a plain target. The meaning cannot be guessed, so the problem names
 * both paths.
 */
export const besideTarget = (mark: string): Pick<Rule, "detail" | "fix"> => ({
  detail: `may not be set together with ${mark}`,
  fix: "keep the target or the watermarks, not both",
});

/** A target or marks. A block without marks has the problems of its target. */
export const TARGET_OR_MARKS: Rule = {
  ...saying(
    "write either target or watermarks",
    any(all(isSet("target"), unset("highWatermark", "lowWatermark")), all(MARKED, unset("target"))),
  ),
  parts: [{ when: MARKED, needs: unset("target"), ...besideTarget("{path}.{given}") }],
};

/**
 * A low mark of 0 means that this metric never shrinks the count. A single low mark is also the
 * high mark, which must be positive.
 */
export const MARKS_IN_ORDER: readonly Rule[] = [
  {
    ...saying(
      "a lowWatermark without a highWatermark must be positive",
      above("lowWatermark", 0),
      unset("highWatermark"),
    ),
    parts: [
      {
        when: unset("highWatermark"),
        needs: above("lowWatermark", 0),
        detail: "must be positive",
        fix: MARK_FIX,
      },
    ],
  },
  {
    ...saying(
      "lowWatermark must be less than or equal to highWatermark",
      atMost("lowWatermark", "highWatermark"),
    ),
    parts: [
      {
        when: isSet("highWatermark"),
        needs: atLeast("lowWatermark", 0),
        detail: "must be greater than or equal to 0",
        fix: MARK_FIX,
      },
      {
        when: atLeast("lowWatermark", 0),
        needs: atMost("lowWatermark", "highWatermark"),
        detail: "must be less than or equal to `highWatermark`",
        fix: "write lowWatermark not above highWatermark",
      },
    ],
  },
];

/**
 * A selector matches other pods than the target's, so a target in percent or per pod would have no
 * meaning.
 */
export const SELECTOR_OF_MARKS: Rule = {
  ...saying(
    "metricSelector may not be set together with a target",
    unset("metricSelector"),
    isSet("target"),
  ),
  parts: [
    {
      needs: unset("metricSelector"),
      detail: "may not be set together with a target",
      fix: "remove it, or write highWatermark and lowWatermark instead of the target",
    },
  ],
};
