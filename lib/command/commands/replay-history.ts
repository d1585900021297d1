import { rfc3339 } from "../../answers/service/times.ts";
import { besideFirst } from "../../replay/comparison.ts";
import { figuresOf } from "../../replay/figures.ts";
import { type Fidelity, fidelityOf } from "../../replay/happened.ts";
import { hasBursts } from "../../replay/recorded.ts";
import type { ChosenModels } from "../../replay/recorded-metrics.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { HOUR_MS, SECOND_MS } from "../../rules/model/time-text.ts";
import { lines } from "../../stack/report/printed.ts";
import type { CommandSurroundings, Printer, Session } from "../io.ts";
import { documentText, kindOf, listDocument } from "../output/documents.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { aligned } from "../output/text-table.ts";
import { rangeMs } from "../options/time-options.ts";
import type { CandidatePolicy } from "../replay/candidates.ts";
import { type PriceOptions, pricePerHour } from "../replay/price.ts";
import { countedDays, lengthOfDays } from "../replay/days.ts";
import { type Drawn, printedReport } from "../replay/printed-report.ts";
import { readReplayed } from "../replay/read-history.ts";
import {
  type OtherPolicy,
  type ReplayedHistory,
  type Replaying,
  replayedHistory,
} from "../replay/replayed-history.ts";
import { shareShown, withReplays } from "../replay/replay-threads.ts";
import {
  figuresReport,
  policyReport,
  type RaisedReport,
  type ReplayReport,
} from "../replay/report.ts";
import { percentText } from "../replay/sheet.ts";
import { refuseIdleNames } from "../replay/idle-names.ts";
import { idlePercentOf } from "../replay/trace-input.ts";
import { failIfExceeded, readFailIf } from "../replay/thresholds.ts";
import { eachInGroups } from "../../stack/store/table/wait-for-all.ts";
import { forEachResource } from "../select/listed-autoscalers.ts";
import type { NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import { usage } from "../usage-error.ts";
import { countedWords, type ReplayOutput } from "./replay.ts";

export interface HistoryReplayOptions extends PriceOptions {
  readonly since?: string;
  readonly until?: string;
  readonly days?: string;
  readonly podStart?: string;
  readonly podIdle?: string;
  readonly failIf?: string;
  readonly anyway?: true;
  readonly output: ReplayOutput;
}

const DEFAULT_SINCE = "7d";
/** No window that people use is longer. */
const WARM_UP_MS = HOUR_MS;
/** By so much a replay of the unchanged policy may be off before a comparison says nothing. */
const OFF_MAX = 0.05;

/** An autoscaler, and the manifests that are replayed on its history. */
export interface ReplaySubject {
  readonly resource: NamedAutoscalerOfKind;
  readonly candidates: readonly CandidatePolicy[];
}

/**
 * Replays autoscalers over their history: as it was, and with other manifests. A failure of one
 * does not stop the others.
 */
export const replayHistory = async (
  session: Session,
  { printer, io }: CommandSurroundings<"columns">,
  subjects: readonly ReplaySubject[],
  options: HistoryReplayOptions & { readonly models: ChosenModels },
): Promise<void> => {
  const { output } = options;
  const isOne = subjects.length === 1;
  if (!isOne && (output === "svg" || output === "csv"))
    throw usage(`Cannot print ${subjects.length} autoscalers as ${output}: give one name`);
  const thresholds = options.failIf === undefined ? [] : readFailIf(options.failIf);
  const { sinceMs, untilMs } = askedTime(options, session.nowMs, printer.note);
  const paper = { columns: io.columns, colours: printer.colours };
  const reports: ReplayReport[] = [];
  const span = { ...options, sinceMs, untilMs, isOne };
  let failure: unknown;
  await eachReplayed({ session, printer, subjects, span }, async (drawn) => {
    if (isOne || output === "markdown") {
      printer.progress();
      await printer.print(printedReport(drawn, output, paper));
    }
    reports.push(drawn.report);
  }).catch((error: unknown) => {
    failure = error;
  });
  if (!isOne) {
    printer.progress();
    if (reports.length > 0) await printFleet(printer, reports, output);
  }
  if (failure !== undefined) throw failure;
  failIfExceeded(printer, reports, thresholds);
};

/** Without `--since` the days that are asked for, or a week before now. */
const askedTime = (
  { since, until, days }: Pick<HistoryReplayOptions, "since" | "until" | "days">,
  nowMs: number,
  note: Printer["note"],
): { readonly sinceMs: number; readonly untilMs: number } => {
  const isByDays = since === undefined && days !== undefined;
  const { sinceMs = 0, untilMs = nowMs } = rangeMs(
    { ...(!isByDays && { since: since ?? DEFAULT_SINCE }), ...(until && { until }) },
    nowMs,
    note,
  );
  return { sinceMs: isByDays ? Math.max(0, untilMs - lengthOfDays(days)) : sinceMs, untilMs };
};

interface Span extends HistoryReplayOptions {
  readonly models: ChosenModels;
  /** No other autoscaler is replayed, so that each model must be of a metric of this one. */
  readonly isOne: boolean;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Replays some autoscalers together, and shows each in its turn, with how many are left. */
const eachReplayed = async (
  {
    session,
    printer,
    subjects,
    span,
  }: {
    readonly session: Session;
    readonly printer: Pick<Printer, "progress">;
    readonly subjects: readonly ReplaySubject[];
    readonly span: Span;
  },
  show: (drawn: Drawn) => Promise<void>,
): Promise<void> => {
  const isOne = subjects.length === 1;
  await withReplays(subjects.length, async (replayAll, together) => {
    const all = eachInGroups(subjects, together, async (subject) => {
      const onShare = isOne ? shareShown(printer, subject.resource.name) : undefined;
      const replaying = { replayAll, ...(onShare && { onShare }) };
      const [replayed] = await Promise.allSettled([replayedOne(session, subject, span, replaying)]);
      return replayed;
    });
    let done = 0;
    await forEachResource(subjects, async ({ resource: { name } }) => {
      const { value: replayed } = await all.next();
      done++;
      if (!isOne)
        shareShown(printer, `${done} of ${subjects.length}, ${name}`)(done / subjects.length);
      if (!replayed) throw new RangeError(`"${name}" is replayed`);
      if (replayed.status === "rejected") throw replayed.reason;
      await show(replayed.value);
    });
  });
};

/** An autoscaler with its history, replayed as it was. */
export const readAndReplay = async (
  { service }: Session,
  resource: NamedAutoscalerOfKind,
  {
    sinceMs,
    untilMs,
    models,
    isOne,
    podStart,
    podIdle,
  }: Pick<Span, "podStart" | "podIdle" | "models" | "isOne" | "sinceMs" | "untilMs">,
  others: readonly OtherPolicy[],
  replaying: Replaying,
): Promise<ReplayedHistory> => {
  const idlePercent = idlePercentOf(podIdle);
  const read = await readReplayed(service, resource, {
    sinceMs: Math.max(0, sinceMs - WARM_UP_MS),
    untilMs,
  });
  const levels = [...read.recorded.specs, ...others].flatMap(({ spec }) => levelsOf(spec));
  if (isOne) refuseIdleNames("--model", models, levels);
  const settings = { sinceMs, models, podStart, idlePercent };
  return replayedHistory(read, settings, others, replaying);
};

const replayedOne = async (
  session: Session,
  { resource, candidates }: ReplaySubject,
  options: Span,
  replaying: Replaying,
): Promise<Drawn> => {
  const others = candidates.map(({ label, admitted: { spec } }) => ({ label, spec }));
  const whole = await readAndReplay(session, resource, options, others, replaying);
  const replayed = { ...whole, counted: countedDays(whole.counted, options.days) };
  const drawn = reportOf(replayed, candidates, pricePerHour(options));
  if (candidates.length > 0 && !options.anyway) refuseUnlike(replayed);
  return drawn;
};

/** Of several autoscalers: one table, or one document. A comment of each is printed already. */
const printFleet = async (
  printer: Pick<Printer, "print">,
  reports: readonly ReplayReport[],
  output: ReplayOutput,
): Promise<void> => {
  if (output === "text") await printer.print(lines(aligned(fleetRows(reports))));
  else if (output !== "markdown" && output !== "svg" && output !== "csv")
    await printer.print(documentText(listDocument(reports), output));
};

const FLEET_HEADER = [
  ...["AUTOSCALER", "POLICY", "MINUTES ALIKE", "REPLICA-HOURS", "ABOVE TARGET", "SCALES"],
  ...["AT MAX", "KNOWN"],
];

/** One line for each policy of each autoscaler, the most replica-hours first. */
const fleetRows = (reports: readonly ReplayReport[]): readonly (readonly string[])[] => [
  FLEET_HEADER,
  ...reports
    .toSorted(
      (one, other) => (other.policies[0]?.replicaHours ?? 0) - (one.policies[0]?.replicaHours ?? 0),
    )
    .flatMap(({ of, fidelity, policies }) =>
      policies.map((policy) => [
        ...[of, policy.name, percentText(fidelity?.sameMinutes), String(policy.replicaHours)],
        ...[percentText(policy.aboveTarget), String(policy.scales)],
        ...[`${policy.minutesAtMax} min`, percentText(policy.coverage)],
      ]),
    ),
];

/**
 * On doubt, no comparison: what cannot tell what happened cannot tell what would have. Throws
 * `replay.unlike`.
 */
export const refuseUnlike = ({
  read: { view },
  real,
  unchanged,
  counted,
}: ReplayedHistory): void => {
  const fidelity = fidelityOf(real, unchanged.minutes, counted);
  if (Math.abs(fidelity.hoursOff) <= OFF_MAX) return;
  throw new TidemarkError(
    "replay.unlike",
    `Cannot compare policies for "${view.namespace}/${view.name}": ${fidelityText(fidelity)}, and at most ${percentText(OFF_MAX)} may differ; give another --since, or --anyway`,
    fidelity,
  );
};

export const fidelityText = ({ sameMinutes, hoursOff }: Fidelity): string =>
  `a replay of the unchanged policy has the count that there was in ${percentText(sameMinutes)} of the minutes, and its replica-hours differ by ${percentText(Math.abs(hoursOff))}`;

const BURSTS =
  "Bursts shorter than a scrape were likely cut off, and with fewer pods more of them are: a policy with fewer pods needs fewer replica-hours than is said";

const reportOf = (
  { read, target, podStartMs, idlePercent, fromMs, counted, real, ...replayed }: ReplayedHistory,
  candidates: readonly CandidatePolicy[],
  price: number | undefined,
): Drawn => {
  const { view, recorded } = read;
  const { unchanged, others } = replayed;
  const minutes = [unchanged, ...others].map((one) => one.minutes);
  const fidelity = fidelityOf(real, unchanged.minutes, counted);
  const names = [
    { name: "as it is", kind: kindOf(view) },
    ...candidates.map(({ label, kind }) => ({ name: label, kind })),
  ];
  const results = besideFirst([unchanged.minutes, ...minutes.slice(1)], counted);
  // What no figure says was cut off, as a second of a day, has no other figures either.
  const isCutOff = results.some(({ figures }) => (figuresReport(figures, price).cutOff ?? 0) > 0);
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
      ...(idlePercent === undefined
        ? []
        : [`A pod without a load uses ${idlePercent} % of its CPU request (--pod-idle)`]),
      ...(hasBursts(recorded) ? [BURSTS] : []),
      ...countedWords({ fromMs }, counted, target),
    ],
    policies: results.flatMap((one, at) => {
      const named = names[at];
      if (!named) return [];
      const raised = (isCutOff ? ([unchanged, ...others][at]?.raised ?? []) : []).map(
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
