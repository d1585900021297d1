import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerCredentials } from "../../lib/embedded/host/certificates.ts";

/** Writes a text into the folder of the control plane and gives its path. */
export type FileIn = (name: string, text: string) => string;

export const fileIn =
  (dir: string): FileIn =>
  (name, text) => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };

/** A user with one group and a token that never ends. */
export interface User {
  readonly name: string;
  readonly group: string;
  readonly token: string;
}

interface Serving {
  readonly etcdUrl: string;
  readonly securePort: number;
  /** Beside the one who may do everything. */
  readonly users: readonly User[];
}

export const apiServerArgs = (
  file: FileIn,
  credentials: ServerCredentials,
  { etcdUrl, securePort, users }: Serving,
): readonly string[] => {
  const accounts = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const certificate = file("server.crt", credentials.certificatePem);
  const key = file("server.key", credentials.keyPem);
  const all = [{ name: "admin", group: "system:masters", token: credentials.token }, ...users];
  const tokens = all
    .map(({ name, group, token }) => `${token},${name},${name},${group}\n`)
    .join("");
  return [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${securePort}`,
    `--tls-cert-file=${certificate}`,
    `--tls-private-key-file=${key}`,
    `--token-auth-file=${file("tokens.csv", tokens)}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("accounts.pub", accounts.publicKey)}`,
    `--service-account-signing-key-file=${file("accounts.key", accounts.privateKey)}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    // Nothing makes service accounts here; pods are made by hand.
    "--disable-admission-plugins=ServiceAccount",
    // Aggregated APIs: the API server shows them its own certificate.
    `--requestheader-client-ca-file=${file("ca.crt", credentials.caPem)}`,
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${certificate}`,
    `--proxy-client-key-file=${key}`,
  ];
};

/** Every event is written before its request is answered, so that none is lost. */
export const auditArgs = (file: FileIn, policy: string, log: string): readonly string[] => [
  `--audit-policy-file=${file("audit-policy.json", policy)}`,
  `--audit-log-path=${log}`,
  "--audit-log-mode=blocking",
];
