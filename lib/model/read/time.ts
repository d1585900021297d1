import { readDuration as durationOf } from "../duration.ts";
import { EARLIEST_MS, LATEST_MS, readInstant } from "../instant.ts";
import { asText } from "./json.ts";

/** Milliseconds since 1970 of an RFC 3339 text, or of the BigInt seconds that protobuf gives; `undefined` when it is absent or none. */
export const readTime = (raw: unknown): number | undefined => {
  if (typeof raw !== "bigint") return readInstant(asText(raw));
  const atMs = Number(raw) * 1_000;
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined;
};

/** Milliseconds of a duration as the API writes it: "30s", "1m0s", "10.02s", or of the BigInt nanoseconds that protobuf gives; `undefined` for anything else. */
export const readDuration = (raw: unknown): number | undefined => (typeof raw === "bigint" ? positive(Number(raw) / 1e6) : durationOf(asText(raw)));

const positive = (ms: number): number | undefined => (ms >= 0 ? ms : undefined);
