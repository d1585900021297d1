import type { Forecast } from "../model/forecast.ts";
import { NOTHING_SET, type SetBeside, type SetByPeople } from "../model/override.ts";
import type { Decision, MetricOutcome } from "../model/decision.ts";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { Windows } from "../model/windows.ts";
import { effectiveBounds, isByManifest } from "./bounds/effective-bounds.ts";
import { forecastState } from "./forecast-floor.ts";
import { specForRules, withinBounds } from "./bounds/within-bounds.ts";
import type { Dialect, RulesInput } from "./dialect.ts";
import { askDialect, DIALECTS } from "./dialects.ts";
import { overridden } from "./override.ts";
import { withDetails } from "./shared/metrics/details.ts";

/** Everything that a decision depends on; equal inputs give equal decisions. */
export interface DecideInput extends RulesInput<AutoscalerSpec> {
  /** Overrides and calendars; absent where there are none. */
  readonly setByPeople?: SetByPeople;
  /** Asked only where the manifest takes the advice of forecasts; absent where none is stored. */
  readonly forecast?: Forecast | "not read";
}

/**
 * What to do with one workload now, and why. Pure; a metric that is missing or absurd is a reason
 * to hold inside the decision, never an exception.
 */
export const decide = (input: DecideInput): Decision => {
  const { spec, nowMs } = input;
  const beside = besideManifest(input);
  if (isByManifest(spec, beside, nowMs)) return overridden(byRules(spec, input), spec, nowMs);
  const bounds = effectiveBounds(spec, beside, nowMs);
  return overridden(withinBounds(byRules(specForRules(spec, bounds), input), bounds), spec, nowMs);
};

/** What people have set, and what the forecast asks for. */
const besideManifest = (input: DecideInput): SetBeside => {
  const { setByPeople = NOTHING_SET } = input;
  if (!input.spec.advice) return setByPeople;
  const forecast = forecastState({ ...input, forecast: input.forecast });
  return forecast ? { ...setByPeople, forecast } : setByPeople;
};

/**
 * The metrics of a decision with what is behind each: the pods that were counted, and the values at
 * which it would ask for another count. It costs more than the decision, so it is made for what is
 * stored and shown.
 */
export const metricsInDetail = (
  { metrics, from }: Pick<Decision, "metrics" | "from">,
  input: DecideInput,
): readonly MetricOutcome[] => {
  if (from === undefined || metrics.length === 0) return metrics;
  const { spec, nowMs } = input;
  const beside = besideManifest(input);
  const rules = isByManifest(spec, beside, nowMs)
    ? spec
    : specForRules(spec, effectiveBounds(spec, beside, nowMs));
  return askDialect(rules, (dialect, own) =>
    withDetails(metrics, dialect.behind({ ...input, spec: own }), {
      from,
      target: spec.target,
      nowMs,
    }),
  );
};

const byRules = (rules: AutoscalerSpec, input: RulesInput<AutoscalerSpec>): Decision =>
  askDialect(rules, (dialect, spec) => {
    const windows = dialect.registered ? input.windows : withoutAnswers(input.windows);
    const decision = dialect.decide({
      ...input,
      spec,
      windows: withoutForeignTimers(windows, dialect),
    });
    return dialect.keeps(spec).recommendations ? decision : withoutRecommendations(decision);
  });

const TIMING = DIALECTS.flatMap(({ name, timesBy }) => (timesBy ? [{ name, timesBy }] : []));

/**
 * On doubt, wait: conditions by which other rules measure time are dropped, so that a breach of
 * long ago does not count as one that lasted.
 */
export const withoutForeignTimers = (
  windows: Windows,
  { name }: Pick<Dialect<never>, "name">,
): Windows => {
  const { conditions } = windows.status;
  const isForeign = (type: string): boolean =>
    TIMING.some((other) => other.name !== name && other.timesBy(type));
  if (!conditions.some(({ type }) => isForeign(type))) return windows;
  return {
    ...windows,
    status: { ...windows.status, conditions: conditions.filter(({ type }) => !isForeign(type)) },
  };
};

/** Rules that ask no registered source keep no answer of one. */
const withoutAnswers = (windows: Windows): Windows => {
  if (windows.memory.answers === undefined) return windows;
  const { answers: _, ...memory } = windows.memory;
  return { ...windows, memory };
};

/**
 * Rules that record no recommendations leave none behind: after them a stabilization begins with
 * the current count, where old ones would let the count fall at once.
 */
const withoutRecommendations = (decision: Decision): Decision => {
  const { windows } = decision;
  return windows.memory.recommendations === null
    ? decision
    : {
        ...decision,
        windows: { ...windows, memory: { ...windows.memory, recommendations: null } },
      };
};
