import { userInfo } from "node:os";
import type { Printed } from "../../stack/report/printed.ts";

/** The terminal of a run. */
export interface Terminal {
  readonly stream: NodeJS.WriteStream;
  readonly write: (text: Printed) => void;
  /** True for a terminal that the live view can draw on. */
  readonly live: boolean;
}

/**
 * The live view is for a person at a terminal: not for a pipe, the log of a build, or a terminal
 * without colours.
 */
export const terminalOf = (
  stream: NodeJS.WriteStream,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal => {
  const { NO_COLOR: noColour, TERM: term, CI: build } = environment;
  const isWanted = !noColour && term !== "dumb" && (!build || build === "false");
  return {
    stream,
    write: (text) => void stream.write(text.written()),
    live: isScreen(stream) && isWanted,
  };
};

/** A terminal without a size, as some programs open, cannot be drawn over. */
const isScreen = ({ isTTY, columns, rows }: NodeJS.WriteStream): boolean =>
  isTTY === true && columns > 0 && rows > 0;

/**
 * The name of the system user, with which edits are recorded. A container may know its user only by
 * number.
 */
export const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
