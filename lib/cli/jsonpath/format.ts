import { usage } from "../usage-error.ts";
import { printTemplate, resultsOf, valueText } from "./print-template.ts";
import { parseTemplate, type Part } from "./template.ts";
import { isObject } from "../../model/json.ts";
import { parsePath, type Step } from "./json-path.ts";

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

/** A column of `-o custom-columns=`. */
interface Column {
  readonly header: string;
  readonly steps: readonly Step[];
}

/** What kubectl prints for a field that does not exist. */
const NONE = "<none>";
const GAP = "   ";

const unreadable = (words: string, problem: string) =>
  usage(`Cannot read -o custom-columns="${words}": ${problem}; write for example -o custom-columns=NAME:.metadata.name,MAX:.spec.maxReplicas`);

/** Reads "NAME:.metadata.name,MAX:.spec.maxReplicas" as kubectl does: the braces and the first point of a path may be left out. Throws a usage error. */
export const readColumns = (words: string): readonly Column[] => {
  // A comma inside brackets belongs to its path.
  const columns = words.split(/,(?![^[]*\])/).map((word): Column => {
    const [header = "", ...path] = word.split(":");
    if (header === "" || path.join(":") === "") throw unreadable(words, `"${word}" is no HEADER:PATH`);
    const bare = path
      .join(":")
      .trim()
      .replace(/^\{(.*)\}$/s, "$1");
    return { header, steps: parsePath(/^[.[@$]/.test(bare) ? bare : `.${bare}`, (problem) => unreadable(words, problem)) };
  });
  return columns;
};

/** A row for each item of a list, or one for a document. Several results of a path stand behind commas. */
export const columnsText = (columns: readonly Column[], document: unknown, hasHeaders: boolean): string => {
  const items = isObject(document) && document["kind"] === "List" && Array.isArray(document["items"]) ? document["items"] : [document];
  const rows = items.map((item: unknown) => columns.map(({ steps }) => cellText(resultsOf(steps, item))));
  const all = hasHeaders ? [columns.map(({ header }) => header), ...rows] : rows;
  const widths = columns.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join("");
};

const cellText = (values: readonly unknown[]): string => {
  const cells = values.filter((value) => value !== null).map((value) => valueText(value).replaceAll(/\s+/g, " "));
  return cells.length === 0 ? NONE : cells.join(",");
};
