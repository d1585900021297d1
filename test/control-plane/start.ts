import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { serverCredentials } from "../../lib/embedded/host/certificates.ts";
import { type ApiCalls, apiCalls } from "./api-calls.ts";
import { apiServerArgs, auditArgs, type FileIn, fileIn, type User } from "./api-server-flags.ts";
import { freePort, type Program, startProgram } from "./processes.ts";

/** An etcd and a kube-apiserver on loopback, with nothing in them. */
export interface ControlPlane {
  readonly url: string;
  readonly etcdUrl: string;
  /** The folder of all its files. */
  readonly dir: string;
  readonly ca: string;
  /** Of a user who may do everything. */
  readonly token: string;
  readonly call: ApiCalls["call"];
  readonly etcd: Program;
  readonly apiServer: Program;
  /** Kills the API server until the given function starts it again, with the same data. */
  readonly interrupt: () => Promise<() => Promise<void>>;
  /** Where the API server writes what its audit policy asks for. */
  readonly auditLog: string;
  readonly close: () => Promise<void>;
}

export interface ControlPlaneOptions {
  readonly auditPolicy?: string;
  /**
   * More flags of the API server; `file` writes a text into the plane's folder and gives its path.
   */
  readonly flags?: (file: FileIn) => readonly string[];
  readonly users?: readonly User[];
}

const READY_MAX_MS = 120_000;
const LOOK_AGAIN_MS = 100;

/**
 * Starts both on free ports with a data folder of their own, and waits until the API server is
 * ready.
 */
export const startControlPlane = async (
  binaries: string,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> => {
  const { auditPolicy, flags, users = [] } = options;
  const dir = mkdtempSync(join(tmpdir(), "tidemark-control-plane-"));
  const credentials = await serverCredentials(dir, Date.now());
  const [clientPort, peerPort, securePort] = [await freePort(), await freePort(), await freePort()];
  const [etcdUrl, url] = [`http://127.0.0.1:${clientPort}`, `https://127.0.0.1:${securePort}`];
  const etcd = startProgram(
    join(binaries, "etcd"),
    etcdArgs(dir, etcdUrl, `http://127.0.0.1:${peerPort}`),
    { dir, name: "etcd" },
  );
  const auditLog = join(dir, "audit.log");
  const file = fileIn(dir);
  const args = [
    ...apiServerArgs(file, credentials, { etcdUrl, securePort, users }),
    ...(auditPolicy === undefined ? [] : auditArgs(file, auditPolicy, auditLog)),
    ...(flags?.(file) ?? []),
  ];
  const start = (): Program =>
    startProgram(join(binaries, "kube-apiserver"), args, { dir, name: "kube-apiserver" });
  let apiServer = start();
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
  const interrupt = async () => {
    apiServer.process.kill("SIGKILL");
    await apiServer.stop();
    return async () => {
      apiServer = start();
      await untilReady(calls, dir);
    };
  };
  const { caPem: ca, token } = credentials;
  return {
    url,
    etcdUrl,
    dir,
    ca,
    token,
    call: calls.call,
    etcd,
    get apiServer() {
      return apiServer;
    },
    interrupt,
    auditLog,
    close,
  };
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

const untilReady = async ({ call }: ApiCalls, dir: string): Promise<void> => {
  const untilMs = performance.now() + READY_MAX_MS;
  for (;;) {
    const status = await call("GET", "/readyz").then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > untilMs)
      throw new Error(
        `the API server was not ready in ${READY_MAX_MS / 1_000} s: see the logs in "${dir}"`,
      );
    await wait(LOOK_AGAIN_MS);
  }
};
