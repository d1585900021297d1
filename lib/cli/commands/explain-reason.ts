import { TidemarkError } from "../../model/errors.ts";
import { lines } from "../../report/printed.ts";
import { type ReasonText, reasonText, reasonTexts } from "../../report/reasons/reasons.ts";
import type { Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { aligned } from "../output/text-table.ts";

/** Prints what a reason means and what to do; without a name every reason with its meaning. Throws `report.unknown-reason`. */
export const explainReason = async (printer: Printer, name: string | undefined, output: "text" | DocumentFormat): Promise<void> => {
  const shown = name === undefined ? reasonTexts() : knownReason(name);
  if (output !== "text") await printer.print(documentText(shown, output));
  else if (Array.isArray(shown)) await printer.print(lines(aligned(shown.map((reason: ReasonText) => [reason.name, reason.means]))));
  else await printer.print(sheetOf(shown as ReasonText));
};

const knownReason = (name: string): ReasonText => {
  const found = reasonText(name);
  if (found.kind === "known") return found.reason;
  const hint = found.nearest === undefined ? ": tidemark explain-reason lists all of them" : `, did you mean "${found.nearest}"?`;
  throw new TidemarkError("report.unknown-reason", `Cannot explain "${name}": there is no such reason${hint}`, { name });
};

const sheetOf = ({ name, group, means, todo }: ReasonText) => lines([`${name} (${group.toLowerCase()})`, `  ${means}`, `  What to do: ${todo}`]);
