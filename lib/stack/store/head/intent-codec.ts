import * as z from "zod";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Intent, UncountedScale } from "../../../rules/model/scale-records.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { compress, decompress } from "../table/compressed.ts";
import { uidOfIntent } from "../../../rules/model/ids.ts";

/**
 * The bodies in a head's map of intents, by id. Each is an open intent, an uncounted scale, or
 * unreadable.
 */
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
  /**
   * Entries that this code cannot read. Their autoscalers and workloads hold until a person resets
   * them.
   */
  readonly unreadable: readonly UnreadableIntent[];
}

/**
 * Most bytes of all entries in a head. An item holds 400 KB; the rest is for the other attributes,
 * mainly a number for each page.
 */
export const HEAD_ENTRIES_BYTES_MAX = 340_000;

/** DynamoDB counts the name of an entry, its body, and a byte for its type. */
export const entryBytes = (id: string, body: Uint8Array): number => id.length + body.length + 1;

export const bytesOf = (bodies: IntentBodies): number =>
  [...bodies].reduce((sum, [id, body]) => sum + entryBytes(id, body), 0);

/** Encodes the entries of a head. */
export const intentBodies = ({
  intents,
  uncounted,
  unreadable,
}: HeadIntents): Map<string, Uint8Array> =>
  new Map([
    ...intents.map((intent) => [intent.id, encodeOpenIntent(intent)] as const),
    ...uncounted.map((scale) => [scale.id, encodeUncounted(scale)] as const),
    ...unreadable.map(({ id, body }) => [id, body] as const),
  ]);

export const intentsAttribute = (bodies: IntentBodies): AttributeValue => ({
  M: Object.fromEntries([...bodies].map(([id, body]) => [id, { B: body }])),
});

/**
 * Decodes the entries of a head. A damaged entry, or one of a later version, stops one workload and
 * not its partition.
 */
export const headIntentsOf = (bodies: Readonly<Record<string, Uint8Array>>): HeadIntents => {
  const read = {
    intents: [] as Intent[],
    uncounted: [] as UncountedScale[],
    unreadable: [] as UnreadableIntent[],
  };
  for (const [id, body] of Object.entries(bodies)) {
    try {
      if (body[0] === UNCOUNTED_VERSION) {
        read.uncounted.push(decodeUncounted(id, body));
        continue;
      }
      const decoded = decodeIntent(body, id);
      if (decoded.kind === "read") read.intents.push(decoded.intent);
      else
        read.unreadable.push({
          id,
          body,
          message: decoded.message,
          ...(decoded.workload && { workload: decoded.workload }),
        });
    } catch (error) {
      read.unreadable.push({ id, body, message: String(error) });
    }
  }
  return read;
};

const VERSION = 1;

/** Most bytes of an intent. It usually takes 220. */
export const INTENT_BYTES_MAX = 900;

const MESSAGE_CHARS_MAX = 200;

/**
 * What to leave out when an intent is too large, one more at each step. Only explanations are left
 * out.
 */
const LIGHTER: readonly ((intent: Intent) => Intent)[] = [
  (intent) => intent,
  (intent) => ({ ...intent, steps: [] }),
  (intent) => ({ ...intent, steps: [], metrics: [] }),
  (intent) => ({
    ...intent,
    steps: [],
    metrics: [],
    because: { ...intent.because, message: intent.because.message.slice(0, MESSAGE_CHARS_MAX) },
  }),
];

/** The smallest form of an intent: the fields that the fence and its settling need. */
const lightest = (intent: Intent): Intent => ({
  ...intent,
  steps: [],
  metrics: [],
  because: { ...intent.because, message: "" },
});

const bodyOf = (intent: Intent): Uint8Array | undefined => {
  for (const lighten of [...LIGHTER, lightest]) {
    const body = compress(VERSION, lighten(intent));
    if (body.length <= INTENT_BYTES_MAX) return body;
  }
  return undefined;
};

/** The version byte, and what DEFLATE adds at most to text that it cannot compress. */
const FRAME_BYTES = 16;

/**
 * True when `encodeIntent` accepts the intent. The length of its text nearly always decides this
 * without compressing it.
 */
export const fitsIntent = (intent: Intent): boolean =>
  Buffer.byteLength(JSON.stringify(lightest(intent))) + FRAME_BYTES <= INTENT_BYTES_MAX ||
  bodyOf(intent) !== undefined;

