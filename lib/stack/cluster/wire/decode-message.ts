import { hash as sha256 } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Reader } from "protobufjs/minimal.js";
import type { Json } from "../../../rules/model/json.ts";
import {
  DECODE_BYTES_AT_ONCE,
  MAX_ANSWER_PARTS,
  MAX_ITEM_PARTS,
  MAX_OBJECT_BYTES,
  MAX_OBJECT_FIELDS,
  PARTS_OF_AN_ITEM,
} from "../request-limits.ts";
import type { WireField, FieldType, Message, Receiver, Single } from "./message.ts";
import { keepParts, NAMED, ObjectTooLarge, tooManyOfObject, tooManyParts } from "./message.ts";
import { readText } from "./json-bytes.ts";

/** The state of a decoding. */
interface Decoding {
  readonly reader: Reader;
  /** Elements of lists and maps that are still allowed. */
  partsLeft: number;
  /** Fields that are still allowed in the present object, skipped ones included. */
  fieldsLeft: number;
}

/** A map entry takes as long as this many fields. */
const FIELDS_OF_AN_ENTRY = 10;

/**
 * Decodes a whole message to the object of its JSON form. Throws for bytes that are not
 * well-formed. It lets the event loop go on between the fields of the message, because the answers
 * of other clusters wait meanwhile. With `onItem` the items of a list are given away one by one,
 * and no more than one of them is held. An item that is too large is then passed over, and
 * `onPassedOver` gets its name.
 */
export const decodeMessage = async (
  reader: Reader,
  { fields }: Message,
  receiver: Receiver = {},
): Promise<Json> => {
  const decoding: Decoding = { reader, partsLeft: MAX_ANSWER_PARTS, fieldsLeft: MAX_OBJECT_FIELDS };
  const object: Record<string, unknown> = {};
  const itemTag = receiver.unchanged && tagOfItems(fields);
  let pauseAt = reader.pos + DECODE_BYTES_AT_ONCE;
  while (reader.pos < reader.len) {
    decoding.fieldsLeft = MAX_OBJECT_FIELDS;
    const hash = itemTag === undefined ? undefined : hashOfItem(reader, itemTag);
    if (hash === undefined || !giveKnown(decoding, hash, receiver))
      readItem(object, { decoding, fields, hash }, receiver);
    if (reader.pos < pauseAt) continue;
    await setImmediate();
    pauseAt = reader.pos + DECODE_BYTES_AT_ONCE;
  }
  insideOf(reader, reader.len);
  return object;
};

/** Decodes the field at this byte, and gives it away where it is an item. */
const readItem = (
  object: Record<string, unknown>,
  {
    decoding,
    fields,
    hash,
  }: {
    readonly decoding: Decoding;
    readonly fields: Message["fields"];
    readonly hash: ItemHash | undefined;
  },
  receiver: Receiver,
): void => {
  const { reader, partsLeft } = decoding;
  const from = reader.pos;
  try {
    readField(object, decoding, fields);
  } catch (error) {
    if (!(error instanceof ObjectTooLarge) || !receiver.onPassedOver) throw error;
    Object.assign(decoding, { partsLeft, fieldsLeft: MAX_OBJECT_FIELDS });
    passOver(decoding, from, receiver.onPassedOver);
    return;
  }
  giveAway(object, receiver, {
    parts: partsLeft - decoding.partsLeft,
    bytes: reader.pos - from,
    hash,
  });
};

/**
 * The tag of the items in a table of a list. A tag of more than one byte is none of a list of
 * Kubernetes.
 */
const tagOfItems = (fields: Message["fields"]): number | undefined => {
  const number = Object.entries(fields).find(([, field]) => field?.name === ITEMS)?.[0];
  const tag = (Number(number) << 3) | SIZED;
  return tag < CONTINUED ? tag : undefined;
};

/** A hash of the bytes of an item, and where it ends. */
interface ItemHash {
  readonly hash: string;
  readonly end: number;
}

/**
 * The hash of the item at this byte; `undefined` where there is none, or it does not end inside the
 * answer. Equal hashes mean equal bytes also where a tenant chooses the bytes.
 */
const hashOfItem = (reader: Reader, itemTag: number): ItemHash | undefined => {
  const { buf, pos } = reader;
  if (buf[pos] !== itemTag) return undefined;
  reader.pos = pos + 1;
  const bytes = readSize(reader);
  const end = reader.pos + bytes;
  const start = reader.pos;
  reader.pos = pos;
  return end > reader.len || bytes > MAX_OBJECT_BYTES
    ? undefined
    : { hash: sha256("sha256", buf.subarray(start, end), "base64"), end };
};

