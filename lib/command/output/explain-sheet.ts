import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { podsText, valueText } from "../../stack/report/metric-reading.ts";
import { type Printed, text, type Word } from "../../stack/report/printed.ts";
import type { DecisionView, Explanation } from "../../answers/views/autoscaler.ts";
import type { EventView, MetricView, StepView } from "../../answers/views/event.ts";
import { ageText, untilText, type SheetRow, sheet, aligned, Table } from "./text-table.ts";
import { boundsLines } from "./bounds-lines.ts";
import type { Paint } from "../io.ts";
import type { DirectionView, RateView, WindowsView } from "../../answers/views/windows.ts";

/**
 * Explains a count: the metrics, each step of the pipeline, the windows, and what would change the
 * outcome.
 */
export const explainSheet = (explanation: Explanation, nowMs: number, paint: Paint): Printed => {
  const { decision, outside } = explanation;
  const atMs = Date.parse(decision.at);
  return sheet([
    ["Name", explanation.name],
    ["Namespace", explanation.namespace],
    ["Cluster", explanation.cluster],
    ["Evaluated", `${decision.at} (${ageText(nowMs - atMs)} ago)`],
    ...(explanation.beforeSeconds === undefined
      ? []
      : [["Shown", shownText(explanation.stored, explanation.beforeSeconds)] as const]),
    ["Outcome", paint("strong", outcomeText(explanation))],
    ["Reason", `${decision.reason}: ${decision.message}`],
    ...(outside
      ? [
          [
            "Outside",
            `${outside.message} (seen ${ageText(nowMs - Date.parse(outside.settledAt))} ago)`,
          ] as const,
        ]
      : []),
    ...(decision.withoutHold
      ? [["Without hold", withoutHoldText(decision.withoutHold, decision.from)] as const]
      : []),
    { heading: "Metrics", lines: metricLines(explanation.metrics, paint) },
    {
      heading: "Steps",
      lines:
        explanation.steps.length === 0
          ? ["<none>"]
          : aligned(explanation.steps.map((step) => stepRow(step, atMs))),
    },
    ...(explanation.bounds
      ? [{ heading: "Bounds", lines: boundsLines(explanation.bounds, atMs) }]
      : []),
    { heading: "Windows", lines: windowLines(explanation.windows, atMs) },
    { heading: "For another outcome", lines: explanation.otherwise },
  ] satisfies readonly SheetRow[]);
};

/** Which of the stored decisions is shown for an instant. */
const shownText = (stored: Explanation["stored"], beforeSeconds: number): string => {
  const what =
    stored === "evaluation"
      ? "the nearest stored evaluation"
      : "the nearest scale event, because no evaluation is stored any more";
  return `${what}, ${ageText(beforeSeconds * 1000)} before`;
};

const outcomeText = ({ decision }: Explanation): string => {
  const refused = decision.refused === undefined ? "" : `, which was refused: ${decision.refused}`;
  if (decision.kind === "scale") return `scale from ${decision.from} to ${decision.to}${refused}`;
  return decision.from === undefined ? "hold, without an evaluation" : `hold at ${decision.from}`;
};

/** For example "scale 2 -> 5: AboveTarget: …", or why the rules would hold too. */
export const withoutHoldText = (
  { to, reason, message }: NonNullable<DecisionView["withoutHold"]>,
  from: number | undefined,
): string => `${to === undefined ? "hold" : `scale ${from} -> ${to}`}: ${reason}: ${message}`;

/** The metrics and steps of a scale, indented to stand below its row. */
export const whyLines = (
  event: Pick<EventView, "at" | "metrics" | "steps">,
  paint: Paint,
): readonly Word[] => {
  const { metrics, steps } = withLocalTimes(event);
  const rows = [
    ...(metrics.length === 0 ? [] : metricLines(metrics, paint)),
    ...aligned(steps.map((step) => stepRow(step, Date.parse(event.at)))),
  ];
  return rows.length === 0
    ? ["    nothing else is stored of it"]
    : rows.map((row) => text`    ${row}`);
};

