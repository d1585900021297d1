import { clauseOf, reportedProblems, type Warning } from "../../../rules/fields/problem.ts";
import { type Admitted, admit } from "../../../rules/manifest/admit.ts";
import { newBudget } from "../../../rules/manifest/budget.ts";
import { type ManifestDocument, readManifests } from "../../../rules/manifest/documents.ts";
import { type KindCount, passedOverText, placeOfField } from "../../../rules/manifest/errors.ts";
import { newOtherKinds } from "../../../rules/manifest/other-kinds.ts";
import type { Validation } from "../../../rules/model/spec.ts";
import { isTidemarkError, TidemarkError } from "../../../rules/model/errors.ts";
import { asObject, isObject } from "../../../rules/model/json.ts";
import type { AutoscalerRecord } from "../../../rules/model/records.ts";
import type { ManifestSource } from "../service.ts";

export interface ManifestInputs {
  readonly inputs: readonly ManifestDocument[];
  /**
   * Objects of other kinds, such as the Deployments that kustomize prints beside the autoscalers.
   */
  readonly passedOver: readonly KindCount[];
}

/**
 * Reads every document of every source, and opens Lists. Reports all unreadable sources at once.
 * Throws `manifest.unreadable`, and `manifest.unsupported` when nothing but other kinds is among
 * them: a wrong file that is applied with success would be a trap.
 */
export const readInputs = (
  sources: readonly ManifestSource[],
  validation: Validation,
): ManifestInputs => {
  const failures: TidemarkError[] = [];
  const budget = newBudget();
  const otherKinds = newOtherKinds();
  const inputs = sources.flatMap(({ file, text }) => {
    try {
      return readManifests(text, file, {
        budget,
        otherKinds,
        repeatedKeys: validation === "strict" ? "refuse" : "keep",
      });
    } catch (error) {
      if (!isTidemarkError(error, "manifest")) throw error;
      failures.push(error);
      return [];
    }
  });
  if (failures.length > 0)
    throw new TidemarkError(
      "manifest.unreadable",
      failures.map(({ message }) => message).join("\n"),
      { failures },
    );
  const passedOver = otherKinds.counts();
  if (inputs.length === 0 && passedOver.length > 0)
    throw new TidemarkError(
      "manifest.unsupported",
      `Cannot find an autoscaler in the input; ${passedOverText(passedOver)}`,
      { passedOver },
    );
  return { inputs, passedOver };
};

/**
 * The problem of a document whose namespace is not the requested one. It cannot be guessed which of
 * the two is meant.
 */
export const namespaceClash = (
  input: ManifestDocument,
  wanted: string | undefined,
): string | undefined => {
  const own = asObject(asObject(input.document)["metadata"])["namespace"] ?? "";
  if (wanted === undefined || own === "" || own === wanted || typeof own !== "string")
    return undefined;
  return `Cannot accept ${placeOfField(input, "metadata.namespace")}: metadata.namespace is "${own}", and the request says namespace "${wanted}"; remove one of the two`;
};

/** Sets the requested namespace in a document that has none. */
export const withNamespace = (
  input: ManifestDocument,
  wanted: string | undefined,
): ManifestDocument => {
  const { document } = input;
  if (wanted === undefined || !isObject(document)) return input;
  const { metadata } = document;
  if (!isObject(metadata) || (metadata["namespace"] ?? "") !== "") return input;
  return { ...input, document: { ...document, metadata: { ...metadata, namespace: wanted } } };
};

export type Checked =
  | { readonly kind: "admitted"; readonly admitted: Admitted; readonly warnings: readonly string[] }
  | { readonly kind: "refused"; readonly lines: readonly string[] };

/** How documents are checked. */
export interface ManifestCheck {
  /** Sync period of the cluster. */
  readonly syncPeriodMs: number;
  readonly validation: Validation;
}

/**
 * Checks a document against every rule, including those about its change from the stored one. One
 * line for each problem.
 */
export const checkManifest = (
  input: ManifestDocument,
  old: AutoscalerRecord | undefined,
  options: ManifestCheck,
): Checked => {
  const { where, document, repeatedKeys = [] } = input;
  const before = old ? { old: JSON.parse(old.manifest), oldGeneration: old.generation } : {};
  const admission = admit(document, {
    ...before,
    syncPeriodSeconds: options.syncPeriodMs / 1000,
    validation: options.validation,
  });
  if (!admission.ok) {
    const { reported, more } = reportedProblems(admission.problems);
    const lines = reported.map(
      (problem) =>
        `Cannot accept ${placeOfField(input, problem.source ?? problem.field)}: ${clauseOf(problem)}; ${problem.fix}`,
    );
    return {
      kind: "refused",
      lines:
        more === 0
          ? lines
          : [...lines, `Cannot accept "${where}": it has ${more} further problems`],
    };
  }
  const warnings = admission.warnings.map(
    (warning) => `${placeOfField(input, warning.field)}: ${warningText(warning)}`,
  );
  const repeated = repeatedKeys.map(
    ({ name, line }) =>
      `"${where}", line ${line}: the key "${name}" is written twice, and the last one counts`,
  );
  return {
    kind: "admitted",
    admitted: admission,
    warnings: options.validation === "warn" ? [...repeated, ...warnings] : warnings,
  };
};

/** Adds the path of the field, unless the sentence has it. */
const warningText = ({ field, message, fix }: Warning): string =>
  `${message.includes(field) ? message : `${field}: ${message}`}${fix === undefined ? "" : `; ${fix}`}`;
