import { TidemarkError } from "../../model/errors.ts";
import type { Printer, Session } from "../io.ts";
import { checksText } from "../output/check-lines.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";

export interface CheckOptions {
  readonly kind?: readonly string[];
  readonly output: "table" | DocumentFormat;
}

/** Prints what a look at a cluster found. Throws where a necessary point failed, so that a script sees it. */
export const check = async ({ service }: Session, printer: Printer, name: string, { kind, output }: CheckOptions): Promise<void> => {
  const report = await service.checkCluster({ name, ...(kind && { kinds: kind }) });
  await printer.print(output === "table" ? checksText(report.checks, printer) : documentText(report, output));
  if (report.usable) return;
  const failed = report.checks.filter(({ result }) => result === "failed").map((point) => point.check);
  throw new TidemarkError("cli.check", `Cannot use cluster "${name}": ${failed.join(", ")} failed, of ${report.checks.length} points`, { name });
};
