import { usage } from "../usage-error.ts";
import { type Column, columnsText, readColumns } from "./custom-columns.ts";
import { printTemplate } from "./print-template.ts";
import { parseTemplate, type Part } from "./template.ts";

const PATH_PREFIX = "jsonpath=";
const COLUMNS_PREFIX = "custom-columns=";

/** The value of `-o jsonpath=TEMPLATE` or `-o custom-columns=HEADER:PATH,…`. */
export type TemplateFormat = `${typeof PATH_PREFIX}${string}` | `${typeof COLUMNS_PREFIX}${string}`;

export const isTemplate = (format: string): format is TemplateFormat => format.startsWith(PATH_PREFIX) || format.startsWith(COLUMNS_PREFIX);

type Template = { readonly parts: readonly Part[] } | { readonly columns: readonly Column[] };

/** Throws a usage error for a template that cannot be read. */
export const templateOf = (format: TemplateFormat): Template =>
  format.startsWith(PATH_PREFIX)
    ? { parts: parseTemplate(format.slice(PATH_PREFIX.length)) }
    : { columns: readColumns(format.slice(COLUMNS_PREFIX.length)) };

/** A document as the template says. `hasHeaders`: of custom columns, false for --no-headers. */
export const templateText = (format: TemplateFormat, document: unknown, hasHeaders: boolean): string => {
  const template = templateOf(format);
  return "parts" in template ? printTemplate(template.parts, document) : columnsText(template.columns, document, hasHeaders);
};

/** The columns of a file of `-o custom-columns-file=`: the headers in the first line, the paths in the second. */
export const columnsOfLines = (content: string): TemplateFormat => {
  const [headers = [], paths = []] = content.split("\n").map((row) => row.split(/\s+/).filter((word) => word !== ""));
  if (headers.length === 0 || headers.length !== paths.length)
    throw usage(`Cannot read the columns of the file: it has ${headers.length} headers in its first line and ${paths.length} paths in its second`);
  return `${COLUMNS_PREFIX}${headers.map((header, at) => `${header}:${paths[at]}`).join(",")}`;
};
