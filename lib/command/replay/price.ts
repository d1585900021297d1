import { milliOfText } from "../../rules/model/quantity.ts";
import { usage } from "../usage-error.ts";

/** What `--price` and `--requests` say. */
export interface PriceOptions {
  readonly price?: string;
  readonly requests?: string;
}

const NUMBER = /^\d+(\.\d+)?$/;
const GIB_MILLI = 1_000 * 2 ** 30;

/** The parts of a price, the resource that each is of, and how much of it is one, in thousandths. */
const PARTS: Readonly<Record<string, { readonly of: string; readonly oneMilli: number }>> = {
  vcpu: { of: "cpu", oneMilli: 1_000 },
  gb: { of: "memory", oneMilli: GIB_MILLI },
};

const WANTED = "the dollars that a pod costs in an hour, or vcpu=DOLLARS,gb=DOLLARS";

/**
 * What a pod costs in an hour: the number of `--price`, or what `--requests` says that it asks for
 * times the prices of a vCPU and a GB. Throws a usage error.
 */
export const pricePerHour = ({ price, requests }: PriceOptions): number | undefined => {
  if (price !== undefined && !NUMBER.test(price)) return dollarsOf(price, requests ?? "");
  if (requests === undefined) return price === undefined ? undefined : Number(price);
  throw usage(
    `Cannot use --requests "${requests}" ${price === undefined ? "without a price" : `with --price "${price}"`}: give --price vcpu=DOLLARS,gb=DOLLARS`,
  );
};

const dollarsOf = (price: string, requests: string): number => {
  const prices = partsOf("--price", price, WANTED);
  const amounts = partsOf(
    "--requests",
    requests,
    "what a pod asks for, such as cpu=500m,memory=1Gi",
  );
  return [...prices].reduce((dollars, [name, text]) => {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
    if (!part || !NUMBER.test(text)) throw usage(`Cannot read --price "${price}": give ${WANTED}`);
    const milli = milliOfText(amounts.get(part.of) ?? "");
    if (milli === undefined || milli < 0n)
      throw usage(
        `Cannot price "${name}": --requests "${requests}" has no amount of ${part.of}; give --requests cpu=500m,memory=1Gi`,
      );
    return dollars + (Number(text) * Number(milli)) / part.oneMilli;
  }, 0);
};

/** "cpu=500m,memory=1Gi" by its names. */
const partsOf = (option: string, text: string, wanted: string): ReadonlyMap<string, string> => {
  const parts = text.split(",").map((part) => part.split("=").map((word) => word.trim()));
  const wrong = parts.some(([name, value, more]) => !name || !value || more !== undefined);
  if (wrong || new Set(parts.map(([name]) => name)).size < parts.length)
    throw usage(`Cannot read ${option} "${text}": give ${wanted}`);
  return new Map(parts.map(([name = "", value = ""]) => [name, value]));
};
