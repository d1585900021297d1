import type { Json } from "../json.ts";
import { absent, all, either, given, says, unless, values, when } from "./demands.ts";

/** Of `rules: native`; the forms that are carried have bounds of their own. */
export const MOST_REPLICAS = 1_000_000;

const OF_NATIVE = ["metrics", "combine", "scaleUp", "scaleDown", "flapBudget", "idle"] as const;
const SOME_COUNT = { minimum: 1, maximum: MOST_REPLICAS };

const NATIVE = all(
  absent("hpa", "watermark"),
  given("metrics"),
  values({ metrics: { minItems: 1 }, minReplicas: SOME_COUNT, maxReplicas: SOME_COUNT }),
);
const HPA = absent(...OF_NATIVE, "watermark");
const WATERMARK = all(absent(...OF_NATIVE, "hpa"), values({ minReplicas: { minimum: 1 } }));

/** Only a ReplicationController is of the core group and can be scaled. */
const TARGET_WITH_GROUP = either(says("kind", "ReplicationController"), {
  required: ["apiVersion"],
  properties: { apiVersion: { type: "string", pattern: "^[^/]+/[^/]*$" } },
});
/** The first design fills the group in, and the watermark dialect warns. */
const WITHOUT_GROUP = either(says("rules", "watermark"), all(given("hpa"), values({ hpa: given("cpuUtilization") })));

const TO_ZERO = all(says("rules", "hpa"), { required: ["minReplicas"], properties: { minReplicas: { const: 0 } } });
const FROM_OUTSIDE = { contains: either(says("type", "Object"), says("type", "External")) };

/** Which fields only some rules accept, and what they ask for. */
export const SPEC_DEMANDS: readonly Json[] = [
  when(says("rules", "hpa"), HPA),
  when(says("rules", "watermark"), WATERMARK),
  unless(either(says("rules", "hpa"), says("rules", "watermark")), NATIVE),
  unless(WITHOUT_GROUP, values({ scaleTargetRef: TARGET_WITH_GROUP })),
  when(TO_ZERO, all(given("hpa"), values({ hpa: all(given("metrics"), values({ metrics: FROM_OUTSIDE })) }))),
  when(given("idle"), values({ metrics: { contains: given("activation") } })),
];
