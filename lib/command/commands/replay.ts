import { rfc3339 } from "../../answers/service/times.ts";
import { besideFirst } from "../../replay/comparison.ts";
import type { TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import type { Validation } from "../../rules/model/spec.ts";
import type { CommandSurroundings } from "../io.ts";
import type { DocumentFormat } from "../output/documents.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { lengthMs } from "../options/time-options.ts";
import { type CandidatePolicy, readCandidates, targetText } from "../replay/candidates.ts";
import { countedDays } from "../replay/days.ts";
import { type Drawn, printedReport } from "../replay/printed-report.ts";
import { type PriceOptions, pricePerHour } from "../replay/price.ts";
import { shareShown, withReplays } from "../replay/replay-threads.ts";
import { policyReport, type ReplayReport } from "../replay/report.ts";
import { failIfExceeded, readFailIf } from "../replay/thresholds.ts";
import { tracedJobs } from "../replay/traced-jobs.ts";
import {
  readTraceInput,
  type TraceInput,
  type TraceOptions,
  traceWords,
} from "../replay/trace-input.ts";
import type { FileOptions } from "../select/read-sources.ts";
import { usage } from "../usage-error.ts";

export interface TraceReplayOptions extends FileOptions, TraceOptions, PriceOptions {
  readonly period?: string;
  readonly days?: string;
  readonly failIf?: string;
  readonly validate: Validation;
  readonly output: ReplayOutput;
}

export type ReplayOutput = "text" | "markdown" | "svg" | "csv" | DocumentFormat;

/**
 * Replays the policies of manifests on a recorded load, and prints them side by side. It opens no
 * data folder and no stack.
 */
export const replayTrace = async (
  { printer, io }: CommandSurroundings<"columns" | "stdin">,
  options: TraceReplayOptions,
): Promise<void> => {
  const periodMs = lengthMs("--period", options.period ?? "15s");
  const price = pricePerHour(options);
  const thresholds = options.failIf === undefined ? [] : readFailIf(options.failIf);
  const candidates = await readCandidates(printer, options, io.stdin);
  const input = await readTraceInput(options);
  const counted = countedDays({ fromMs: input.countedMs, untilMs: input.untilMs }, options.days);
  const jobs = tracedJobs(candidates, input, periodMs);
  const [first, ...others] = await withReplays(1, async (replayAll) =>
    replayAll(jobs, shareShown(printer, input.name)),
  );
  printer.progress();
  if (!first) throw usage("Cannot replay: give the manifests of the policies with -f");
  const drawn = reportOf({ candidates, input, counted, periodMs, price }, [first, ...others]);
  await printer.print(
    printedReport(drawn, options.output, { columns: io.columns, colours: printer.colours }),
  );
  failIfExceeded(printer, [drawn.report], thresholds);
};

interface Replayed {
  readonly candidates: readonly CandidatePolicy[];
  readonly input: TraceInput;
  readonly counted: TimeSpan;
  readonly periodMs: number;
  readonly price: number | undefined;
}

const reportOf = (
  { candidates, input, counted, periodMs, price }: Replayed,
  minutes: readonly [Minutes, ...Minutes[]],
): Drawn => {
  const [first] = candidates;
  const target = first ? targetText(first.admitted.spec) : "";
  const report: ReplayReport = {
    of: `${input.name} (${input.unit})`,
    since: rfc3339(counted.fromMs),
    until: rfc3339(counted.untilMs),
    warmUpSeconds: (counted.fromMs - input.fromMs) / SECOND_MS,
    syncPeriodSeconds: periodMs / SECOND_MS,
    podStartSeconds: input.podStartMs / SECOND_MS,
    target,
    assumptions: [...traceWords(input), ...countedWords(input, counted, target)],
    policies: besideFirst(minutes, counted).flatMap((one, at) => {
      const candidate = candidates[at];
      if (!candidate) return [];
      return [policyReport({ name: candidate.label, kind: candidate.kind }, one, price)];
    }),
  };
  return { report, minutes, counted };
};

/** What is counted, and by which target. */
export const countedWords = (
  { fromMs }: { readonly fromMs: number },
  counted: TimeSpan,
  target: string,
): readonly string[] => [
  `Above target, for every policy, is by the first one: ${target}`,
  ...(counted.fromMs > fromMs
    ? [`The first ${ageText(counted.fromMs - fromMs)} fill the windows, and are not counted`]
    : []),
];
