const ZERO = 48;
/** Most digits of the fast path. A double holds so many exactly. */
const ORDINARY_DIGITS = 12;
/** Thousandths for each unit. A negative factor divides. */
const ORDINARY_FACTORS: ReadonlyMap<string, number> = new Map([
  ["", 1_000],
  ["m", 1],
  ["n", -1_000_000],
  ["u", -1_000],
  ["k", 1e6],
  ["M", 1e9],
  ["G", 1e12],
  ["Ki", 1_024_000],
  ["Mi", 1_048_576_000],
  ["Gi", 1_073_741_824_000],
]);

/** Thousandths of a text of up to twelve digits with an ordinary suffix, calculated in doubles. Nearly all texts of pods and metrics are such. `undefined` means that the exact path must read the text. */
export const ordinaryMilli = (text: string): number | undefined => {
  let value = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === 0 || at > ORDINARY_DIGITS) return undefined;
  const factor = ORDINARY_FACTORS.get(at === text.length ? "" : text.slice(at));
  if (factor === undefined) return undefined;
  if (factor < 0) return dividedUp(value, -factor);
  const product = value * factor;
  // A product beyond 2^53 may be rounded, but never back to 2^53 - 1 or below.
  return product <= Number.MAX_SAFE_INTEGER ? product : undefined;
};

/** Both the remainder and the difference of two integers below 2^53 are exact in doubles. */
const dividedUp = (value: number, divisor: number): number => {
  const rest = value % divisor;
  return (value - rest) / divisor + (rest === 0 ? 0 : 1);
};
