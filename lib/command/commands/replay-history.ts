import { rfc3339 } from "../../answers/service/times.ts";
import { besideFirst } from "../../replay/comparison.ts";
import { figuresOf, type TimeSpan } from "../../replay/figures.ts";
import { type Fidelity, fidelityOf, happened } from "../../replay/happened.ts";
import { shareAtLevel } from "../../replay/load.ts";
import type { Minutes } from "../../replay/minutes.ts";
import {
  cutOffSeries,
  heldSeries,
  outsideOf,
  overridesIn,
  podStartOf,
  raisedWhere,
  syncedSeries,
} from "../../replay/recorded.ts";
import {
  type ChosenModels,
  RECORDED_REQUEST_MILLI,
  recordedLoads,
  recordedMetrics,
} from "../../replay/recorded-metrics.ts";
import {
  type Policy,
  type ReplayedSpec,
  type ReplayedWorkload,
  replay,
} from "../../replay/replay.ts";
import { productOf } from "../../replay/series.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { autoscalerName, namespace } from "../../rules/model/ids.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";
import { HOUR_MS, SECOND_MS } from "../../rules/model/time-text.ts";
import type { CommandSurroundings, Session } from "../io.ts";
import { kindOf } from "../output/documents.ts";
import { ageText } from "../output/text-table.ts";
import { lengthMs, rangeMs } from "../options/time-options.ts";
import {
  type CandidatePolicy,
  containerOf,
  metricsOrThrow,
  targetText,
} from "../replay/candidates.ts";
import { type Drawn, printedReport } from "../replay/printed-report.ts";
import { type ReadHistory, readReplayed } from "../replay/read-history.ts";
import {
  figuresReport,
  policyReport,
  type RaisedReport,
  type ReplayReport,
} from "../replay/report.ts";
import { percentText } from "../replay/sheet.ts";
import type { NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";
import { countedWords, pricePerHour, type ReplayOutput } from "./replay.ts";

export interface HistoryReplayOptions {
  readonly since?: string;
  readonly until?: string;
  readonly podStart?: string;
  readonly price?: string;
  readonly anyway?: true;
  readonly output: ReplayOutput;
}

const DEFAULT_SINCE = "7d";
const DEFAULT_POD_START_MS = 30_000;
/** No window that people use is longer. */
const WARM_UP_MS = HOUR_MS;
/** By so much a replay of the unchanged policy may be off before a comparison says nothing. */
const OFF_MAX = 0.05;
/** What demand may have been where it was cut off: nobody knows how much more was asked for. */
const RAISED = [1.25, 1.5] as const;

/** Replays an autoscaler over its history: as it was, and with other manifests. */
export const replayOne = async (
  session: Session,
  { printer, io }: CommandSurroundings<"columns">,
  resource: NamedAutoscalerOfKind,
  {
    candidates,
    models,
    ...options
  }: HistoryReplayOptions & {
    readonly candidates: readonly CandidatePolicy[];
    readonly models: ChosenModels;
  },
): Promise<void> => {
  const { sinceMs = 0, untilMs = session.nowMs } = rangeMs(
    { since: options.since ?? DEFAULT_SINCE, ...(options.until && { until: options.until }) },
    session.nowMs,
    printer.note,
  );
  const read = await readReplayed(session.service, resource, {
    sinceMs: Math.max(0, sinceMs - WARM_UP_MS),
    untilMs,
  });
  const replayed = replayedHistory(read, { sinceMs, models, podStart: options.podStart });
  const others = candidates.map(({ label, admitted }) => replayed.with(label, admitted.spec));
  const price = pricePerHour(options.price);
  const drawn = reportOf(replayed, candidates, others, price);
  if (candidates.length > 0 && !options.anyway) refuseUnlike(read, drawn);
  await printer.print(
    printedReport(drawn, options.output, { columns: io.columns, colours: printer.colours }),
  );
};

/** On doubt, no comparison: what cannot tell what happened cannot tell what would have. */
const refuseUnlike = ({ view }: ReadHistory, { report: { fidelity } }: Drawn): void => {
  if (!fidelity || Math.abs(fidelity.hoursOff) <= OFF_MAX) return;
  throw new TidemarkError(
    "replay.unlike",
    `Cannot compare policies for "${view.namespace}/${view.name}": ${fidelityText(fidelity)}, and at most ${percentText(OFF_MAX)} may differ; give another --since, or --anyway`,
    fidelity,
  );
};

const fidelityText = ({ sameMinutes, hoursOff }: Fidelity): string =>
  `a replay of the unchanged policy has the count that there was in ${percentText(sameMinutes)} of the minutes, and its replica-hours differ by ${percentText(Math.abs(hoursOff))}`;

interface ReplayedHistory {
  readonly read: ReadHistory;
  readonly spec: AutoscalerSpec;
  readonly target: string;
  readonly podStartMs: number;
  readonly fromMs: number;
  readonly counted: TimeSpan;
  readonly real: Minutes;
  readonly unchanged: ReplayedPolicy;
  readonly with: (label: string, spec: AutoscalerSpec) => ReplayedPolicy;
}

/** The minutes of a policy, and what they would be if more had been asked for where it was cut off. */
interface ReplayedPolicy {
  readonly minutes: Minutes;
  readonly raised: readonly { readonly factor: number; readonly minutes: Minutes }[];
}

interface HistorySettings {
  readonly sinceMs: number;
  readonly models: ChosenModels;
  readonly podStart: string | undefined;
}

const replayedHistory = (
  read: ReadHistory,
  { sinceMs, models, podStart }: HistorySettings,
): ReplayedHistory => {
  const { view, recorded, settings } = read;
  const inside = view.namespace;
  const measured = recordedLoads(recorded, inside, models);
  const named = `${view.namespace}/${view.name}`;
  const [first, ...later] = recorded.specs.map(
    ({ fromMs, spec }): ReplayedSpec => ({
      fromMs,
      spec,
      metrics: metricsOrThrow(named, recordedMetrics(spec, measured, inside)),
    }),
  );
  if (!first) throw usage(`Cannot replay "${named}": it has no manifest`);
  const { spec, metrics } = later.at(-1) ?? first;
  const podStartMs =
    podStart === undefined
      ? (podStartOf(recorded) ?? DEFAULT_POD_START_MS)
      : lengthMs("--pod-start", podStart, 0);
  const target = metrics.flatMap((metric) => shareAtLevel(metric, RECORDED_REQUEST_MILLI));
  const [firstSample] = recorded.samples;
  const fromMs = firstSample?.atMs ?? sinceMs;
  const counted = { fromMs: Math.max(fromMs, sinceMs), untilMs: recorded.untilMs };
  const cutOff = cutOffSeries(recorded);
  const workload: ReplayedWorkload = {
    pods: {
      target: spec.target,
      container: containerOf([first, ...later]),
      requests: { cpu: BigInt(RECORDED_REQUEST_MILLI) },
      limits: { cpu: BigInt(RECORDED_REQUEST_MILLI) },
      startMs: podStartMs,
    },
    initialReplicas: firstSample?.current ?? spec.minReplicas,
    target,
    cutOff,
    synced: syncedSeries(recorded),
    held: heldSeries(recorded),
    outside: outsideOf(recorded).filter(({ atMs }) => atMs >= fromMs),
  };
  const setByPeople = { overrides: overridesIn(recorded), calendars: recorded.calendars };
  const base = {
    ...{ namespace: namespace(view.namespace), name: autoscalerName(view.name) },
    ...{ settings, setByPeople },
  };
  const span = { fromMs, untilMs: recorded.untilMs, periodMs: recorded.periodMs };
  const hasCutOff = cutOff.values.includes(1);
  const replayedBy = (specs: Policy["specs"]): ReplayedPolicy => ({
    minutes: replay({ ...base, specs }, workload, span),
    raised: (hasCutOff ? RAISED : []).map((factor) => {
      const more = raisedWhere(cutOff, factor);
      const raisedLoad = <Of extends { readonly load: Parameters<typeof productOf>[0] }>(
        of: Of,
      ): Of => ({ ...of, load: productOf(of.load, more) });
      const raisedSpec = (one: ReplayedSpec): ReplayedSpec => ({
        ...one,
        metrics: one.metrics.map(({ level, model }) => ({ level, model: raisedLoad(model) })),
      });
      const [one, ...rest] = specs;
      const minutes = replay(
        { ...base, specs: [raisedSpec(one), ...rest.map(raisedSpec)] },
        { ...workload, target: workload.target.map(raisedLoad) },
        span,
      );
      return { factor, minutes };
    }),
  });
  return {
    ...{ read, spec, podStartMs, fromMs, counted },
    target: targetText(spec),
    real: happened(recorded, target, span),
    unchanged: replayedBy([first, ...later]),
    with: (label, changed) =>
      replayedBy([
        {
          fromMs: 0,
          spec: changed,
          metrics: metricsOrThrow(label, recordedMetrics(changed, measured, inside)),
        },
      ]),
  };
};

const reportOf = (
  { read, target, podStartMs, fromMs, counted, real, unchanged }: ReplayedHistory,
  candidates: readonly CandidatePolicy[],
  others: readonly ReplayedPolicy[],
  price: number | undefined,
): Drawn => {
  const { view, recorded } = read;
  const minutes = [unchanged, ...others].map((one) => one.minutes);
  const fidelity = fidelityOf(real, unchanged.minutes, counted);
  const names = [
    { name: "as it is", kind: kindOf(view) },
    ...candidates.map(({ label, kind }) => ({ name: label, kind })),
  ];
  const results = besideFirst([unchanged.minutes, ...minutes.slice(1)], counted);
  const report: ReplayReport = {
    of: `${view.cluster}/${view.namespace}/${view.name}`,
    since: rfc3339(counted.fromMs),
    until: rfc3339(counted.untilMs),
    warmUpSeconds: (counted.fromMs - fromMs) / SECOND_MS,
    syncPeriodSeconds: recorded.periodMs / SECOND_MS,
    podStartSeconds: podStartMs / SECOND_MS,
    target,
    fidelity,
    assumptions: [
      `${fidelityText(fidelity).replace(/^a/, "A")}`,
      `Pods serve ${ageText(podStartMs)} after the scale (--pod-start)`,
      ...countedWords({ fromMs }, counted, target),
    ],
    policies: results.flatMap((one, at) => {
      const named = names[at];
      if (!named) return [];
      const raised = ([unchanged, ...others][at]?.raised ?? []).map(
        (more): RaisedReport => ({
          factor: more.factor,
          ...figuresReport(figuresOf(more.minutes, counted), price),
        }),
      );
      return [{ ...policyReport(named, one, price), ...(raised.length > 0 && { raised }) }];
    }),
  };
  return { report, minutes, counted };
};
