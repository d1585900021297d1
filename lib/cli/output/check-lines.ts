import type { CheckedPoint, CheckResult, ConnectionReport } from "../../cluster/check/report.ts";
import { isTidemarkError } from "../../model/errors.ts";
import { lines, type Printed } from "../../report/printed.ts";
import type { Printer, Paint, Style } from "../io.ts";
import { aligned } from "./text-table.ts";

const MARKS: Readonly<Record<CheckResult, readonly [mark: string, style: Style]>> = {
  passed: ["✓", "good"],
  warning: ["!", "warn"],
  failed: ["✗", "bad"],
  skipped: ["-", "quiet"],
};

/** One line for each point, with a mark, and below it what to do. */
export const checkLines = (checks: readonly CheckedPoint[], paint: Paint): readonly Printed[] =>
  aligned(
    checks.flatMap(({ check, result, message, fix }) => {
      const [mark, style] = MARKS[result];
      return [[paint(style, mark), check, message], ...(fix === undefined ? [] : [["", "", `to do: ${fix}`]])];
    }),
  );

export const checksText = (checks: readonly CheckedPoint[] | undefined, { paint }: Pick<Printer, "paint">): Printed =>
  lines(checks === undefined ? [] : checkLines(checks, paint));

/** Runs an edit. A refusal that has a report prints it first. */
export const reported = async <Result>(printer: Printer, edit: () => Promise<Result>): Promise<Result> => {
  try {
    return await edit();
  } catch (error) {
    const report = isTidemarkError(error, "service.unusable") ? (error.details as { readonly report?: ConnectionReport }).report : undefined;
    if (report) await printer.print(checksText(report.checks, printer));
    throw error;
  }
};
