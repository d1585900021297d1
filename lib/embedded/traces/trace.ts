/**
 * A recorded series: how much was asked of a workload, sample by sample. It is never interpolated.
 */
export interface Trace {
  /** At least one; times strictly rise. */
  readonly points: readonly TracePoint[];
  /** What is counted, as the file says: "invocations per minute (sum)". */
  readonly unit: string;
  /** The usual distance of two samples; a longer one is a gap. */
  readonly stepMs: number;
}

export interface TracePoint {
  readonly atMs: number;
  readonly value: number;
}

/** The recorded workloads of Tidemark. NOTICE in this folder names their authors and licences. */
export const SHIPPED_TRACES = [
  "azurefn-diurnal-1m",
  "azurefn-ramps-zero-1m",
  "azurefn-squarewave-1m",
  "azurefn-steps-1m",
  "nab-ec2-cpu-noisy-5m",
  "nasa-http-launch-week-1m",
] as const;

export type ShippedTrace = (typeof SHIPPED_TRACES)[number];

const HIGH_QUANTILE = 0.95;

/**
 * The value that the trace exceeds in one sample of twenty; of a trace that is nearly all zeros its
 * highest.
 */
export const ordinaryHigh = ({ points }: Trace): number => {
  const values = points.map(({ value }) => value).sort((a, b) => a - b);
  return values[Math.floor(values.length * HIGH_QUANTILE)] || values.at(-1) || 1;
};

/**
 * What a trace says at one instant. `missing`: a gap lies there; the value is the last one
 * recorded, and no metric of it exists.
 */
export interface Demand {
  readonly value: number;
  readonly missing: boolean;
}

/** Half a step of tolerance, because recorders are seldom exact to the second. */
const GAP_FACTOR = 1.5;

/** Time from the first sample to the end of the last one. */
export const spanMs = ({ points, stepMs }: Trace): number =>
  pointAt(points, points.length - 1).atMs + stepMs - pointAt(points, 0).atMs;

/**
 * The sample held at `offsetMs` after the first one. Beyond its end a trace starts again, so that a
 * day can be played for a week.
 */
export const demandAt = (trace: Trace, offsetMs: number): Demand => {
  const { held, intoMs } = locate(trace, offsetMs);
  const { value } = pointAt(trace.points, held);
  return { value, missing: firstMs(trace) + intoMs >= holdsUntilMs(trace, held) };
};

/** The next offset, greater than the given one, at which `demandAt` may answer differently. */
export const nextChangeMs = (trace: Trace, offsetMs: number): number => {
  const { held, intoMs } = locate(trace, offsetMs);
  const into = firstMs(trace) + intoMs;
  const holdEndMs = holdsUntilMs(trace, held);
  if (into < holdEndMs) return offsetMs + (holdEndMs - into);
  return offsetMs + (endOf(trace, held) - into);
};

const locate = (
  trace: Trace,
  offsetMs: number,
): { readonly held: number; readonly intoMs: number } => {
  const span = spanMs(trace);
  const intoMs = ((offsetMs % span) + span) % span;
  return { held: lastAtOrBefore(trace.points, firstMs(trace) + intoMs), intoMs };
};

/** A sample is good until the next one comes, unless that one is late: then for one step. */
export const holdsUntilMs = (trace: Trace, held: number): number => {
  const { atMs } = pointAt(trace.points, held);
  const endMs = endOf(trace, held);
  return endMs - atMs > trace.stepMs * GAP_FACTOR ? atMs + trace.stepMs : endMs;
};

const endOf = ({ points, stepMs }: Trace, held: number): number =>
  points[held + 1]?.atMs ?? pointAt(points, held).atMs + stepMs;

const firstMs = ({ points }: Trace): number => pointAt(points, 0).atMs;

const lastAtOrBefore = (points: readonly TracePoint[], atMs: number): number => {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (pointAt(points, middle).atMs <= atMs) low = middle;
    else high = middle - 1;
  }
  return low;
};

const pointAt = (points: readonly TracePoint[], index: number): TracePoint => {
  const point = points[index];
  if (!point) throw new RangeError(`A trace of ${points.length} points has none at ${index}`);
  return point;
};
