import type { FieldDescription } from "../../fields/field-types.ts";
import { above, all, any, atLeast, atMost, atMostOne, type Condition, is, not, type Rule, set, some, unset } from "../../fields/rule.ts";
import { groupOf } from "../../model/spec-common.ts";
import { labelFaults, resourceFaults } from "../kubernetes-names.ts";
import {
  CONTAINER_RESOURCE,
  choice,
  GROUP_VERSION,
  integer,
  inParts,
  LABEL,
  object,
  quantity,
  REQUIRED,
  SELECTOR,
  saying,
  text,
} from "../native/field-descriptions.ts";

/** What a metric of an HPA means, its bounds and rules as they are printed, and what the API says where one is broken (hpa.md 1.3). validate-metric.ts has the order of the API. */

const POSITIVE = {
  least: 0.001,
  api: {
    least: ["must be positive", "write a quantity above 0, such as 500m"],
    most: ["must be at most 9223372036854775807 thousandths", "write a smaller quantity, such as 4P"],
  },
} as const;

/** The API does not check whether the values fit to `type` either (hpa.md 1.3). */
const TARGET = {
  type: choice("The meaning of the value; for Object it selects the value that counts.", ["Utilization", "Value", "AverageValue"], {
    ...REQUIRED,
    api: {
      required: ["must specify a metric target type", "write type: Utilization, Value or AverageValue"],
      choices: ["must be either Utilization, Value, or AverageValue", "write one of the three"],
    },
  }),
  value: quantity("For the whole. Object and External.", POSITIVE),
  averageValue: quantity("Per pod.", POSITIVE),
  averageUtilization: integer("Percent of what the pods request. Resource and ContainerResource.", {
    least: 1,
    api: { least: ["must be greater than 0", "write a percentage of 1 or more"] },
  }),
};

const target = (says: string, ...parts: readonly [Rule, ...Rule[]]): FieldDescription => object("The target.", TARGET, [inParts(says, ...parts)]);

type Value = "value" | "averageValue" | "averageUtilization";

/** Neither is reported at the one field, and both at the other. */
const exactlyOne = (
  [one, other]: readonly [Value, Value],
  at: { readonly neither: Value; readonly both: Value },
  [first, second]: readonly [string, string],
  fix: string,
): [Rule, Rule] => [
  { needs: any(set(one), set(other)), at: at.neither, type: "FieldValueRequired", detail: `must set either a ${first} or a ${second}`, fix },
  { needs: atMostOne(one, other), at: at.both, detail: `may not set both a ${first} and a ${second}`, fix },
];

