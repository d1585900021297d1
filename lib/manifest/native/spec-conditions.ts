import type { Json } from "../json.ts";
import { allOf, anyOf, areAbsent, equals, ifNot, ifThen, isSet, members } from "./schema-conditions.ts";

/** Limit of `rules: native`; the other forms have bounds of their own. */
export const MOST_REPLICAS = 1_000_000;

const OF_NATIVE = ["metrics", "combine", "scaleUp", "scaleDown", "flapBudget", "idle"] as const;
const SOME_COUNT = { minimum: 1, maximum: MOST_REPLICAS };

const NATIVE = allOf(
  areAbsent("hpa", "watermark"),
  isSet("metrics"),
  members({ metrics: { minItems: 1 }, minReplicas: SOME_COUNT, maxReplicas: SOME_COUNT }),
);
const HPA = areAbsent(...OF_NATIVE, "watermark");
const WATERMARK = allOf(areAbsent(...OF_NATIVE, "hpa"), members({ minReplicas: { minimum: 1 } }));

/** Only a ReplicationController is scalable in the core group. */
const TARGET_WITH_GROUP = anyOf(equals("kind", "ReplicationController"), {
  required: ["apiVersion"],
  properties: { apiVersion: { type: "string", pattern: "^[^/]+/[^/]*$" } },
});
/** The first design adds the group, and the watermark rules only warn. */
const WITHOUT_GROUP = anyOf(equals("rules", "watermark"), allOf(isSet("hpa"), members({ hpa: isSet("cpuUtilization") })));

const TO_ZERO = allOf(equals("rules", "hpa"), { required: ["minReplicas"], properties: { minReplicas: { const: 0 } } });
const FROM_OUTSIDE = { contains: anyOf(equals("type", "Object"), equals("type", "External")) };

/** Which fields belong to which rules, and their conditions. */
export const SPEC_CONDITIONS: readonly Json[] = [
  ifThen(equals("rules", "hpa"), HPA),
  ifThen(equals("rules", "watermark"), WATERMARK),
  ifNot(anyOf(equals("rules", "hpa"), equals("rules", "watermark")), NATIVE),
  ifNot(WITHOUT_GROUP, members({ scaleTargetRef: TARGET_WITH_GROUP })),
  ifThen(TO_ZERO, allOf(isSet("hpa"), members({ hpa: allOf(isSet("metrics"), members({ metrics: FROM_OUTSIDE })) }))),
  ifThen(isSet("idle"), members({ metrics: { contains: isSet("activation") } })),
];
