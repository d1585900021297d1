import * as z from "zod";
import { TidemarkError } from "../../model/errors.ts";
import { compress, decompress } from "../table/compressed.ts";
import type { Intent } from "../../model/scale-records.ts";

const VERSION = 1;

/** Most bytes of an intent. It usually takes 220. */
export const INTENT_BYTES_MAX = 900;

const MESSAGE_CHARS_MAX = 200;

/** What to leave out when an intent is too large, one more at each step. Only explanations are left out. */
const LIGHTER: readonly ((intent: Intent) => Intent)[] = [
  (intent) => intent,
  (intent) => ({ ...intent, steps: [] }),
  (intent) => ({ ...intent, steps: [], metrics: [] }),
  (intent) => ({ ...intent, steps: [], metrics: [], because: { ...intent.because, message: intent.because.message.slice(0, MESSAGE_CHARS_MAX) } }),
];

/** The smallest form of an intent: the fields that the fence and its settling need. */
const lightest = (intent: Intent): Intent => ({ ...intent, steps: [], metrics: [], because: { ...intent.because, message: "" } });

const bodyOf = (intent: Intent): Uint8Array | undefined => {
  for (const lighten of [...LIGHTER, lightest]) {
    const body = compress(VERSION, lighten(intent));
    if (body.length <= INTENT_BYTES_MAX) return body;
  }
  return undefined;
};

/** The version byte, and what DEFLATE adds at most to text that it cannot compress. */
const FRAME_BYTES = 16;

/** True when `encodeIntent` accepts the intent. The length of its text nearly always decides this without compressing it. */
export const fitsIntent = (intent: Intent): boolean =>
  Buffer.byteLength(JSON.stringify(lightest(intent))) + FRAME_BYTES <= INTENT_BYTES_MAX || bodyOf(intent) !== undefined;

/** Encodes an intent in at most `INTENT_BYTES_MAX` bytes. Throws `store.intent-too-large` where `fitsIntent` is false. */
export const encodeIntent = (intent: Intent): Uint8Array => {
  const body = bodyOf(intent);
  if (body) return body;
  throw new TidemarkError("store.intent-too-large", `Cannot store the intent "${intent.id}": more than ${INTENT_BYTES_MAX} bytes`, { id: intent.id });
};

/** Encodes an intent that is open already. It is never refused, because a release must store it again, also when other code wrote it. */
export const encodeOpenIntent = (intent: Intent): Uint8Array => bodyOf(intent) ?? compress(VERSION, lightest(intent));

export type DecodedIntent =
  | { readonly kind: "read"; readonly intent: Intent }
  | { readonly kind: "unreadable"; readonly message: string; readonly workload?: IntentWorkload };

/** The workload of an intent. */
export type IntentWorkload = Pick<Intent, "namespace" | "target">;

const target = z.object({ apiVersion: z.string(), kind: z.string().min(1), name: z.string().min(1) });
const workload = z.object({ namespace: z.string().min(1), target });

/** The fields that settling needs. Fields that only explain are not checked: an intent can be settled without them. */
const settleable = workload.extend({
  id: z.string().min(1),
  uid: z.string().min(1),
  name: z.string().min(1),
  from: z.number(),
  to: z.number(),
  targetUid: z.string(),
  resourceVersion: z.string(),
  targetGeneration: z.number().optional(),
  decidedMs: z.number(),
  deadlineMs: z.number(),
  specGeneration: z.number(),
  because: z.object({ reason: z.string(), message: z.string() }),
  metrics: z.array(z.unknown()),
  steps: z.array(z.unknown()),
  recommendation: z.number().optional(),
  ruled: z.number().optional(),
  unmovedMs: z.number().optional(),
});

/** Decodes an intent. Damage and later versions are a value: they stop one workload and not its partition. The value is returned whole, so that storing it again loses nothing. */
export const decodeIntent = (body: Uint8Array, id?: string): DecodedIntent => {
  try {
    const { version, value } = decompress(body);
    const problem = version === VERSION ? problemOf(value, id) : `version ${version} is not known`;
    if (problem === undefined) return { kind: "read", intent: value as Intent };
    const parsed = workload.safeParse(value);
    return { kind: "unreadable", message: problem, ...(parsed.success && { workload: value as IntentWorkload }) };
  } catch (error) {
    return { kind: "unreadable", message: String(error) };
  }
};

/** Why a value is not the intent of this id; `undefined` when it is. */
const problemOf = (value: unknown, id: string | undefined): string | undefined => {
  const { data, error } = settleable.safeParse(value);
  if (error) return error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
  return id === undefined || data.id === id ? undefined : `it is the intent "${data.id}"`;
};