/** Gives away what was made of the same bytes before. False: they must be decoded. */
const giveKnown = (decoding: Decoding, { hash, end }: ItemHash, receiver: Receiver): boolean => {
  const { reader } = decoding;
  const parts = receiver.unchanged?.give(hash, end - reader.pos);
  if (parts === undefined) return false;
  takeParts(decoding, parts);
  keepParts(receiver, PARTS_OF_AN_ITEM + parts);
  reader.pos = end;
  return true;
};

/**
 * Reads only the name of the item at this byte, and goes on behind it. One tenant's object must not
 * keep the objects of all others from being read.
 */
const passOver = (
  decoding: Decoding,
  from: number,
  onPassedOver: NonNullable<Receiver["onPassedOver"]>,
): void => {
  const { reader } = decoding;
  reader.pos = from;
  reader.tag();
  const end = reader.size() + reader.pos;
  if (end > reader.len)
    throw new WireFormatError(`a length points to byte ${end} of ${reader.len}`);
  const named: Record<string, unknown> = {};
  while (reader.pos < end && named["metadata"] === undefined)
    readField(named, decoding, NAMED.fields);
  reader.pos = end;
  onPassedOver(named, end - from);
};

const ITEMS = "items";

const giveAway = (
  object: Record<string, unknown>,
  receiver: Receiver,
  {
    parts,
    bytes,
    hash,
  }: { readonly parts: number; readonly bytes: number; readonly hash: ItemHash | undefined },
): void => {
  const items = object[ITEMS] as Json[] | undefined;
  const item = receiver.onItem && items?.pop();
  if (!item) return;
  const isTooLarge = parts > MAX_ITEM_PARTS;
  if (isTooLarge && !receiver.onPassedOver) throw tooManyOfObject(MAX_ITEM_PARTS);
  keepParts(receiver, PARTS_OF_AN_ITEM + (isTooLarge ? 0 : parts));
  (isTooLarge ? receiver.onPassedOver : receiver.onItem)?.(item, bytes);
  if (hash && !isTooLarge) receiver.unchanged?.keep(hash.hash, bytes, parts);
};

const decode = (decoding: Decoding, end: number, { fields }: Message): Json => {
  const object: Record<string, unknown> = {};
  while (decoding.reader.pos < end) readField(object, decoding, fields);
  insideOf(decoding.reader, end);
  return object;
};

const readField = (
  object: Record<string, unknown>,
  decoding: Decoding,
  fields: Message["fields"],
): void => {
  const { reader } = decoding;
  takeFields(decoding, 1);
  const tag = readTag(reader);
  const field = fields[tag >>> 3];
  if (field === undefined) skip(reader, tag);
  else if ((tag & 7) !== field.wireType)
    throw new WireFormatError(
      `field "${field.name}" has wire type ${tag & 7}, not ${field.wireType}`,
    );
  else readInto(object, decoding, field);
};

/**
 * The event loop stands still while an object is decoded, so that its number of fields is bounded,
 * and not only its bytes.
 */
const takeFields = (decoding: Decoding, fields: number): void => {
  decoding.fieldsLeft -= fields;
  if (decoding.fieldsLeft < 0)
    throw new ObjectTooLarge(`an object has more than ${MAX_OBJECT_FIELDS} fields`);
};

const CONTINUED = 0x80;

/** Almost every tag and every length is one byte: a list of pods has hundreds of them for each. */
const readTag = (reader: Reader): number => {
  const byte = reader.buf[reader.pos] ?? CONTINUED;
  if (byte >= CONTINUED) return reader.tag();
  reader.pos++;
  return byte;
};

const readSize = (reader: Reader): number => {
  const byte = reader.buf[reader.pos] ?? CONTINUED;
  if (byte >= CONTINUED) return reader.size();
  reader.pos++;
  return byte;
};

const SIZED = 2;
const GROUP = 3;

const takeParts = (decoding: Decoding, parts: number): void => {
  decoding.partsLeft -= parts;
  if (decoding.partsLeft < 0) throw tooManyParts(MAX_ANSWER_PARTS);
};

/**
 * Skips a field in one step. A group has no length and would be read through; Kubernetes has none.
 */
const skip = (reader: Reader, tag: number): void => {
  if ((tag & 7) === GROUP) throw new WireFormatError(`field ${tag >>> 3} is a group`);
  if ((tag & 7) !== SIZED || tag >>> 3 === 0) {
    reader.skipType(tag & 7, 0, tag >>> 3);
    return;
  }
  const end = readSize(reader) + reader.pos;
  if (end > reader.len)
    throw new WireFormatError(`a length points to byte ${end} of ${reader.len}`);
  reader.pos = end;
};

