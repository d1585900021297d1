import fc from "fast-check";
import { asList } from "../../../../lib/rules/model/json.ts";
import type { Drawn } from "./scene.ts";

/** What is drawn; everything else is as in `plain`. */
export const FAMILIES = [
  "plain",
  "idle",
  "failing",
  "formula",
  "fallback",
  "pauses",
  "no behavior",
  "cron",
] as const;
export type Family = (typeof FAMILIES)[number];

const STEPS = 40;

const policies = fc.array(
  fc.record({
    type: fc.constantFrom("Pods", "Percent"),
    value: fc.integer({ min: 1, max: 120 }),
    periodSeconds: fc.constantFrom(15, 30, 60),
  }),
  { minLength: 1, maxLength: 2 },
);
const direction = fc.record(
  {
    stabilizationWindowSeconds: fc.constantFrom(0, 30, 60, 120),
    selectPolicy: fc.constantFrom("Max", "Min"),
    policies,
  },
  { requiredKeys: [] },
);
const behavior = fc.record(
  { scaleUp: direction, scaleDown: direction },
  { requiredKeys: ["scaleUp"] },
);

/** A load that stays, jumps, rests at 0 or, where it `fails`, is missing for a while. */
const loadOf = (target: number, fails: boolean) =>
  fc
    .array(
      fc.record({
        steps: fc.integer({ min: 1, max: 12 }),
        value: fc.oneof(
          { weight: 2, arbitrary: fc.constant(0) },
          { weight: 5, arbitrary: fc.integer({ min: 1, max: target * 12 }) },
          {
            weight: 1,
            arbitrary: fc.integer({ min: 1, max: target * 12_000 }).map((v) => v / 1_000),
          },
          ...(fails ? [{ weight: 3, arbitrary: fc.constant(null) }] : []),
        ),
      }),
      { minLength: STEPS, maxLength: STEPS },
    )
    .map((spells) =>
      spells.flatMap(({ steps, value }) => Array<number | null>(steps).fill(value)).slice(0, STEPS),
    );

const triggers = (fails: boolean, names: readonly string[]) =>
  fc
    .tuple(
      ...names.map((name, at) =>
        fc.integer({ min: 1, max: 50 }).chain((target) =>
          fc.record({
            trigger: fc
              .record({
                type: fc.constant("prometheus"),
                name: fc.constant(name),
                metricType: fc.constantFrom("AverageValue", "AverageValue", "Value"),
                activation: fc.constantFrom(0, 0, 5),
              })
              .map(({ activation, ...rest }) => ({
                ...rest,
                metadata: {
                  serverAddress: "http://prometheus:9090",
                  query: `load_${at}`,
                  threshold: String(target),
                  activationThreshold: String(activation),
                },
              })),
            load: loadOf(target, fails),
          }),
        ),
      ),
    )
    .map((drawn) => ({
      triggers: drawn.map(({ trigger }) => trigger),
      values: Array.from({ length: STEPS }, (_, step) =>
        drawn.map(({ load }) => load[step] ?? null),
      ),
    }));

const FORMULAS = [
  "one + two",
  "max([one, two])",
  "one > two ? one : two * 2",
  "(one + two) / 2",
  "min([one * 2, two])",
  "count([one, two], # > 5) >= 2 ? one + two : 0",
  "let both = one + two; both > 20 ? both : 0",
  "sum(filter([one, two], # > 3))",
] as const;

const fallback = fc.record({
  failureThreshold: fc.constantFrom(0, 1, 3),
  replicas: fc.integer({ min: 1, max: 12 }),
  behavior: fc.constantFrom(
    "static",
    "currentReplicas",
    "currentReplicasIfHigher",
    "currentReplicasIfLower",
  ),
});

const PAUSES = ["paused-scale-in", "paused-scale-out", "paused"] as const;

/** The numbers and choices of an object; each family takes some of them. */
const settings = (isIdle: boolean) =>
  fc.record({
    min: isIdle ? fc.constantFrom(0, 0, 2) : fc.constantFrom(1, 2),
    idle: fc.boolean(),
    cooldown: fc.constantFrom(30, 60, 120),
    behavior,
    formula: fc.constantFrom(...FORMULAS),
    target: fc.integer({ min: 1, max: 30 }),
    fallback,
    pause: fc.constantFrom(...PAUSES),
    replicas: fc.integer({ min: 0, max: 8 }),
  });
type Settings = typeof settings extends (...given: never) => fc.Arbitrary<infer Of> ? Of : never;

const advancedOf = (family: Family, { behavior: of, formula, target }: Settings) => ({
  ...(family !== "no behavior" && { horizontalPodAutoscalerConfig: { behavior: of } }),
  ...(family === "formula" && { scalingModifiers: { formula, target: String(target) } }),
});

const specFor = (family: Family, given: Settings) => ({
  minReplicaCount: given.min,
  maxReplicaCount: 20,
  pollingInterval: 15,
  cooldownPeriod: given.cooldown,
  ...(family === "idle" && given.idle && given.min > 0 && { idleReplicaCount: 0 }),
  ...(family === "fallback" && { fallback: given.fallback }),
  advanced: advancedOf(family, given),
});

/** Nights in which the clock of Berlin goes forward, goes back, and stays. */
const NIGHTS = [Date.UTC(2026, 2, 28, 22), Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 4, 5, 22)];
const QUARTER_MS = 900_000;

/** A trigger cron that begins and ends in the night, beside the others. */
const withCron = (drawn: Drawn) =>
  fc
    .record({
      beginMs: fc.constantFrom(...NIGHTS),
      hours: fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 2 }),
      minutes: fc.tuple(fc.constantFrom(0, 7, 30, 45), fc.constantFrom(0, 20, 30)),
      timezone: fc.constantFrom("Europe/Berlin", "America/New_York", "UTC", "Asia/Kathmandu"),
      desiredReplicas: fc.integer({ min: 1, max: 15 }),
    })
    .map(({ beginMs, hours: [from, to], minutes, timezone, desiredReplicas }): Drawn => {
      const metadata = {
        timezone,
        start: `${minutes[0]} ${from} * * *`,
        end: `${minutes[1]} ${to} * * *`,
        desiredReplicas: String(desiredReplicas),
      };
      const of = asList(drawn.spec["triggers"]);
      return {
        ...drawn,
        spec: { ...drawn.spec, triggers: [...of, { type: "cron", metadata }] },
        times: { beginMs, stepMs: QUARTER_MS },
      };
    });

const NAMES = [["one"], ["one", "two"], ["one", "two", "three"]] as const;

export const drawnOf = (family: Family): fc.Arbitrary<Drawn> =>
  family === "cron" ? baseOf(family).chain(withCron) : baseOf(family);

const baseOf = (family: Family): fc.Arbitrary<Drawn> => {
  const fails = family === "failing" || family === "fallback";
  const isFormula = family === "formula";
  return fc
    .constantFrom(...(isFormula ? [NAMES[1]] : NAMES))
    .chain((names) => fc.tuple(triggers(fails, names), settings(family === "idle")))
    .map(([{ triggers: of, values }, given]): Drawn => {
      const spec = specFor(family, given);
      const isZero = given.min === 0 || "idleReplicaCount" in spec;
      return {
        spec: {
          ...spec,
          triggers: isFormula ? of.map(({ metricType: _type, ...rest }) => rest) : of,
        },
        ...(family === "pauses" && {
          annotations: { [`autoscaling.keda.sh/${given.pause}`]: "true" },
        }),
        replicas: isZero ? given.replicas : Math.max(given.min, given.replicas),
        values,
      };
    });
};
