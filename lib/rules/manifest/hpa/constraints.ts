import { invalidField, type Problem, warnIf, type Warning } from "../../fields/problem.ts";
import { int32, objectOf, type ReadAs, type ReadContext } from "../../fields/shape.ts";
import type { Behavior, ScalingPolicy, ScalingRules } from "../../model/spec-hpa.ts";
import { integer } from "../native/field-descriptions.ts";
import { apiProblems } from "./api-problems.ts";

const RATE = { percent: int32, pods: int32, periodSeconds: int32 } as const;
const DIRECTION = objectOf({ ...RATE, rate: objectOf(RATE), delaySeconds: int32 });
const CONSTRAINTS = objectOf({ scaleUp: DIRECTION, scaleDown: DIRECTION, delaySeconds: int32 });

type WrittenDirection = ReadAs<typeof DIRECTION>;
type Side = "scaleUp" | "scaleDown";

export interface Constraints {
  readonly scaleUp: Constraint;
  readonly scaleDown: Constraint;
}

export interface ConstraintsBlock {
  readonly constraints: Constraints;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/** Reads the draft block in its short or nested form; `undefined` when the manifest has none. */
export const readConstraints = (
  value: unknown,
  context: ReadContext,
  replicas: ReplicaRange,
): ConstraintsBlock | undefined => {
  const written = CONSTRAINTS(value, CONSTRAINTS_PATH, context);
  if (written === undefined) return undefined;
  const problems: Problem[] = [];
  const up = direction("scaleUp", written.scaleUp, undefined, problems);
  const down = direction("scaleDown", written.scaleDown, written.delaySeconds, problems);
  const constraints = {
    scaleUp: { ...DEFAULT_UP, ...up },
    scaleDown: { ...DEFAULT_DOWN, ...down },
  };
  return {
    constraints,
    problems,
    warnings: [...upWarnings(up, replicas), ...wakeWarnings(up, replicas), ...downWarnings(down)],
  };
};

/**
 * The behavior of the block: the larger count of the two rates is the limit for scaling up, the
 * smaller change for scaling down. Unlike in the API, a rate counts only the changes of its own
 * direction, so that the growth of a spike does not allow a faster shrinking (proposals.md §3).
 */
export const behaviorOfConstraints = ({ scaleUp, scaleDown }: Constraints): Behavior => ({
  scaleUp: rulesOf(scaleUp, "Max"),
  scaleDown: rulesOf(scaleDown, "Min"),
});

const rulesOf = (constraint: Constraint, selectPolicy: "Max" | "Min"): ScalingRules => {
  const { percent, pods, periodSeconds, delaySeconds } = constraint;
  const policies = [
    policy("Pods", pods, periodSeconds),
    policy("Percent", percent, periodSeconds),
  ].filter((policy) => policy !== undefined);
  return {
    ...(delaySeconds !== undefined && { stabilizationWindowSeconds: delaySeconds }),
    selectPolicy: percent === 0 && pods === 0 ? "Disabled" : selectPolicy,
    policies,
    countedChanges: "SameDirection",
  };
};

/** A rate of 0 beside another does not count; two of 0 disable the direction. */
const policy = (
  type: ScalingPolicy["type"],
  value: number | undefined,
  periodSeconds: number,
): ScalingPolicy | undefined => (value ? { type, value, periodSeconds } : undefined);

/** The draft has no bound; this one limits what is stored (proposals.md §3). */
export const MAX_CONSTRAINT_SECONDS = 86_400;

export const CONSTRAINT_FIELDS = {
  percent: integer("Percent of the count at the start of the period.", { least: 0 }),
  pods: integer("A number of pods.", { least: 0 }),
  periodSeconds: integer("In how long.", { least: 1, most: MAX_CONSTRAINT_SECONDS }),
  delaySeconds: integer("Stabilization window.", { least: 0, most: MAX_CONSTRAINT_SECONDS }),
};

/** The values for one direction. Each can stand in one of two places. */
const direction = (
  side: Side,
  written: WrittenDirection | undefined,
  outerDelay: number | undefined,
  problems: Problem[],
): GivenConstraint => {
  const path = `${CONSTRAINTS_PATH}.${side}`;
  const values: GivenConstraint = {};
  for (const name of ["percent", "pods", "periodSeconds"] as const) {
    const nested = { path: `${path}.rate.${name}`, value: written?.rate?.[name] };
    take(values, name, [{ path: `${path}.${name}`, value: written?.[name] }, nested], problems);
  }
  const outer = { path: `${CONSTRAINTS_PATH}.delaySeconds`, value: outerDelay };
  take(
    values,
    "delaySeconds",
    [outer, { path: `${path}.delaySeconds`, value: written?.delaySeconds }],
    problems,
  );
  return values;
};

interface ValueAt {
  readonly path: string;
  readonly value: number | undefined;
}

const take = (
  values: GivenConstraint,
  name: keyof Constraint,
  places: readonly [ValueAt, ValueAt],
  problems: Problem[],
): void => {
  const [first, second] = places;
  if (first.value !== undefined && second.value !== undefined && first.value !== second.value) {
    const detail = `may not be ${first.value} while ${second.path} is ${second.value}`;
    problems.push(invalidField(first.path, detail, `write it only at ${second.path}`));
  }
  const written = second.value === undefined ? first : second;
  if (written.value === undefined) return;
  problems.push(...apiProblems(CONSTRAINT_FIELDS[name], written.value, written.path));
  values[name] = written.value;
};

interface ReplicaRange {
  readonly least: number;
  readonly most: number;
}

/** The larger rate counts, so an absent rate can be the faster one (proposals.md §3, story 3). */
const upWarnings = (
  { percent, pods }: GivenConstraint,
  { least, most }: ReplicaRange,
): readonly Warning[] => {
  if (pods !== undefined && pods > 0 && percent === undefined && pods + 1 < most) {
    const message = `the default percentage is faster than the pods given: from ${pods + 1} replicas on, ${DEFAULT_UP.percent} percent adds more than ${pods === 1 ? "1 pod" : `${pods} pods`}`;
    return [
      {
        field: `${CONSTRAINTS_PATH}.scaleUp.percent`,
        message,
        fix: `write percent: 0 beside pods: ${pods} if only the pods are meant`,
      },
    ];
  }
  if (percent === undefined || percent <= 0 || percent >= DEFAULT_UP.percent || pods !== undefined)
    return [];
  const below = Math.ceil((DEFAULT_UP.pods * 100) / percent);
  const message = `the default of ${DEFAULT_UP.pods} pods is faster than the percentage given: below ${below} replicas it adds more`;
  const fix = `write pods: 0 beside percent: ${percent} if only the percentage is meant`;
  return warnIf(least < below, `${CONSTRAINTS_PATH}.scaleUp.pods`, message, fix);
};

/** A percentage of 0 pods is 0, so a percentage by itself never scales up from 0. */
const wakeWarnings = (
  { percent, pods }: GivenConstraint,
  { least }: ReplicaRange,
): readonly Warning[] =>
  warnIf(
    least === 0 && pods === 0 && percent !== 0,
    `${CONSTRAINTS_PATH}.scaleUp.pods`,
    "with minReplicas: 0 a percentage without pods never scales up from 0: a percentage of 0 pods is 0",
    "write pods: 1 or more, or minReplicas: 1",
  );

/**
 * For scaling down an absent rate means no limit, and a single 0 does not count, so together they
 * forbid nothing.
 */
const downWarnings = ({ percent, pods }: GivenConstraint): Warning[] => {
  const zero =
    percent === 0 && pods === undefined
      ? "percent"
      : pods === 0 && percent === undefined
        ? "pods"
        : undefined;
  if (zero === undefined) return [];
  const other = zero === "percent" ? "pods" : "percent";
  const message = `${zero}: 0 alone does not limit scaling down: ${other} is absent, which is no limit`;
  return [
    {
      field: `${CONSTRAINTS_PATH}.scaleDown.${zero}`,
      message,
      fix: `write ${other}: 0 as well to never scale down`,
    },
  ];
};

const CONSTRAINTS_PATH = "spec.constraints";

/** One direction with its defaults. An absent rate means no limit, unlike 0 (proposals.md §3). */
interface Constraint {
  readonly percent?: number;
  readonly pods?: number;
  readonly periodSeconds: number;
  /** Absent only for scaleDown, where the cluster's downscale stabilization counts. */
  readonly delaySeconds?: number;
}

/** The values in the manifest for one direction. */
type GivenConstraint = Partial<Record<keyof Constraint, number>>;

const DEFAULT_PERIOD_SECONDS = 60;
const DEFAULT_UP = {
  percent: 100,
  pods: 4,
  periodSeconds: DEFAULT_PERIOD_SECONDS,
  delaySeconds: 0,
};
const DEFAULT_DOWN = { periodSeconds: DEFAULT_PERIOD_SECONDS };
