import { Buffer } from "node:buffer";
import type { Reader } from "protobufjs/minimal.js";
import { MAX_JSON_DEPTH, MAX_OBJECT_BYTES } from "../request-limits.ts";
import { ObjectTooLarge } from "./message.ts";

/**
 * Texts of a list are short and mostly the same: names of fields, resources, namespaces, states. A
 * known one is compared byte by byte, which takes a third of the time of decoding it, and is not
 * stored twice. A longer one is decoded each time.
 */
const KEPT_BYTES_MAX = 24;
/**
 * Texts that are kept, a power of two. A text that comes later takes the slot of an earlier one.
 */
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

const asciiText = (bytes: Buffer, start: number, end: number): string => {
  if (end - start > KEPT_BYTES_MAX) return bytes.toString("latin1", start, end);
  const slot = slotOf(bytes, start, end);
  const known = kept[slot] ?? "";
  if (isTextOf(known, bytes, start, end)) return known;
  const text = bytes.toString("latin1", start, end);
  kept[slot] = text;
  return text;
};

/**
 * By the length, the first byte, the middle one and the last ones, in which the names of one list
 * differ.
 */
const slotOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = (end - start) * HASH_FACTOR + (bytes[start] ?? 0);
  hash = (hash * HASH_FACTOR + (bytes[(start + end) >>> 1] ?? 0)) | 0;
  for (let at = Math.max(start, end - LAST_BYTES); at < end; at++)
    hash = (hash * HASH_FACTOR + (bytes[at] ?? 0)) | 0;
  return hash & (SLOTS - 1);
};

/**
 * True where each byte is one character of the text. So only texts of ASCII are found again: every
 * other character has more bytes, or stands for a broken one, which equals no byte.
 */
const isTextOf = (text: string, bytes: Uint8Array, start: number, end: number): boolean => {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at++) if (text.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
};

/**
 * Goes through the bytes of a JSON text without building its values. Throws a SyntaxError where
 * they are none.
 */

/** The state of a reading. */
export interface JsonReading {
  readonly bytes: Buffer;
  /** The index of the next byte. */
  at: number;
  /** Values that may be kept of the document or item, and those that still may. */
  partsMax: number;
  partsLeft: number;
  /** Where the present object must have ended. */
  objectEndMax: number;
}

export const readingOf = (bytes: Buffer, partsMax: number): JsonReading => ({
  bytes,
  at: 0,
  partsMax,
  partsLeft: partsMax,
  objectEndMax: bytes.length,
});

export const [QUOTE, OBJECT_OPENS, ARRAY_OPENS] = [0x22, 0x7b, 0x5b];
const [OBJECT_CLOSES, ARRAY_CLOSES, BACKSLASH, COLON, COMMA] = [0x7d, 0x5d, 0x5c, 0x3a, 0x2c];
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d];
/** Bytes from here on are parts of a character beyond ASCII. */
const ASCII_END = 0x80;

/** The next byte that is no white space; undefined at the end. */
export const peek = (reading: JsonReading): number | undefined => {
  const { bytes } = reading;
  let byte = bytes[reading.at];
  while (byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB)
    byte = bytes[++reading.at];
  return byte;
};

export const toTheEnd = (reading: JsonReading): void => {
  if (peek(reading) !== undefined) throw unexpected(reading, "the end");
};

export const unexpected = (
  { bytes, at }: Pick<JsonReading, "at" | "bytes">,
  wanted: string,
): SyntaxError =>
  new SyntaxError(
    at < bytes.length
      ? `${wanted} is expected at byte ${at}`
      : `it ends where ${wanted} is expected`,
  );

/**
 * The keys of the object that begins at the next byte. At each key the caller must read or skip its
 * value.
 */
export function* keysOf(reading: JsonReading): Generator<string> {
  reading.at++;
  if (peek(reading) === OBJECT_CLOSES) {
    reading.at++;
    return;
  }
  do {
    if (peek(reading) !== QUOTE) throw unexpected(reading, "a key");
    const key = readJsonText(reading);
    toColon(reading);
    yield key;
  } while (goesOn(reading, OBJECT_CLOSES));
}

/**
 * The first byte of each element of the list that begins at the next byte. At each the caller must
 * read or skip the element.
 */
export function* elementsOf(reading: JsonReading): Generator<number | undefined> {
  reading.at++;
  if (peek(reading) === ARRAY_CLOSES) {
    reading.at++;
    return;
  }
  do yield peek(reading);
  while (goesOn(reading, ARRAY_CLOSES));
}

