import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ServerCredentials, serverCredentials } from "../../lib/local/run/certificates.ts";
import { type ApiCalls, apiCalls } from "./api-calls.ts";
import { freePort, type Program, startProgram } from "./processes.ts";

/** An etcd and a kube-apiserver on loopback, with nothing in them. */
export interface ControlPlane {
  readonly url: string;
  readonly ca: string;
  /** Of a user who may do everything. */
  readonly token: string;
  readonly call: ApiCalls["call"];
  readonly etcd: Program;
  readonly apiServer: Program;
  /** Where the API server writes what its audit policy asks for. */
  readonly auditLog: string;
  readonly close: () => Promise<void>;
}

const READY_MAX_MS = 120_000;
const LOOK_AGAIN_MS = 100;

/** Starts both on free ports with a data folder of their own, and waits until the API server is ready. */
export const startControlPlane = async (binaries: string, { auditPolicy }: { readonly auditPolicy?: string } = {}): Promise<ControlPlane> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-control-plane-"));
  const credentials = await serverCredentials(dir, Date.now());
  const [clientPort, peerPort, securePort] = [await freePort(), await freePort(), await freePort()];
  const [etcdUrl, url] = [`http://127.0.0.1:${clientPort}`, `https://127.0.0.1:${securePort}`];
  const etcd = startProgram(join(binaries, "etcd"), etcdArgs(dir, etcdUrl, `http://127.0.0.1:${peerPort}`), { dir, name: "etcd" });
  const auditLog = join(dir, "audit.log");
  const args = [
    ...apiServerArgs(dir, credentials, { etcdUrl, securePort }),
    ...(auditPolicy === undefined ? [] : auditArgs(dir, auditPolicy, auditLog)),
  ];
  const apiServer = startProgram(join(binaries, "kube-apiserver"), args, { dir, name: "kube-apiserver" });
  const calls = apiCalls({ url, ca: credentials.caPem, token: credentials.token });
  const close = async (): Promise<void> => {
    calls.close();
    await apiServer.stop();
    await etcd.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await untilReady(calls, dir);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, ca: credentials.caPem, token: credentials.token, call: calls.call, etcd, apiServer, auditLog, close };
};

const etcdArgs = (dir: string, clientUrl: string, peerUrl: string): readonly string[] => [
  `--data-dir=${join(dir, "etcd")}`,
  `--listen-client-urls=${clientUrl}`,
  `--advertise-client-urls=${clientUrl}`,
  `--listen-peer-urls=${peerUrl}`,
  `--initial-advertise-peer-urls=${peerUrl}`,
  `--initial-cluster=default=${peerUrl}`,
  "--log-level=warn",
];

const apiServerArgs = (
  dir: string,
  credentials: ServerCredentials,
  { etcdUrl, securePort }: { readonly etcdUrl: string; readonly securePort: number },
): readonly string[] => {
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const accounts = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const certificate = file("server.crt", credentials.certificatePem);
  const key = file("server.key", credentials.keyPem);
  return [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${securePort}`,
    `--tls-cert-file=${certificate}`,
    `--tls-private-key-file=${key}`,
    `--token-auth-file=${file("tokens.csv", `${credentials.token},admin,admin,system:masters\n`)}`,
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
const auditArgs = (dir: string, policy: string, log: string): readonly string[] => {
  const path = join(dir, "audit-policy.json");
  writeFileSync(path, policy);
  return [`--audit-policy-file=${path}`, `--audit-log-path=${log}`, "--audit-log-mode=blocking"];
};

const untilReady = async ({ call }: ApiCalls, dir: string): Promise<void> => {
  const untilMs = performance.now() + READY_MAX_MS;
  for (;;) {
    const status = await call("GET", "/readyz").then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > untilMs) throw new Error(`the API server was not ready in ${READY_MAX_MS / 1_000} s: see the logs in "${dir}"`);
    await wait(LOOK_AGAIN_MS);
  }
};
