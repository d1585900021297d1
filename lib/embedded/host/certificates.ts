// The polyfill must be there before the X.509 library is loaded, which decorates classes.
import "reflect-metadata";
import { randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import * as z from "zod";
import { TidemarkError } from "../../rules/model/errors.ts";
import { CLUSTER_CREDENTIALS } from "../layout.ts";
import { readIfThere, writeDurably } from "./whole-file.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

/**
 * The credentials of a loopback HTTPS server and its clients. They belong to one data folder and
 * never leave it.
 */
export interface ServerCredentials {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
  /** Bearer token that the server accepts. */
  readonly token: string;
}

const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
/** Some verifiers refuse server certificates that are valid for longer than 398 days. */
const LIFETIME_MS = 397 * DAY_MS;
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** A clock that is a little behind must not see a certificate of tomorrow. */
const BACKDATE_MS = DAY_MS;
const TOKEN_BYTES = 32;
const NAMES: x509.JsonGeneralNames = [
  { type: "ip", value: "127.0.0.1" },
  { type: "dns", value: "localhost" },
];

const Stored = z.object({
  caPem: z.string(),
  certificatePem: z.string(),
  keyPem: z.string(),
  token: z.string().min(1),
});

/**
 * The credentials of a data folder: made at first use, kept (mode 0600) and given again afterwards,
 * renewed with the same token before they expire. `wallMs` is real time, because TLS verifiers look
 * at that clock.
 */
export const serverCredentials = async (
  dataDir: string,
  wallMs: number,
): Promise<ServerCredentials> => {
  const path = join(dataDir, CLUSTER_CREDENTIALS);
  const stored = readStored(path);
  if (
    stored &&
    Date.parse(new X509Certificate(stored.certificatePem).validTo) - RENEW_BEFORE_MS > wallMs
  )
    return stored;
  const made = {
    ...(await issue(wallMs)),
    token: stored?.token ?? randomBytes(TOKEN_BYTES).toString("base64url"),
  };
  writeDurably(path, `${JSON.stringify(made)}\n`);
  return made;
};

const readStored = (path: string): ServerCredentials | undefined => {
  const text = readIfThere(path);
  // New credentials are made only where there are none. An unreadable file is an error and is not
  // replaced.
  if (text === undefined) return undefined;
  try {
    return Stored.parse(JSON.parse(text));
  } catch (cause) {
    throw new TidemarkError(
      "local.credentials-unreadable",
      `Cannot use the credentials in "${path}": they are not what was written there; put the file back from a copy, or begin anew with another --data`,
      { path },
      { cause },
    );
  }
};

/**
 * A CA and one server certificate signed by it. The key of the CA is not kept, so that it signs no
 * second certificate.
 */
const issue = async (wallMs: number): Promise<Omit<ServerCredentials, "token">> => {
  const validity = {
    notBefore: new Date(wallMs - BACKDATE_MS),
    notAfter: new Date(wallMs + LIFETIME_MS - BACKDATE_MS),
  };
  const caKeys = await webcrypto.subtle.generateKey(KEY_ALGORITHM, false, ["sign", "verify"]);
  const serverKeys = await webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ["sign", "verify"]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=Tidemark local cluster CA",
    keys: caKeys,
    signingAlgorithm: KEY_ALGORITHM,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    subject: "CN=localhost",
    issuer: ca.subject,
    publicKey: serverKeys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: KEY_ALGORITHM,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(NAMES),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const keyDer = await webcrypto.subtle.exportKey("pkcs8", serverKeys.privateKey);
  return {
    caPem: ca.toString("pem"),
    certificatePem: certificate.toString("pem"),
    keyPem: x509.PemConverter.encode(keyDer, "PRIVATE KEY"),
  };
};
