import {
  BINARY_SUFFIXES,
  DECIMAL_SUFFIXES,
  MAX_I64,
  parseQuantity,
  type Quantity,
} from "./quantity-parse.ts";

export { MAX_QUANTITY_CHARACTERS, parseQuantity, type Quantity } from "./quantity-parse.ts";

/** Decimal places of a big quantity. */
const BIG_PLACES = 9;
/** From this power of ten on, the lower 64 bits of every multiple are zero. */
const NOTHING_LEFT_IN_64_BITS = 64;
/**
 * Powers of ten that the integer form multiplies in place. With other powers, a product beyond i64
 * becomes zero (hpa.md 0.4).
 */
const WRAPPING_POWERS = new Set([1, 2, 3, 6, 9]);
/** No double reaches this power of ten. */
const BEYOND_DOUBLES = 400;

/**
 * Thousandths, rounded away from zero, as i64: huge numbers wrap as in the controller (hpa.md 0.4).
 */
export const milliOf = (quantity: Quantity): bigint => scaled(quantity, 3);

/** Whole units, rounded away from zero, as i64. */
export const wholeOf = (quantity: Quantity): bigint => scaled(quantity, 0);

/** True without any fraction, also without one that `milliOf` rounds away. */
export const isWhole = ({ mantissa, exponent }: Quantity): boolean =>
  exponent >= 0 || mantissa % tenTo(-exponent) === 0n;

/**
 * The double of a tolerance: unscaled integer × power of ten of the stored text, in one
 * multiplication (hpa.md 3.1).
 */
export const floatOf = (quantity: Quantity): number => {
  const stored =
    quantity.written === undefined ? (parseQuantity(canonicalOf(quantity)) ?? quantity) : quantity;
  const { form, mantissa, exponent } = stored;
  if (mantissa === 0n) return 0;
  if (form === "integer") return Number(mantissa) * powerOfTen(exponent);
  if (exponent > BEYOND_DOUBLES) return mantissa < 0n ? -Infinity : Infinity;
  return Number(mantissa * tenTo(exponent + BIG_PLACES)) * powerOfTen(-BIG_PLACES);
};

/** -1, 0 or 1. */
export const signOf = (quantity: Quantity): -1 | 0 | 1 =>
  quantity.mantissa === 0n ? 0 : quantity.mantissa < 0n ? -1 : 1;

/**
 * Thousandths of a text; `undefined` where it is not a quantity. It is called for every container
 * of every pod in a sync, so it tries the fast path first.
 */
export const milliOfText = (text: string): bigint | undefined => {
  const ordinary = ordinaryMilli(text);
  if (ordinary !== undefined) return BigInt(ordinary);
  const quantity = parseQuantity(text);
  return quantity && milliOf(quantity);
};

const scaled = (quantity: Quantity, places: number): bigint =>
  quantity.form === "integer" ? scaledInteger(quantity, places) : scaledBig(quantity, places);

const scaledInteger = ({ mantissa, exponent }: Quantity, places: number): bigint => {
  const power = exponent + places;
  if (power < 0) return awayFromZero(mantissa, tenTo(-power));
  if (power >= NOTHING_LEFT_IN_64_BITS) return 0n;
  const product = mantissa * tenTo(power);
  const low = BigInt.asIntN(64, product);
  return low === product || WRAPPING_POWERS.has(power) ? low : 0n;
};

const scaledBig = ({ mantissa, exponent, family }: Quantity, places: number): bigint => {
  // A capped quantity has lost its decimal places. Every other big quantity has exactly nine.
  if (family === "binary" && exponent === 0 && isCap(mantissa))
    return BigInt.asIntN(64, mantissa * tenTo(places));
  const dropped = BIG_PLACES - places;
  // Every bit of the result would be zero. This also bounds the work for a hostile exponent.
  if (exponent + places >= NOTHING_LEFT_IN_64_BITS) return 0n;
  const unscaled = mantissa * tenTo(exponent + BIG_PLACES);
  // Negative numbers of any size are in this branch, and wrap before the division.
  const taken = unscaled < MAX_I64 ? BigInt.asIntN(64, unscaled) : unscaled;
  const divisor = tenTo(dropped);
  const quotient = taken / divisor;
  // Any remainder adds one, also for negative numbers. This is the rule of the controller.
  return BigInt.asIntN(64, taken % divisor === 0n ? quotient : quotient + 1n);
};

