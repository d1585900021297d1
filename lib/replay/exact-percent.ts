/** What a sample says of a use: the percentage of the request, and the mean of a pod. */
export interface CutOffPercent {
  /** In whole percent, cut off (hpa.md 3.3). */
  readonly percent: number;
  /** In thousandths, cut off as well. Absent where it was not recorded. */
  readonly averageMilli?: number;
}

/** Where nothing else is known, on average half of a percent is missing. */
const HALF = 0.5;
/** What is cut off at most, in thousandths of a percent: the steps in which a replayed pod uses. */
const MOST_CUT_OFF = 0.999;
const PERCENT = 100;

/** What the request of a pod lies between, in thousandths. */
interface Request {
  readonly above: number;
  readonly most: number;
}

/**
 * Percentages with what was cut off of them. A percentage and the mean of a pod say between which
 * amounts the request of a pod lies, samples in a row narrow that down, and the mean divided by the
 * request is the percentage. A sample that no such request explains begins with another request, as
 * after an edit of the workload. No percentage is moved to another whole one.
 */
export const exactPercents = (
  samples: readonly (CutOffPercent | undefined)[],
): readonly (number | undefined)[] => {
  const requests: Request[] = [];
  const stretchAt = samples.map((sample) => {
    const before = requests.at(-1);
    const own = sample && requestOf(sample);
    const both = own && before && narrowed(before, own);
    if (both) requests[requests.length - 1] = both;
    else if (own) requests.push(own);
    return requests.length - 1;
  });
  return samples.map((sample, at) => sample && exactOf(sample, requests[stretchAt[at] ?? -1]));
};

const requestOf = ({ percent, averageMilli }: CutOffPercent): Request | undefined =>
  averageMilli === undefined || averageMilli <= 0 || percent < 0
    ? undefined
    : {
        above: (PERCENT * averageMilli) / (percent + 1),
        most: percent === 0 ? Number.POSITIVE_INFINITY : (PERCENT * (averageMilli + 1)) / percent,
      };

const narrowed = (one: Request, other: Request): Request | undefined => {
  const above = Math.max(one.above, other.above);
  const most = Math.min(one.most, other.most);
  return above < most ? { above, most } : undefined;
};

const exactOf = (
  { percent, averageMilli }: CutOffPercent,
  request: Request | undefined,
): number => {
  if (averageMilli === 0) return percent;
  if (averageMilli === undefined || request === undefined || request.most === Infinity)
    return percent === 0 ? 0 : percent + HALF;
  const exact = (PERCENT * (averageMilli + HALF) * 2) / (request.above + request.most);
  return Math.min(Math.max(exact, percent), percent + MOST_CUT_OFF);
};
