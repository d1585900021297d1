import { Buffer } from "node:buffer";
import { foreignText } from "../../../rules/model/foreign-text.ts";
import { asText, type Json } from "../../../rules/model/json.ts";
import { KEPT_ITEM_BYTES_MAX } from "../request-limits.ts";
import { type Decoded, decodeAnswer, loadReader } from "./answer.ts";
import { decodeMessage } from "./decode-message.ts";
import { type Message, message, one, type WireKind } from "./message.ts";

/** What has happened to an object since a version: "ADDED", "MODIFIED" or "DELETED". */
export interface WatchEvent {
  readonly type: string;
  readonly object: Json;
}

const RAW_EXTENSION = message("k8s.io.apimachinery.pkg.runtime.RawExtension", {
  raw: one(1, "bytes"),
});

export const WATCH_EVENT = message("k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent", {
  type: one(1, "text"),
  object: one(2, RAW_EXTENSION),
});

/** Bytes of the length before each event. */
const LENGTH_BYTES = 4;

const ERROR = "ERROR";

/**
 * Decodes what has come of a watch. An event that has not come whole counts as not come: a watch
 * from the version of the one before tells it again. Bytes that are no event break the answer. So
 * does a large object: a LIST knows what may be read of it. The body has `ended` where the server
 * has ended the watch by an error, which as a rule says that the version is too old.
 *
 *     length │ WatchEvent { type, object: k8s\0 Unknown { Pod } } │ length │ …
 */
export const decodeWatch = async (bytes: Buffer, list: WireKind): Promise<Decoded> => {
  const Reader = await loadReader();
  const events: WatchEvent[] = [];
  let at = 0;
  while (at + LENGTH_BYTES <= bytes.length) {
    const from = at + LENGTH_BYTES;
    const end = from + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    if (end - from > KEPT_ITEM_BYTES_MAX)
      return { kind: "broken", state: `an event of it has ${end - from} bytes` };
    const event = await eventOf(Reader.create(bytes.subarray(from, end)), list);
    if (event.kind === "broken") return event;
    if (event.object["type"] === ERROR) return { kind: "object", object: { events, ended: true } };
    events.push(event.object as unknown as WatchEvent);
    at = end;
  }
  return { kind: "object", object: { events, ended: false } };
};

const eventOf = async (
  reader: Parameters<typeof decodeMessage>[0],
  list: WireKind,
): Promise<Decoded> => {
  try {
    const { type, object } = await decodeMessage(reader, WATCH_EVENT);
    const raw = (object as Json | undefined)?.["raw"];
    if (!Buffer.isBuffer(raw)) return { kind: "broken", state: "an event of it has no object" };
    if (type === ERROR) return { kind: "object", object: { type } };
    const decoded = await decodeAnswer(raw, itemKind(list));
    return decoded.kind === "broken"
      ? decoded
      : { kind: "object", object: { type: asText(type), object: decoded.object } };
  } catch (error) {
    // The reader throws plain errors for bytes that are no protobuf, and nothing else runs in here.
    return { kind: "broken", state: foreignText((error as Error).message) };
  }
};

/** The kind of the items of a list. */
const itemKind = ({ kind, message: list }: WireKind): WireKind => ({
  kind: kind.replace(/List$/, ""),
  message: list.fields.find((field) => field?.name === "items")?.type as Message,
});
