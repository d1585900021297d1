import { isObject } from "../../model/is-object.ts";
import { usage } from "../usage-error.ts";
import { parsePath, type Step } from "./json-path.ts";
import { resultsOf, valueText } from "./print-template.ts";

/** A column of `-o custom-columns=`. */
export interface Column {
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
