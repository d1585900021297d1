import { MAX_CONSTRAINT_SECONDS } from "../hpa/constraints.ts";
import { MAX_PERIOD_SECONDS, MAX_STABILIZATION_SECONDS } from "../hpa/validate-behavior.ts";
import type { Json } from "../json.ts";
import { choice, integer, listOf, object, quantity, REQUIRED, SELECTOR, text } from "./field-descriptions.ts";
import { type FieldDescription, foreignBlock } from "./field-types.ts";
import { allOf, anyOf, areAbsent, equals, exactlyOneSet, ifThen, isSet, members } from "./schema-conditions.ts";

const POSITIVE = { least: 0.001 } as const;

const TARGET = {
  type: choice("The meaning of the value; for Object it selects the value that counts.", ["Utilization", "Value", "AverageValue"], REQUIRED),
  value: quantity("For the whole. Object and External.", POSITIVE),
  averageValue: quantity("Per pod.", POSITIVE),
  averageUtilization: integer("Percent of what the pods request. Resource and ContainerResource.", { least: 1 }),
};
const target = (...conditions: readonly Json[]): FieldDescription => object("The target.", TARGET, conditions);
const MARKS = {
  highWatermark: quantity("Instead of a target: above it the count grows; by default the low mark.", POSITIVE),
  lowWatermark: quantity("Instead of a target: below it the count shrinks; by default the high mark.", { least: 0 }),
};
const MARKED = anyOf(isSet("highWatermark"), isSet("lowWatermark"));
/** A target or marks. A single low mark is also the high mark, which must be positive. */
const LEVELS = [
  anyOf(allOf(isSet("target"), areAbsent("highWatermark", "lowWatermark")), allOf(MARKED, areAbsent("target"))),
  ifThen(areAbsent("highWatermark"), members({ lowWatermark: { not: { enum: [0, "0"] } } })),
];

const METRIC = object("The metric.", { name: text("Its name, as the metrics API knows it.", REQUIRED), selector: SELECTOR }, [], REQUIRED);
const ONE_USE = exactlyOneSet("averageUtilization", "averageValue");
const RESOURCE = text("cpu, memory, or another resource that pods request.", REQUIRED);

const SOURCES = {
  Resource: {
    member: "resource",
    about: object(
      "Use of a resource by the pods.",
      {
        name: RESOURCE,
        metricSelector: { ...SELECTOR, meaning: "With marks: labels of the measured pods, instead of the target's own pods." },
        target: target(ONE_USE),
        ...MARKS,
      },
      [...LEVELS, ifThen(isSet("target"), areAbsent("metricSelector"))],
    ),
  },
  ContainerResource: {
    member: "containerResource",
    about: object(
      "Use of a resource by one container of each pod.",
      { name: RESOURCE, container: text("Name of the container.", REQUIRED), target: target(ONE_USE), ...MARKS },
      LEVELS,
    ),
  },
  Pods: {
    member: "pods",
    about: object("A custom metric of each pod.", { metric: METRIC, target: target(isSet("averageValue")), ...MARKS }, LEVELS),
  },
  Object: {
    member: "object",
    about: object(
      "A custom metric of one object.",
      {
        describedObject: object(
          "The object.",
          { apiVersion: text("Its API version."), kind: text("Its kind.", REQUIRED), name: text("Its name.", REQUIRED) },
          [],
          REQUIRED,
        ),
        metric: METRIC,
        target: target(anyOf(isSet("value"), isSet("averageValue"))),
        ...MARKS,
      },
      LEVELS,
    ),
  },
  External: {
    member: "external",
    about: object(
      "A metric of something outside the cluster.",
      { metric: METRIC, target: target(exactlyOneSet("value", "averageValue")), ...MARKS },
      LEVELS,
    ),
  },
} as const;

const MEMBERS = Object.values(SOURCES).map(({ member }) => member);
/** Requires exactly the member that the type names. */
const memberDemand = (type: string, member: string): Json =>
  ifThen(equals("type", type), allOf(isSet(member), areAbsent(...MEMBERS.filter((other) => other !== member))));

