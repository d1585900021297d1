import { foreignBlock } from "../../fields/field-types.ts";
import { above, all, any, atLeast, atMost, is, multipleOf, type Rule, set, unset } from "../../fields/rule.ts";
import { CONSTRAINT_FIELDS } from "../hpa/constraints.ts";
import { BEHAVIOR_FIELD } from "../hpa/validate-behavior.ts";
import { THRESHOLD_DESCRIPTIONS } from "../hpa/thresholds.ts";
import { TARGET_FIELDS } from "../hpa/validate-metric.ts";
import {
  CONTAINER_RESOURCE,
  choice,
  GROUP_VERSION,
  integer,
  LABEL,
  listOf,
  object,
  quantity,
  REQUIRED,
  SELECTOR,
  saying,
  text,
} from "./field-descriptions.ts";

const POSITIVE = { least: 0.001 } as const;

const MARKS = {
  highWatermark: quantity("Instead of a target: above it the count grows; by default the low mark.", POSITIVE),
  lowWatermark: quantity("Instead of a target: below it the count shrinks; by default the high mark.", { least: 0 }),
};
const MARKED = any(set("highWatermark"), set("lowWatermark"));
/** A target or marks. A single low mark is also the high mark, which must be positive. */
const LEVELS = [
  saying("write either target or watermarks", any(all(set("target"), unset("highWatermark", "lowWatermark")), all(MARKED, unset("target")))),
  saying("a lowWatermark without a highWatermark must be positive", above("lowWatermark", 0), unset("highWatermark")),
  saying("lowWatermark must be less than or equal to highWatermark", atMost("lowWatermark", "highWatermark")),
];

const SEGMENT = { ...REQUIRED, segment: true } as const;
const METRIC = object("The metric.", { name: text("Its name, as the metrics API knows it.", SEGMENT), selector: SELECTOR }, [], REQUIRED);
const RESOURCE = text("cpu, memory, or another resource that pods request.", REQUIRED);

const SOURCES = {
  Resource: {
    member: "resource",
    about: object(
      "Use of a resource by the pods.",
      {
        name: RESOURCE,
        metricSelector: { ...SELECTOR, meaning: "With marks: labels of the measured pods, instead of the target's own pods." },
        target: TARGET_FIELDS.use,
        ...MARKS,
      },
      [...LEVELS, saying("metricSelector may not be set together with a target", unset("metricSelector"), set("target"))],
    ),
  },
  ContainerResource: {
    member: "containerResource",
    about: object(
      "Use of a resource by one container of each pod.",
      {
        name: { ...RESOURCE, pattern: CONTAINER_RESOURCE },
        container: text("Name of the container.", { ...REQUIRED, pattern: LABEL }),
        target: TARGET_FIELDS.use,
        ...MARKS,
      },
      LEVELS,
    ),
  },
  Pods: {
    member: "pods",
    about: object("A custom metric of each pod.", { metric: METRIC, target: TARGET_FIELDS.pods, ...MARKS }, LEVELS),
  },
  Object: {
    member: "object",
    about: object(
      "A custom metric of one object.",
      {
        describedObject: object(
          "The object.",
          { apiVersion: text("Its API version.", { pattern: GROUP_VERSION }), kind: text("Its kind.", SEGMENT), name: text("Its name.", SEGMENT) },
          [],
          REQUIRED,
        ),
        metric: METRIC,
        target: TARGET_FIELDS.object,
        ...MARKS,
      },
      LEVELS,
    ),
  },
  External: {
    member: "external",
    about: object("A metric of something outside the cluster.", { metric: METRIC, target: TARGET_FIELDS.external, ...MARKS }, LEVELS),
  },
} as const;

const MEMBERS = Object.values(SOURCES).map(({ member }) => member);
/** Requires exactly the member that the type names. */
const memberDemand = (type: string, member: string): Rule =>
  saying(
    `with type: ${type}, write ${member} and no other source`,
    all(set(member), unset(...MEMBERS.filter((other) => other !== member))),
    is("type", type),
  );

const SOURCE = object(
  "One metric: its type, and the member of that name.",
  {
    type: choice("Where the metric comes from.", Object.keys(SOURCES), REQUIRED),
    ...Object.fromEntries(Object.values(SOURCES).map(({ member, about }) => [member, about])),
  },
  Object.entries(SOURCES).map(([type, { member }]) => memberDemand(type, member)),
);

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
    metrics: listOf("As in autoscaling/v2; without any, CPU at 80 percent.", SOURCE),
    behavior: BEHAVIOR_FIELD,
    cpuUtilization: object("Instead of all others: the rules of the first design, as in extensions/v1beta1.", {
      targetPercentage: integer("Percent of the CPU that each pod requests.", { least: 1, default: 80 }),
    }),
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
    saying("constraints may not be set together with behavior", unset("constraints"), set("behavior")),
    saying(
      "cpuUtilization may not be set together with metrics, behavior and constraints",
      unset("metrics", "behavior", "constraints"),
      set("cpuUtilization"),
    ),
    ...WHOLE_FACTORS,
  ],
);
