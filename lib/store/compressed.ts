import { deflateRawSync, inflateRawSync, type ZlibOptions } from "node:zlib";

/** An inflated body larger than this is damage, not data: a page holds 400 KB at most and our text packs less than a hundredfold. */
const INFLATED_BYTES_MAX = 40_000_000;

/** JSON text, deflated. One byte in front names the version of what is inside. */
export const compress = (version: number, value: unknown): Uint8Array => {
  const text = Buffer.from(JSON.stringify(value));
  return Buffer.concat([Buffer.of(version), deflateRawSync(text, roomFor(text.length))]);
};

const WINDOW_BITS = { min: 9, max: 15 } as const;
const MEMORY_LEVEL_MAX = 8;
/** Text of ours shrinks to less than a quarter. */
const SHRINKS_BY = 4;
/** And seldom to less than an eighth. */
const SHRINKS_AT_MOST_BY = 8;
const CHUNK_BYTES = { min: 1_024, max: 65_536 } as const;

/** A window no longer than the text, and memory to match: the same bytes as with the largest, without clearing 256 KB for an intent of 700. */
const roomFor = (bytes: number): ZlibOptions => {
  const windowBits = Math.min(WINDOW_BITS.max, Math.max(WINDOW_BITS.min, 32 - Math.clz32(bytes + LOOKAHEAD_BYTES)));
  return { windowBits, memLevel: Math.min(MEMORY_LEVEL_MAX, windowBits - 6), chunkSize: chunkFor(Math.ceil(bytes / SHRINKS_BY)) };
};

/** What zlib sets aside at once for what comes out: as much as is expected, so that it neither clears 64 KB for an intent nor asks many times for a page. */
const chunkFor = (bytes: number): number => Math.min(CHUNK_BYTES.max, Math.max(CHUNK_BYTES.min, bytes));
/** What zlib keeps free of its window. */
const LOOKAHEAD_BYTES = 262;

/** The version and the value; throws whatever zlib or JSON says of damaged bytes. */
export const decompress = (body: Uint8Array): { readonly version: number; readonly value: unknown } => {
  const chunkSize = chunkFor(body.length * SHRINKS_AT_MOST_BY);
  const text = inflateRawSync(body.subarray(1), { maxOutputLength: INFLATED_BYTES_MAX, chunkSize }).toString();
  return { version: body[0] ?? -1, value: JSON.parse(text) as unknown };
};
