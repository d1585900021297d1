import { isDeepStrictEqual } from "node:util";
import {
  type Problem,
  reportedProblems,
  required,
  type Warning,
  wrongType,
} from "../fields/problem.ts";
import { newReadContext } from "../fields/shape.ts";
import { asObject, isObject, type Json } from "../model/json.ts";
import type { AutoscalerSpec, Validation } from "../model/spec.ts";
import { FORMS, meantKind } from "./other-kinds.ts";
import type { ManifestDocument } from "./documents.ts";
import {
  manifestInvalid,
  manifestUnreadable,
  manifestUnsupported,
  type ManifestRefusal,
} from "./errors.ts";
import { type Form, type FormOutcome, type Metadata, storedMetadata } from "./form.ts";

export type Admission = Admitted | Refused;

export interface Admitted {
  readonly ok: true;
  readonly metadata: Metadata;
  /**
   * The object as it reads back: with defaults, converted to autoscaling/v2 where that is possible,
   * quantities in canonical text.
   */
  readonly stored: Json;
  readonly spec: AutoscalerSpec;
  readonly warnings: readonly Warning[];
  /** False when this replaces a manifest with the same meaning. */
  readonly changed: boolean;
  /**
   * True when this replaces a manifest with other labels or annotations, which have no meaning for
   * a decision.
   */
  readonly relabelled: boolean;
}

/**
 * The address of the recommender that a manifest names, and its field: in a PodAutoscaler it is in
 * a block of its own.
 */
export const recommenderIn = ({
  spec,
  stored,
}: Admitted): { readonly url: string; readonly field: string } | undefined => {
  if (spec.dialect !== "watermark" || !spec.recommender) return undefined;
  const isBlock = isObject(stored["spec"]) && isObject(stored["spec"]["watermark"]);
  return {
    url: spec.recommender.url,
    field: isBlock ? "spec.watermark.recommender.url" : "spec.recommender.url",
  };
};

export interface Refused {
  readonly ok: false;
  /**
   * "unsupported": the kind is not accepted. "undecodable": a field has the wrong JSON type.
   * "invalid": a rule is broken.
   */
  readonly because: "unsupported" | "undecodable" | "invalid";
  /** All problems at once. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

export interface AdmitOptions {
  /** The manifest that this one replaces, as it was given. */
  readonly old?: unknown;
  readonly oldGeneration?: number;
  /**
   * Sync period of the cluster, for warnings about shorter windows; 15 when the cluster is not
   * known.
   */
  readonly syncPeriodSeconds?: number;
  /** Accepted forms; the default is all. */
  readonly forms?: readonly Form[];
  /** The default is "warn", as the API reads stored objects. A person's apply uses "strict". */
  readonly validation?: Validation;
}

/**
 * Validates, defaults and converts one document of any accepted form, as the Kubernetes API does
 * (hpa.md 1). Never throws.
 */
export const admit = (document: unknown, options: AdmitOptions = {}): Admission => {
  const { forms = FORMS, oldGeneration = 1 } = options;
  const form = formOf(document, forms);
  if ("because" in form) return form;
  const old = options.old === undefined ? undefined : outcomeOfOld(options.old, forms);
  const context = newReadContext(false, options.syncPeriodSeconds);
  const outcome = form.admit(document, context, old);
  const ofTheUnread = dependsOnUnread(context.problems);
  const broken = outcome.problems.filter(({ field }) => !ofTheUnread(field));
  const { problems, warnings } = applyValidation(
    { problems: [...context.problems, ...broken], warnings: context.warnings },
    options.validation ?? "warn",
  );
  if (problems.length > 0)
    return {
      ok: false,
      because: context.problems.length > 0 ? "undecodable" : "invalid",
      problems,
      warnings,
    };
  const changed = old === undefined || !isDeepStrictEqual(outcome.meaning, old.meaning);
  const generation = old === undefined ? 1 : oldGeneration + (changed ? 1 : 0);
  const { apiVersion, kind, spec } = outcome.stored;
  const stored = { apiVersion, kind, metadata: storedMetadata(outcome.metadata, generation), spec };
  const relabelled =
    old !== undefined && !isDeepStrictEqual(labelsOf(outcome.metadata), labelsOf(old.metadata));
  return {
    ok: true,
    metadata: outcome.metadata,
    stored,
    spec: outcome.spec,
    warnings,
    changed,
    relabelled,
  };
};

const labelsOf = ({ labels, annotations }: Metadata) => ({ labels, annotations });

/** A manifest and its place. `readManifests` returns it, and `{ document, where }` is enough. */
export type ManifestInput = Pick<ManifestDocument, "document" | "where"> &
  Partial<ManifestDocument>;

/**
 * Like `admit`, but throws a refusal as `manifest.unsupported` or `manifest.invalid`, with the file
 * and the lines of the fields.
 */
export const admitOrThrow = (manifest: ManifestInput, options: AdmitOptions = {}): Admitted => {
  const admission = admit(manifest.document, options);
  if (admission.ok) return admission;
  const refusal = refusalOf(manifest, admission.problems);
  if (admission.because !== "unsupported") throw manifestInvalid(refusal);
  const { apiVersion, kind } = manifest.document as Readonly<Record<"apiVersion" | "kind", string>>;
  throw manifestUnsupported(refusal, apiVersion, kind);
};

