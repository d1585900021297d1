import type { Io } from "./io.ts";

/** One line on a terminal that tells how far the work is; nothing where no person looks. */
export interface Progress {
  readonly show: (text: string) => void;
  /** Takes the line away, before other lines are printed and at the end. */
  readonly clear: () => void;
}

const START_OF_LINE = "\r\u001b[2K";

export const progressOn = ({ stderr, terminal }: Pick<Io, "stderr" | "terminal">): Progress =>
  terminal
    ? { show: (text) => stderr.write(`${START_OF_LINE}${text}`), clear: () => stderr.write(START_OF_LINE) }
    : { show: () => {}, clear: () => {} };
