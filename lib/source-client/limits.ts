/** Most decompressed bytes of one answer. One series has some 300; a query that gives many series is refused by its reader. */
export const MAX_SOURCE_BYTES = 256 * 1024;

/** Questions in flight: of one source in one sync, and of all sources. */
export const PARALLEL = { ofSource: 8, all: 32 } as const;

/** After so many failed syncs in a row a source is asked in one sync of so many. */
const OPENS_AFTER = 3;
const ASKED_EVERY = 4;

/** Spares a source that does not answer, and the syncs that would wait for it. It lives as long as its environment. */
export interface Circuit {
  /** Begins the questions of one sync. Words for why nothing is asked in it; undefined where the source is asked. */
  readonly begin: () => string | undefined;
  /** Ends them: the error of the source, where no question was answered because of it. */
  readonly end: (error: string | undefined) => void;
}

export const circuitOf = (): Circuit => {
  let failures = 0;
  let last = "";
  let skipped = 0;
  return {
    begin: () => {
      if (failures < OPENS_AFTER) return undefined;
      skipped = (skipped + 1) % ASKED_EVERY;
      return skipped === 0
        ? undefined
        : `is asked in one of ${ASKED_EVERY} syncs since it failed ${failures} times in a row; the last error: ${last}`;
    },
    end: (error) => {
      failures = error === undefined ? 0 : failures + 1;
      last = error ?? "";
      skipped = 0;
    },
  };
};
