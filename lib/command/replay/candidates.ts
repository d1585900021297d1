import { basename } from "node:path";
import { readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import type { ManifestSource } from "../../answers/service/service.ts";
import type { TimeSpan } from "../../replay/figures.ts";
import type { ReplayedMetric } from "../../replay/load.ts";
import type { ReplayedSpec } from "../../replay/replay.ts";
import type { NotReplayed } from "../../replay/traced.ts";
import { type Admitted, admitOrThrow } from "../../rules/manifest/admit.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { decimalText } from "../../rules/model/quantity.ts";
import type { AutoscalerSpec, Validation } from "../../rules/model/spec.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";
import { levelsOf } from "../../rules/policy/dialects.ts";
import type { CommandIo, Printer } from "../io.ts";
import { type FileOptions, readSources } from "../select/read-sources.ts";
import { usage } from "../usage-error.ts";

/** A manifest of the command line. */
export interface CandidatePolicy {
  readonly label: string;
  readonly kind: string;
  readonly admitted: Admitted;
}

/** More columns are no comparison. */
const POLICIES_MAX = 8;

/** The autoscalers of the files, in order, each by the name of its file. */
export const readCandidates = async (
  printer: Pick<Printer, "note">,
  { validate, ...files }: FileOptions & { readonly validate: Validation },
  stdin: CommandIo["stdin"],
): Promise<readonly CandidatePolicy[]> =>
  candidatesIn(printer, await readSources(files, stdin), validate);

/** The same of texts that were read. */
export const candidatesIn = (
  printer: Pick<Printer, "note">,
  sources: readonly ManifestSource[],
  validate: Validation,
): readonly CandidatePolicy[] => {
  const { inputs, passedOver } = readInputs(sources, validate);
  if (passedOver.length > 0) printer.note(passedOverText(passedOver));
  if (inputs.length > POLICIES_MAX)
    throw usage(`Cannot replay ${inputs.length} autoscalers: give ${POLICIES_MAX} at most`);
  return inputs.map((input) => {
    const admitted = admitOrThrow(input, { validation: validate });
    return { label: basename(input.where), kind: String(admitted.stored["kind"]), admitted };
  });
};

/** The metrics of a policy. Throws `replay.refused` with every one that cannot be replayed. */
export const metricsOrThrow = (
  label: string,
  made:
    | { readonly metrics: readonly ReplayedMetric[] }
    | { readonly refused: readonly NotReplayed[] },
): readonly ReplayedMetric[] => {
  if ("metrics" in made) return made.metrics;
  throw new TidemarkError(
    "replay.refused",
    made.refused.map(({ of, why }) => `Cannot replay "${of}" of "${label}": ${why}`).join("\n"),
    made,
  );
};

/** Throws a usage error where no whole minute is counted. `what` to do about it. */
export const refuseShort = (of: string, { fromMs, untilMs }: TimeSpan, what: string): void => {
  if (Math.floor(untilMs / MINUTE_MS) > Math.ceil(fromMs / MINUTE_MS)) return;
  throw usage(`Cannot use the load of "${of}": no whole minute of it is counted; ${what}`);
};

/** The container that the policies measure: a load is of one. */
export const containerOf = (specs: readonly ReplayedSpec[]): string => {
  const named = specs.flatMap(({ metrics }) =>
    metrics.flatMap(({ level: { source } }) => ("container" in source ? [source.container] : [])),
  );
  const [container = "app", more] = new Set(named);
  if (more === undefined) return container;
  throw usage(`Cannot replay containers "${container}" and "${more}": a load is of one container`);
};

const MILLI_OF_PERCENT = 1_000n;

/** "cpu at 60 %", "queue-length at 30 for each pod". */
export const targetText = (spec: AutoscalerSpec): string =>
  levelsOf(spec)
    .flatMap(({ name, measure, milli }) => {
      if (milli === undefined) return [];
      if (measure === "Percent") return [`${name} at ${milli / MILLI_OF_PERCENT} %`];
      return [`${name} at ${decimalText(milli)}${measure === "Average" ? " for each pod" : ""}`];
    })
    .join(", ");
