import { readDuration as durationOf } from "../../model/duration.ts";
import { readInstant } from "../../model/instant.ts";
import { asText } from "./json.ts";

/** Milliseconds since 1970 of an RFC 3339 text; `undefined` when it is absent or none. */
export const readTime = (raw: unknown): number | undefined => readInstant(asText(raw));

/** Milliseconds of a duration as the API writes it: "30s", "1m0s", "10.02s"; `undefined` for anything else. */
export const readDuration = (raw: unknown): number | undefined => durationOf(asText(raw));
