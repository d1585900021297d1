import { getHeapStatistics } from "node:v8";
import type { Json } from "../../model/read/json.ts";
import { PART_BYTES } from "../request-limits.ts";
import { message, one } from "./message.ts";

/** Where the items of a list go, and who counts what is kept of them. */
export interface Receiver {
  /** Gets the items of a list one by one, each with its bytes in the answer. The object of the answer then has none. */
  readonly onItem?: ((item: Json, bytes: number) => void) | undefined;
  /** Gets an object with the metadata of an item that is too large to be read, and its bytes. Without it such an item breaks the answer. */
  readonly onPassedOver?: ((named: Json, bytes: number) => void) | undefined;
  /** Knows items by their bytes, so that one that did not change is not decoded again. */
  readonly unchanged?: KnownItems | undefined;
  /** What is made of an item is small, whatever the item holds. So only the item counts, and not its values. */
  readonly light?: boolean | undefined;
  /** Counts values that are kept of an answer. False: the memory has no room for them. */
  readonly keep?: ((parts: number) => boolean) | undefined;
}

/** Items of an earlier answer, by a hash of their bytes. */
export interface KnownItems {
  /** Gives away what was made of the item before, and returns the values that it counts as. `undefined`: it is not known. */
  readonly give: (hash: string, bytes: number) => number | undefined;
  /** `onItem` has just got the item of this hash. */
  readonly keep: (hash: string, bytes: number, parts: number) => void;
}

/** The error for an answer with more values than one answer may have, or than all answers of a sync may have together. */
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

/** One object has too many values. */
export const tooManyOfObject = (most: number): ObjectTooLarge => new ObjectTooLarge(`more than ${most} values would be kept of one object`);

/** The fields that name an object. They come before its labels and annotations, which make it large. */
export const NAMED = message("Named", { metadata: one(1, message("NamedMeta", { name: one(1, "text"), namespace: one(3, "text") })) });

/** Throws where the memory has no room. */
export const keepParts = ({ keep }: Receiver, parts: number): void => {
  if (keep && !keep(parts))
    throw new TooManyParts(
      "BudgetExhausted",
      `the answers of this sync have more than ${heldPartsMax()} values, for which a third of the memory has room`,
    );
};

/** Values that all answers of one sync may have: a third of the heap has room for them, and the rest of the process, the decisions and the garbage take the others. */
export const heldPartsMax = (): number => Math.floor(getHeapStatistics().heap_size_limit / 3 / PART_BYTES);
