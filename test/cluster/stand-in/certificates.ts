import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface IssueOptions {
  readonly host?: string;
  /** The certificate has ended a minute ago. */
  readonly expired?: true;
}

export interface Authority {
  readonly ca: string;
  /**
   * A server certificate for 127.0.0.1 and localhost, or a client certificate, signed by this
   * authority.
   */
  readonly issue: (name: string, options?: IssueOptions) => Promise<Identity>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A certificate authority of its own, made anew for each test run. */
export const authority = async (): Promise<Authority> => {
  x509.cryptoProvider.set(globalThis.crypto);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const now = Date.now();
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + DAY_MS) };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=stand-in CA",
    ...validity,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  let serial = 1;
  return {
    ca: root.toString("pem"),
    issue: async (name, { host = "localhost", expired } = {}) => {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
      const cert = await x509.X509CertificateGenerator.create({
        serialNumber: (++serial).toString(16).padStart(2, "0"),
        subject: `CN=${name}`,
        issuer: root.subject,
        ...validity,
        ...(expired && { notAfter: new Date(now - MINUTE_MS) }),
        signingAlgorithm: ALGORITHM,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.SubjectAlternativeNameExtension([
            { type: "dns", value: host },
            ...(host === "localhost" ? [{ type: "ip" as const, value: "127.0.0.1" }] : []),
          ]),
          new x509.ExtendedKeyUsageExtension([
            x509.ExtendedKeyUsage.serverAuth,
            x509.ExtendedKeyUsage.clientAuth,
          ]),
        ],
      });
      const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", own.privateKey);
      return { cert: cert.toString("pem"), key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY") };
    },
  };
};
