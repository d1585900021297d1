import type { MilliByResource } from "../observation.ts";
import { milliOfText } from "../quantity.ts";
import { asObject } from "./json.ts";

const NOTHING: MilliByResource = {};

/** A ResourceList in thousandths. A value that is not a quantity is left out, so that it is missing and not zero. */
export const readAmounts = (raw: unknown): MilliByResource => {
  const amounts: Record<string, bigint> = {};
  let any = false;
  const list = asObject(raw);
  for (const resource in list) {
    const milli = readMilli(list[resource]);
    if (milli === undefined) continue;
    amounts[resource] = milli;
    any = true;
  }
  return any ? amounts : NOTHING;
};

/** Thousandths of a quantity: a text, or a plain number (hpa.md 0.4). */
export const readMilli = (raw: unknown): bigint | undefined => {
  if (typeof raw === "string") return milliOfText(raw.trim());
  return typeof raw === "number" ? milliOfText(String(raw)) : undefined;
};
