import { once } from "node:events";
import { dashboardServer } from "../../dashboard/serve/server.ts";
import { failureText } from "../../embedded/host/failure-text.ts";
import { closeServer, listenWithOwnGuards } from "../../embedded/host/loopback.ts";
import { lines, text } from "../../stack/report/printed.ts";
import { type CommandSurroundings, interruptible, type Session } from "../io.ts";
import type { TargetOptions } from "../select/command-target.ts";
import { usage } from "../usage-error.ts";

export interface ServingOptions extends TargetOptions {
  readonly port: string;
  readonly open?: true;
  readonly allowEdits?: true;
}

const PORT_MAX = 65_535;

/** Throws a usage error. */
export const portOf = (given: string): number => {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= PORT_MAX) return port;
  throw usage(
    `Cannot use --port "${given}": give a number from 0 to ${PORT_MAX}; 0 takes a free one`,
  );
};

/** Serves the page of a data folder or stack until Ctrl-C. Throws `local.port-in-use`. */
export const dashboard = async (
  session: Session,
  { printer, io }: CommandSurroundings<"interruptible" | "openBrowser">,
  { port, open, allowEdits }: ServingOptions,
): Promise<void> => {
  if (!session.dashboard) throw new RangeError(`${session.place} has no page`);
  const onFailure = (error: unknown): void =>
    printer.error(
      failureText(error) ?? (error instanceof Error ? error.stack : undefined) ?? String(error),
    );
  const { server, urlAt, idle } = dashboardServer(session.dashboard, {
    allowEdits: allowEdits === true,
    onFailure,
  });
  const url = urlAt(await listenWithOwnGuards(server, portOf(port)));
  try {
    const may = allowEdits
      ? "The page can pause, resume, override and freeze"
      : "The page only reads; with --allow-edits it can pause, override and freeze";
    await printer.print(lines([text`Open ${url}`, text`${may}. Ctrl-C ends it.`]));
    // Where no browser can be started, the address is printed: the page is served even so.
    if (open) await io.openBrowser?.(url).catch(onFailure);
    await interruptible(io, (signal) => ended(signal));
  } finally {
    await closeServer(server, idle);
  }
};

const ended = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, "abort");
};
