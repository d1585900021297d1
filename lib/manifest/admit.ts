import { isDeepStrictEqual } from "node:util";
import type { AutoscalerSpec } from "../model/spec.ts";
import type { ManifestDocument } from "./documents.ts";
import { manifestInvalid, manifestUnreadable, manifestUnsupported, type Refusal } from "./errors.ts";
import type { Form, FormOutcome } from "./form.ts";
import { FORMS } from "./forms.ts";
import type { Json } from "./json.ts";
import { type Metadata, storedMetadata } from "./metadata.ts";
import { type Problem, required, toldProblems, type Warning, wrongType } from "./problem.ts";
import { isObject, newReading } from "./shape.ts";
import { judged } from "./strict.ts";
import type { Validation } from "./validation.ts";

export type Admission = Admitted | Refused;

export interface Admitted {
  readonly ok: true;
  readonly metadata: Metadata;
  /** The object as it reads back: defaulted, converted to autoscaling/v2 where that can say it, quantities in canonical text. */
  readonly stored: Json;
  readonly spec: AutoscalerSpec;
  readonly warnings: readonly Warning[];
  /** False when this replaces a manifest of the same meaning: the generation then stays. */
  readonly changed: boolean;
}

export interface Refused {
  readonly ok: false;
  /** "unsupported": no accepted kind. "undecodable": some field has the wrong JSON type. "invalid": it reads well and breaks a rule. */
  readonly because: "unsupported" | "undecodable" | "invalid";
  /** All that is wrong, at once. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

export interface AdmitOptions {
  /** The manifest that this one replaces, as it was given. */
  readonly old?: unknown;
  readonly oldGeneration?: number;
  /** Of the cluster that it is for, to warn of windows that are shorter; 15 where none is known. */
  readonly syncPeriodSeconds?: number;
  /** Forms to accept; all that Tidemark knows unless said otherwise. */
  readonly forms?: readonly Form[];
  /** "warn" unless said otherwise, which is how the API reads an object that it stored; what a person applies is read by "strict". */
  readonly validation?: Validation;
}

/** Validates, defaults and converts one document as the Kubernetes API would (hpa.md 1), for every accepted form. Never throws, whatever JSON it is given. */
export const admit = (document: unknown, options: AdmitOptions = {}): Admission => {
  const { forms = FORMS, oldGeneration = 1 } = options;
  const form = formOf(document, forms);
  if ("because" in form) return form;
  const old = options.old === undefined ? undefined : outcomeOfOld(options.old, forms);
  const reading = newReading(false, options.syncPeriodSeconds);
  const outcome = form.admit(document, reading, old);
  const ofTheUnread = speaksOfTheUnread(reading.problems);
  const broken = outcome.problems.filter(({ field }) => !ofTheUnread(field));
  const { problems, warnings } = judged({ problems: [...reading.problems, ...broken], warnings: reading.warnings }, options.validation ?? "warn");
  if (problems.length > 0) return { ok: false, because: reading.problems.length > 0 ? "undecodable" : "invalid", problems, warnings };
  const changed = old === undefined || !isDeepStrictEqual(outcome.meaning, old.meaning);
  const generation = old === undefined ? 1 : oldGeneration + (changed ? 1 : 0);
  const { apiVersion, kind, spec } = outcome.stored;
  const stored = { apiVersion, kind, metadata: storedMetadata(outcome.metadata, generation), spec };
  return { ok: true, metadata: outcome.metadata, stored, spec: outcome.spec, warnings, changed };
};

/** Where a manifest came from; `readManifests` gives it, and `{ document, where }` alone will do. */
export type Given = Pick<ManifestDocument, "document" | "where"> & Partial<ManifestDocument>;

