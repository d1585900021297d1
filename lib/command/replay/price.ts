import { usage } from "../usage-error.ts";

/** What a pod costs in an hour, of `--price`. Throws a usage error. */
export const pricePerHour = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw usage(`Cannot read --price "${text}": give the dollars that a pod costs in an hour`);
};
