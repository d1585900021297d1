import { wholeHistory } from "../../answers/service/history/history.ts";
import { type MetricOutlook, outlooksOf, playedOutlooks } from "../../replay/forecast/outlook.ts";
import { targetOf, tracedMetrics } from "../../replay/traced.ts";
import { specOf } from "../../rules/manifest/admit.ts";
import {
  FORECAST_HISTORY_MS,
  FORECAST_QUANTILES,
  FORECAST_REACH_MS,
  FORECAST_STEP_MS,
  FORECAST_STEPS,
  type ForecastQuantile,
} from "../../rules/model/forecast.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import type { AutoscalerSpec, Validation } from "../../rules/model/spec.ts";
import { lines, type Printed, type Word } from "../../stack/report/printed.ts";
import { timelineLines } from "../../stack/report/timeline/drawing.ts";
import { timelineOfOutlook } from "../forecast/drawing.ts";
import { type ForecastReport, forecastReport } from "../forecast/report.ts";
import { headLine, metricLines } from "../forecast/sheet.ts";
import type { CommandSurroundings, Session } from "../io.ts";
import { lengthMs } from "../options/time-options.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { csvLine } from "../output/text-table.ts";
import { metricsOrThrow, readCandidates, targetText } from "../replay/candidates.ts";
import { readTraceInput, type TraceOptions } from "../replay/trace-input.ts";
import type { FileOptions } from "../select/read-sources.ts";
import { type NamedAutoscalerOfKind, queryFor } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";
import { clockOf } from "./timeline.ts";

export interface ForecastOptions {
  readonly ahead: string;
  readonly quantile?: string;
  readonly output: "text" | "csv" | DocumentFormat;
}

type Surroundings = CommandSurroundings<"columns">;

/** A step of the history: as a stack reads it for its own forecasts. */
const HISTORY_STEP_MS = 5 * MINUTE_MS;

/** What the load of an autoscaler will need in the next hours, and how good such forecasts were. */
export const forecast = async (
  { service, nowMs }: Session,
  surroundings: Surroundings,
  resource: NamedAutoscalerOfKind,
  options: ForecastOptions,
): Promise<void> => {
  const query = await queryFor(service, resource);
  const view = await service.get(query);
  const { namespace, name } = view;
  const untilMs = Math.floor(nowMs / FORECAST_STEP_MS) * FORECAST_STEP_MS;
  const history = await wholeHistory(service, {
    ...{ ...query, sinceMs: Math.max(0, untilMs - FORECAST_HISTORY_MS), untilMs: nowMs },
    stepMs: HISTORY_STEP_MS,
  });
  const spec = specOf(JSON.stringify(view.manifest), `${namespace}/${name}`);
  const samples = history.points.map(({ at, ...point }) => ({ ...point, atMs: Date.parse(at) }));
  const outlooks = outlooksOf({
    ...{ spec, namespace, samples, periodMs: HISTORY_STEP_MS, untilMs: nowMs },
  });
  const of = `${view.cluster}/${namespace}/${name}`;
  await print(surroundings, { of, spec, outlooks, fromMs: untilMs }, options);
};

export interface TraceForecastOptions extends FileOptions, TraceOptions, ForecastOptions {
  readonly validate: Validation;
}

/** The same of a recorded load, and of the target of a manifest. It opens no folder and no stack. */
export const forecastTrace = async (
  surroundings: CommandSurroundings<"columns" | "stdin">,
  options: TraceForecastOptions,
): Promise<void> => {
  const { printer, io } = surroundings;
  const [candidate, ...more] = await readCandidates(printer, options, io.stdin);
  if (!candidate || more.length > 0)
    throw usage(
      `Cannot forecast for ${more.length + (candidate ? 1 : 0)} autoscalers: give the manifest of one with -f`,
    );
  const { name, traced, untilMs } = await readTraceInput(options);
  const { spec } = candidate.admitted;
  const metrics = metricsOrThrow(candidate.label, tracedMetrics(spec, traced));
  if (targetOf(metrics, traced).length === 0)
    throw usage(
      `Cannot forecast for "${candidate.label}": no number of pods is right by its metrics; give a policy with a target for each pod`,
    );
  const { requestMilli, limitMilli } = traced.pod;
  const pods = {
    requests: { cpu: BigInt(requestMilli) },
    limits: { cpu: BigInt(limitMilli) },
  };
  const outlooks = playedOutlooks(metrics, { pods, untilMs });
  const fromMs = Math.floor(untilMs / FORECAST_STEP_MS) * FORECAST_STEP_MS;
  await print(surroundings, { of: name, spec, outlooks, fromMs }, options);
};

interface Made {
  readonly of: string;
  readonly spec: AutoscalerSpec;
  readonly outlooks: readonly MetricOutlook[];
  readonly fromMs: number;
}

const print = async (
  { printer, io }: Surroundings,
  made: Made,
  { ahead, quantile: given, output }: ForecastOptions,
): Promise<void> => {
  const { of, spec, outlooks, fromMs } = made;
  const quantile = quantileOf(given) ?? spec.advice?.quantile ?? "p90";
  const steps = stepsOf(ahead);
  const report = forecastReport({ of, fromMs, quantile, steps, outlooks });
  const paper = { columns: io.columns ?? COLUMNS, colours: printer.colours };
  if (output === "text") await printer.print(sheetOf(report, made, steps, paper));
  else if (output === "csv") await printer.print(csvOf(report));
  else await printer.print(documentText(report, output));
};

const quantileOf = (text: string | undefined): ForecastQuantile | undefined => {
  if (text === undefined) return undefined;
  const known = FORECAST_QUANTILES.find((one) => one === text);
  if (known) return known;
  throw usage(`Cannot read --quantile "${text}": give one of ${FORECAST_QUANTILES.join(", ")}`);
};

const stepsOf = (ahead: string): number => {
  const aheadMs = lengthMs("--ahead", ahead);
  if (aheadMs > FORECAST_REACH_MS)
    throw usage(`Cannot forecast ${ahead} ahead: a forecast reaches 12h; give --ahead 12h or less`);
  return Math.min(FORECAST_STEPS, Math.ceil(aheadMs / FORECAST_STEP_MS));
};

const COLUMNS = 80;
const LOAD_ROWS = 3;
const POD_ROWS = 6;

const sheetOf = (
  report: ForecastReport,
  { spec, outlooks, fromMs }: Made,
  steps: number,
  paper: { readonly columns: number; readonly colours: boolean },
): Printed => {
  const { quantile } = report;
  const bounds = { min: spec.minReplicas, max: spec.maxReplicas };
  const loadName = `demand against ${targetText(spec)}, of the pods that it needs now`;
  const metrics = report.metrics.flatMap((metric, at): readonly Word[] => {
    const outlook = outlooks[at];
    const drawn =
      outlook && timelineOfOutlook(outlook, { fromMs, quantile, steps, bounds, loadName });
    const size = { ...paper, loadRows: LOAD_ROWS, podRows: POD_ROWS };
    return [
      "",
      ...metricLines(metric, quantile),
      ...(drawn ? ["", ...timelineLines(drawn, { ...size, clock: clockOf(drawn) })] : []),
    ];
  });
  return lines([headLine(report), ...metrics]);
};

const csvOf = ({ metrics }: ForecastReport): Printed =>
  lines([
    csvLine(["at", "metric", ...FORECAST_QUANTILES, "pods"]),
    ...metrics.flatMap(({ metric, steps }) =>
      steps.map((step) =>
        csvLine([step.at, metric, ...FORECAST_QUANTILES.map((one) => step[one]), step.pods]),
      ),
    ),
  ]);