/** A row for each metric, and below it what its value was made of. */
const metricLines = (all: readonly MetricView[], paint: Paint): readonly Word[] => {
  if (all.length === 0) return ["<none evaluated>"];
  const rows = all.map((metric) => [metricRow(metric, paint), ...inputRows(metric, paint)]);
  const [head = "", ...lines] = new Table(["Metric", "Value", "Target", "Ratio", "Proposes"]).lines(
    rows.flat(),
  );
  let at = 0;
  return [
    head,
    ...all.flatMap((metric, nth) => {
      const own = lines.slice(at, at + (rows[nth]?.length ?? 0));
      at += own.length;
      return [...own, ...podLines(metric)];
    }),
  ];
};

/** What a formula was calculated from. */
const inputRows = (metric: MetricView, paint: Paint): readonly (readonly Word[])[] => {
  const inputs = metric.kind === "unmeasured" ? [] : (metric.inputs ?? []);
  return inputs.map(({ name, value, message, ageSeconds }) => {
    const time = ageSeconds === undefined ? "" : `measured ${ageText(ageSeconds * 1000)} before`;
    return value === undefined
      ? [`  ${name}`, paint("bad", "missing"), "", "", message ?? ""]
      : [`  ${name}`, value, "", "", time];
  });
};

/** Which pods made the value, and the value with what was assumed for the others. */
const podLines = (metric: MetricView): readonly string[] => {
  if (metric.kind !== "measured") return [];
  const pods = podsText(metric);
  const assumed = metric.assumed && `the value with these is ${metric.assumed.value}`;
  return [pods, assumed].flatMap((line) => (line === undefined ? [] : [`  ${line}`]));
};

const metricRow = (metric: MetricView, paint: Paint): readonly Word[] => {
  switch (metric.kind) {
    case "measured":
      return [
        metric.name,
        valueText(metric),
        metric.target,
        metric.ratio === undefined ? "-" : metric.ratio.toFixed(3),
        String(metric.proposal),
      ];
    case "failed":
      return [
        metric.name,
        paint("bad", "failed"),
        metric.target ?? "-",
        "-",
        `nothing: ${metric.reason}: ${metric.message}`,
      ];
    case "unmeasured":
      return [metric.name, "not measured", metric.target, "-", "nothing"];
  }
};

const stepRow = ({ step, before, after, limit }: StepView, atMs: number): readonly string[] => {
  const count = before === after ? `${before}` : `${before} -> ${after}`;
  if (!limit) return [step, count, before === after ? "unchanged" : ""];
  const end =
    limit.until === undefined
      ? ""
      : `, until ${limit.until} (${untilText(Date.parse(limit.until), atMs)})`;
  return [step, count, `${limit.reason} ${limit.value}: ${limit.message}${end}`];
};

/** Number of runs of recommendations that are listed; older ones are counted. */
const SHOWN_RUNS = 5;

const NAMES = { scaleUp: "Scale up", scaleDown: "Scale down" } as const;

/**
 * Formats the windows: the recommendations, what stabilization holds and until when, and which
 * scale events count for which rate.
 */
export const windowLines = (windows: WindowsView, nowMs: number): readonly string[] =>
  windows.problem === undefined
    ? known(windows, nowMs)
    : [`${windows.problem}; see tidemark partition describe`];

