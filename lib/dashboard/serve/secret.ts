import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;

/** A secret of one start of a server on this machine: 256 random bits as base64url. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString("base64url");

/** Compares hashes, in a time that says nothing of either text. */
export const isSameSecret = (given: string, secret: string): boolean =>
  timingSafeEqual(hashOf(given), hashOf(secret));

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();
