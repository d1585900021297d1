import type { Buffer } from "node:buffer";
import type { Reader } from "protobufjs/minimal.js";

/**
 * Texts of a list are short and mostly the same: names of fields, resources, namespaces, states. A known one is compared byte by byte, which takes a third of the time of decoding it, and is
 * not stored twice. A longer one is decoded each time.
 */
const KEPT_BYTES_MAX = 24;
/** Texts that are kept, a power of two. A text that comes later takes the slot of an earlier one. */
const SLOTS = 2_048;
const HASH_FACTOR = 31;
const LAST_BYTES = 4;

const kept: string[] = new Array<string>(SLOTS).fill("");

/** Reads a text of protobuf. */
export const readText = (reader: Reader): string => {
  const { buf: bytes, pos: from } = reader;
  const length = bytes[from] ?? KEPT_BYTES_MAX + 1;
  const start = from + 1;
  const end = start + length;
  // A length of more than one byte is one of a longer text.
  if (length > KEPT_BYTES_MAX || end > reader.len) return reader.string();
  const slot = slotOf(bytes, start, end);
  const known = kept[slot] ?? "";
  if (isTextOf(known, bytes, start, end)) {
    reader.pos = end;
    return known;
  }
  const text = reader.string();
  kept[slot] = text;
  return text;
};

/** The text of ASCII in these bytes. */
export const asciiText = (bytes: Buffer, start: number, end: number): string => {
  if (end - start > KEPT_BYTES_MAX) return bytes.toString("latin1", start, end);
  const slot = slotOf(bytes, start, end);
  const known = kept[slot] ?? "";
  if (isTextOf(known, bytes, start, end)) return known;
  const text = bytes.toString("latin1", start, end);
  kept[slot] = text;
  return text;
};

/** By the length, the first byte, the middle one and the last ones, in which the names of one list differ. */
const slotOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = (end - start) * HASH_FACTOR + (bytes[start] ?? 0);
  hash = (hash * HASH_FACTOR + (bytes[(start + end) >>> 1] ?? 0)) | 0;
  for (let at = Math.max(start, end - LAST_BYTES); at < end; at++) hash = (hash * HASH_FACTOR + (bytes[at] ?? 0)) | 0;
  return hash & (SLOTS - 1);
};

/** True where each byte is one character of the text. So only texts of ASCII are found again: every other character has more bytes, or stands for a broken one, which equals no byte. */
const isTextOf = (text: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at++) if (text.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
};