const isCap = (mantissa: bigint): boolean => mantissa === MAX_I64 || mantissa === -MAX_I64;

const awayFromZero = (value: bigint, divisor: bigint): bigint => {
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
};

const TENS = Array.from({ length: NOTHING_LEFT_IN_64_BITS }, (_, power) => 10n ** BigInt(power));
const tenTo = (power: number): bigint => TENS[power] ?? 10n ** BigInt(power);

/**
 * The double of a power of ten, multiplied from the same two factors as in the controller. Beyond
 * 10^31 it differs from the nearest double.
 */
const powerOfTen = (power: number): number => {
  const steps = Math.floor(Math.abs(power) / 32) * 32;
  const rest = Math.abs(power) - steps;
  return power >= 0
    ? Number(`1e${steps}`) * Number(`1e${rest}`)
    : Number(`1e-${steps}`) / Number(`1e${rest}`);
};

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

/**
 * Thousandths of a text of up to twelve digits with an ordinary suffix, calculated in doubles.
 * Nearly all texts of pods and metrics are such. `undefined` means that the exact path must read
 * the text.
 */
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

const SUFFIX_OF_POWER: ReadonlyMap<number, string> = new Map(
  Object.entries(DECIMAL_SUFFIXES).map(([suffix, power]) => [power, suffix]),
);
/** By how often 1024 divides. */
const SUFFIX_OF_THOUSANDS = ["", ...Object.keys(BINARY_SUFFIXES)];

/**
 * The text that the API stores for a quantity (hpa.md 0.4): an integer with the largest suffix that
 * loses nothing. Some texts are stored unchanged.
 */
export const canonicalOf = (quantity: Quantity): string =>
  quantity.written ?? (binaryCanonical(quantity) || decimalCanonical(quantity));

/** Thousandths as status shows them: "1500m", "10k" (hpa.md 2.9). */
export const decimalText = (milli: bigint): string =>
  decimalCanonical({ form: "integer", mantissa: milli, exponent: -3, family: "decimal" });

/**
 * Thousandths of bytes as status shows memory: "1536Mi". A value below 1024, or one that 1024 does
 * not divide, is printed in decimal form (hpa.md 2.9).
 */
export const binaryText = (milli: bigint): string => {
  const sent = canonicalOf({ form: "integer", mantissa: milli, exponent: -3, family: "binary" });
  const readBack = parseQuantity(sent);
  return readBack ? canonicalOf(readBack) : sent;
};

const decimalCanonical = ({ mantissa, exponent, family }: Quantity): string => {
  if (mantissa === 0n) return "0";
  const digits = mantissa.toString();
  const stripped = digits.replace(/0+$/, "");
  const power = exponent + digits.length - stripped.length;
  // Appending zeros makes the power a multiple of three.
  const back = ((power % 3) + 3) % 3;
  return stripped + "0".repeat(back) + decimalSuffix(power - back, family);
};

const decimalSuffix = (power: number, family: Quantity["family"]): string => {
  const suffix = family === "exponent" ? undefined : SUFFIX_OF_POWER.get(power);
  // There is no letter above E. Kubernetes 1.37 loses the power here ("1000E" is stored as "1"),
  // and 1.38 writes an exponent. This code never changes an amount.
  return suffix ?? (power === 0 ? "" : `e${power}`);
};

/**
 * The text with a binary suffix; empty where the quantity is of another family, below 1024 in size,
 * or not a whole number.
 */
const binaryCanonical = ({ mantissa, exponent, family }: Quantity): string => {
  if (family !== "binary") return "";
  const divisor = 10n ** BigInt(-exponent);
  const value = mantissa / divisor;
  if (mantissa % divisor !== 0n || (value > -1024n && value < 1024n)) return "";
  let rest = value;
  let thousands = 0;
  while (rest % 1024n === 0n) {
    rest /= 1024n;
    thousands++;
  }
  return `${rest}${SUFFIX_OF_THOUSANDS[thousands] ?? ""}`;
};
