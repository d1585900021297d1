import { Buffer } from "node:buffer";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { asObject, asText, type Json } from "../../../rules/model/json.ts";
import { decodeMessage } from "./decode-message.ts";
import { type Receiver, TooManyParts, type WireKind } from "./message.ts";
import { NAMED_LIST, STATUS, UNKNOWN_MESSAGE } from "./objects.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** The first bytes of every protobuf answer of the API. */
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** The answer to a refused call is a Status. */
export const STATUS_KIND: WireKind = { kind: "Status", message: STATUS };

/**
 * `streamed`: the items of the list were given away, and the object has none. `tooLarge`: a page of
 * fewer objects may be readable.
 */
export type Decoded =
  | { readonly kind: "object"; readonly object: Json; readonly streamed?: true }
  | { readonly kind: "broken"; readonly state: string; readonly reason?: TooManyParts["reason"] };

/**
 * Decodes a protobuf answer to the object of its JSON form, with the fields in the table of the
 * kind. Every answer but a complete object of this kind is broken, because half a list would look
 * like an answer. `onItem` of the receiver gets the items of a list one by one; the object then has
 * none. What it got counts only where the whole answer is not broken.
 */
export const decodeAnswer = async (
  bytes: Buffer,
  { kind, message }: WireKind,
  receiver: Receiver = {},
): Promise<Decoded> => {
  const Reader = await loadReader();
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    return broken("it does not begin as protobuf of Kubernetes does");
  try {
    const { typeMeta, raw, contentEncoding } = await decodeMessage(
      Reader.create(bytes.subarray(MAGIC.length)),
      UNKNOWN_MESSAGE,
    );
    const sentKind = asText(asObject(typeMeta)["kind"]);
    if (sentKind !== kind) return broken(`it holds a "${foreignText(sentKind)}", not a ${kind}`);
    if (asText(contentEncoding) !== "")
      return broken(`it is encoded as "${foreignText(asText(contentEncoding))}"`);
    if (!Buffer.isBuffer(raw) || raw.length === 0) return broken(`its ${kind} is missing`);
    const object = await decodeMessage(Reader.create(raw), message, receiver);
    if (!kind.endsWith("List")) return { kind: "object", object: { kind, ...object } };
    // An empty list has no field for its items, but it always has metadata. Without them nothing
    // says that the list is empty.
    if (object["metadata"] === undefined) return broken(`the metadata of its ${kind} are missing`);
    return { kind: "object", object: { kind, items: [], ...object } };
  } catch (error) {
    // The reader throws plain errors for bytes that are no protobuf, and nothing else runs in here.
    return {
      ...broken(foreignText((error as Error).message)),
      ...(error instanceof TooManyParts && { reason: error.reason }),
    };
  }
};

/** The tag of the list in the envelope of an answer. */
const RAW_TAG = 0x12;
const WIRE_TYPE = 7;

/** Gives away the names of the items that have come whole of an answer that was cut off. */
export const decodeCut = async (bytes: Buffer, receiver: Receiver): Promise<void> => {
  const Reader = await loadReader();
  try {
    const reader = Reader.create(bytes.subarray(MAGIC.length));
    for (let tag = reader.uint32(); tag !== RAW_TAG; tag = reader.uint32())
      reader.skipType(tag & WIRE_TYPE);
    reader.uint32();
    await decodeMessage(Reader.create(reader.buf.subarray(reader.pos)), NAMED_LIST, receiver);
  } catch {
    // Each ends in the middle of something.
  }
};

const broken = (state: string): Extract<Decoded, { kind: "broken" }> => ({
  kind: "broken",
  state: `the answer is no protobuf that can be read: ${state}`,
});

/**
 * The library is loaded with the first protobuf answer. In Node its names are on the default
 * export, and in a bundle beside it.
 */
export const loadReader = async () => {
  const loaded = await import("protobufjs/minimal.js");
  return (("default" in loaded ? loaded.default : loaded) as typeof loaded).Reader;
};