const refusalOf = (
  { document, where, lineOf }: ManifestInput,
  problems: readonly Problem[],
): ManifestRefusal => {
  const { name } = asObject(asObject(document)["metadata"]);
  return {
    where,
    ...(typeof name === "string" && name !== "" && { name }),
    problems: reportedProblems(problems).reported.map((problem) => {
      const line = lineOf?.(problem.source ?? problem.field);
      return line === undefined ? problem : { ...problem, line };
    }),
  };
};

/**
 * The spec of a stored manifest in JSON. Throws `manifest.unreadable`, `manifest.unsupported` or
 * `manifest.invalid`.
 */
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
  const problems = [
    ...typeMetaProblems("apiVersion", apiVersion),
    ...typeMetaProblems("kind", kind),
  ];
  if (problems.length > 0) return refused("undecodable", problems);
  return (
    forms.find((form) => form.apiVersion === apiVersion && form.kind === kind) ??
    refused("unsupported", [unsupported(forms, String(apiVersion), String(kind))])
  );
};

const typeMetaProblems = (field: "apiVersion" | "kind", value: unknown): Problem[] => {
  if (value === undefined || value === null || value === "")
    return [
      required(
        field,
        "",
        field === "kind"
          ? "write kind: HorizontalPodAutoscaler"
          : "write apiVersion: autoscaling/v2",
      ),
    ];
  return typeof value === "string" ? [] : [wrongType(field, "a text", value)];
};

const unsupported = (forms: readonly Form[], apiVersion: string, kind: string): Problem => {
  const meant = meantKind(kind);
  const meantForms = forms.filter((form) => form.kind === meant);
  const accepted = [...Map.groupBy(meantForms.length > 0 ? meantForms : forms, (form) => form.kind)]
    .map(([name, same]) => `${name} of ${same.map((form) => form.apiVersion).join(", ")}`)
    .join("; ");
  const field = meant === kind ? "apiVersion" : "kind";
  const written = field === "apiVersion" ? `"${apiVersion}"` : `"${kind}" of "${apiVersion}"`;
  return {
    field,
    type: "FieldValueNotSupported",
    detail: `must be an accepted one, not ${written}`,
    fix: `write ${accepted}`,
  };
};

const refused = (because: Refused["because"], problems: readonly Problem[]): Refused => ({
  ok: false,
  because,
  problems,
  warnings: [],
});

/** An old manifest that is not accepted any more sets no limits for the new one. */
const outcomeOfOld = (document: unknown, forms: readonly Form[]): FormOutcome | undefined => {
  const form = formOf(document, forms);
  return "because" in form ? undefined : form.admit(document, newReadContext(), undefined);
};

/**
 * Suppresses rules about an unreadable field or its neighbours, because they would check a value
 * that the manifest does not have.
 */
const dependsOnUnread = (unread: readonly Problem[]): ((field: string) => boolean) => {
  const fields = new Set(unread.map(({ field }) => field));
  const parents = new Set(unread.map(({ field }) => parentOf(field)));
  const within = (field: string): boolean =>
    fields.has(field) || (field !== "" && within(parentOf(field)));
  return (field) => parents.has(parentOf(field)) || within(field);
};

const parentOf = (field: string): string => field.replace(LAST_STEP, "");
const LAST_STEP = /(^|\.)[^.[\]]*$|\[[^\]]*\]$/;

/** Problems and warnings of a manifest. */
interface Findings {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Warning[];
}

/**
 * Applies the validation level: a warning about an unknown field stays a warning under "warn",
 * becomes a problem under "strict", and is dropped under "ignore".
 */
const applyValidation = (findings: Findings, validation: Validation): Findings => {
  const warnings = eachOnce(findings.warnings);
  const others = warnings.filter(({ refusal }) => refusal === undefined);
  switch (validation) {
    case "strict":
      return {
        problems: [...refusalsOf(warnings), ...unexplained(findings.problems, warnings)],
        warnings: others,
      };
    case "warn":
      return {
        problems: findings.problems.map((problem) => withMisspelling(problem, warnings)),
        warnings,
      };
    case "ignore":
      return {
        problems: findings.problems.map((problem) => withMisspelling(problem, warnings)),
        warnings: others,
      };
  }
};

/** A form that reads a manifest in two passes finds the same warnings twice. */
const eachOnce = (warnings: readonly Warning[]): readonly Warning[] => [
  ...new Map(warnings.map((warning) => [`${warning.field}\n${warning.message}`, warning])).values(),
];

const refusalsOf = (warnings: readonly Warning[]): readonly Problem[] =>
  warnings.flatMap(({ field, refusal }) => (refusal === undefined ? [] : [{ field, ...refusal }]));

/** A misspelled field is reported once, at its misspelling, and not again as missing. */
const unexplained = (
  problems: readonly Problem[],
  warnings: readonly Warning[],
): readonly Problem[] => {
  const meantFields = warnings.flatMap((warning) => warning.meant ?? []);
  const missing = problems.filter(
    ({ type, field, source = field }) =>
      type === "FieldValueRequired" && meantFields.some((path) => isWithin(source, path)),
  );
  const explained = new Set(missing.map(({ field }) => field));
  return problems.filter(({ field }) => !explained.has(field));
};

const isWithin = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

const withMisspelling = (problem: Problem, warnings: readonly Warning[]): Problem => {
  if (problem.type !== "FieldValueRequired") return problem;
  const mistyped = warnings.find(
    ({ meant }) => meant !== undefined && meant === (problem.source ?? problem.field),
  );
  return mistyped
    ? { ...problem, fix: `rename "${mistyped.field}" to "${mistyped.meant}"` }
    : problem;
};
