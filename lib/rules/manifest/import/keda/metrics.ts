import { type Json, asObject, present } from "../../../model/json.ts";
import { withoutDefaults } from "./without-defaults.ts";
import type { Detail } from "../finding.ts";
import { type Trigger, triggerBlock } from "./triggers.ts";
import { applying, changed, textOf, lost, withoutEffect } from "../schedules/timed.ts";
import { writtenBehavior } from "../scaled-object.ts";

interface Among {
  readonly spec: Json;
  readonly formula: string | undefined;
  readonly onMissing: Json;
}

type ReadMetric = { readonly metric?: Json; readonly details: readonly Detail[] };

export const triggerMetric = (trigger: Trigger, among: Among): ReadMetric =>
  trigger.type === "cpu" || trigger.type === "memory"
    ? resourceOf(trigger, among)
    : outsideOf(trigger, among);

/**
 * `metadata.type` is what earlier versions of KEDA call `metricType`. An HPA without one of its
 * metrics may grow, and does not shrink.
 */
const resourceOf = ({ type, name, of, metadata, raw }: Trigger, { spec }: Among): ReadMetric => {
  const kind = textOf(raw["metricType"]) ?? textOf(metadata["type"]) ?? "Utilization";
  const measure = { Utilization: "Percent", AverageValue: "Average" }[kind];
  const target = textOf(metadata["value"]);
  if (measure === undefined || target === undefined)
    return {
      details: [
        lost(
          of,
          `metricType "${kind}" with the value "${String(target)}" is no target of a resource`,
        ),
      ],
    };
  const container = textOf(metadata["containerName"]);
  const block =
    container === undefined
      ? { resource: { name: type } }
      : { containerResource: { name: type, container } };
  return {
    metric: {
      name,
      ...block,
      measure,
      target: amountOf(target),
      ...toleranceOf(spec),
      onMissing: { action: "scaleUpOnly" },
    },
    details: [],
  };
};

/** True where a threshold below 0 keeps the workload in use at every value, also at 0. */
export const isAlwaysActive = (trigger: Trigger): boolean => {
  const found = triggerBlock(trigger);
  return !("refused" in found) && Number(found.activation) < 0;
};

const MEASURES: Readonly<Record<string, string>> = {
  AverageValue: "Average",
  Value: "Total",
};

const outsideOf = (trigger: Trigger, { spec, formula, onMissing }: Among): ReadMetric => {
  const { name, of, raw } = trigger;
  const found = triggerBlock(trigger);
  if ("refused" in found) return { details: [found.refused] };
  const { block, target, activation = "0" } = found;
  const details = [...found.details, ...authenticationDetail(trigger)];
  const every =
    raw["useCachedMetrics"] === true
      ? { everySeconds: numberOf(spec["pollingInterval"], KEDA.pollingSeconds) }
      : {};
  if (formula !== undefined)
    return {
      metric: { name: nameInFormula(name), ...block, ...every, input: true },
      details: [
        ...details,
        ...applying([[textOf(raw["metricType"]) !== undefined, OF_FORMULA(of)]]),
      ],
    };
  const kind = textOf(raw["metricType"]) ?? "AverageValue";
  const measure = MEASURES[kind];
  if (measure === undefined)
    return {
      details: [...details, lost(of, `metricType "${kind}" is none of AverageValue and Value`)],
    };
  if (target === undefined) return { details: [...details, lost(of, "it has no target")] };
  const activated = mayIdle(spec) ? { activation: amountOf(activation) } : {};
  return {
    metric: {
      name,
      ...block,
      ...every,
      measure,
      target: amountOf(target),
      ...toleranceOf(spec),
      ...activated,
      onMissing,
    },
    details,
  };
};

const OF_FORMULA = (of: string): Detail =>
  withoutEffect(`${of}: metricType`, "the formula has a metricType of its own, beside its target");

/** Whatever it reads, a source has a credential or a role of its own. */
const authenticationDetail = ({ of, raw }: Trigger): readonly Detail[] => {
  const name = textOf(asObject(raw["authenticationRef"])["name"]);
  return name === undefined
    ? []
    : [
        changed(
          `${of}: authenticationRef`,
          `the source has the credential of "${name}", and it is not in the manifest`,
        ),
      ];
};

/**
 * KEDA calculates a formula with a default of `??` only while a trigger is in the fallback
 * `scalingModifiers`; without it one failed trigger fails the whole. On doubt, a missing metric: a
 * default for a value that could not be read would shrink the workload.
 */
const expressionOf = (formula: string, spec: Json): string => {
  const named = formula.replaceAll(BY_TEXT, (_whole, _quote, name: string) => nameInFormula(name));
  return asObject(spec["fallback"])["behavior"] === "scalingModifiers"
    ? named
    : withoutDefaults(named);
};

/** expr-lang reads a name with a dash only so: `$env["orders-eu"]`. */
const BY_TEXT = /\$env\[(["'])([\w-]+)\1\]/g;

/** A name in a formula has letters, digits and `_`. */
const nameInFormula = (name: string): string => name.replaceAll("-", "_");

/** True where ?? was left out. */
export const losesDefaults = (formula: string, spec: Json): boolean =>
  formula.includes("??") && !expressionOf(formula, spec).includes("??");

export const DEFAULTS_GONE =
  "its ?? are left out: without the fallback scalingModifiers KEDA never reads them, and holds while a trigger fails";

export const formulaMetric = (
  modifiers: Json,
  formula: string,
  { spec, onMissing }: Pick<Among, "spec" | "onMissing">,
): Json => ({
  name: "composite",
  formula: { expression: expressionOf(formula, spec) },
  measure: MEASURES[textOf(modifiers["metricType"]) ?? "AverageValue"],
  target: amountOf(modifiers["target"]),
  ...toleranceOf(spec),
  ...(mayIdle(spec) && { activation: amountOf(modifiers["activationTarget"] ?? "0") }),
  onMissing,
});

/** KEDA writes numbers as texts. */
const amountOf = (value: unknown): unknown => {
  const text = String(value).trim();
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
};

/** A tolerance of autoscaling/v2 is of a direction, and here of a metric. */
const toleranceOf = (spec: Json): Json => {
  const { scaleUp, scaleDown } = behaviorIn(spec);
  const [up, down] = [asObject(scaleUp)["tolerance"], asObject(scaleDown)["tolerance"]];
  return up === undefined && down === undefined ? {} : { tolerance: present({ up, down }) };
};

export const behaviorIn = (spec: Json): Json => asObject(writtenBehavior(spec));

/**
 * A count below the least one that triggers may ask for: KEDA goes there by itself, past the HPA.
 */
export const mayIdle = ({ minReplicaCount = 0, idleReplicaCount }: Json): boolean =>
  minReplicaCount === 0 || idleReplicaCount !== undefined;

export const numberOf = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

/** Defaults of KEDA 2.21. */
export const KEDA = { cooldownSeconds: 300, pollingSeconds: 30 } as const;

/**
 * Outside of its windows cron of KEDA asks for the least count, and is not active. A schedule asks
 * for nothing, so that a metric must say so.
 */
export const restMetric = (spec: Json): Json => ({
  name: "cron",
  formula: { expression: "0" },
  target: 1,
  ...toleranceOf(spec),
  ...(mayIdle(spec) && { activation: 0 }),
});
