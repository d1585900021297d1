import {
  canonicalOf,
  floatOf,
  milliOf,
  parseQuantity,
  wholeOf,
} from "../../../lib/rules/model/quantity.ts";
import { type Difference, differences } from "../differences.ts";
import type { VectorCase } from "../vector-file.ts";

/** A quantity text, taken as it is. */
export const runQuantity = ({ text, expect }: VectorCase): readonly Difference[] => {
  const quantity = parseQuantity(String(text));
  if (!quantity) return differences(expect, { error: true });
  return differences(expect, {
    milli: milliOf(quantity).toString(),
    value: wholeOf(quantity).toString(),
    canonical: canonicalOf(quantity),
    float: floatOf(quantity),
  });
};
