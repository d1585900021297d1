import { constants, type ZstdOptions, zstdCompressSync, zstdDecompressSync } from "node:zlib";

export interface Zstd {
  readonly compress: typeof zstdCompressSync;
  readonly decompress: typeof zstdDecompressSync;
}

const PROBE_BYTES = 256;
/** Bytes that shrink only with a dictionary: each value occurs once. */
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

/** A larger text is damage, not data (../table/compressed.ts). */
const TEXT_BYTES_MAX = 40_000_000;
/** Level 9 saves 1 % of the bytes at most, and takes five times as long for a small page. Level 1 needs 1.5 to 2 times the bytes. Level 5 takes half of the time for a sixth more bytes: writing those costs some fifty times what the time does. */
const LEVEL = 8;

/** The base is the dictionary. The checksum shows a wrong or damaged base. */
const PARAMS: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 } };

/** The bytes of a text, as its difference from a base where there is one. */
export const packed = (text: Uint8Array, base?: Uint8Array): Buffer => zstdCompressSync(text, { ...PARAMS, ...(base && { dictionary: base }) });

/** The text of packed bytes. Throws the error of zlib for damaged bytes, and for another base. */
export const unpacked = (bytes: Uint8Array, base?: Uint8Array): Buffer =>
  zstdDecompressSync(bytes, { maxOutputLength: TEXT_BYTES_MAX, ...(base && { dictionary: base }) });
