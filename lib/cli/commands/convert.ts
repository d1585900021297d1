import { admitOrThrow } from "../../manifest/admit.ts";
import { newBudget } from "../../manifest/budget.ts";
import { readManifests } from "../../manifest/documents.ts";
import type { Json } from "../../fields/json.ts";
import { convert as conversionOf } from "../../manifest/native/convert.ts";
import type { Validation } from "../../manifest/validation.ts";
import { TidemarkError } from "../../model/errors.ts";
import { joined, type Printed, text } from "../../report/printed.ts";
import type { CommandIo, Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { listOf } from "../output/kubernetes-list.ts";
import { type FileOptions, readSources } from "../read-sources.ts";

export interface ConvertOptions extends FileOptions {
  readonly output: DocumentFormat;
  readonly validate: Validation;
}

/** Prints every manifest of the files as a PodAutoscaler with the same decisions; all of them, or none. Throws `manifest.not-convertible` with the rule that a PodAutoscaler cannot express. */
export const convert = async (printer: Printer, { output, validate, ...files }: ConvertOptions, io: Pick<CommandIo, "stdin">): Promise<void> => {
  const sources = await readSources(files, io.stdin);
  const budget = newBudget();
  const documents = sources
    .flatMap(({ file, text: manifests }) => readManifests(manifests, file, { budget, repeatedKeys: validate === "strict" ? "refuse" : "keep" }))
    .map((input) => {
      const { warnings, ...admitted } = admitOrThrow(input, { validation: validate });
      for (const { field, message } of warnings) printer.tell(text`warning: "${admitted.metadata.name}" of "${input.where}": ${field}: ${message}`);
      return convertedOrThrow(admitted, input.where);
    });
  await printer.print(printed(documents, output));
};

const convertedOrThrow = (admitted: Parameters<typeof conversionOf>[0] & { readonly metadata: { readonly name: string } }, where: string): Json => {
  const conversion = conversionOf(admitted);
  if (conversion.kind === "converted") return conversion.document;
  const { rule, message } = conversion;
  const { name } = admitted.metadata;
  throw new TidemarkError("manifest.not-convertible", `Cannot convert "${name}" of "${where}" to a PodAutoscaler: rule ${rule}: ${message}`, {
    name,
    where,
    rule,
  });
};

const printed = (documents: readonly Json[], output: DocumentFormat): Printed => {
  if (output === "yaml")
    return joined(
      documents.map((document) => documentText(document, "yaml")),
      text`---\n`,
    );
  return documentText(documents.length === 1 ? documents[0] : listOf(documents), output);
};