/**
 * A field must end inside its message: a length that points into the next message would mix two
 * objects.
 */
const insideOf = (reader: Reader, end: number): void => {
  if (reader.pos !== end)
    throw new WireFormatError(`a field ends at byte ${reader.pos}, its message at byte ${end}`);
};

const readInto = (object: Record<string, unknown>, decoding: Decoding, field: WireField): void => {
  const { name, type, shape } = field;
  if (shape === "one") {
    object[name] = readValue(decoding, type);
    return;
  }
  takeParts(decoding, 1);
  if (shape === "list") {
    const known = object[name] as unknown[] | undefined;
    if (known === undefined) object[name] = [readValue(decoding, type)];
    else known.push(readValue(decoding, type));
    return;
  }
  object[name] ??= {};
  readEntry(object[name] as Record<string, unknown>, decoding, type);
};

const readValue = (decoding: Decoding, type: FieldType): unknown => {
  const { reader } = decoding;
  switch (type) {
    case "text":
      return readText(reader);
    case "int32":
      return reader.int32();
    case "int64":
      return int64(reader);
    case "bigint64":
      return BigInt(int64(reader));
    case "bool":
      return reader.bool();
    case "bytes":
      return reader.bytes();
    default: {
      const end = endOf(reader);
      return "only" in type ? singleValue(decoding, end, type) : decode(decoding, end, type);
    }
  }
};

/** Reads the length of a message, and returns its end. */
const endOf = (reader: Reader): number => {
  const bytes = readSize(reader);
  if (bytes > MAX_OBJECT_BYTES)
    throw new ObjectTooLarge(`an object has ${bytes} bytes, more than ${MAX_OBJECT_BYTES}`);
  const end = bytes + reader.pos;
  if (end > reader.len)
    throw new WireFormatError(`a length points to byte ${end} of ${reader.len}`);
  return end;
};

/** Seven bytes of a varint have 49 bits, which a number holds exactly. */
const SHORT_VARINT_BYTES = 7;

/**
 * Beyond 2^53 the number is not exact, and is refused as a count. A short one is read without the
 * objects that the library makes of each: a list of pods has three times for each.
 */
const int64 = (reader: Reader): number => {
  const { buf, pos } = reader;
  let short = 0;
  for (
    let at = 0, factor = 1;
    at < SHORT_VARINT_BYTES && pos + at < reader.len;
    at++, factor *= CONTINUED
  ) {
    const byte = buf[pos + at] ?? CONTINUED;
    short += (byte % CONTINUED) * factor;
    if (byte >= CONTINUED) continue;
    reader.pos = pos + at + 1;
    return short;
  }
  const value: unknown = reader.int64();
  return typeof value === "number" ? value : (value as { toNumber(): number }).toNumber();
};

/** Undefined for an empty message, such as an absent Time. */
const singleValue = (decoding: Decoding, end: number, { fields, only }: Single): unknown => {
  const { reader } = decoding;
  let value: unknown;
  while (reader.pos < end) {
    takeFields(decoding, 1);
    const tag = readTag(reader);
    if (fields[tag >>> 3] === undefined) skip(reader, tag);
    else if ((tag & 7) !== only.wireType)
      throw new WireFormatError(
        `field "${only.name}" has wire type ${tag & 7}, not ${only.wireType}`,
      );
    else value = readValue(decoding, only.type);
  }
  insideOf(reader, end);
  return value;
};

const KEY_TAG = (1 << 3) | 2;
const VALUE_TAG = (2 << 3) | 2;

/** One entry of a map is a message with the key as field 1 and the value as field 2. */
const readEntry = (entries: Record<string, unknown>, decoding: Decoding, type: FieldType): void => {
  const { reader } = decoding;
  const end = endOf(reader);
  takeFields(decoding, FIELDS_OF_AN_ENTRY);
  let key = "";
  let value: unknown = "";
  while (reader.pos < end) {
    takeFields(decoding, 1);
    const tag = readTag(reader);
    if (tag === KEY_TAG) key = readText(reader);
    else if (tag === VALUE_TAG) value = readValue(decoding, type);
    else skip(reader, tag);
  }
  insideOf(reader, end);
  entries[key] = value ?? "";
};

/** The error for bytes that do not match the `.proto`. */
export class WireFormatError extends Error {}
