import { TidemarkError } from "../../model/errors.ts";
import { autoscalerName, clusterName, namespace, uidOfIntent } from "../../model/ids.ts";
import { compress, decompress } from "../table/compressed.ts";
import { EVENT_SK_PREFIX, type Key } from "../table/keys.ts";
import type { HistoryItem } from "./insert-history.ts";
import type { EventRecord } from "../../model/scale-records.ts";

/** The version of the bytes of an event. An event without it is JSON text, which earlier releases wrote. */
export const EVENT_VERSION = 1;

/** Parts of an event that its key may say. */
type KeyParts = Partial<Pick<EventRecord, "id" | "uid" | "atMs" | "cluster" | "namespace" | "name">>;

/** What a key says of its event: `autoscaler#<cluster>#<namespace>#<name>` and `event#<ms>#<id>`, or `day#<cluster>#<date>` and `<ms>#<id>`. An id is `<uid>:<epoch>`. */
const partsOf = ({ pk, sk }: Key): KeyParts => {
  const [, cluster = "", inNamespace = "", name = ""] = pk.split("#");
  const isOwn = sk.startsWith(EVENT_SK_PREFIX);
  const [time = "", ...rest] = sk.slice(isOwn ? EVENT_SK_PREFIX.length : 0).split("#");
  const id = rest.join("#");
  const parts = { id, uid: uidOfIntent(id), atMs: Number(time), cluster: clusterName(cluster) };
  return isOwn ? { ...parts, namespace: namespace(inNamespace), name: autoscalerName(name) } : parts;
};

/** The body of an event under one of its two keys. What the key says is left out: an event is stored for 13 months, so each byte counts. */
export const eventBody = (key: Key, event: EventRecord): Uint8Array => {
  const inKey: Readonly<Record<string, unknown>> = { ...partsOf(key) };
  return compress(EVENT_VERSION, Object.fromEntries(Object.entries(event).filter(([name, value]) => inKey[name] !== value)));
};

/** The event of a history item, of this or of an earlier release. Throws `store.unreadable` for a body of a later release, and for damage. */
export const eventOf = (item: HistoryItem): EventRecord => {
  if (typeof item.body === "string") return JSON.parse(item.body) as EventRecord;
  const { version, value } = opened(item, item.body);
  if (version === EVENT_VERSION) return { ...partsOf(item), ...(value as object) } as EventRecord;
  throw unreadable(item, `its version is ${version}, and ${EVENT_VERSION} is known`);
};

const opened = (item: HistoryItem, body: Uint8Array): ReturnType<typeof decompress> => {
  try {
    return decompress(body);
  } catch (error) {
    throw unreadable(item, `its bytes are damaged: ${String(error)}`, error);
  }
};

const unreadable = ({ pk, sk }: Key, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError("store.unreadable", `Cannot read the scale event "${pk} ${sk}": ${why}`, { key: sk }, { cause });
