import type { FieldDescription } from "../../rules/fields/field-types.ts";
import { ruleText } from "../../rules/fields/rule-text.ts";
import { podAutoscalerDefinition } from "../../rules/manifest/crd/definition.ts";
import {
  boundsText,
  CLUSTER_PATH,
  defaultText,
  explainField,
  membersOf,
  typeText,
} from "../../rules/manifest/native/explain-field.ts";
import {
  clusterDocumentSchema,
  podAutoscalerSchema,
  schemaOf,
} from "../../rules/manifest/native/json-schema.ts";
import { rulesAt } from "../../rules/manifest/native/rule-table.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import type { Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { type ReasonText, reasonText, reasonTexts } from "../../stack/report/reasons/reasons.ts";
import { aligned } from "../output/text-table.ts";

/**
 * Prints the meaning and bounds of a field of a PodAutoscaler or of a Cluster; without a field of
 * the spec, or in JSON the whole schema. Throws `manifest.unknown-field`.
 */
export const explainSchema = async (
  printer: Printer,
  field: string | undefined,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const explanation = explainField(field ?? "spec");
  if (explanation.kind === "unknown") {
    const { path, name, nearest } = explanation;
    const hint = nearest === undefined ? "" : `, did you mean "${nearest}"?`;
    throw new TidemarkError(
      "manifest.unknown-field",
      `Cannot explain "${field}": "${path}" has no field "${name}"${hint}`,
      { path, name },
    );
  }
  if (output === "text") await printer.print(fieldSheet(explanation.path, explanation.about));
  else
    await printer.print(
      documentText(
        field === undefined
          ? podAutoscalerSchema()
          : explanation.path === CLUSTER_PATH
            ? clusterDocumentSchema()
            : schemaOf(explanation.path, explanation.about),
        output,
      ),
    );
};

const fieldSheet = (path: string, about: FieldDescription): Printed => {
  const rows = [
    ["Type", typeText(about)],
    ["Default", defaultText(about)],
    ["Bounds", boundsText(about)],
  ].filter(([, value]) => value !== "");
  const rules = about.rules ?? rulesAt(path);
  const members = Object.entries(membersOf(about));
  const width = Math.max(0, ...members.map(([name]) => name.length));
  return lines([
    path,
    `  ${about.meaning}`,
    ...rows.map(([name = "", value = ""]) => `  ${`${name}:`.padEnd(9)}${value}`),
    ...(rules.length > 0 ? ["  Rules:", ...rules.map((rule) => `    ${ruleText(rule)}`)] : []),
    ...(members.length > 0
      ? [
          "  Fields:",
          ...members.map(([name, { meaning }]) => `    ${name.padEnd(width)}  ${meaning}`),
        ]
      : []),
  ]);
};

/**
 * Prints the CustomResourceDefinition `podautoscalers.tidemark.dev`, ready for `kubectl apply
 * --server-side -f -`.
 */
export const crd = async (printer: Printer, output: DocumentFormat): Promise<void> => {
  await printer.print(documentText(podAutoscalerDefinition(), output));
};

/**
 * Prints what a reason means and what to do; without a name every reason with its meaning. Throws
 * `report.unknown-reason`.
 */
export const explainReason = async (
  printer: Printer,
  name: string | undefined,
  output: "text" | DocumentFormat,
): Promise<void> => {
  const shown = name === undefined ? reasonTexts() : knownReason(name);
  if (output !== "text") await printer.print(documentText(shown, output));
  else if (Array.isArray(shown))
    await printer.print(
      lines(aligned(shown.map((reason: ReasonText) => [reason.name, reason.means]))),
    );
  else await printer.print(sheetOf(shown as ReasonText));
};

const knownReason = (name: string): ReasonText => {
  const found = reasonText(name);
  if (found.kind === "known") return found.reason;
  const hint =
    found.nearest === undefined
      ? ": tidemark explain-reason lists all of them"
      : `, did you mean "${found.nearest}"?`;
  throw new TidemarkError(
    "report.unknown-reason",
    `Cannot explain "${name}": there is no such reason${hint}`,
    { name },
  );
};

const sheetOf = ({ name, group, means, todo }: ReasonText) =>
  lines([`${name} (${group.toLowerCase()})`, `  ${means}`, `  What to do: ${todo}`]);
