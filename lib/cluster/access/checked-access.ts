import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Access } from "./access.ts";
import type { AccessParts } from "./kubeconfig-text.ts";
import { serverUrl } from "./server-url.ts";

export interface CheckedOptions {
  readonly refuse: (why: string) => Error;
  /** May the server be this machine? Only in the embedded run. */
  readonly ownAddresses: boolean;
}

/** An access whose parts were tried: a CA, certificate or key that TLS cannot use is refused here with its name, and not thrown by the first call. Nothing of a part is quoted. */
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

/** At least one certificate, and none that cannot be read: TLS passes over those without a word, and would trust less than was meant. */
export const isCertificates = (pem: string): boolean => {
  const blocks = pem.match(CERTIFICATE) ?? [];
  return (
    blocks.length > 0 &&
    blocks.length === pem.split("-----BEGIN CERTIFICATE-----").length - 1 &&
    blocks.every((block) => succeeds(() => new X509Certificate(block)))
  );
};

const fits = (cert: string, key: string): boolean => succeeds(() => createSecureContext({ cert, key }));

/** The library's words are dropped: they may quote what it was given. */
const succeeds = (attempt: () => unknown): boolean => {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
};
