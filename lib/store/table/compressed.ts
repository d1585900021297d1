import { deflateRawSync, inflateRawSync, type ZlibOptions } from "node:zlib";
import { DICTIONARY } from "./dictionary.ts";

/** A larger inflated body is damage, not data: an item holds 400 KB at most, and this text compresses less than a hundredfold. */
const INFLATED_BYTES_MAX = 40_000_000;

/** Set in the first byte of a body that uses the dictionary. Bodies of earlier versions do not have it, and are still read. */
const WITH_DICTIONARY = 0x80;

/** Compresses a value as JSON text with DEFLATE. The first byte holds the version of the content, up to 127, and whether the dictionary is used. */
export const compress = (version: number, value: unknown): Uint8Array => {
  const text = Buffer.from(JSON.stringify(value));
  const deflated = deflateRawSync(text, { ...roomFor(text.length), dictionary: DICTIONARY });
  return Buffer.concat([Buffer.of(version | WITH_DICTIONARY), deflated]);
};

const WINDOW_BITS = { min: 9, max: 15 } as const;
const MEMORY_LEVEL_MAX = 8;
/** The text shrinks to less than a quarter. */
const SHRINKS_BY = 4;
/** The text seldom shrinks to less than a twelfth. */
const SHRINKS_AT_MOST_BY = 12;
const CHUNK_BYTES = { min: 1_024, max: 65_536 } as const;

/** A window as long as dictionary and text, with matching memory. The result is the same as with the largest window, but zlib need not clear 256 KB for an intent of 700 bytes. */
const roomFor = (bytes: number): ZlibOptions => {
  const windowBits = Math.min(WINDOW_BITS.max, Math.max(WINDOW_BITS.min, 32 - Math.clz32(DICTIONARY.length + bytes + LOOKAHEAD_BYTES)));
  return { windowBits, memLevel: Math.min(MEMORY_LEVEL_MAX, windowBits - 6), chunkSize: chunkFor(Math.ceil(bytes / SHRINKS_BY)) };
};

/** The output buffer of zlib, as large as the expected output: so it clears no 64 KB for an intent, and needs few buffers for a page. */
const chunkFor = (bytes: number): number => Math.min(CHUNK_BYTES.max, Math.max(CHUNK_BYTES.min, bytes));
/** The part of the window that zlib does not use. */
const LOOKAHEAD_BYTES = 262;

const NO_VERSION = -1;

const usesDictionary = ([first = NO_VERSION]: Uint8Array): boolean => first >= WITH_DICTIONARY;

/** The JSON text of a body. Throws the error of zlib for damaged bytes. */
export const inflatedText = (body: Uint8Array): Buffer => {
  const chunkSize = chunkFor(body.length * SHRINKS_AT_MOST_BY);
  const options = { maxOutputLength: INFLATED_BYTES_MAX, chunkSize, ...(usesDictionary(body) && { dictionary: DICTIONARY }) };
  return inflateRawSync(body.subarray(1), options);
};

/** The version of the content of a body. */
export const versionOf = (body: Uint8Array): number => {
  const [first = NO_VERSION] = body;
  return usesDictionary(body) ? first - WITH_DICTIONARY : first;
};

/** Decompresses a body to its version and value. Throws the error of zlib or JSON for damaged bytes. */
export const decompress = (body: Uint8Array): { readonly version: number; readonly value: unknown } => ({
  version: versionOf(body),
  value: JSON.parse(inflatedText(body).toString()) as unknown,
});
