import { TidemarkError } from "../../model/errors.ts";
import { withLocalTimes } from "../../report/instant-text.ts";
import { type Printed, text } from "../../report/printed.ts";
import type { Service } from "../../service/service.ts";
import type { StatusView } from "../../views/status.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";
import { statusSheet } from "../output/status-sheet.ts";
import { watch } from "../watch.ts";

export interface StatusOptions {
  readonly output: "text" | DocumentFormat;
  readonly watch?: true;
}

/** Moves to the first column of the first line, and clears the screen below. */
const CLEAR = text`\u001B[H\u001B[J`;

/** Prints the status, with `--watch` again every five seconds until Ctrl-C. Throws `cli.unhealthy`, which prints nothing, so that the exit code says it. */
export const status = async (
  { service, place }: Session,
  printer: Printer,
  { output, watch: again }: StatusOptions,
  io: Pick<CommandIo, "interruptible" | "screen" | "watchEveryMs">,
): Promise<void> => {
  const before = text`${again && io.screen ? CLEAR : ""}${output === "text" ? text`In ${place}:\n` : ""}`;
  let newest = await printed(service, printer, output, before);
  if (again)
    await watch(io, async (isFirst) => {
      if (!isFirst) newest = await printed(service, printer, output, before);
      return newest.read;
    });
  if (!newest.view.healthy) throw new TidemarkError("cli.unhealthy", "Something is unhealthy", {});
};

interface Shown {
  readonly view: StatusView;
  /** False when the reader has gone. */
  readonly read: boolean;
}

const printed = async (service: Service, printer: Printer, output: StatusOptions["output"], before: Printed): Promise<Shown> => {
  const view = await service.status();
  return {
    view,
    read: await printer.print(text`${before}${output === "text" ? statusSheet(withLocalTimes(view), printer.paint) : documentText(view, output)}`),
  };
};
