import type { AutoscalerState } from "../../../answers/views/autoscaler.ts";
import type { ClusterState } from "../../../answers/views/cluster.ts";

/** How much a state asks for a person. It chooses the colour, which says nothing by itself. */
export type Weight = "good" | "warn" | "bad" | "quiet";

interface Shape {
  readonly weight: Weight;
  /** Drawn in a box of 12 by 12: filled, and in lines. */
  readonly fill?: string;
  readonly line?: string;
}

const DISC = "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z";
const TRIANGLE = "M6 1L11.5 10.8H.5z";
const BARS = "M2.5 1.5h2.4v9H2.5zM7.1 1.5h2.4v9H7.1z";
const CLOCK = "M6 3v3.2l2.2 1.4";
const STAR = "M6 1v10M1.7 3.5l8.6 5M10.3 3.5l-8.6 5";
const BARRED = "M2.9 2.9l6.2 6.2";

/** Each state has a shape of its own, so that none is known by its colour only. */
export const AUTOSCALER_SHAPES: Readonly<Record<AutoscalerState, Shape>> = {
  active: { weight: "good", fill: DISC },
  limited: { weight: "warn", fill: "M6 1.5a4.5 4.5 0 0 0 0 9z", line: DISC },
  held: { weight: "warn", line: `${DISC}M3.6 6h4.8` },
  paused: { weight: "warn", fill: BARS },
  frozen: { weight: "warn", line: STAR },
  shadow: { weight: "quiet", line: `${DISC}M6 4.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3z` },
  waiting: { weight: "quiet", line: `${DISC}${CLOCK}` },
  failing: { weight: "bad", fill: TRIANGLE },
  forbidden: { weight: "bad", line: `${DISC}${BARRED}` },
  invalid: { weight: "bad", line: "M2 2h8v8H2zM4.2 4.2l3.6 3.6M7.8 4.2L4.2 7.8" },
};

export const CLUSTER_SHAPES: Readonly<Record<ClusterState, Shape>> = {
  ok: AUTOSCALER_SHAPES.active,
  paused: AUTOSCALER_SHAPES.paused,
  frozen: AUTOSCALER_SHAPES.frozen,
  "never synced": AUTOSCALER_SHAPES.waiting,
  late: { weight: "bad", line: `${DISC}${CLOCK}` },
  failing: AUTOSCALER_SHAPES.failing,
  "partly failing": { weight: "warn", line: TRIANGLE },
  forbidden: AUTOSCALER_SHAPES.forbidden,
  unreachable: { weight: "bad", line: "M2 2l8 8M10 2l-8 8" },
};

/** A shape beside the word of a state. */
export const Mark = ({ shape: { weight, fill, line } }: { readonly shape: Shape }) => (
  <svg class={`mark ${weight}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
    {fill !== undefined && <path d={fill} fill="currentColor" />}
    {line !== undefined && <path d={line} fill="none" stroke="currentColor" stroke-width="1.5" />}
  </svg>
);
