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
const target = (...demands: readonly Json[]): About => object("What is aimed at.", TARGET, demands, MUST);

const METRIC = object("The metric.", { name: text("Its name, as the metrics API knows it.", MUST), selector: SELECTOR }, [], MUST);
const ONE_USE = exactlyOne("averageUtilization", "averageValue");
const RESOURCE = text("cpu, memory, or another resource that pods request.", MUST);

const SOURCES = {
  Resource: { member: "resource", about: object("Use of a resource by the pods.", { name: RESOURCE, target: target(ONE_USE) }) },
  ContainerResource: {
    member: "containerResource",
    about: object("Use of a resource by one container of each pod.", {
      name: RESOURCE,
      container: text("Name of the container.", MUST),
      target: target(ONE_USE),
    }),
  },
  Pods: { member: "pods", about: object("A custom metric of each pod.", { metric: METRIC, target: target(given("averageValue")) }) },
  Object: {
    member: "object",
    about: object("A custom metric of one object.", {
      describedObject: object(
        "The object.",
        { apiVersion: text("Its API version."), kind: text("Its kind.", MUST), name: text("Its name.", MUST) },
        [],
        MUST,
      ),
      metric: METRIC,
      target: target(either(given("value"), given("averageValue"))),
    }),
  },
  External: {
    member: "external",
    about: object("A metric of something outside the cluster.", { metric: METRIC, target: target(exactlyOne("value", "averageValue")) }),
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
  },
  [when(given("behavior"), absent("constraints")), when(given("cpuUtilization"), absent("metrics", "behavior", "constraints"))],
);
