import { TidemarkError } from "../model/errors.ts";
import type { Intent } from "../model/records.ts";
import { compress, decompress } from "./compressed.ts";

const VERSION = 1;

/** An intent takes 220 bytes as a rule. */
export const INTENT_BYTES_MAX = 900;

const MESSAGE_CHARS_MAX = 200;

/** What to leave out, one more each time, when an intent is too large: the explanation goes, what the fence needs stays. */
const LIGHTER: readonly ((intent: Intent) => Intent)[] = [
  (intent) => intent,
  (intent) => ({ ...intent, steps: [] }),
  (intent) => ({ ...intent, steps: [], metrics: [] }),
  (intent) => ({ ...intent, steps: [], metrics: [], because: { ...intent.because, message: intent.because.message.slice(0, MESSAGE_CHARS_MAX) } }),
];

/** The intent in at most `INTENT_BYTES_MAX` bytes. Throws `store.intent-too-large`, which legal names cannot reach. */
export const encodeIntent = (intent: Intent): Uint8Array => {
  for (const lighten of LIGHTER) {
    const body = compress(VERSION, lighten(intent));
    if (body.length <= INTENT_BYTES_MAX) return body;
  }
  throw new TidemarkError("store.intent-too-large", `Cannot store the intent "${intent.id}": more than ${INTENT_BYTES_MAX} bytes`, { id: intent.id });
};

export type DecodedIntent = { readonly kind: "read"; readonly intent: Intent } | { readonly kind: "unreadable"; readonly message: string };

/** Damage and versions of a later code are a value: they stop one autoscaler, not its partition. */
export const decodeIntent = (body: Uint8Array): DecodedIntent => {
  try {
    const { version, value } = decompress(body);
    return version === VERSION ? { kind: "read", intent: value as Intent } : { kind: "unreadable", message: `version ${version} is not known` };
  } catch (error) {
    return { kind: "unreadable", message: String(error) };
  }
};
