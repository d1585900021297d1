const AMOUNT = /^(\d+(?:\.\d+)?)(%|[A-Za-z]*)$/;

/** A target text times a factor, in its own unit: "60%" by 1.1 is "66%", "1Gi" is "1.1Gi". A target that is no amount keeps the factor in words. */
export const timesTarget = (target: string, factor: number): string => {
  const [, amount, unit] = AMOUNT.exec(target) ?? [];
  return amount === undefined ? `${rounded(factor)} times its target` : `${rounded(Number(amount) * factor)}${unit}`;
};

/** Rounds, because tolerances are doubles: 66, not 66.00000000000001. */
const rounded = (value: number): number => Number(value.toFixed(2));
