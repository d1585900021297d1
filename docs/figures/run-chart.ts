import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

/** One workload of a run, on one clock: minutes since the run began. */
export interface ChartedWorkload {
  readonly name: string;
  /**
   * Pods that the load of each instant needs at the autoscaler's target; absent where the metrics
   * were missing.
   */
  readonly needed: readonly { readonly minute: number; readonly pods: number | undefined }[];
  readonly initialReplicas: number;
  /** Scales that took effect, in order of time. */
  readonly scales: readonly {
    readonly minute: number;
    readonly from: number;
    readonly to: number;
  }[];
  readonly title: string;
}

const WIDTH = 960;
const HEIGHT_EACH = 210;
const INK = "#1b2733";
const LOAD = "#9cc3e6";
const REPLICAS = "#0b5394";
const UP = "#1a8f4a";
const DOWN = "#c2571a";
const HOLE = "#f0d9c8";

/**
 * The chart of one run as SVG text: a row per workload, the load as pods needed, the replicas as
 * they were, a dot per scale.
 */
export const runChart = (workloads: readonly ChartedWorkload[], minutes: number): string => {
  const { document } = parseHTML("<!doctype html><body></body>");
  const rows = workloads.map((workload) => rowOf(workload, minutes, document));
  const height = HEIGHT_EACH * rows.length;
  const placed = rows
    .map((row, at) => `<g transform="translate(0,${at * HEIGHT_EACH})">${row}</g>`)
    .join("\n");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height + 34}" viewBox="0 0 ${WIDTH} ${height + 34}" font-family="system-ui, sans-serif" font-size="12">`,
    "<title>Load, replicas and scale events of one run, per workload</title>",
    `<rect width="100%" height="100%" fill="white"/>`,
    placed,
    legend(height + 20),
    "</svg>\n",
  ].join("\n");
};

const rowOf = (
  workload: ChartedWorkload,
  minutes: number,
  document: ReturnType<typeof parseHTML>["document"],
): string => {
  const { needed, scales, initialReplicas, name } = workload;
  const known = needed.map(({ minute, pods }) => ({ minute, pods: pods ?? Number.NaN }));
  const holes = holesOf(needed);
  const steps = [
    { minute: 0, replicas: initialReplicas },
    ...scales.map(({ minute, to }) => ({ minute, replicas: to })),
    { minute: minutes, replicas: scales.at(-1)?.to ?? initialReplicas },
  ];
  const plot = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT_EACH,
    marginLeft: 46,
    marginTop: 34,
    marginBottom: 30,
    style: { color: INK, background: "none" },
    x: {
      domain: [0, minutes],
      label: null,
      ticks: Math.round(minutes / 15),
      tickFormat: (minute: number) => clock(minute),
    },
    y: { label: "pods", grid: true, zero: true },
    marks: [
      Plot.rectX(holes, { x1: "from", x2: "to", fill: HOLE }),
      Plot.areaY(known, { x: "minute", y: "pods", fill: LOAD, curve: "step-after" }),
      Plot.line(steps, {
        x: "minute",
        y: "replicas",
        stroke: REPLICAS,
        strokeWidth: 2,
        curve: "step-after",
      }),
      Plot.dot(scales, {
        x: "minute",
        y: "to",
        r: 3,
        fill: ({ from, to }: { from: number; to: number }) => (to > from ? UP : DOWN),
      }),
      Plot.ruleY([0]),
    ],
  });
  const heading = `<tspan font-weight="600">${name}</tspan><tspan dx="10" opacity="0.7">${workload.title}</tspan>`;
  return `<text x="46" y="18" fill="${INK}">${heading}</text>${plot.outerHTML}`;
};

const clock = (minute: number): string =>
  `${Math.floor(minute / 60)}:${String(Math.round(minute % 60)).padStart(2, "0")}`;

const holesOf = (
  needed: ChartedWorkload["needed"],
): readonly { readonly from: number; readonly to: number }[] => {
  const holes: { from: number; to: number }[] = [];
  for (const [at, { minute, pods }] of needed.entries()) {
    if (pods !== undefined) continue;
    const to = needed[at + 1]?.minute ?? minute;
    const last = holes.at(-1);
    if (last?.to === minute) last.to = to;
    else holes.push({ from: minute, to });
  }
  return holes;
};

const legend = (y: number): string => {
  const entries: readonly (readonly [string, string])[] = [
    [LOAD, "pods that the load needs at its target"],
    [REPLICAS, "replicas"],
    [UP, "scaled up"],
    [DOWN, "scaled down"],
    [HOLE, "no metrics: nothing shrinks"],
  ];
  let x = 46;
  return entries
    .map(([colour, words]) => {
      const at = x;
      x += 28 + words.length * 6.6;
      return `<rect x="${at}" y="${y - 9}" width="12" height="10" fill="${colour}"/><text x="${at + 17}" y="${y}" fill="${INK}">${words}</text>`;
    })
    .join("");
};
