import type { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { Json } from "../../../rules/model/json.ts";
import {
  DECODE_BYTES_AT_ONCE,
  KEPT_ITEM_BYTES_MAX,
  MAX_ANSWER_PARTS,
  MAX_DOCUMENT_PARTS,
  MAX_ITEM_PARTS,
  MAX_ITEM_VALUES,
  MAX_OBJECT_BYTES,
  PARTS_OF_AN_ITEM,
} from "../request-limits.ts";
import type { Decoded } from "./answer.ts";
import {
  ARRAY_OPENS,
  elementsOf,
  insideOf,
  keysOf,
  OBJECT_OPENS,
  peek,
  QUOTE,
  type JsonReading,
  readingOf,
  readJsonText,
  skipValue,
  toTheEnd,
  unexpected,
} from "./json-bytes.ts";
import {
  keepParts,
  NAMED,
  ObjectTooLarge,
  type Receiver,
  TooManyParts,
  tooManyOfObject,
  tooManyParts,
  type WireField,
  type FieldType,
  type Message,
} from "./message.ts";

/** What is read of a JSON answer. */
export interface JsonWanted extends Receiver {
  /** The fields that are kept of the document or of the list; absent: all. */
  readonly message?: Message | undefined;
}

/**
 * Decodes a JSON answer that is an object, to what `JSON.parse` makes of it. `JSON.parse` makes
 * twenty bytes of memory of each byte of `{},` and builds all of it first. This reader goes through
 * the bytes instead: it skips the fields that the table does not name, and bounds the depth, the
 * bytes of an object and the number of values that are kept. With `onItem` the items of a list are
 * given away one by one, and the event loop goes on between them. What `onItem` got counts only
 * where the whole answer is not broken.
 */
export const decodeJson = async (bytes: Buffer, wanted: JsonWanted = {}): Promise<Decoded> => {
  const reading = readingOf(bytes, MAX_DOCUMENT_PARTS);
  try {
    const decoded = wanted.onItem
      ? await readList(reading, wanted, wanted.onItem)
      : { object: readDocument(reading, wanted.message) };
    toTheEnd(reading);
    return { kind: "object", ...decoded };
  } catch (error) {
    return brokenJson(error);
  }
};

/**
 * Decodes a whole document at once, within the same bounds. Undefined where the bytes are no JSON
 * object, or one beyond a bound.
 */
export const decodeDocument = (bytes: Buffer): Json | undefined => {
  const reading = readingOf(bytes, MAX_DOCUMENT_PARTS);
  try {
    const object = readDocument(reading, undefined);
    toTheEnd(reading);
    return object;
  } catch (error) {
    brokenJson(error);
    return undefined;
  }
};

/**
 * `JSON.parse` throws a SyntaxError for a text that is no JSON, and so does this reader. Every
 * other error is a mistake in this program.
 */
const brokenJson = (error: unknown): Extract<Decoded, { kind: "broken" }> => {
  if (!(error instanceof SyntaxError)) throw error;
  return {
    kind: "broken",
    state: foreignText(error.message),
    ...(error instanceof TooManyParts && { reason: error.reason }),
  };
};

const readDocument = (reading: JsonReading, message: Message | undefined): Json => {
  if (peek(reading) !== OBJECT_OPENS) throw unexpected(reading, "an object");
  return message ? readMessage(reading, message) : (readAny(reading) as Json);
};

const ITEMS = "items";
/** The fields of a list that are kept. A server in Go may write an empty list as null. */
const LIST_FIELDS = new Set(["apiVersion", "kind", "metadata", ITEMS]);

type OnItem = NonNullable<Receiver["onItem"]>;

const readList = async (
  reading: JsonReading,
  wanted: JsonWanted,
  onItem: OnItem,
): Promise<{ readonly object: Json; readonly streamed?: true }> => {
  if (peek(reading) !== OBJECT_OPENS) throw unexpected(reading, "an object");
  const object: Record<string, unknown> = {};
  let streamed = false;
  for (const key of keysOf(reading)) {
    if (key === ITEMS && peek(reading) === ARRAY_OPENS) {
      // The items of the first list were given away already.
      if (streamed) throw new SyntaxError("it has its items twice");
      streamed = true;
      await readItems(reading, wanted, onItem);
    } else readListField(reading, key, object);
  }
  return { object, ...(streamed && { streamed }) };
};

const readListField = (
  reading: JsonReading,
  key: string,
  object: Record<string, unknown>,
): void => {
  if (LIST_FIELDS.has(key)) object[key] = readAny(reading);
  else skipValue(reading);
};

const itemOf = (message: Message): Message => fieldsByName(message).get(ITEMS)?.type as Message;

const readItems = async (
  reading: JsonReading,
  { message, ...receiver }: JsonWanted,
  onItem: OnItem,
): Promise<void> => {
  const table = message && itemOf(message);
  let pauseAt = reading.at + DECODE_BYTES_AT_ONCE;
  let partsLeft = MAX_ANSWER_PARTS;
  for (const first of elementsOf(reading)) {
    if (first !== OBJECT_OPENS) throw unexpected(reading, "an object as the item of the list");
    const parts = giveItem(reading, { table, receiver, onItem });
    partsLeft -= parts;
    if (partsLeft < 0) throw tooManyParts(MAX_ANSWER_PARTS);
    keepParts(receiver, parts);
    if (reading.at < pauseAt) continue;
    await setImmediate();
    pauseAt = reading.at + DECODE_BYTES_AT_ONCE;
  }
  begin(reading, { objectEndMax: reading.bytes.length, partsMax: MAX_DOCUMENT_PARTS });
};

interface ItemsTo {
  readonly table: Message | undefined;
  readonly receiver: Receiver;
  readonly onItem: OnItem;
}

/**
 * Gives away the item at this byte: what was made of the same bytes before, or the decoded item.
 * Returns the values that it counts as.
 */
const giveItem = (reading: JsonReading, { table, receiver, onItem }: ItemsTo): number => {
  const { at } = reading;
  const same = receiver.unchanged && hashOfItem(reading);
  const known = same && receiver.unchanged?.give(same.hash, same.end - at);
  if (same && known !== undefined) {
    reading.at = same.end;
    return PARTS_OF_AN_ITEM + known;
  }
  const item = readItem(reading, table, receiver);
  const values = receiver.light ? 0 : reading.partsMax - reading.partsLeft;
  if (item) {
    onItem(item, reading.at - at);
    if (same) receiver.unchanged?.keep(same.hash, reading.at - at, values);
  }
  return PARTS_OF_AN_ITEM + values;
};

/**
 * A hash of the bytes of the item at this byte, and where it ends; undefined for an item that is
 * broken, or so large that nothing of it would be kept. Nothing is read by it.
 */
const hashOfItem = (
  reading: JsonReading,
): { readonly hash: string; readonly end: number } | undefined => {
  const { at } = reading;
  try {
    begin(reading, { objectEndMax: at + KEPT_ITEM_BYTES_MAX, partsMax: MAX_ITEM_PARTS });
    skipValue(reading);
    const end = reading.at;
    return { hash: hash("sha256", reading.bytes.subarray(at, end), "base64"), end };
  } catch (error) {
    // What is wrong with it is said by its decoding.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  } finally {
    reading.at = at;
  }
};

/** Undefined for an item that was passed over. */
const readItem = (
  reading: JsonReading,
  table: Message | undefined,
  { onPassedOver }: Receiver,
): Json | undefined => {
  const { at } = reading;
  try {
    begin(reading, {
      objectEndMax: at + MAX_OBJECT_BYTES,
      partsMax: table ? MAX_ITEM_PARTS : MAX_ITEM_VALUES,
    });
    const item = table ? readMessage(reading, table) : (readAny(reading) as Json);
    insideOf(reading);
    return item;
  } catch (error) {
    if (!(error instanceof ObjectTooLarge) || !onPassedOver) throw error;
    // Only its name is read. One tenant's object must not keep the objects of all others from being
    // read.
    begin(reading, { objectEndMax: reading.bytes.length, partsMax: MAX_ITEM_PARTS });
    reading.at = at;
    const named = readMessage(reading, NAMED);
    onPassedOver(named, reading.at - at);
    return undefined;
  }
};

const begin = (
  reading: JsonReading,
  { objectEndMax, partsMax }: Pick<JsonReading, "objectEndMax" | "partsMax">,
): void => {
  Object.assign(reading, { objectEndMax, partsMax, partsLeft: partsMax });
};

const readMessage = (reading: JsonReading, message: Message): Json => {
  const fields = fieldsByName(message);
  const object: Record<string, unknown> = {};
  for (const key of keysOf(reading)) {
    const field = fields.get(key);
    if (field) object[field.name] = readField(reading, field);
    else skipValue(reading);
  }
  return object;
};

const known = new WeakMap<Message, ReadonlyMap<string, WireField>>();

const fieldsByName = (message: Message): ReadonlyMap<string, WireField> => {
  const there = known.get(message);
  if (there) return there;
  const made = new Map(message.fields.flatMap((field) => (field ? [[field.name, field]] : [])));
  known.set(message, made);
  return made;
};

/** A value of another shape than the table says is null, and is read as absent. */
const readField = (reading: JsonReading, { type, shape }: WireField): unknown => {
  const first = peek(reading);
  if (shape === "one") return readOne(reading, type);
  if (shape === "list" && first === ARRAY_OPENS) return readElements(reading, type);
  return shape === "map" && first === OBJECT_OPENS
    ? readEntries(reading, type)
    : readScalar(reading);
};

const readElements = (reading: JsonReading, type: FieldType): readonly unknown[] => {
  const list: unknown[] = [];
  for (const _ of elementsOf(reading)) {
    takeParts(reading, 1);
    list.push(readOne(reading, type));
  }
  return list;
};

const readEntries = (reading: JsonReading, type: FieldType): Json => {
  const map: Record<string, unknown> = {};
  for (const key of keysOf(reading)) {
    takeParts(reading, 1);
    const value = readOne(reading, type);
    // A plain assignment would set the prototype.
    if (key === "__proto__")
      Object.defineProperty(map, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else map[key] = value;
  }
  return map;
};

const readOne = (reading: JsonReading, type: FieldType): unknown => {
  if (peek(reading) !== OBJECT_OPENS || typeof type !== "object") return readScalar(reading);
  if (!("only" in type)) return readMessage(reading, type);
  return type.only.type === "bytes" ? readBytes(reading) : readScalar(reading);
};

/** An object that protobuf has as the bytes of its JSON. It is skipped, and not built. */
const readBytes = (reading: JsonReading): Uint8Array => {
  const start = reading.at;
  skipValue(reading);
  return reading.bytes.subarray(start, reading.at);
};

/** A text, number or literal; null in the place of a list or object. */
const readScalar = (reading: JsonReading): unknown => {
  const first = peek(reading);
  if (first === QUOTE) return readJsonText(reading);
  const start = reading.at;
  skipValue(reading);
  return first === OBJECT_OPENS || first === ARRAY_OPENS
    ? null
    : JSON.parse(reading.bytes.toString("latin1", start, reading.at));
};

/** Any value with all that is in it. It is gone through before it is built. */
const readAny = (reading: JsonReading): unknown => {
  peek(reading);
  const start = reading.at;
  takeParts(reading, skipValue(reading));
  return JSON.parse(reading.bytes.toString("utf8", start, reading.at));
};

const takeParts = (reading: JsonReading, parts: number): void => {
  reading.partsLeft -= parts;
  if (reading.partsLeft < 0) throw tooManyOfObject(reading.partsMax);
};
