/**
 * A quantity as the Kubernetes API stores it: exactly `mantissa × 10^exponent` (hpa.md 0.4), never
 * a double. An "integer" fits a signed 64-bit mantissa. Every other quantity is "big": it is
 * rounded to billionths, and behaves differently where numbers overflow.
 */
export interface Quantity {
  readonly form: "integer" | "big";
  readonly mantissa: bigint;
  readonly exponent: number;
  /** The family of suffixes for printing. */
  readonly family: SuffixFamily;
  /** The text that was read, where the API writes back the same text. */
  readonly written?: string;
}

export type SuffixFamily = "decimal" | "binary" | "exponent";

/** The bound keeps the work for a hostile text small. No real quantity is longer. */
export const MAX_QUANTITY_CHARACTERS = 1_000;

export const DECIMAL_SUFFIXES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
/** In order of size. */
export const BINARY_SUFFIXES: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
};

/** Decimal places that survive parsing. */
const NANO = -9;
/** Decimal digits that always fit a signed 64-bit integer. */
const INTEGER_DIGITS = 18;
export const MAX_I64 = 2n ** 63n - 1n;

const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([^0-9.].*)?$/;
const EXPONENT = /^[eE][+-]?[0-9]+$/;

interface Parts {
  readonly negative: boolean;
  /** Whole digits without leading zeros, "0" if none are left. */
  readonly whole: string;
  readonly fraction: string;
  /** True when the text has at least one digit. The big form needs one. */
  readonly anyDigit: boolean;
}

interface Suffix {
  readonly family: SuffixFamily;
  /** Power of ten, or of two for the binary family. */
  readonly power: number;
}

/**
 * Reads a quantity text; `undefined` where the API would refuse it. Blanks are not trimmed here.
 */
export const parseQuantity = (text: string): Quantity | undefined => {
  if (text === "" || text.length > MAX_QUANTITY_CHARACTERS) return undefined;
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, sign, digits = "", fraction = "", suffixText = ""] = match;
  const suffix = readSuffix(suffixText);
  if (!suffix) return undefined;
  const whole = digits.replace(/^0+/, "") || "0";
  const parts = {
    negative: sign === "-",
    whole,
    fraction,
    anyDigit: digits !== "" || fraction !== "",
  };
  return integerForm(text, parts, suffix) ?? bigForm(parts, suffix);
};

const readSuffix = (text: string): Suffix | undefined => {
  if (Object.hasOwn(DECIMAL_SUFFIXES, text))
    return { family: "decimal", power: DECIMAL_SUFFIXES[text] ?? 0 };
  if (Object.hasOwn(BINARY_SUFFIXES, text))
    return { family: "binary", power: BINARY_SUFFIXES[text] ?? 0 };
  if (!EXPONENT.test(text)) return undefined;
  const power = BigInt(text.slice(1));
  // The API reads 64 bits and then keeps the lower 32.
  if (BigInt.asIntN(64, power) !== power) return undefined;
  return { family: "exponent", power: Number(BigInt.asIntN(32, power)) };
};

const integerForm = (text: string, parts: Parts, suffix: Suffix): Quantity | undefined =>
  suffix.family === "binary"
    ? binaryInteger(text, parts, suffix.power)
    : decimalInteger(text, parts, suffix);

const decimalInteger = (
  text: string,
  { negative, whole, fraction }: Parts,
  { family, power }: Suffix,
): Quantity | undefined => {
  const exponent = power - fraction.length;
  if (whole.length + fraction.length > INTEGER_DIGITS || exponent < NANO) return undefined;
  const shifted = whole + fraction;
  const magnitude = BigInt(shifted);
  const quantity = {
    form: "integer",
    mantissa: negative ? -magnitude : magnitude,
    exponent,
    family,
  } as const;
  // The API writes a text that passes this check back unchanged, also where it is not canonical
  // ("1.500", "08").
  const canonical = exponent % 3 === 0 && !shifted.endsWith("000") && !shifted.startsWith("0");
  return canonical ? { ...quantity, written: text } : quantity;
};

const binaryInteger = (
  text: string,
  { negative, whole, fraction }: Parts,
  power: number,
): Quantity | undefined => {
  // Of about fifteen digits, those that are left after the multiplication by the power of two; 3/10
  // digits for each bit.
  const room = 15 - whole.length - Math.trunc((power * 3) / 10) - 1;
  if (fraction !== "" || room < 0) return undefined;
  const value = BigInt(whole);
  // With that room the product always fits 64 bits.
  const magnitude = value << BigInt(power);
  const quantity = {
    form: "integer",
    mantissa: negative ? -magnitude : magnitude,
    exponent: 0,
    family: "binary",
  } as const;
  return (value & 7n) === 0n ? quantity : { ...quantity, written: text };
};

const bigForm = (
  { negative, whole, fraction, anyDigit }: Parts,
  { family, power }: Suffix,
): Quantity | undefined => {
  if (!anyDigit) return undefined;
  const digits = BigInt(whole + fraction);
  const unrounded = family === "binary" ? digits << BigInt(power) : digits;
  const rounded = roundToNano(unrounded, (family === "binary" ? 0 : power) - fraction.length);
  const bounded = family === "binary" ? capped(rounded) : rounded;
  return {
    form: "big",
    mantissa: negative ? -bounded.mantissa : bounded.mantissa,
    exponent: bounded.exponent,
    family,
  };
};

type Amount = Pick<Quantity, "mantissa" | "exponent">;

/** Rounds away from zero, so that small positive values stay positive. */
const roundToNano = (magnitude: bigint, exponent: number): Amount => {
  if (exponent >= NANO) return { mantissa: magnitude, exponent };
  const dropped = NANO - exponent;
  // More places are dropped than a text can have digits, so that the result is zero or one
  // billionth.
  if (dropped > 2 * MAX_QUANTITY_CHARACTERS)
    return { mantissa: magnitude === 0n ? 0n : 1n, exponent: NANO };
  const divisor = 10n ** BigInt(dropped);
  return { mantissa: (magnitude + divisor - 1n) / divisor, exponent: NANO };
};

const capped = (amount: Amount): Amount =>
  // A binary suffix has no positive power of ten, so the multiplication is exact and small.
  amount.mantissa > MAX_I64 * 10n ** BigInt(-amount.exponent)
    ? { mantissa: MAX_I64, exponent: 0 }
    : amount;
