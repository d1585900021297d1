import * as z from "zod";
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

/** Removes line breaks inside base64, like every reader of kubeconfigs. */
export const unwrapped = (data: string): string => data.replace(/\s/g, "");
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Text in base64, such as the PEM of a certificate or key. */
export const pemData = z
  .string()
  .transform(unwrapped)
  .refine((data) => data !== "" && BASE64.test(data), "must be base64")
  .transform((data) => Buffer.from(data, "base64").toString("utf8"));

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * True for one or more certificates that can all be read. TLS ignores an unreadable one without an
 * error, and would then trust fewer than intended.
 */
export const isCertificates = (pem: string): boolean => {
  const blocks = pem.match(CERTIFICATE) ?? [];
  return (
    blocks.length > 0 &&
    blocks.length === pem.split("-----BEGIN CERTIFICATE-----").length - 1 &&
    blocks.every((block) => succeeds(() => new X509Certificate(block)))
  );
};

/** True where the key is the key of the certificate. */
export const fits = (cert: string, key: string): boolean =>
  succeeds(() => createSecureContext({ cert, key }));

/** The error of the library is dropped, because it may quote its input. */
const succeeds = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};
