import type { ComponentChildren } from "preact";

const WIDTH = 110;
const HEIGHT = 6;
/** A load above twice its target is drawn at the end of the bar. */
const LOAD_MAX = 2;
/** The usual tolerance: nothing follows from a load that is less than this above its target. */
const LOAD_OVER = 1.1;

/** The load against its target: the mark in the middle is the target. */
export const LoadBar = ({ load }: { readonly load: number }) => {
  const share = Math.min(load, LOAD_MAX) / LOAD_MAX;
  return (
    <Bar words={`load ${load.toFixed(2)} of its target`}>
      <rect
        class={load > LOAD_OVER ? "over" : "value"}
        width={share * WIDTH}
        height={HEIGHT}
        rx="3"
      />
      <path class="tick" d={`M${WIDTH / 2} -2V${HEIGHT + 2}`} />
    </Bar>
  );
};

/** A count within its bounds. */
export const CountBar = ({
  count,
  min,
  max,
}: {
  readonly count: number;
  readonly min: number;
  readonly max: number;
}) => {
  const share = max <= min ? 1 : Math.min(1, Math.max(0, (count - min) / (max - min)));
  return (
    <Bar words={`${count} replicas, from ${min} to ${max}`}>
      <rect
        class={count >= max && max > min ? "over" : "value"}
        width={Math.max(2, share * WIDTH)}
        height={HEIGHT}
        rx="3"
      />
    </Bar>
  );
};

const Bar = ({
  words,
  children,
}: {
  readonly words: string;
  readonly children: ComponentChildren;
}) => (
  <svg
    class="measure"
    viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
    width={WIDTH}
    height={HEIGHT + 4}
    role="img"
    aria-label={words}
  >
    <rect class="track" width={WIDTH} height={HEIGHT} rx="3" />
    {children}
  </svg>
);