/** Like `admit`, but a refusal is thrown as `manifest.unsupported` or `manifest.invalid`, with the file and the lines of the fields. */
export const admitOrThrow = (given: Given, options: AdmitOptions = {}): Admitted => {
  const admission = admit(given.document, options);
  if (admission.ok) return admission;
  const refusal = refusalOf(given, admission.problems);
  if (admission.because !== "unsupported") throw manifestInvalid(refusal);
  const { apiVersion, kind } = given.document as Readonly<Record<"apiVersion" | "kind", string>>;
  throw manifestUnsupported(refusal, apiVersion, kind);
};

const refusalOf = ({ document, where, lineOf }: Given, problems: readonly Problem[]): Refusal => {
  const metadata = isObject(document) && isObject(document["metadata"]) ? document["metadata"] : {};
  const name = metadata["name"];
  return {
    where,
    ...(typeof name === "string" && name !== "" && { name }),
    problems: toldProblems(problems).told.map((problem) => {
      const line = lineOf?.(problem.source ?? problem.field);
      return line === undefined ? problem : { ...problem, line };
    }),
  };
};

/** The spec of a stored manifest, JSON text as it was given; throws `manifest.unreadable`, `manifest.unsupported` or `manifest.invalid`. */
export const specOf = (manifest: string, where = "stored manifest"): AutoscalerSpec =>
  admitOrThrow({ document: parsed(manifest, where), where }).spec;

const parsed = (manifest: string, where: string): unknown => {
  try {
    return JSON.parse(manifest);
  } catch (cause) {
    throw manifestUnreadable({ where }, "it is not JSON", cause);
  }
};

const formOf = (document: unknown, forms: readonly Form[]): Form | Refused => {
  if (!isObject(document)) return refused("undecodable", [wrongType("", "an object", document)]);
  const { apiVersion, kind } = document;
  const problems = [...headProblems("apiVersion", apiVersion), ...headProblems("kind", kind)];
  if (problems.length > 0) return refused("undecodable", problems);
  return forms.find((form) => form.apiVersion === apiVersion && form.kind === kind) ?? refused("unsupported", [unsupported(forms, kind)]);
};

const headProblems = (field: "apiVersion" | "kind", value: unknown): Problem[] => {
  if (value === undefined || value === null || value === "")
    return [required(field, "", field === "kind" ? "write kind: HorizontalPodAutoscaler" : "write apiVersion: autoscaling/v2")];
  return typeof value === "string" ? [] : [wrongType(field, "a text", value)];
};

const unsupported = (forms: readonly Form[], kind: unknown): Problem => {
  const accepted = [...Map.groupBy(forms, (form) => form.kind)]
    .map(([name, same]) => `${name} of ${same.map((form) => form.apiVersion).join(", ")}`)
    .join("; ");
  const field = forms.some((form) => form.kind === kind) ? "apiVersion" : "kind";
  return { field, type: "FieldValueNotSupported", detail: `accepted are ${accepted}`, fix: `write one of these: ${accepted}` };
};

const refused = (because: Refused["because"], problems: readonly Problem[]): Refused => ({ ok: false, because, problems, warnings: [] });

/** An old manifest that is no longer accepted says nothing about what may not change. */
const outcomeOfOld = (document: unknown, forms: readonly Form[]): FormOutcome | undefined => {
  const form = formOf(document, forms);
  return "because" in form ? undefined : form.admit(document, newReading(), undefined);
};

/** A rule that looks at what could not be read, or at its neighbour in the same object, would speak of a value that nobody wrote. */
const speaksOfTheUnread = (unread: readonly Problem[]): ((field: string) => boolean) => {
  const fields = new Set(unread.map(({ field }) => field));
  const parents = new Set(unread.map(({ field }) => parentOf(field)));
  const within = (field: string): boolean => fields.has(field) || (field !== "" && within(parentOf(field)));
  return (field) => parents.has(parentOf(field)) || within(field);
};

const parentOf = (field: string): string => field.replace(LAST_STEP, "");
const LAST_STEP = /(^|\.)[^.[\]]*$|\[[^\]]*\]$/;
