import type { Io } from "./io.ts";

/** A progress line on a terminal; without a terminal nothing is shown. */
export interface Progress {
  readonly show: (text: string) => void;
  /** Removes the line, before other lines are printed and at the end. */
  readonly clear: () => void;
}

const START_OF_LINE = "\r\u001b[2K";

export const progressOn = ({ stderr, terminal }: Pick<Io, "stderr" | "terminal">): Progress =>
  terminal
    ? { show: (text) => stderr.write(`${START_OF_LINE}${text}`), clear: () => stderr.write(START_OF_LINE) }
    : { show: () => {}, clear: () => {} };
