import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

export interface Zstd {
  readonly compress: typeof zstdCompressSync;
  readonly decompress: typeof zstdDecompressSync;
}

const PROBE_BYTES = 256;
/** Bytes that shrink with a dictionary alone: each value occurs once. */
const PROBE = Buffer.from(Array.from({ length: PROBE_BYTES }, (_, at) => (at * 167) % PROBE_BYTES));

/**
 * True where zstd uses a dictionary: what equals its dictionary shrinks to almost nothing, and comes back. Node before 24.6 drops the option without an error. What it writes can be read
 * everywhere, but is no smaller; and it cannot read what a later Node wrote with a dictionary.
 */
export const usesDictionaries = ({ compress, decompress }: Zstd = { compress: zstdCompressSync, decompress: zstdDecompressSync }): boolean => {
  try {
    const small = compress(PROBE, { dictionary: PROBE });
    return small.length < PROBE_BYTES / 2 && decompress(small, { dictionary: PROBE }).equals(PROBE);
  } catch {
    return false;
  }
};

let answer: boolean | undefined;

/** Whether the zstd of this process uses dictionaries. It is tried once, when it is asked first. */
export const hasDictionaries = (): boolean => {
  answer ??= usesDictionaries();
  return answer;
};