/**
 * Encodes an intent in at most `INTENT_BYTES_MAX` bytes. Throws `store.intent-too-large` where
 * `fitsIntent` is false.
 */
export const encodeIntent = (intent: Intent): Uint8Array => {
  const body = bodyOf(intent);
  if (body) return body;
  throw new TidemarkError(
    "store.intent-too-large",
    `Cannot store the intent "${intent.id}": more than ${INTENT_BYTES_MAX} bytes`,
    { id: intent.id },
  );
};

/**
 * Encodes an intent that is open already. It is never refused, because a release must store it
 * again, also when other code wrote it.
 */
export const encodeOpenIntent = (intent: Intent): Uint8Array =>
  bodyOf(intent) ?? compress(VERSION, lightest(intent));

export type DecodedIntent =
  | { readonly kind: "read"; readonly intent: Intent }
  | { readonly kind: "unreadable"; readonly message: string; readonly workload?: IntentWorkload };

type IntentWorkload = Pick<Intent, "namespace" | "target">;

const target = z.object({
  apiVersion: z.string(),
  kind: z.string().min(1),
  name: z.string().min(1),
});
const workload = z.object({ namespace: z.string().min(1), target });

/**
 * The fields that settling needs. Fields that only explain are not checked: an intent can be
 * settled without them.
 */
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

/**
 * Decodes an intent. Damage and later versions are a value: they stop one workload and not its
 * partition. The value is returned whole, so that storing it again loses nothing.
 */
export const decodeIntent = (body: Uint8Array, id?: string): DecodedIntent => {
  try {
    const { version, value } = decompress(body);
    const problem = version === VERSION ? problemOf(value, id) : `version ${version} is not known`;
    if (problem === undefined) return { kind: "read", intent: value as Intent };
    const parsed = workload.safeParse(value);
    return {
      kind: "unreadable",
      message: problem,
      ...(parsed.success && { workload: value as IntentWorkload }),
    };
  } catch (error) {
    return { kind: "unreadable", message: String(error) };
  }
};

/** Why a value is not the intent of this id; `undefined` when it is. */
const problemOf = (value: unknown, id: string | undefined): string | undefined => {
  const { data, error } = settleable.safeParse(value);
  if (error)
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
      .join("; ");
  return id === undefined || data.id === id ? undefined : `it is the intent "${data.id}"`;
};

/**
 * Version byte of an uncounted scale; an intent has 1. Code that does not know this version cannot
 * read the body, and holds the autoscaler of its id.
 */
export const UNCOUNTED_VERSION = 2;

const OUTCOMES = ["applied", "refused", "unknown"] as const;

const fieldsSchema = z.tuple([
  z.number(),
  z.number(),
  z.number(),
  z.number(),
  z.enum(OUTCOMES),
  z.number().nullable(),
  z.number().optional(),
]);

/**
 * Encodes an uncounted scale in some forty bytes. Thousands of them fit the head, so that one sync
 * can make as many scales.
 */
export const encodeUncounted = ({
  from,
  to,
  decidedMs,
  settledMs,
  outcome,
  recommendation,
  ruled,
}: UncountedScale): Uint8Array => {
  const fields: z.infer<typeof fieldsSchema> = [
    from,
    to,
    decidedMs,
    settledMs - decidedMs,
    outcome,
    recommendation ?? null,
  ];
  if (ruled !== undefined) fields.push(ruled);
  return Buffer.concat([Buffer.of(UNCOUNTED_VERSION), Buffer.from(JSON.stringify(fields))]);
};

/** Decodes an uncounted scale. Throws the error of JSON or the schema for damaged bytes. */
export const decodeUncounted = (id: string, body: Uint8Array): UncountedScale => {
  const [from, to, decidedMs, tookMs, outcome, recommendation, ruled] = fieldsSchema.parse(
    JSON.parse(Buffer.from(body.subarray(1)).toString()),
  );
  return {
    id,
    uid: uidOfIntent(id),
    from,
    to,
    outcome,
    decidedMs,
    settledMs: decidedMs + tookMs,
    ...(recommendation !== null && { recommendation }),
    ...(ruled !== undefined && { ruled }),
  };
};
