import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Access } from "./access.ts";
import type { AccessParts } from "./kubeconfig-text.ts";
import { serverUrl } from "../reachable.ts";

export interface CheckedOptions {
  readonly refuse: (why: string) => Error;
  /** True where the server may be this machine: only in the embedded run. */
  readonly ownAddresses: boolean;
}

/** Makes an access and checks its parts: a CA, certificate or key that TLS cannot use is refused here by name, and not by the first call. No part is quoted. */
export const checkedAccess = ({ server, ca, servername, credentials }: AccessParts, { refuse, ownAddresses }: CheckedOptions): Access => {
  const url = serverUrl(server, { ownAddresses, refuse: (why) => refuse(`its server ${why}`) });
  if (ca !== undefined && !isCertificates(ca)) throw refuse("its CA is no certificate in PEM");
  const { cert, key } = credentials;
  if (cert !== undefined && !isCertificates(cert)) throw refuse("its client certificate is no certificate in PEM");
  if (cert !== undefined && key !== undefined && !fits(cert, key))
    throw refuse("its client key cannot be read, or is not the key of its client certificate");
  return {
    server: url,
    ...(ca !== undefined && { ca }),
    ...(servername !== undefined && { servername }),
    rejectUnauthorized: true,
    ownAddresses,
    credentials: async () => credentials,
    forget: () => undefined,
  };
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** True for one or more certificates that can all be read. TLS ignores an unreadable one without an error, and would then trust fewer than intended. */
export const isCertificates = (pem: string): boolean => {
  const blocks = pem.match(CERTIFICATE) ?? [];
  return (
    blocks.length > 0 &&
    blocks.length === pem.split("-----BEGIN CERTIFICATE-----").length - 1 &&
    blocks.every((block) => succeeds(() => new X509Certificate(block)))
  );
};

/** True where the key is the key of the certificate. */
export const fits = (cert: string, key: string): boolean => succeeds(() => createSecureContext({ cert, key }));

/** The error of the library is dropped, because it may quote its input. */
const succeeds = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};
