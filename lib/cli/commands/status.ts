import { TidemarkError } from "../../model/errors.ts";
import type { Service } from "../../service/service.ts";
import type { StatusView } from "../../service/views/status.ts";
import type { Io, Printer, Session } from "../io.ts";
import { documentText } from "../output/document-text.ts";
import { statusSheet } from "../output/status-sheet.ts";

export interface StatusOptions {
  readonly output: "text" | "json" | "yaml";
  readonly watch?: true;
}

const WATCH_EVERY_MS = 5_000;
/** Moves to the first column of the first line, and clears the screen below. */
const CLEAR = "\u001B[H\u001B[J";

/** Prints the status, with `--watch` again every five seconds until Ctrl-C. Throws `cli.unhealthy`, which prints nothing, so that the exit code tells. */
export const status = async (
  { service }: Session,
  printer: Printer,
  { output, watch }: StatusOptions,
  io: Pick<Io, "interruptible" | "stdout">,
): Promise<void> => {
  const newest =
    watch && io.interruptible
      ? await io.interruptible((signal) => watched(service, printer, output, { signal, isScreen: isScreen(io.stdout) }))
      : await printed(service, printer, output, "");
  if (!newest.view.healthy) throw new TidemarkError("cli.unhealthy", "Something is unhealthy", {});
};

const isScreen = (stdout: Io["stdout"]): boolean => "isTTY" in stdout && stdout.isTTY === true;

interface Printed {
  readonly view: StatusView;
  /** False when the reader has gone. */
  readonly read: boolean;
}

const printed = async (service: Service, printer: Printer, output: StatusOptions["output"], before: string): Promise<Printed> => {
  const view = await service.status();
  return { view, read: await printer.print(before + (output === "text" ? statusSheet(view, printer.paint) : documentText(view, output))) };
};

const watched = async (
  service: Service,
  printer: Printer,
  output: StatusOptions["output"],
  { signal, isScreen: clears }: { readonly signal: AbortSignal; readonly isScreen: boolean },
): Promise<Printed> => {
  for (;;) {
    const newest = await printed(service, printer, output, clears ? CLEAR : "");
    if (!newest.read || (await isAborted(signal))) return newest;
  }
};

/** Waits for the next time to print; true when Ctrl-C came first. */
const isAborted = (signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(true);
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(signal.aborted);
    };
    const timer = setTimeout(end, WATCH_EVERY_MS);
    signal.addEventListener("abort", end);
  });