const known = (windows: WindowsView, nowMs: number): readonly string[] => {
  const {
    recommendations: runs,
    stabilization,
    rates,
    forbidden = [],
    timers = [],
    flap,
    pausedUntil,
  } = windows;
  const end = (until: string): string => `${until} (${untilText(Date.parse(until), nowMs)})`;
  return [
    // Rules without stabilization keep no recommendations.
    ...(runs.length > 0 || stabilization.length > 0 ? recommendations(windows, nowMs) : []),
    ...forbidden.map(
      ({ direction, windowSeconds, until }) =>
        `${NAMES[direction]} forbidden window ${ageText(windowSeconds * 1000)}: ${until === undefined ? "open" : `closed until ${end(until)}`}`,
    ),
    ...timers.map((timer) => timerLine(timer, nowMs)),
    ...(flap ? [flapLine(flap, end)] : []),
    ...stabilization.map(({ direction, windowSeconds, held }) => {
      const state = held ? `held at ${held.replicas} until ${end(held.until)}` : "holds nothing";
      return `${NAMES[direction]} stabilization ${ageText(windowSeconds * 1000)}: ${state}`;
    }),
    ...rates.flatMap((rate) => rateLines(rate, nowMs)),
    ...(pausedUntil === undefined ? [] : [`Paused by the manifest until ${end(pausedUntil)}`]),
    ...(windows.notStored === undefined ? [] : [`Not stored any more: ${windows.notStored}`]),
  ];
};

const timerLine = (
  { name, seconds, since, until }: NonNullable<WindowsView["timers"]>[number],
  nowMs: number,
): string => {
  if (since === undefined || until === undefined)
    return `${name} ${ageText(seconds * 1000)}: not begun`;
  const [sinceMs, untilMs] = [Date.parse(since), Date.parse(until)];
  const end =
    untilMs <= nowMs
      ? "which is long enough"
      : `which is long enough at ${until} (${untilText(untilMs, nowMs)})`;
  return `${name} ${ageText(seconds * 1000)}: active since ${since} (${ageText(nowMs - sinceMs)} ago), ${end}`;
};

const flapLine = (
  { reversals, periodSeconds, made, until }: NonNullable<WindowsView["flap"]>,
  end: (until: string) => string,
): string => {
  const state = until === undefined ? "a scale down fits" : `no scale down until ${end(until)}`;
  return `Flap budget ${reversals} in ${ageText(periodSeconds * 1000)}: ${made} reversal${made === 1 ? "" : "s"} made, ${state}`;
};

const rateLines = (
  { direction, type, value, periodSeconds, events, ...counted }: WindowsView["rates"][number],
  nowMs: number,
): readonly string[] => [
  `${NAMES[direction]} rate ${amountText(direction, type, value)} in ${ageText(periodSeconds * 1000)}: ${countedText(direction, counted)}`,
  ...events.map(
    ({ change, at, leaves }) =>
      `  ${change > 0 ? "+" : ""}${change} ${ageText(nowMs - Date.parse(at))} ago, leaves ${untilText(Date.parse(leaves), nowMs)}`,
  ),
];

/** A rate that counts only its own direction shows only that one. */
const countedText = (
  direction: DirectionView,
  { added, removed, countedChanges }: Pick<RateView, "added" | "removed" | "countedChanges">,
): string => {
  if (countedChanges === undefined) return `${added} added, ${removed} removed`;
  return direction === "scaleUp" ? `${added} added` : `${removed} removed`;
};

const amountText = (direction: DirectionView, type: RateView["type"], value: number): string => {
  switch (type) {
    case "Pods":
      return `${value} pods`;
    case "Percent":
      return `${value} percent`;
    case "Factor":
      return direction === "scaleUp" ? `times ${value}` : `divided by ${value}`;
  }
};

const recommendations = (
  { recommendations: runs }: WindowsView,
  nowMs: number,
): readonly string[] => {
  if (runs.length === 0) return ["Recommendations: none"];
  const shown = runs.slice(-SHOWN_RUNS).map(({ replicas, first, last }) => {
    const [from, to] = [ageText(nowMs - Date.parse(first)), ageText(nowMs - Date.parse(last))];
    return `${replicas} (${from === to ? `${to} ago` : `${from} to ${to} ago`})`;
  });
  const older = runs.length > SHOWN_RUNS ? `${runs.length - SHOWN_RUNS} older, ` : "";
  return [`Recommendations: ${older}${shown.join(", ")}`];
};
