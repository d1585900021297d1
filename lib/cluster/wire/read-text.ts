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

const kept: string[] = new Array<string>(SLOTS).fill("");

/** Reads a text of protobuf. */
export const readText = (reader: Reader): string => {
  const { buf: bytes, pos: from } = reader;
  const length = reader.size();
  const start = reader.pos;
  const end = start + length;
  reader.pos = from;
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

const slotOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (hash * HASH_FACTOR + (bytes[at] ?? 0)) | 0;
  return hash & (SLOTS - 1);
};

/** True where each byte is one character of the text. So only texts of ASCII are found again: every other character has more bytes, or is that of a broken one, which equals no byte. */
const isTextOf = (text: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at++) if (text.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
};
