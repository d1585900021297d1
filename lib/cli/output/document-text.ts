import { stringify } from "yaml";
import { type JsonPathFormat, templateOf } from "../jsonpath/format.ts";
import { printTemplate } from "../jsonpath/print-template.ts";

export type DocumentFormat = "json" | "yaml" | JsonPathFormat;

/** Formats one value as a document with a line end, or as the template says. Undefined members are left out in all formats. */
export const documentText = (value: unknown, format: DocumentFormat): string => {
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  const plain: unknown = JSON.parse(JSON.stringify(value));
  if (format === "yaml") return stringify(plain, { lineWidth: 0, aliasDuplicateObjects: false });
  return printTemplate(templateOf(format), plain);
};