const SOURCE = object(
  "One metric: its type, and the member of that name.",
  {
    type: choice("Where the metric comes from.", Object.keys(SOURCES), REQUIRED),
    ...Object.fromEntries(Object.values(SOURCES).map(({ member, about }) => [member, about])),
  },
  Object.entries(SOURCES).map(([type, { member }]) => memberDemand(type, member)),
);

const RULES = object(
  "How fast in this direction.",
  {
    stabilizationWindowSeconds: integer("For how long recommendations hold the count.", { least: 0, most: MAX_STABILIZATION_SECONDS }),
    selectPolicy: choice("Which policy counts.", ["Max", "Min", "Disabled"]),
    policies: listOf(
      "Changes allowed per period.",
      object("One policy.", {
        type: choice("The unit of value.", ["Pods", "Percent"], REQUIRED),
        value: integer("How much.", { ...REQUIRED, least: 1 }),
        periodSeconds: integer("In how long.", { ...REQUIRED, least: 1, most: MAX_PERIOD_SECONDS }),
      }),
    ),
    tolerance: quantity("The band around the target in which the count stays.", { least: 0 }),
  },
  [members({ policies: { minItems: 1 } })],
);

const RATE = {
  percent: integer("Percent of the count at the start of the period.", { least: 0 }),
  pods: integer("A number of pods.", { least: 0 }),
  periodSeconds: integer("In how long.", { least: 1, most: MAX_CONSTRAINT_SECONDS }),
};
const DELAY = integer("Stabilization window.", { least: 0, most: MAX_CONSTRAINT_SECONDS });
const DIRECTION = object("How fast in this direction.", { ...RATE, rate: object("The same, nested.", RATE), delaySeconds: DELAY });

const WHOLE_PERCENT = { least: 0, most: 100 } as const;
/** Fields of the multi-threshold form (docs/manifests.md). When one of them or a mark is present, the others take their defaults. */
const THRESHOLDS = {
  algorithm: choice("average divides a value by the current count before it is compared with marks.", ["absolute", "average"]),
  tolerance: quantity("Share by which every target and every mark is widened; 100m where another of these fields is written.", {
    least: 0,
    most: 1,
  }),
  scaleUpLimitFactor: quantity("Whole percent of the count that one step may add; 50 where another of these fields is written.", WHOLE_PERCENT),
  scaleDownLimitFactor: quantity("Whole percent of the count that one step may remove; 20 where another of these fields is written.", WHOLE_PERCENT),
  upscaleForbiddenWindowSeconds: integer("No scale up so long after any scale; 60 where another of these fields is written.", { least: 0 }),
  downscaleForbiddenWindowSeconds: integer("No scale down so long after any scale; 300 where another of these fields is written.", { least: 0 }),
};

/** With `rules: hpa`: the fields of autoscaling/v2 beside target and bounds. */
export const HPA_BLOCK = foreignBlock(
  "With rules: hpa, metrics and behavior as in autoscaling/v2, or cpuUtilization as in extensions/v1beta1 (docs/manifests.md).",
  {
    metrics: listOf("As in autoscaling/v2; without any, CPU at 80 percent.", SOURCE),
    behavior: object("As in autoscaling/v2.", { scaleUp: RULES, scaleDown: RULES }),
    cpuUtilization: object("Instead of all others: the rules of the first design, as in extensions/v1beta1.", {
      targetPercentage: integer("Percent of the CPU that each pod requests.", { least: 1, default: 80 }),
    }),
    constraints: object("The draft block of rates (docs/manifests.md).", {
      scaleUp: DIRECTION,
      scaleDown: DIRECTION,
      delaySeconds: { ...DELAY, meaning: "Stabilization window of scaleDown." },
    }),
    ...THRESHOLDS,
  },
  [ifThen(isSet("behavior"), areAbsent("constraints")), ifThen(isSet("cpuUtilization"), areAbsent("metrics", "behavior", "constraints"))],
);
