/** What happened in a seed, line by line; kept only where it will be read. */
export interface Story {
  /** What every sync tells is given as a function: most stories are never read. */
  readonly tell: (who: string, what: string | (() => string)) => void;
  readonly lines: readonly string[];
}

const SECOND_MS = 1_000;

export const newStory = (nowMs: () => number, startMs: number, kept: boolean): Story => {
  const lines: string[] = [];
  return {
    lines,
    tell: (who, what) => {
      if (!kept) return;
      const words = typeof what === "string" ? what : what();
      lines.push(
        `${((nowMs() - startMs) / SECOND_MS).toFixed(3).padStart(9)} s  ${who.padEnd(12)} ${words}`,
      );
    },
  };
};
