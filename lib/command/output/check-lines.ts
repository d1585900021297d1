import type {
  CheckedPoint,
  CheckResult,
  ConnectionReport,
} from "../../stack/cluster/check/report.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import type { Printer, Style } from "../io.ts";
import { type DocumentFormat, documentText } from "./documents.ts";
import { aligned } from "./text-table.ts";

const MARKS: Readonly<Record<CheckResult, readonly [mark: string, style: Style]>> = {
  passed: ["✓", "good"],
  warning: ["!", "warn"],
  failed: ["✗", "bad"],
  skipped: ["-", "quiet"],
};

/** One line for each point, with a mark, and below it what to do. */
export const checksText = (
  checks: readonly CheckedPoint[] = [],
  { paint }: Pick<Printer, "paint">,
): Printed => {
  const rows = checks.flatMap(({ check, result, message, fix }) => {
    const [mark, style] = MARKS[result];
    return [
      [paint(style, mark), check, message],
      ...(fix === undefined ? [] : [["", "", `to do: ${fix}`]]),
    ];
  });
  return lines(aligned(rows));
};

/**
 * Prints what a look found. Throws `cli.check` where a necessary point failed, so that a script
 * sees it.
 */
export const printReport = async (
  printer: Printer,
  report: ConnectionReport,
  output: "table" | DocumentFormat,
  refusal: (failed: string) => string,
): Promise<void> => {
  await printer.print(
    output === "table" ? checksText(report.checks, printer) : documentText(report, output),
  );
  const failed = report.checks
    .filter(({ result }) => result === "failed")
    .map(({ check }) => check);
  if (!report.usable)
    throw new TidemarkError("cli.check", refusal(failed.join(", ")), { name: report.name });
};

/** Runs an edit. A refusal that has a report prints it first. */
export const reported = async <Result>(
  printer: Printer,
  edit: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await edit();
  } catch (error) {
    const report = isTidemarkError(error, "service.unusable")
      ? (error.details as { readonly report?: ConnectionReport }).report
      : undefined;
    if (report) await printer.print(checksText(report.checks, printer));
    throw error;
  }
};
