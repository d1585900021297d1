import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { decodeIntent, encodeOpenIntent, type IntentWorkload } from "./intent-codec.ts";
import { decodeUncounted, encodeUncounted, UNCOUNTED_VERSION } from "./uncounted-codec.ts";
import type { Intent, UncountedScale } from "../../model/scale-records.ts";

/** The bodies in a head's map of intents, by id. Each is an open intent, an uncounted scale, or unreadable. */
export type IntentBodies = ReadonlyMap<string, Uint8Array>;

export interface UnreadableIntent {
  /** `<uid>:<epoch>`. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly message: string;
  /** The workload of the intent; absent where that much cannot be read. */
  readonly workload?: IntentWorkload;
}

export interface HeadIntents {
  readonly intents: readonly Intent[];
  /** Scales that were settled by a sync that died before a page counted them. */
  readonly uncounted: readonly UncountedScale[];
  /** Entries that this code cannot read. Their autoscalers and workloads hold until a person resets them. */
  readonly unreadable: readonly UnreadableIntent[];
}

/** Most bytes of all entries in a head. An item holds 400 KB; the rest is for the other attributes, mainly a number for each page. */
export const HEAD_ENTRIES_BYTES_MAX = 340_000;

/** DynamoDB counts the name of an entry, its body, and a byte for its type. */
export const entryBytes = (id: string, body: Uint8Array): number => id.length + body.length + 1;

export const bytesOf = (bodies: IntentBodies): number => [...bodies].reduce((sum, [id, body]) => sum + entryBytes(id, body), 0);

/** Encodes the entries of a head. */
export const intentBodies = ({ intents, uncounted, unreadable }: HeadIntents): Map<string, Uint8Array> =>
  new Map([
    ...intents.map((intent) => [intent.id, encodeOpenIntent(intent)] as const),
    ...uncounted.map((scale) => [scale.id, encodeUncounted(scale)] as const),
    ...unreadable.map(({ id, body }) => [id, body] as const),
  ]);

export const intentsAttribute = (bodies: IntentBodies): AttributeValue => ({
  M: Object.fromEntries([...bodies].map(([id, body]) => [id, { B: body }])),
});

/** Decodes the entries of a head. A damaged entry, or one of a later version, stops one workload and not its partition. */
export const headIntentsOf = (bodies: Readonly<Record<string, Uint8Array>>): HeadIntents => {
  const read = { intents: [] as Intent[], uncounted: [] as UncountedScale[], unreadable: [] as UnreadableIntent[] };
  for (const [id, body] of Object.entries(bodies)) {
    try {
      if (body[0] === UNCOUNTED_VERSION) {
        read.uncounted.push(decodeUncounted(id, body));
        continue;
      }
      const decoded = decodeIntent(body, id);
      if (decoded.kind === "read") read.intents.push(decoded.intent);
      else read.unreadable.push({ id, body, message: decoded.message, ...(decoded.workload && { workload: decoded.workload }) });
    } catch (error) {
      read.unreadable.push({ id, body, message: String(error) });
    }
  }
  return read;
};
