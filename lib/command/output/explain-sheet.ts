import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { podsText, valueText } from "../../stack/report/metric-reading.ts";
import { type Printed, text, type Word } from "../../stack/report/printed.ts";
import type { Explanation } from "../../answers/views/autoscaler.ts";
import type { EventView, MetricView } from "../../answers/views/event.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { type SheetRow, sheet, aligned, Table } from "./text-table.ts";
import { boundsLines } from "./bounds-lines.ts";
import type { Paint } from "../io.ts";
import {
  outcomeText,
  shownText,
  stepRow,
  withoutHoldText,
} from "../../answers/words/decision-words.ts";
import { turnsText } from "../../answers/words/turns-words.ts";
import { windowLines } from "../../answers/words/window-words.ts";

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
    ...(decision.woken === undefined ? [] : [["Woken", decision.woken] as const]),
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
    // With one metric, "For another outcome" says where its count turns.
    {
      heading: "Metrics",
      lines: metricLines(
        explanation.metrics,
        explanation.metrics.length > 1 ? decision.from : undefined,
        paint,
      ),
    },
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

/** The metrics and steps of a scale, indented to stand below its row. */
export const whyLines = (
  event: Pick<EventView, "at" | "from" | "metrics" | "steps">,
  paint: Paint,
): readonly Word[] => {
  const { metrics, steps } = withLocalTimes(event);
  const rows = [
    ...(metrics.length === 0 ? [] : metricLines(metrics, event.from, paint)),
    ...aligned(steps.map((step) => stepRow(step, Date.parse(event.at)))),
  ];
  return rows.length === 0
    ? ["    nothing else is stored of it"]
    : rows.map((row) => text`    ${row}`);
};

/**
 * A row for each metric, and below it what its value was made of; with a count, also at which value
 * the metric would ask for another one.
 */
const metricLines = (
  all: readonly MetricView[],
  from: number | undefined,
  paint: Paint,
): readonly Word[] => {
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
      return [...own, ...podLines(metric, from)];
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

/** Which pods made the value, the value with what was assumed for the others, and its turns. */
const podLines = (metric: MetricView, from: number | undefined): readonly string[] => {
  if (metric.kind !== "measured") return [];
  const pods = podsText(metric);
  const assumed = metric.assumed && `the value with these is ${metric.assumed.value}`;
  const turns = from === undefined ? undefined : turnsText(metric, from);
  return [pods, assumed, turns].flatMap((line) => (line === undefined ? [] : [`  ${line}`]));
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
