import { basename } from "node:path";
import { besideFirst } from "../../replay/comparison.ts";
import type { TimeSpan } from "../../replay/figures.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { type ReplayedWorkload, type Policy, replay } from "../../replay/replay.ts";
import { capacityOf, targetOf, tracedMetrics } from "../../replay/traced.ts";
import { readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import { rfc3339 } from "../../answers/service/times.ts";
import { type Admitted, admitOrThrow } from "../../rules/manifest/admit.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { autoscalerName, namespace } from "../../rules/model/ids.ts";
import { decimalText } from "../../rules/model/quantity.ts";
import { DEFAULT_SETTINGS } from "../../rules/model/spec-common.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import { INITIAL_REPLICAS } from "../../embedded/run/played-load.ts";
import { ageText } from "../output/text-table.ts";
import type { CommandSurroundings, Printer } from "../io.ts";
import { lengthMs } from "../options/time-options.ts";
import type { DocumentFormat } from "../output/documents.ts";
import { type Drawn, printedReport } from "../replay/printed-report.ts";
import { policyReport, type ReplayReport } from "../replay/report.ts";
import { readTraceInput, type TraceInput, type TraceOptions } from "../replay/trace-input.ts";
import { type FileOptions, readSources } from "../select/read-sources.ts";
import { usage } from "../usage-error.ts";

export interface TraceReplayOptions extends FileOptions, TraceOptions {
  readonly period: string;
  readonly price?: string;
  readonly validate: Validation;
  readonly output: "text" | "markdown" | "svg" | "csv" | DocumentFormat;
}

/** A manifest of the command line. */
interface Candidate {
  readonly label: string;
  readonly kind: string;
  readonly admitted: Admitted;
}

const POLICIES_MAX = 8;

/**
 * Replays the policies of manifests on a recorded load, and prints them side by side. It opens no
 * data folder and no stack.
 */
export const replayTrace = async (
  { printer, io }: CommandSurroundings<"columns" | "stdin">,
  options: TraceReplayOptions,
): Promise<void> => {
  const periodMs = lengthMs("--period", options.period);
  const price = options.price === undefined ? undefined : priceOf(options.price);
  const candidates = await readCandidates(printer, options, io.stdin);
  const input = await readTraceInput(options);
  const policies = candidates.map((candidate) => policyOf(candidate, input));
  const workload = workloadOf(candidates, policies, input);
  const span = { fromMs: input.fromMs, untilMs: input.untilMs, periodMs };
  const [first, ...others] = policies.map((policy) => replay(policy, workload, span));
  if (!first) throw usage("Cannot replay: give the manifests of the policies with -f");
  const drawn = reportOf({ candidates, input, periodMs, price }, [first, ...others]);
  await printer.print(
    printedReport(drawn, options.output, { columns: io.columns, colours: printer.colours }),
  );
};

const priceOf = (text: string): number => {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw usage(`Cannot read --price "${text}": give the dollars that a pod costs in an hour`);
};

/** The autoscalers of the files, in order, each by the name of its file. */
const readCandidates = async (
  printer: Printer,
  { validate, ...files }: TraceReplayOptions,
  stdin: CommandSurroundings<"stdin">["io"]["stdin"],
): Promise<readonly Candidate[]> => {
  const { inputs, passedOver } = readInputs(await readSources(files, stdin), validate);
  if (passedOver.length > 0) printer.note(passedOverText(passedOver));
  if (inputs.length > POLICIES_MAX)
    throw usage(`Cannot replay ${inputs.length} autoscalers: give ${POLICIES_MAX} at most`);
  return inputs.map((input) => {
    const admitted = admitOrThrow(input, { validation: validate });
    return { label: basename(input.where), kind: String(admitted.stored["kind"]), admitted };
  });
};

/** Throws `replay.refused` with every metric that does not follow from a load. */
const policyOf = ({ label, admitted }: Candidate, { traced }: TraceInput): Policy => {
  const { spec, metadata } = admitted;
  const made = tracedMetrics(spec, traced);
  if ("refused" in made)
    throw new TidemarkError(
      "replay.refused",
      made.refused.map(({ of, why }) => `Cannot replay "${of}" of "${label}": ${why}`).join("\n"),
      made,
    );
  return {
    namespace: namespace(metadata.namespace ?? "default"),
    name: autoscalerName(metadata.name),
    spec,
    settings: DEFAULT_SETTINGS,
    metrics: made.metrics,
  };
};

/** The target of the first policy counts for all. */
const workloadOf = (
  [firstOf]: readonly Candidate[],
  [first, ...others]: readonly Policy[],
  { traced, podStartMs }: TraceInput,
): ReplayedWorkload => {
  if (!first || !firstOf) throw usage("Cannot replay: there is no autoscaler in the files of -f");
  const target = targetOf(first.metrics, traced);
  if (target.length === 0)
    throw usage(
      `Cannot compare with "${firstOf.label}": no number of pods is right by its metrics; give a policy with a target for each pod first`,
    );
  const containers = new Set([first, ...others].flatMap(({ metrics }) => containersOf(metrics)));
  const [container = "app", more] = containers;
  if (more !== undefined)
    throw usage(
      `Cannot replay containers "${container}" and "${more}": a load is of one container`,
    );
  const { pod } = traced;
  return {
    pods: {
      target: first.spec.target,
      container,
      requests: { cpu: BigInt(pod.requestMilli) },
      limits: { cpu: BigInt(pod.limitMilli) },
      startMs: podStartMs,
    },
    initialReplicas: Math.max(INITIAL_REPLICAS, first.spec.minReplicas),
    target,
    served: { load: traced.load, perPod: capacityOf(pod) },
  };
};

const containersOf = (metrics: Policy["metrics"]): readonly string[] =>
  metrics.flatMap(({ level: { source } }) => ("container" in source ? [source.container] : []));

interface Replayed {
  readonly candidates: readonly Candidate[];
  readonly input: TraceInput;
  readonly periodMs: number;
  readonly price: number | undefined;
}

const reportOf = (
  { candidates, input, periodMs, price }: Replayed,
  minutes: readonly [Minutes, ...Minutes[]],
): Drawn => {
  const counted: TimeSpan = { fromMs: input.countedMs, untilMs: input.untilMs };
  const results = besideFirst(minutes, counted);
  const target = targetText(candidates[0]);
  const report: ReplayReport = {
    of: `${input.name} (${input.unit})`,
    since: rfc3339(counted.fromMs),
    until: rfc3339(counted.untilMs),
    warmUpSeconds: (counted.fromMs - input.fromMs) / SECOND_MS,
    syncPeriodSeconds: periodMs / SECOND_MS,
    podStartSeconds: input.podStartMs / SECOND_MS,
    target,
    assumptions: assumptionsOf(input, counted, target),
    policies: results.flatMap((one, at) => {
      const candidate = candidates[at];
      return candidate
        ? [policyReport({ name: candidate.label, kind: candidate.kind }, one, price)]
        : [];
    }),
  };
  return { report, minutes, counted };
};

const assumptionsOf = (
  { traced: { pod }, fromMs, podStartMs }: TraceInput,
  counted: TimeSpan,
  target: string,
): readonly string[] => [
  `A pod serves ${Number(capacityOf(pod).toPrecision(3))} of it at most (--capacity), and ${ageText(podStartMs)} after the scale (--pod-start)`,
  `Above target, for every policy, is by the first one: ${target}`,
  ...(counted.fromMs > fromMs
    ? [`The first ${ageText(counted.fromMs - fromMs)} fill the windows, and are not counted`]
    : []),
];

const MILLI_OF_PERCENT = 1_000n;

/** "cpu at 60 %", "queue-length at 30 for each pod". */
const targetText = (candidate: Candidate | undefined): string =>
  (candidate ? levelsOf(candidate.admitted.spec) : [])
    .flatMap(({ name, measure, milli }) => {
      if (milli === undefined) return [];
      if (measure === "Percent") return [`${name} at ${milli / MILLI_OF_PERCENT} %`];
      return [`${name} at ${decimalText(milli)}${measure === "Average" ? " for each pod" : ""}`];
    })
    .join(", ");
