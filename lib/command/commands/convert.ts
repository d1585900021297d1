import { admit, admitOrThrow } from "../../rules/manifest/admit.ts";
import { withoutFleetKinds } from "../../rules/manifest/fleet-kinds.ts";
import { newOtherKinds } from "../../rules/manifest/other-kinds.ts";
import { newBudget } from "../../rules/manifest/budget.ts";
import { type ManifestDocument, readManifests } from "../../rules/manifest/documents.ts";
import { isDatadogPodAutoscaler } from "../../rules/manifest/import/datadog.ts";
import { adapterDetails } from "../../rules/manifest/import/finding.ts";
import { importObjects, placesOfAll } from "../../rules/manifest/import/import-objects.ts";
import { hasDowntime } from "../../rules/manifest/import/schedules/downtimes.ts";
import {
  type Attached,
  type Converted,
  isTimed,
  withoutScheduleMetrics,
  withSchedules,
} from "../../rules/manifest/import/schedules/with-schedules.ts";
import {
  type Conversion,
  convertedForm as conversionOf,
} from "../../rules/manifest/native/convert.ts";
import { countingForm, countsAllPods } from "../../rules/manifest/native/counting-form.ts";
import type { Registered } from "../../rules/manifest/import/keda/registered.ts";
import type { SourcePlaces } from "../../rules/manifest/import/keda/places.ts";
import type { TriggerSources } from "../../rules/manifest/import/keda/native-scaled-object.ts";
import { sourcesIn } from "../../answers/service/sources/source-documents.ts";
import type { Validation } from "../../rules/model/spec.ts";
import type { NativeSpec } from "../../rules/model/spec-native.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject, type Json, present } from "../../rules/model/json.ts";
import { text } from "../../stack/report/printed.ts";
import type { CommandIo, Printer } from "../io.ts";
import { checkConversion } from "./convert-check.ts";
import { type DocumentFormat, documentText, listDocument, yamlOf } from "../output/documents.ts";
import { type FileOptions, readSources } from "../select/read-sources.ts";
import { triggerSources } from "../select/trigger-sources.ts";

export interface ConvertOptions extends FileOptions {
  readonly output: DocumentFormat;
  readonly validate: Validation;
  readonly source?: readonly string[];
  /** Prints what differs over a week, and no manifest. */
  readonly check?: true;
  /** Which pods count: HPAs then become native rules, which have this setting. */
  readonly pods?: NativeSpec["pods"];
}

/**
 * Prints every manifest of the files as a PodAutoscaler with the same decisions, and with the
 * schedules that other objects of the files are for it; all of them, or none. Throws
 * `manifest.not-convertible` with the rule, the trigger or the field that a PodAutoscaler cannot
 * express.
 */
export const convert = async (
  printer: Printer,
  { output, validate, source, check, pods, ...files }: ConvertOptions,
  io: Pick<CommandIo, "stdin">,
): Promise<void> => {
  const sources = await readSources(files, io.stdin);
  const triggers = triggerSources(source ?? []);
  const budget = newBudget();
  const inputs = sources.flatMap(({ file, text: manifests }) =>
    readManifests(manifests, file, {
      budget,
      repeatedKeys: validate === "strict" ? "refuse" : "keep",
    }),
  );
  const timed = inputs.filter((input) => isTimed(rawOf(input)));
  const otherKinds = newOtherKinds();
  const others = inputs.filter(
    (input) =>
      !timed.includes(input) && (isForeign(rawOf(input)) || !otherKinds.passOver(input.document)),
  );
  for (const { kind, count } of withoutFleetKinds(otherKinds.counts()))
    printer.report(text`note: ${count} of kind ${kind} passed over: no autoscaler`);
  const places = placesOfAll(others.map(rawOf).filter(isScaledObject), triggers);
  const registered = registeredIn(sources);
  const converted = others.map((input) =>
    convertedInput(printer, input, {
      validate,
      timed: timed.map(rawOf),
      triggers,
      places,
      registered,
      ...present({ pods }),
    }),
  );
  const annotated = others.filter((input) => isHpa(rawOf(input)) && hasDowntime(rawOf(input)));
  const { documents, findings } = withSchedules(
    converted,
    [...timed, ...annotated].map((input) => ({ raw: rawOf(input), words: input.where })),
  );
  tellOrThrow(printer, findings);
  for (const document of documents) mustBeAdmitted(document);
  if (check)
    return checkConversion(
      printer,
      documents.map((result, at) => ({ source: rawAt(others, at), result })),
      { timed: [...timed, ...annotated].map(rawOf), nowMs: Date.now() },
    );
  const [only, ...more] = documents;
  await printer.print(
    output === "yaml"
      ? yamlOf(documents)
      : documentText(only && more.length === 0 ? only : listDocument(documents), output),
  );
};

/** The sources that the files have as documents. */
const registeredIn = (files: Parameters<typeof sourcesIn>[0]): Registered => ({
  sources: new Map(sourcesIn(files).values.map((one) => [one.name, one])),
  isAll: false,
});

