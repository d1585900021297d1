import type { Rule } from "../../fields/rule.ts";
import type { Decision } from "../../model/decision.ts";
import { curveThrough } from "../shared/metrics/curve.ts";
import type { SeenBehind } from "../shared/metrics/details.ts";
import { runSteps } from "../shared/steps.ts";
import { bounds, clamp } from "./steps/bounds.ts";
import { COMBINE_FIELDS, combine, takesPart } from "./steps/combine.ts";
import { conclude } from "./steps/conclude.ts";
import { COOL_DOWN_FIELDS, COOL_DOWN_WINDOW, coolDown } from "./steps/cool-down.ts";
import { FLAP_FIELDS, FLAP_WINDOW, flap } from "./steps/flap.ts";
import { IDLE_FIELDS, IDLE_RULES, IDLE_WINDOW, idle } from "./steps/idle.ts";
import { LIMIT_RULES, LIMIT_WINDOW, limit, limitFields, POLICY_RULES } from "./steps/limit.ts";
import { MISSING_WINDOW, measure } from "./steps/measure.ts";
import { readScale } from "./steps/read-scale.ts";
import { ROUND_FIELDS, round, roundRule } from "./steps/round.ts";
import { PODS_FIELDS, selectPods } from "./steps/select-pods.ts";
import { STABILIZE_WINDOW, stabilize, stabilizeFields } from "./steps/stabilize.ts";
import { SUSTAIN_FIELDS, SUSTAIN_WINDOW, sustain, unseen } from "./steps/sustain.ts";
import { type NativeInput, type NativeStep, type StepWindow, started } from "./steps/sync.ts";

/** What there is: the scale, its bounds, the metrics, and whether the workload is in use at all. */
const SEE: readonly NativeStep[] = [
  readScale, //  the count as it is
  bounds, //     outside [min, max] straight to the bound
  selectPods, // the pods that the selector matches, and whose they are
  measure, //    each metric: value, target or watermarks, proposal
  idle, //       out of use to the idle count, in use again to min
];

/** What the metrics want, and how much of it at once; left out for a workload that goes to rest. */
const SHAPE: readonly NativeStep[] = [
  combine, //   Max, Min or Mean of the proposals
  sustain, //   a breach must last
  stabilize, // a window per direction
  round, //     step minimum and modulo
  limit, //     policies per period
  clamp, //     min and max
];

/** Not yet. */
const WAIT: readonly NativeStep[] = [
  coolDown, // so long after any scale
  flap, //     after too many turns
];

/** The fields of the steps in a manifest, in the order of the reference, and their rules. */
export const NATIVE_FIELDS = {
  before: { ...PODS_FIELDS, ...COMBINE_FIELDS },
  /** Of scaleUp and scaleDown. */
  ofDirection: (way: "up" | "down") => ({
    ...SUSTAIN_FIELDS,
    ...stabilizeFields(way),
    ...limitFields(way),
    ...ROUND_FIELDS,
    ...COOL_DOWN_FIELDS,
  }),
  after: { ...FLAP_FIELDS, ...IDLE_FIELDS },
};

/** Rules of the objects of a manifest that hold these fields. */
export const NATIVE_RULES = {
  ofSpec: [...IDLE_RULES, roundRule("scaleUp"), roundRule("scaleDown")],
  ofDirection: LIMIT_RULES,
  ofPolicy: POLICY_RULES,
} as const satisfies Readonly<Record<string, readonly Rule[]>>;

/** The windows of the steps, in the order in which people see them. */
export const NATIVE_WINDOWS: readonly StepWindow[] = [
  STABILIZE_WINDOW,
  LIMIT_WINDOW,
  COOL_DOWN_WINDOW,
  SUSTAIN_WINDOW,
  IDLE_WINDOW,
  MISSING_WINDOW,
  FLAP_WINDOW,
];

/** What the metrics of a sync are made of. A metric that may not shrink never asks for fewer. */
export const behindNative = (input: NativeInput): SeenBehind => {
  const { readings, pods, current } = runSteps(SEE, started(input));
  return {
    metrics: readings.map((reading) => {
      if (reading.kind === "missing") return undefined;
      const { metric, measured } = reading;
      const { curve } = measured;
      if (!curve || !metric.scaleUpOnly) return measured;
      const ofRises = () =>
        curveThrough(curve(), (value) =>
          takesPart(metric, value.replicas, current) ? value : { ...value, replicas: current },
        );
      return { ...measured, curve: ofRises };
    }),
    ...(input.observation.podsUnread ? {} : { pods }),
  };
};

/**
 * One sync of `rules: native`, from top to bottom (docs/pod-autoscaler.md); overrides follow in
 * decide.ts, for every dialect.
 */
export const decideNative = (input: NativeInput): Decision => {
  const seen = runSteps(SEE, started(input));
  const shaped = seen.resting ? seen : runSteps(SHAPE, seen);
  const waited = runSteps(WAIT, shaped);
  return conclude(shaped.resting || shaped.ending ? unseen(waited) : waited);
};
