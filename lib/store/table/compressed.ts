import { deflateRawSync, inflateRawSync, type ZlibOptions } from "node:zlib";
import { DICTIONARY } from "./dictionary.ts";

/** An inflated body larger than this is damage, not data: a page holds 400 KB at most and our text packs less than a hundredfold. */
const INFLATED_BYTES_MAX = 40_000_000;

/** Set in the first byte of a body that refers to the dictionary; bodies of before have none, and are read all the same. */
const WITH_DICTIONARY = 0x80;

/** JSON text, deflated. One byte in front names the version of what is inside, up to 127, and the dictionary. */
export const compress = (version: number, value: unknown): Uint8Array => {
  const text = Buffer.from(JSON.stringify(value));
  const deflated = deflateRawSync(text, { ...roomFor(text.length), dictionary: DICTIONARY });
  return Buffer.concat([Buffer.of(version | WITH_DICTIONARY), deflated]);
};

const WINDOW_BITS = { min: 9, max: 15 } as const;
const MEMORY_LEVEL_MAX = 8;
/** Text of ours shrinks to less than a quarter. */
const SHRINKS_BY = 4;
/** And seldom to less than a twelfth. */
const SHRINKS_AT_MOST_BY = 12;
const CHUNK_BYTES = { min: 1_024, max: 65_536 } as const;

/** A window no longer than dictionary and text, and memory to match: the same bytes as with the largest, without clearing 256 KB for an intent of 700. */
const roomFor = (bytes: number): ZlibOptions => {
  const windowBits = Math.min(WINDOW_BITS.max, Math.max(WINDOW_BITS.min, 32 - Math.clz32(DICTIONARY.length + bytes + LOOKAHEAD_BYTES)));
  return { windowBits, memLevel: Math.min(MEMORY_LEVEL_MAX, windowBits - 6), chunkSize: chunkFor(Math.ceil(bytes / SHRINKS_BY)) };
};

/** What zlib sets aside at once for what comes out: as much as is expected, so that it neither clears 64 KB for an intent nor asks many times for a page. */
const chunkFor = (bytes: number): number => Math.min(CHUNK_BYTES.max, Math.max(CHUNK_BYTES.min, bytes));
/** What zlib keeps free of its window. */
const LOOKAHEAD_BYTES = 262;

const NO_VERSION = -1;

/** The version and the value; throws whatever zlib or JSON says of damaged bytes. */
export const decompress = (body: Uint8Array): { readonly version: number; readonly value: unknown } => {
  const chunkSize = chunkFor(body.length * SHRINKS_AT_MOST_BY);
  const [first = NO_VERSION] = body;
  const refers = first >= WITH_DICTIONARY;
  const options = { maxOutputLength: INFLATED_BYTES_MAX, chunkSize, ...(refers && { dictionary: DICTIONARY }) };
  const text = inflateRawSync(body.subarray(1), options).toString();
  return { version: refers ? first - WITH_DICTIONARY : first, value: JSON.parse(text) as unknown };
};
