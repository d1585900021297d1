import { createRequire } from "node:module";
import type { CreateNodeOptions, DocumentOptions, SchemaOptions, ToStringOptions } from "yaml";
import { isPrintable, printableJson } from "../../model/foreign-text.ts";
import { block, type Printed } from "../../report/printed.ts";
import { type TemplateFormat, templateText } from "../jsonpath/format.ts";

export type DocumentFormat = "json" | "yaml" | TemplateFormat;

/**
 * Formats one value as a document with a line end, or as the template says. Undefined members are left out in all formats. JSON and YAML keep every character, the unprintable ones as escapes of their own. A template
 * prints what shells read, so that it keeps line ends and tabs and escapes the others. `hasHeaders`: of custom columns.
 */
export const documentText = (value: unknown, format: DocumentFormat, hasHeaders = true): Printed => {
  if (format === "json") return block(`${jsonText(value, 2)}\n`);
  const plain: unknown = JSON.parse(JSON.stringify(value));
  if (format === "yaml") return block(yamlText(plain, { aliasDuplicateObjects: false }));
  return block(templateText(format, plain, hasHeaders));
};

export const jsonText = (value: unknown, indent?: number): string => printableJson(JSON.stringify(value, null, indent));

/** Loaded by the first YAML that is printed, because its 70 files are for nothing elsewhere. */
const yaml = (): typeof import("yaml") => createRequire(import.meta.url)("yaml");

/** Texts that a reader of YAML 1.1, such as the one in kubectl, takes for a number, a date or a boolean: "20:00" for 1200, "2026-12-24", "on". */
const NO_TEXT_IN_YAML_1_1 = /^(?:\d+(?::[0-5]?\d)+|\d{4}-\d{2}-\d{2}|y|n|yes|no|on|off)$/i;

/** YAML in which each text is quoted that YAML 1.1 reads as something else, or that has an unprintable character, which is then an escape. */
export const yamlText = (value: unknown, options: DocumentOptions & SchemaOptions & CreateNodeOptions & ToStringOptions = {}): string => {
  const { Document, visit } = yaml();
  const document = new Document(value, options);
  visit(document, {
    Scalar: (_key, node) => {
      const { value: text } = node;
      if (typeof text === "string" && (NO_TEXT_IN_YAML_1_1.test(text) || !isPrintable(text.replaceAll("\n", "")))) node.type = "QUOTE_DOUBLE";
    },
  });
  return printableJson(document.toString({ lineWidth: 0, ...options }));
};