/** The target of each source: what it means, how its rules are printed, and what the API says where one is broken. */
const TARGETS = {
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
    needs: set("averageValue"),
    detail: "must specify a positive target averageValue",
    fix: "write target.averageValue: the wanted value per pod",
  }),
  object: target("write value or averageValue", {
    needs: any(set("value"), set("averageValue")),
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
export const MARKS = {
  highWatermark: quantity("Instead of a target: above it the count grows; by default the low mark.", POSITIVE),
  lowWatermark: quantity("Instead of a target: below it the count shrinks; by default the high mark.", { least: 0, api: { most: POSITIVE.api.most } }),
};
const MARKED = any(set("highWatermark"), set("lowWatermark"));

/** What is said of a mark beside a plain target. The meaning cannot be guessed, so the problem names both paths. */
export const besideTarget = (mark: string): Pick<Rule, "detail" | "fix"> => ({
  detail: `may not be set together with ${mark}`,
  fix: "keep the target or the watermarks, not both",
});

/** A target or marks. A block without marks has the problems of its target. */
export const TARGET_OR_MARKS: Rule = {
  ...saying("write either target or watermarks", any(all(set("target"), unset("highWatermark", "lowWatermark")), all(MARKED, unset("target")))),
  parts: [{ when: MARKED, needs: unset("target"), ...besideTarget("{path}.{given}") }],
};

/** A low mark of 0 means that this metric never shrinks the count. A single low mark is also the high mark, which must be positive. */
export const MARKS_IN_ORDER: readonly Rule[] = [
  {
    ...saying("a lowWatermark without a highWatermark must be positive", above("lowWatermark", 0), unset("highWatermark")),
    parts: [{ when: unset("highWatermark"), needs: above("lowWatermark", 0), detail: "must be positive", fix: MARK_FIX }],
  },
  {
    ...saying("lowWatermark must be less than or equal to highWatermark", atMost("lowWatermark", "highWatermark")),
    parts: [
      { when: set("highWatermark"), needs: atLeast("lowWatermark", 0), detail: "must be greater than or equal to 0", fix: MARK_FIX },
      {
        when: atLeast("lowWatermark", 0),
        needs: atMost("lowWatermark", "highWatermark"),
        detail: "must be less than or equal to `highWatermark`",
        fix: "write lowWatermark not above highWatermark",
      },
    ],
  },
];

/** A selector matches other pods than the target's, so a target in percent or per pod would have no meaning. */
export const SELECTOR_OF_MARKS: Rule = {
  ...saying("metricSelector may not be set together with a target", unset("metricSelector"), set("target")),
  parts: [
    {
      needs: unset("metricSelector"),
      detail: "may not be set together with a target",
      fix: "remove it, or write highWatermark and lowWatermark instead of the target",
    },
  ],
};

const SEGMENT = { ...REQUIRED, segment: true } as const;

/** Kind and name of an object; each is a segment of a path. */
export const REFERENCE = {
  kind: text("Its kind.", { ...SEGMENT, api: { required: ["", "write its kind, such as Deployment"] } }),
  name: text("Its name.", { ...SEGMENT, api: { required: ["", "write its name"] } }),
};

export const API_VERSION = text("Its API version.", {
  pattern: GROUP_VERSION,
  faults: (version) => (groupOf(version) === undefined ? [`unexpected GroupVersion string: ${version}`] : []),
  faultsFix: "write group/version, such as apps/v1",
});

const METRIC = object(
  "The metric.",
  {
    name: text("Its name, as the metrics API knows it.", {
      ...SEGMENT,
      api: { required: ["must specify a metric name", "write the name of the metric in the metrics API"] },
    }),
    selector: SELECTOR,
  },
  [],
  REQUIRED,
);
const RESOURCE = "cpu, memory, or another resource that pods request.";
const RESOURCE_FIX = "write cpu, memory or ephemeral-storage, or the full name of an extended resource, such as example.com/gpu";
const LEVELS = [TARGET_OR_MARKS, ...MARKS_IN_ORDER];

/** The members of a metric, by the type that each belongs to. */
export const SOURCES = {
  Resource: {
    member: "resource",
    about: object(
      "Use of a resource by the pods.",
      {
        name: text(RESOURCE, { ...REQUIRED, api: { required: ["must specify a resource name", "write name: cpu or name: memory"] } }),
        metricSelector: { ...SELECTOR, meaning: "With marks: labels of the measured pods, instead of the target's own pods." },
        target: TARGETS.use,
        ...MARKS,
      },
      [...LEVELS, SELECTOR_OF_MARKS],
    ),
  },
  ContainerResource: {
    member: "containerResource",
    about: object(
      "Use of a resource by one container of each pod.",
      {
        name: text(RESOURCE, {
          ...REQUIRED,
          pattern: CONTAINER_RESOURCE,
          faults: resourceFaults,
          faultsFix: RESOURCE_FIX,
          api: { required: ["must specify a resource name", RESOURCE_FIX] },
        }),
        container: text("Name of the container.", {
          ...REQUIRED,
          pattern: LABEL,
          faults: labelFaults,
          faultsFix: "write the name of a container of the pods",
          api: { required: ["must specify a container", "write the name of the measured container"] },
        }),
        target: TARGETS.use,
        ...MARKS,
      },
      LEVELS,
    ),
  },
  Pods: {
    member: "pods",
    about: object("A custom metric of each pod.", { metric: METRIC, target: TARGETS.pods, ...MARKS }, LEVELS),
  },
  Object: {
    member: "object",
    about: object(
      "A custom metric of one object.",
      {
        describedObject: object("The object.", { ...REFERENCE, apiVersion: API_VERSION }, [], REQUIRED),
        metric: METRIC,
        target: TARGETS.object,
        ...MARKS,
      },
      LEVELS,
    ),
  },
  External: {
    member: "external",
    about: object("A metric of something outside the cluster.", { metric: METRIC, target: TARGETS.external, ...MARKS }, LEVELS),
  },
} as const;

/** The members in the order of the API, which checks only the first one that is set. */
export const MEMBERS = ["object", "external", "pods", "resource", "containerResource"] as const;
export type SourceMember = (typeof MEMBERS)[number];

/** A count of 0 times any value stays 0. */
export const noMarks = (metrics: string): Condition =>
  not(some(metrics, any(...MEMBERS.flatMap((member) => [set(`${member}.highWatermark`), set(`${member}.lowWatermark`)]))));

/** Where a metric has more than one member. A single wrong one is not reported: its type, or the missing one, is. */
const noOthers = (when: Condition, others: readonly SourceMember[]): Rule => ({
  when: all(when, not(atMostOne(...MEMBERS))),
  needs: unset(...others),
  detail: "must populate the given metric source only",
  fix: "remove it, or make it a metric of its own",
});

/** Requires exactly the member that the type names. */
const memberDemand = ([type, { member }]: readonly [string, { readonly member: SourceMember }]): Rule => {
  const ofType = is("type", type);
  const others = MEMBERS.filter((other) => other !== member);
  return {
    ...saying(`with type: ${type}, write ${member} and no other source`, all(set(member), unset(...others)), ofType),
    parts: [
      {
        when: ofType,
        needs: set(member),
        detail: "must populate information for the given metric source",
        fix: `write the member "${member}", or another type`,
      },
      noOthers(ofType, others),
    ],
  };
};

/** Of a metric whose type is unknown, which is reported too. */
export const NO_OTHERS_OF_UNKNOWN = noOthers(not(is("type", ...Object.keys(SOURCES))), MEMBERS);

export const METRIC_FIELD: FieldDescription = object(
  "One metric: its type, and the member of that name.",
  {
    type: choice("Where the metric comes from.", Object.keys(SOURCES), {
      ...REQUIRED,
      api: { required: ["must specify a metric source type", "write type: Resource, or another of the five"] },
    }),
    ...Object.fromEntries(Object.values(SOURCES).map(({ member, about }) => [member, about])),
  },
  Object.entries(SOURCES).map(memberDemand),
);
