import { asText } from "./json.ts";

/** Milliseconds since 1970 of an RFC 3339 text; `undefined` when it is absent or none. */
export const readTime = (raw: unknown): number | undefined => {
  const atMs = Date.parse(asText(raw));
  return Number.isNaN(atMs) ? undefined : atMs;
};

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
const PART = /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|ns)/y;

/** Milliseconds of a duration as the API writes it: "30s", "1m0s", "10.02s"; `undefined` for anything else. */
export const readDuration = (raw: unknown): number | undefined => {
  const text = asText(raw);
  if (text === "0") return 0;
  let totalMs = 0;
  PART.lastIndex = 0;
  let end = 0;
  for (let part = PART.exec(text); part; part = PART.exec(text)) {
    totalMs += Number(part[1]) * (UNIT_MS[part[2] ?? ""] ?? 0);
    end = PART.lastIndex;
  }
  return text !== "" && end === text.length ? totalMs : undefined;
};
