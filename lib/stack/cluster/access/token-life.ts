import { isObject, jsonIn } from "../../../rules/model/json.ts";
import type { TokenLife } from "../../../rules/model/summary.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

/** What a token says of itself. It is not verified: the API server does that with every call. */
export interface TokenClaims {
  /** "system:serviceaccount:NAMESPACE:NAME" for a service account. */
  readonly subject?: string;
  readonly life?: TokenLife;
}

/** A token with less time than a write may take is not used. */
export const TOKEN_LEAST_MS = 60 * SECOND_MS;

/** A bound token has some 1 KB, and one of an issuer with many groups some 10. */
const TOKEN_CHARACTERS_MAX = 32_768;
/** A token that does not say when it began is due three days before its end. */
const RENEW_BEFORE_MS = 3 * 86_400 * SECOND_MS;
/** Otherwise a quarter of its time before its end. */
const RENEW_SHARE = 4;
/** The last second that a Date has. */
const LATEST_SECONDS = 8_640_000_000_000;

/** Reads a JSON Web Token; undefined for any other text, such as the token of a static file. */
export const claimsOf = (token: string): TokenClaims | undefined => {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  const claims = jsonIn(Buffer.from(parts[1] ?? "", "base64url").toString("utf8"));
  if (!isObject(claims)) return undefined;
  const { sub, exp, iat } = claims;
  const [endMs, beganMs] = [instantOf(exp), instantOf(iat)];
  return {
    ...(typeof sub === "string" && { subject: sub }),
    ...(endMs !== undefined && { life: lifeOf(endMs, beganMs) }),
  };
};

const instantOf = (seconds: unknown): number | undefined =>
  typeof seconds === "number" && seconds >= 0 && seconds <= LATEST_SECONDS
    ? seconds * SECOND_MS
    : undefined;

const lifeOf = (endMs: number, beganMs: number | undefined): TokenLife => ({
  endMs,
  renewByMs:
    beganMs === undefined || beganMs >= endMs
      ? endMs - RENEW_BEFORE_MS
      : endMs - (endMs - beganMs) / RENEW_SHARE,
});

/** The user that the API server sees for a service account, named as NAMESPACE/NAME. */
export const subjectOf = (serviceAccount: string): string =>
  `system:serviceaccount:${serviceAccount.replace("/", ":")}`;

const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long a token lasts, in the largest unit that it fills twice: "3 days", "30 h", "40 min". */
export const lastingText = (leftMs: number): string => {
  if (leftMs >= 2 * DAY_MS) return `${Math.floor(leftMs / DAY_MS)} days`;
  if (leftMs >= 2 * HOUR_MS) return `${Math.floor(leftMs / HOUR_MS)} h`;
  return `${Math.max(0, Math.floor(leftMs / (60 * SECOND_MS)))} min`;
};
