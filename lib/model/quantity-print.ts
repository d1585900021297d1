import { parseQuantity, type Quantity } from "./quantity-parse.ts";

const SUFFIX_OF_POWER: ReadonlyMap<number, string> = new Map([
  [-9, "n"],
  [-6, "u"],
  [-3, "m"],
  [3, "k"],
  [6, "M"],
  [9, "G"],
  [12, "T"],
  [15, "P"],
  [18, "E"],
]);
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** The text that the API stores for a quantity (hpa.md 0.4): an integer with the largest suffix that loses nothing. Some texts are stored unchanged. */
export const canonicalOf = (quantity: Quantity): string => quantity.written ?? (binaryCanonical(quantity) || decimalCanonical(quantity));

/** Thousandths as status shows them: "1500m", "10k" (hpa.md 2.9). */
export const decimalText = (milli: bigint): string => decimalCanonical({ form: "integer", mantissa: milli, exponent: -3, family: "decimal" });

/** Thousandths of bytes as status shows memory: "1536Mi". A value below 1024, or one that 1024 does not divide, is printed in decimal form (hpa.md 2.9). */
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
  // There is no letter above E. Kubernetes 1.37 loses the power here ("1000E" is stored as "1"), and 1.38 writes an exponent. This code never changes an amount.
  return suffix ?? (power === 0 ? "" : `e${power}`);
};

/** The text with a binary suffix; empty where the quantity is of another family, below 1024 in size, or not a whole number. */
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
  return `${rest}${BINARY_SUFFIXES[thousands] ?? ""}`;
};