const rawAt = (inputs: readonly ManifestDocument[], at: number): Json => {
  const input = inputs[at];
  return input ? rawOf(input) : {};
};

const isHpa = ({ kind }: Json): boolean => kind === "HorizontalPodAutoscaler";

const isScaledObject = ({ kind }: Json): boolean => kind === "ScaledObject";

/** An autoscaler that no manifest of Tidemark can be. */
const isForeign = (raw: Json): boolean => isScaledObject(raw) || isDatadogPodAutoscaler(raw);

const rawOf = ({ document }: ManifestDocument): Json => (isObject(document) ? document : {});

interface ConvertStep {
  readonly validate: Validation;
  readonly timed: readonly Json[];
  readonly triggers: TriggerSources;
  readonly places: SourcePlaces;
  readonly registered: Registered;
  readonly pods?: NativeSpec["pods"];
}

/** One autoscaler, with the schedule that its own triggers and metrics are. */
const convertedInput = (
  printer: Printer,
  input: ManifestDocument,
  { validate, timed, triggers, places, registered, pods }: ConvertStep,
): Converted => {
  const raw = rawOf(input);
  if (isForeign(raw))
    return convertedForeign(printer, raw, { where: input.where, triggers, places, registered });
  const { document, entries, details, used } = withoutScheduleMetrics(raw, timed);
  const findings = [...details, ...adapterDetails(raw)].map((detail) => ({
    words: input.where,
    detail,
  }));
  tellOrThrow(printer, findings);
  const { warnings, ...admitted } = admitOrThrow(
    details.length + entries.length === 0 ? input : { ...input, document },
    { validation: validate },
  );
  for (const { field, message } of warnings)
    printer.report(
      text`warning: "${admitted.metadata.name}" of "${input.where}": ${field}: ${message}`,
    );
  if (pods === undefined && isHpa(raw) && countsAllPods(admitted.spec))
    printer.report(text`note: "${admitted.metadata.name}" of "${input.where}": ${ALL_PODS_COUNT}`);
  const form = pods === undefined ? conversionOf(admitted) : countingForm(admitted, pods);
  return { document: convertedOrThrow(form, admitted, input.where), entries, used };
};

/** What the rules of an HPA cannot be told, and how to have it. */
const ALL_PODS_COUNT =
  "every pod that the selector matches counts, also pods of something else and pods that have ended; --pods owned writes native rules with the same numbers that count the pods of the target only, and --pods asHpa native rules that count as now";

/**
 * KEDA's HPA is not in a file, so that a trigger which is neither a resource nor a time needs a
 * registered source.
 */
const convertedForeign = (
  printer: Printer,
  raw: Json,
  {
    where,
    triggers,
    places,
    registered,
  }: Pick<ConvertStep, "triggers" | "places" | "registered"> & { readonly where: string },
): Converted => {
  const imported = importObjects(
    {
      hpas: [],
      watermarks: [],
      ...(isScaledObject(raw) ? { scaledObjects: [raw] } : { scaledObjects: [], datadog: [raw] }),
      sources: triggers,
      places,
      registered,
    },
    "native",
  );
  const findings = imported.findings.map((detail) => ({ words: where, detail }));
  tellOrThrow(printer, findings);
  return { document: imported.manifests[0] ?? {}, entries: [] };
};

/**
 * Says what is carried over in another way. Throws `manifest.not-convertible` with everything that
 * is not carried over.
 */
const tellOrThrow = (printer: Printer, findings: Attached["findings"]): void => {
  const faults = findings
    .filter(({ detail }) => detail.severity === "lost")
    .map(
      ({ words, detail: { of, message } }) => `Cannot convert "${words}": ${of ?? ""}: ${message}`,
    );
  if (faults.length > 0)
    throw new TidemarkError("manifest.not-convertible", faults.join("\n"), { faults });
  for (const { words, detail } of findings)
    printer.report(text`note: "${words}": ${detail.of ?? ""}: ${detail.message}`);
};

/** A schedule of several sources must be one that apply takes. */
const mustBeAdmitted = (document: Json): void => {
  const admission = admit(document, { validation: "strict" });
  if (admission.ok) return;
  const faults = admission.problems.map(
    ({ field, detail }) =>
      `Cannot convert "${String(isObject(document["metadata"]) ? document["metadata"]["name"] : "")}": ${field}: ${detail}`,
  );
  throw new TidemarkError("manifest.not-convertible", faults.join("\n"), { faults });
};

const convertedOrThrow = (
  conversion: Conversion,
  admitted: { readonly metadata: { readonly name: string } },
  where: string,
): Json => {
  if (conversion.kind === "converted") return conversion.document;
  const { rule, message } = conversion;
  const { name } = admitted.metadata;
  const words = `Cannot convert "${name}" of "${where}" to a PodAutoscaler: rule ${rule}: ${message}`;
  throw new TidemarkError("manifest.not-convertible", words, { name, where, rule });
};
