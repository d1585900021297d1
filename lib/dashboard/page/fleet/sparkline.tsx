import { extent } from "d3-array";
import { scaleLinear } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import type { Sparkline } from "./use-sparklines.ts";

const WIDTH = 116;
const HEIGHT = 26;

/** The count as a line of steps, and the load behind it. */
export const SparklinePicture = ({ current, load }: Sparkline) => {
  const counts = current.flatMap((count) => count ?? []);
  const [least = 0, most = 0] = extent(counts);
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={
        counts.length === 0
          ? "nothing in the last hour"
          : `from ${least} to ${most} replicas in the last hour`
      }
    >
      <path class="load" d={pathOf(load, 0)} />
      <path class="count" d={pathOf(current, 0)} />
    </svg>
  );
};

const pathOf = (values: readonly (number | null)[], floor: number): string => {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const x = scaleLinear([0, Math.max(1, values.length)], [1, WIDTH - 1]);
  const y = scaleLinear([floor, most], [HEIGHT - 2, 2]);
  return (
    line<number | null>()
      .defined((value) => value !== null)
      .x((_, at) => x(at))
      .y((value) => y(value ?? 0))
      // The last value lasts for a step as the others do.
      .curve(curveStepAfter)([...values, values.at(-1) ?? null]) ?? ""
  );
};
