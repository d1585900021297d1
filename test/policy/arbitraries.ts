import fc from "fast-check";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import type {
  Answer,
  MetricValue,
  Pod,
  PodMetrics,
  QuestionKey,
} from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import type { ControllerSettings } from "../../lib/rules/model/spec-common.ts";
import type {
  Behavior,
  HpaMetric,
  HpaSpec,
  MetricTarget,
  ScalingRules,
} from "../../lib/rules/model/spec-hpa.ts";
import type { Condition, Memory, Windows } from "../../lib/rules/model/windows.ts";
import type { DecideInput } from "../../lib/rules/policy/decide.ts";
import { NOON } from "../noon.ts";
import { NO_METRICS, observationOf, podUsage, readyPod, scaleRead } from "../observation.ts";
import { decideInput } from "./applied-sync.ts";
import type { ExternalQuery } from "../../lib/rules/sources/external.ts";
import type { AnswerParts } from "../answers.ts";

/**
 * Objects as code makes them: the null prototypes that fast-check mixes in come from no store and
 * no parser.
 */
const PLAIN = { noNullPrototype: true } as const;

/** Thousandths: ordinary ones, and now and then some at the ends of 64 bits. */
const milli = fc.oneof(
  { weight: 9, arbitrary: fc.bigInt({ min: 0n, max: 100_000n }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0n, 1n, -5n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
  },
);
const positiveMilli = fc.oneof(
  { weight: 9, arbitrary: fc.bigInt({ min: 1n, max: 50_000n }) },
  { weight: 1, arbitrary: fc.constantFrom(1n, 2n ** 63n - 1n) },
);
const ageMs = fc.integer({ min: 0, max: 1_000_000 });

const policy = fc.record({
  type: fc.constantFrom("Pods" as const, "Percent" as const),
  value: fc.integer({ min: 1, max: 300 }),
  periodSeconds: fc.constantFrom(15, 60, 600, 1800),
});

const rules: fc.Arbitrary<ScalingRules> = fc.record(
  {
    stabilizationWindowSeconds: fc.constantFrom(0, 30, 300, 3600),
    selectPolicy: fc.constantFrom("Max" as const, "Min" as const, "Disabled" as const),
    policies: fc.array(policy, { minLength: 1, maxLength: 3 }),
    tolerance: fc.constantFrom(0, 0.05, 0.5, 2),
  },
  { requiredKeys: ["selectPolicy", "policies"] },
);

export const behavior: fc.Arbitrary<Behavior> = fc.record({ scaleUp: rules, scaleDown: rules });

const amountTarget = fc.oneof(
  positiveMilli.map((valueMilli): MetricTarget => ({ type: "Value", valueMilli })),
  positiveMilli.map(
    (averageValueMilli): MetricTarget => ({ type: "AverageValue", averageValueMilli }),
  ),
);
const percentTarget = fc
  .integer({ min: 1, max: 200 })
  .map((averageUtilization): MetricTarget => ({ type: "Utilization", averageUtilization }));
const averageTarget = positiveMilli.map(
  (averageValueMilli): MetricTarget => ({ type: "AverageValue", averageValueMilli }),
);

const metric: fc.Arbitrary<HpaMetric> = fc.oneof(
  amountTarget.map((target): HpaMetric => ({ type: "External", metric: { name: "load" }, target })),
  fc
    .tuple(fc.constantFrom("cpu", "memory"), fc.oneof(percentTarget, averageTarget))
    .map(([name, target]): HpaMetric => ({ type: "Resource", name, target })),
  fc.tuple(fc.constantFrom("cpu", "memory"), fc.oneof(percentTarget, averageTarget)).map(
    ([name, target]): HpaMetric => ({
      type: "ContainerResource",
      name,
      container: "app",
      target,
    }),
  ),
);

const spec: fc.Arbitrary<HpaSpec> = fc
  .record({
    minReplicas: fc.integer({ min: 0, max: 5 }),
    spread: fc.integer({ min: 0, max: 40 }),
    metrics: fc.array(metric, { minLength: 1, maxLength: 3 }),
    behavior: fc.option(behavior, { nil: undefined }),
  })
  .map(({ minReplicas, spread, metrics, behavior: given }) => ({
    dialect: "hpa",
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas,
    maxReplicas: Math.max(1, minReplicas + spread),
    metrics,
    ...(given && { behavior: given }),
  }));

const settings: fc.Arbitrary<ControllerSettings> = fc.record({
  tolerance: fc.constantFrom(0, 0.1, 0.5),
  downscaleStabilizationMs: fc.constantFrom(0, 60_000, 300_000),
  cpuInitializationPeriodMs: fc.constantFrom(0, 300_000),
  initialReadinessDelayMs: fc.constantFrom(0, 30_000),
});

interface PodPlan {
  readonly phase: string;
  readonly deleting: boolean;
  readonly startAgeMs: number;
  readonly readyAgeMs: number;
  readonly readyStatus: string;
  readonly requestMilli: bigint;
  readonly usedMilli: bigint | undefined;
}

const podPlan: fc.Arbitrary<PodPlan> = fc.record({
  phase: fc.oneof(
    { weight: 8, arbitrary: fc.constant("Running") },
    { weight: 1, arbitrary: fc.constantFrom("Pending", "Failed", "Succeeded") },
  ),
  deleting: fc.constantFrom(false, false, false, false, false, false, false, true),
  startAgeMs: ageMs,
  readyAgeMs: ageMs,
  readyStatus: fc.oneof(
    { weight: 8, arbitrary: fc.constant("True") },
    { weight: 2, arbitrary: fc.constantFrom("False", "Unknown") },
  ),
  requestMilli: positiveMilli,
  usedMilli: fc.option(milli, { nil: undefined, freq: 6 }),
});

const podOf = (
  { phase, deleting, startAgeMs, readyAgeMs, readyStatus, requestMilli }: PodPlan,
  at: number,
): Pod =>
  readyPod(`web-${at}`, requestMilli, {
    phase,
    deleting,
    startMs: NOON - startAgeMs,
    ready: { status: readyStatus, transitionMs: NOON - readyAgeMs },
  });

const usageOf = ({ usedMilli, readyAgeMs }: PodPlan, at: number): readonly PodMetrics[] =>
  usedMilli === undefined
    ? []
    : [
        podUsage(
          `web-${at}`,
          { cpu: usedMilli, memory: usedMilli },
          { timestampMs: NOON - Math.min(readyAgeMs, 30_000) },
        ),
      ];

const LOAD: ExternalQuery = { for: "external", metric: "load", metricSelector: "" };

const answers = (plans: readonly PodPlan[]): fc.Arbitrary<AnswerParts> =>
  fc
    .record({
      load: fc.option(fc.array(milli, { maxLength: 3 }), { freq: 5 }),
      resourceFails: fc.constantFrom(false, false, false, true),
    })
    .map((drawn) => ({
      external: new Map<QuestionKey, Answer<readonly MetricValue[]>>([
        [
          queryKey(LOAD),
          drawn.load
            ? {
                kind: "answered",
                items: drawn.load.map((value) => ({ milli: value, timestampMs: NOON })),
              }
            : NO_METRICS,
        ],
      ]),
      resource: drawn.resourceFails
        ? NO_METRICS
        : { kind: "answered", items: labelIndex(plans.flatMap(usageOf)) },
    }));

const change = fc
  .record({ change: fc.integer({ min: 0, max: 20 }), ageMs })
  .map((drawn) => ({ change: drawn.change, atMs: NOON - drawn.ageMs }));
const run = fc.record({
  replicas: fc.integer({ min: 0, max: 60 }),
  ageMs,
  lengthMs: fc.integer({ min: 0, max: 100_000 }),
});

const memory: fc.Arbitrary<Memory> = fc.record(
  {
    recommendations: fc.option(
      fc.array(
        run.map((drawn) => ({
          replicas: drawn.replicas,
          firstMs: NOON - drawn.ageMs - drawn.lengthMs,
          lastMs: NOON - drawn.ageMs,
        })),
        { maxLength: 4 },
      ),
    ),
    scaleUps: fc.array(change, { maxLength: 3 }),
    scaleDowns: fc.array(change, { maxLength: 3 }),
  },
  PLAIN,
);

const condition = (type: string): fc.Arbitrary<Condition> =>
  fc.record(
    {
      type: fc.constant(type),
      status: fc.constantFrom("True" as const, "False" as const),
      reason: fc.string({ maxLength: 20 }),
      message: fc.string({ maxLength: 80 }),
      transitionMs: ageMs.map((age) => NOON - age),
    },
    PLAIN,
  );

export const windows: fc.Arbitrary<Windows> = fc.record(
  {
    memory,
    status: fc.record(
      {
        conditions: fc.tuple(condition("AbleToScale"), condition("ScaledToZero")),
        currentReplicas: fc.integer({ min: 0, max: 60 }),
        desiredReplicas: fc.integer({ min: 0, max: 60 }),
        currentMetrics: fc.constant(null),
      },
      PLAIN,
    ),
  },
  PLAIN,
);

/**
 * Any sync of an hpa autoscaler: specs, counts, pods, answers and windows of every kind, absurd
 * numbers included.
 */
export const anyDecideInput: fc.Arbitrary<DecideInput> = fc
  .array(podPlan, { maxLength: 8 })
  .chain((plans) =>
    fc
      .record({
        spec,
        settings,
        windows,
        answers: answers(plans),
        specReplicas: fc.integer({ min: 0, max: 50 }),
        statusReplicas: fc.integer({ min: 0, max: 50 }),
      })
      .map((drawn) =>
        decideInput({
          spec: drawn.spec,
          settings: drawn.settings,
          windows: drawn.windows,
          observation: observationOf({
            scale: scaleRead(drawn.specReplicas, { statusReplicas: drawn.statusReplicas }),
            pods: plans.map(podOf),
            answers: drawn.answers,
          }),
        }),
      ),
  );
