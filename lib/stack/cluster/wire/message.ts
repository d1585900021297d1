import { getHeapStatistics } from "node:v8";
import type { Json } from "../../../rules/model/json.ts";
import { PART_BYTES } from "../request-limits.ts";

/**
 * What a field of a protobuf message holds. Names follow the published `.proto` files, as the JSON
 * does. A `bigint64` stays a BigInt, which JSON never has: so seconds and nanoseconds differ from
 * the numbers that a JSON answer has in the same field.
 */
export type FieldType =
  | "text"
  | "bytes"
  | "int32"
  | "int64"
  | "bigint64"
  | "bool"
  | Message
  | Single;

export interface WireField {
  readonly name: string;
  readonly type: FieldType;
  readonly shape: "one" | "list" | "map";
  /**
   * Wire type that an encoder uses for this field: 0 for numbers, 2 for everything with a length.
   */
  readonly wireType: 0 | 2;
}

/**
 * The fields that are read, each at the index of its number. All others are skipped without
 * parsing.
 */
export interface Message {
  readonly fullName: string;
  readonly fields: readonly (WireField | undefined)[];
}

/** A message that JSON shows as one value: a Time, a Duration, a Quantity. */
export interface Single extends Message {
  readonly only: WireField;
}

type FieldOf = Omit<WireField, "name"> & { readonly number: number };

const wireTypeOf = (type: FieldType): WireField["wireType"] =>
  type === "int32" || type === "int64" || type === "bigint64" || type === "bool" ? 0 : 2;

export const one = (number: number, type: FieldType): FieldOf => ({
  number,
  type,
  shape: "one",
  wireType: wireTypeOf(type),
});
export const repeated = (
  number: number,
  type: Exclude<FieldType, "int32" | "int64" | "bigint64" | "bool">,
): FieldOf => ({
  number,
  type,
  shape: "list",
  wireType: 2,
});
/** A map with text keys. */
export const map = (number: number, type: "text" | Single): FieldOf => ({
  number,
  type,
  shape: "map",
  wireType: 2,
});

export const message = (fullName: string, fields: Readonly<Record<string, FieldOf>>): Message => {
  const byNumber: (WireField | undefined)[] = [];
  for (const [name, { number, ...field }] of Object.entries(fields))
    byNumber[number] = { name, ...field };
  // A list without holes: looking at an absent index is then as fast as at any other.
  return { fullName, fields: Array.from(byNumber) };
};

export const single = (fullName: string, fieldName: string, field: FieldOf): Single => {
  const { fields } = message(fullName, { [fieldName]: field });
  return { fullName, fields, only: { name: fieldName, ...field } };
};

/** A kind that is requested as protobuf. */
export interface WireKind {
  /** The kind in the answer. */
  readonly kind: string;
  readonly message: Message;
}

/** Where the items of a list go, and who counts what is kept of them. */
export interface Receiver {
  /**
   * Gets the items of a list one by one, each with its bytes in the answer. The object of the
   * answer then has none.
   */
  readonly onItem?: ((item: Json, bytes: number) => void) | undefined;
  /**
   * Gets an object with the metadata of an item that is too large to be read, and its bytes.
   * Without it such an item breaks the answer.
   */
  readonly onPassedOver?: ((named: Json, bytes: number) => void) | undefined;
  /** Knows items by their bytes, so that one that did not change is not decoded again. */
  readonly unchanged?: KnownItems | undefined;
  /**
   * What is made of an item is small, whatever the item holds. So only the item counts, and not its
   * values.
   */
  readonly light?: boolean | undefined;
  /** Counts values that are kept of an answer. False: the memory has no room for them. */
  readonly keep?: ((parts: number) => boolean) | undefined;
}

/** Items of an earlier answer, by a hash of their bytes. */
export interface KnownItems {
  /**
   * Gives away what was made of the item before, and returns the values that it counts as.
   * `undefined`: it is not known.
   */
  readonly give: (hash: string, bytes: number) => number | undefined;
  /** `onItem` has just got the item of this hash. */
  readonly keep: (hash: string, bytes: number, parts: number) => void;
}

/**
 * The error for an answer with more values than one answer may have, or than all answers of a sync
 * may have together.
 */
export class TooManyParts extends SyntaxError {
  readonly reason: "AnswerTooLarge" | "BudgetExhausted";
  constructor(reason: TooManyParts["reason"], sentence: string) {
    super(sentence);
    this.reason = reason;
  }
}

/** The error for one object that is larger than may be read. */
export class ObjectTooLarge extends TooManyParts {
  constructor(sentence: string) {
    super("AnswerTooLarge", sentence);
  }
}

/** A smaller page may be read. */
export const tooManyParts = (most: number): TooManyParts =>
  new TooManyParts("AnswerTooLarge", `more than ${most} values would be kept of the answer`);

export const tooManyOfObject = (most: number): ObjectTooLarge =>
  new ObjectTooLarge(`more than ${most} values would be kept of one object`);

/**
 * The fields that name an object. They come before its labels and annotations, which make it large.
 */
export const NAMED = message("Named", {
  metadata: one(1, message("NamedMeta", { name: one(1, "text"), namespace: one(3, "text") })),
});

/** Throws where the memory has no room. */
export const keepParts = ({ keep }: Receiver, parts: number): void => {
  if (keep && !keep(parts))
    throw new TooManyParts(
      "BudgetExhausted",
      `the answers of this sync have more than ${heldPartsMax()} values, for which a third of the memory has room`,
    );
};

/**
 * Values that all answers of one sync may have: a third of the heap has room for them, and the rest
 * of the process, the decisions and the garbage take the others.
 */
export const heldPartsMax = (): number =>
  Math.floor(getHeapStatistics().heap_size_limit / 3 / PART_BYTES);