const toColon = (reading: JsonReading): void => {
  if (peek(reading) !== COLON) throw unexpected(reading, "a colon");
  reading.at++;
};

const goesOn = (reading: JsonReading, closes: number): boolean => {
  const next = peek(reading);
  if (next !== COMMA && next !== closes)
    throw unexpected(reading, "a comma or the end of a list or object");
  reading.at++;
  return next === COMMA;
};

export const readJsonText = (reading: JsonReading): string => {
  const start = reading.at;
  const plain = skipText(reading);
  const end = reading.at;
  if (plain === "ascii") return asciiText(reading.bytes, start + 1, end - 1);
  return plain === "utf8"
    ? reading.bytes.toString("utf8", start + 1, end - 1)
    : JSON.parse(reading.bytes.toString("utf8", start, end));
};

/**
 * Goes behind a text, and says what is in it. Control characters are refused, and escapes are
 * checked where the text is kept.
 */
const skipText = (reading: JsonReading): "ascii" | "escaped" | "utf8" => {
  const { bytes } = reading;
  let at = reading.at + 1;
  let bits = 0;
  let escaped = false;
  for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[at]) {
    if (byte === undefined || byte < SPACE) throw unexpected({ bytes, at }, "the rest of a text");
    bits |= byte;
    escaped ||= byte === BACKSLASH;
    // The byte behind a backslash is part of the escape, also where it is a quote.
    at += byte === BACKSLASH ? 2 : 1;
  }
  reading.at = at + 1;
  if (escaped) return "escaped";
  return bits < ASCII_END ? "ascii" : "utf8";
};

/**
 * Goes behind a value and returns how many values are in it. Numbers are checked only where a value
 * is kept.
 */
export const skipValue = (reading: JsonReading): number => {
  const closers: number[] = [];
  for (let values = 1; ; values++) {
    insideOf(reading);
    const closes = skipOpening(reading);
    if (closes === undefined) {
      if (!toNextValue(reading, closers)) return values;
      continue;
    }
    closers.push(closes);
    if (closers.length > MAX_JSON_DEPTH)
      throw new SyntaxError(`its lists and objects are nested more than ${MAX_JSON_DEPTH} deep`);
    if (closes === OBJECT_CLOSES) skipKey(reading);
  }
};

/**
 * Goes behind a value without values in it. Of a list or object with some it goes behind the
 * opening, and returns its closing byte.
 */
const skipOpening = (reading: JsonReading): number | undefined => {
  const byte = peek(reading);
  if (byte === QUOTE) {
    skipText(reading);
    return undefined;
  }
  if (byte !== OBJECT_OPENS && byte !== ARRAY_OPENS) {
    skipWord(reading);
    return undefined;
  }
  reading.at++;
  const closes = byte === OBJECT_OPENS ? OBJECT_CLOSES : ARRAY_CLOSES;
  if (peek(reading) !== closes) return closes;
  reading.at++;
  return undefined;
};

/** Throws where the present object has too many bytes so far. */
export const insideOf = ({ at, objectEndMax }: JsonReading): void => {
  if (at > objectEndMax)
    throw new ObjectTooLarge(`an object has more than ${MAX_OBJECT_BYTES} bytes`);
};

/**
 * Goes to the next value in the innermost list or object that has one; false behind the outermost.
 */
const toNextValue = (reading: JsonReading, closers: number[]): boolean => {
  for (let closes = closers.at(-1); closes !== undefined; closes = closers.at(-1)) {
    if (goesOn(reading, closes)) {
      if (closes === OBJECT_CLOSES) skipKey(reading);
      return true;
    }
    closers.pop();
  }
  return false;
};

const skipKey = (reading: JsonReading): void => {
  if (peek(reading) !== QUOTE) throw unexpected(reading, "a key");
  skipText(reading);
  toColon(reading);
};

/** The bytes of numbers and literals: digits, small letters, and `+`, `-`, `.` and `E`. */
const OF_WORDS = new Set(Buffer.from("0123456789abcdefghijklmnopqrstuvwxyz+-.E"));

/** Goes behind a number or literal. */
const skipWord = (reading: JsonReading): void => {
  const start = reading.at;
  while (OF_WORDS.has(reading.bytes[reading.at] ?? 0)) reading.at++;
  if (reading.at === start) throw unexpected(reading, "a value");
};
