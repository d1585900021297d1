import { afterAll } from "vitest";

interface Switch {
  activeMutant?: string | undefined;
}

/**
 * The mutant ends with the last test of a file: in a thread that is kept, the next mutant's files
 * would be loaded under it.
 */
afterAll(() => {
  const { __stryker__: stryker } = globalThis as { __stryker__?: Switch };
  if (stryker) stryker.activeMutant = undefined;
});
