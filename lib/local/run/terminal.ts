/** Where a run shows itself. */
export interface Terminal {
  readonly stream: NodeJS.WriteStream;
  readonly write: (text: string) => void;
  /** True for a terminal that can be drawn on: then the view is live. */
  readonly live: boolean;
}

/** Drawn on only where a person looks at it: not into a pipe, not into the log of a build, not where colours are unwanted. */
export const terminalOf = (stream: NodeJS.WriteStream, environment: Readonly<Record<string, string | undefined>>): Terminal => {
  const { NO_COLOR: noColour, TERM: term, CI: build } = environment;
  const isWanted = !noColour && term !== "dumb" && (!build || build === "false");
  return { stream, write: (text) => void stream.write(text), live: isScreen(stream) && isWanted };
};

/** A terminal that does not know its size, as some that programs open, cannot be drawn over. */
const isScreen = ({ isTTY, columns, rows }: NodeJS.WriteStream): boolean => isTTY === true && columns > 0 && rows > 0;
