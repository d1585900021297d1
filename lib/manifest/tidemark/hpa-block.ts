import { MAX_CONSTRAINT_SECONDS } from "../hpa/constraints.ts";
import { MAX_PERIOD_SECONDS, MAX_STABILIZATION_SECONDS } from "../hpa/validate-behavior.ts";
import type { Json } from "../json.ts";
import { listed, MUST, object, oneOf, quantity, SELECTOR, text, whole } from "./carried-fields.ts";
import { absent, all, either, exactlyOne, given, says, values, when } from "./demands.ts";
import { type About, carried } from "./field.ts";

const POSITIVE = { least: 0.001 } as const;

const TARGET = {
  type: oneOf("How the value is meant; for Object it decides which one counts.", ["Utilization", "Value", "AverageValue"], MUST),
  value: quantity("For the whole. Object and External.", POSITIVE),
  averageValue: quantity("Per pod.", POSITIVE),
  averageUtilization: whole("Percent of what the pods request. Resource and ContainerResource.", { least: 1 }),
};
const target = (...demands: readonly Json[]): About => object("What is aimed at.", TARGET, demands);
const MARKS = {
  highWatermark: quantity("In the place of a target: above it the count grows; without it the low one.", POSITIVE),
  lowWatermark: quantity("In the place of a target: below it the count shrinks; without it the high one.", { least: 0 }),
};
const MARKED = either(given("highWatermark"), given("lowWatermark"));
/** One of a target and marks; a low mark alone is the high one as well, which is above 0. */
const LEVELS = [
  either(all(given("target"), absent("highWatermark", "lowWatermark")), all(MARKED, absent("target"))),
  when(absent("highWatermark"), values({ lowWatermark: { not: { enum: [0, "0"] } } })),
];

const METRIC = object("The metric.", { name: text("Its name, as the metrics API knows it.", MUST), selector: SELECTOR }, [], MUST);
const ONE_USE = exactlyOne("averageUtilization", "averageValue");
const RESOURCE = text("cpu, memory, or another resource that pods request.", MUST);

const SOURCES = {
  Resource: {
    member: "resource",
    about: object(
      "Use of a resource by the pods.",
      {
        name: RESOURCE,
        metricSelector: { ...SELECTOR, meaning: "Beside marks: labels of the pods that count, in the place of the target's own pods." },
        target: target(ONE_USE),
        ...MARKS,
      },
      [...LEVELS, when(given("target"), absent("metricSelector"))],
    ),
  },
  ContainerResource: {
    member: "containerResource",
    about: object(
      "Use of a resource by one container of each pod.",
      { name: RESOURCE, container: text("Name of the container.", MUST), target: target(ONE_USE), ...MARKS },
      LEVELS,
    ),
  },
  Pods: {
    member: "pods",
    about: object("A custom metric of each pod.", { metric: METRIC, target: target(given("averageValue")), ...MARKS }, LEVELS),
  },
  Object: {
    member: "object",
    about: object(
      "A custom metric of one object.",
      {
        describedObject: object(
          "The object.",
          { apiVersion: text("Its API version."), kind: text("Its kind.", MUST), name: text("Its name.", MUST) },
          [],
          MUST,
        ),
        metric: METRIC,
        target: target(either(given("value"), given("averageValue"))),
        ...MARKS,
      },
      LEVELS,
    ),
  },
  External: {
    member: "external",
    about: object(
      "A metric of something outside the cluster.",
      { metric: METRIC, target: target(exactlyOne("value", "averageValue")), ...MARKS },
      LEVELS,
    ),
  },
} as const;

const MEMBERS = Object.values(SOURCES).map(({ member }) => member);
/** Exactly the member that the type names. */
const memberDemand = (type: string, member: string): Json =>
  when(says("type", type), all(given(member), absent(...MEMBERS.filter((other) => other !== member))));

const SOURCE = object(
  "One metric: its type, and the member of that name.",
  {
    type: oneOf("Where the metric comes from.", Object.keys(SOURCES), MUST),
    ...Object.fromEntries(Object.values(SOURCES).map(({ member, about }) => [member, about])),
  },
  Object.entries(SOURCES).map(([type, { member }]) => memberDemand(type, member)),
);

const RULES = object(
  "How fast in this direction.",
  {
    stabilizationWindowSeconds: whole("Recommendations of so long ago still hold the count.", { least: 0, most: MAX_STABILIZATION_SECONDS }),
    selectPolicy: oneOf("Which policy counts.", ["Max", "Min", "Disabled"]),
    policies: listed(
      "Changes allowed per period.",
      object("One policy.", {
        type: oneOf("What value counts.", ["Pods", "Percent"], MUST),
        value: whole("How much.", { ...MUST, least: 1 }),
        periodSeconds: whole("In how long.", { ...MUST, least: 1, most: MAX_PERIOD_SECONDS }),
      }),
    ),
    tolerance: quantity("How far from the target nothing happens.", { least: 0 }),
  },
  [values({ policies: { minItems: 1 } })],
);

const RATE = {
  percent: whole("Percent of the count at the start of the period.", { least: 0 }),
  pods: whole("So many pods.", { least: 0 }),
  periodSeconds: whole("In how long.", { least: 1, most: MAX_CONSTRAINT_SECONDS }),
};
const DELAY = whole("Stabilization window.", { least: 0, most: MAX_CONSTRAINT_SECONDS });
const DIRECTION = object("How fast in this direction.", { ...RATE, rate: object("The same, nested.", RATE), delaySeconds: DELAY });

const WHOLE_PERCENT = { least: 0, most: 100 } as const;
/** Of the multi-threshold form (docs/manifests.md). As soon as one of them, or a mark, is written, the others take their defaults. */
const THRESHOLDS = {
  algorithm: oneOf("average divides a value by the current count before it is compared with marks.", ["absolute", "average"]),
  tolerance: quantity("Share by which every target and every mark is widened; 100m where another of these fields is written.", {
    least: 0,
    most: 1,
  }),
  scaleUpLimitFactor: quantity("Whole percent of the count that one step may add; 50 where another of these fields is written.", WHOLE_PERCENT),
  scaleDownLimitFactor: quantity("Whole percent of the count that one step may remove; 20 where another of these fields is written.", WHOLE_PERCENT),
  upscaleForbiddenWindowSeconds: whole("No scale up so long after any scale; 60 where another of these fields is written.", { least: 0 }),
  downscaleForbiddenWindowSeconds: whole("No scale down so long after any scale; 300 where another of these fields is written.", { least: 0 }),
};

/** With `rules: hpa`: what a spec of autoscaling/v2 says beside target and bounds. */
export const HPA_BLOCK = carried(
  "With rules: hpa, metrics and behavior as in autoscaling/v2, or cpuUtilization as in extensions/v1beta1 (docs/manifests.md).",
  {
    metrics: listed("As in autoscaling/v2; without any, CPU at 80 percent.", SOURCE),
    behavior: object("As in autoscaling/v2.", { scaleUp: RULES, scaleDown: RULES }),
    cpuUtilization: object("In the place of all others: the rules of the first design, as in extensions/v1beta1.", {
      targetPercentage: whole("Percent of the CPU that each pod requests.", { least: 1, default: 80 }),
    }),
    constraints: object("The draft block of rates (docs/manifests.md).", {
      scaleUp: DIRECTION,
      scaleDown: DIRECTION,
      delaySeconds: { ...DELAY, meaning: "Stabilization window of scaleDown." },
    }),
    ...THRESHOLDS,
  },
  [when(given("behavior"), absent("constraints")), when(given("cpuUtilization"), absent("metrics", "behavior", "constraints"))],
);
