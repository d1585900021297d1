import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { registerGroups } from "../control-plane/aggregated.ts";
import type { FileIn } from "../control-plane/api-server-flags.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { freePort, type Program, startProgram } from "../control-plane/processes.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import { until } from "../real-server/scene.ts";

export const KEDA_VERSION = "2.21.0";
const MODULE = `github.com/kedacore/keda/v2@v${KEDA_VERSION}`;
const PROGRAMS = ["operator", "adapter"] as const;
const DEFINITIONS = "crd";

/** The folder that `KEDA_PROGRAMS` names, or a folder of the user's cache. */
export const kedaFolder = (): string =>
  process.env["KEDA_PROGRAMS"] || join(homedir(), ".cache", "tidemark", `keda-${KEDA_VERSION}`);

export const hasKeda = (folder: string): boolean =>
  [...PROGRAMS, DEFINITIONS].every((name) => existsSync(join(folder, name)));

/**
 * Builds the operator and the metrics server of KEDA with Go, from the module proxy: some 20
 * minutes on two cores without a cache.
 */
export const buildKeda = (folder: string, say: (line: string) => void): void => {
  mkdirSync(join(folder, DEFINITIONS), { recursive: true });
  const { Dir: source } = JSON.parse(
    execFileSync("go", ["mod", "download", "-json", MODULE], { cwd: folder, encoding: "utf8" }),
  ) as { Dir: string };
  for (const name of PROGRAMS) {
    say(`building the ${name} of KEDA ${KEDA_VERSION}`);
    const env = { ...process.env, CGO_ENABLED: "0" };
    execFileSync(
      "go",
      ["build", "-trimpath", "-ldflags=-s -w", "-o", join(folder, name), `./cmd/${name}`],
      { cwd: source, env, stdio: "inherit" },
    );
  }
  const bases = join(source, "config/crd/bases");
  for (const name of readdirSync(bases))
    writeFileSync(join(folder, DEFINITIONS, name), readFileSync(join(bases, name)));
};

/**
 * A certificate for both ends: the operator and the metrics server ask each other for one, and the
 * metrics server asks the API server.
 */
export interface Certificate {
  readonly dir: string;
  /** Flags with which the API server shows it to the metrics server. */
  readonly flags: (file: FileIn) => readonly string[];
}

export const certificateIn = (dir: string): Certificate => {
  mkdirSync(dir, { recursive: true });
  const at = (name: string): string => join(dir, name);
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.crt"),
    "-days",
    "2",
    "-subj",
    "/CN=keda-test",
  );
  openssl("req", ...key, "-keyout", at("tls.key"), "-out", at("tls.csr"), "-subj", "/CN=localhost");
  writeFileSync(
    at("extensions"),
    "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n",
  );
  const signed = [
    "-CA",
    at("ca.crt"),
    "-CAkey",
    at("ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    at("extensions"),
  ];
  openssl("x509", "-req", "-in", at("tls.csr"), "-out", at("tls.crt"), ...signed);
  return {
    dir,
    // The last of two equal flags counts.
    flags: () => [
      `--requestheader-client-ca-file=${at("ca.crt")}`,
      `--proxy-client-cert-file=${at("tls.crt")}`,
      `--proxy-client-key-file=${at("tls.key")}`,
    ],
  };
};

interface Starting {
  readonly plane: ControlPlane;
  readonly folder: string;
  readonly certificate: Certificate;
  /** Address of the emulated account of AWS. */
  readonly awsUrl: string;
}

export interface Keda {
  readonly stop: () => Promise<void>;
}

/**
 * Starts the operator and the metrics server of KEDA beside the control plane, as processes with a
 * kubeconfig, and waits until the API server has its metrics from there.
 */
export const startKeda = async ({
  plane,
  folder,
  certificate,
  awsUrl,
}: Starting): Promise<Keda> => {
  await installDefinitions(plane, folder);
  await plane.call("POST", "/api/v1/namespaces", { metadata: { name: "keda" } });
  const kubeconfig = join(plane.dir, "keda.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(plane, { token: plane.token }), { mode: 0o600 });
  const [grpc, health, secure, metrics] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const env = {
    KUBECONFIG: kubeconfig,
    WATCH_NAMESPACE: "",
    POD_NAMESPACE: "keda",
    KEDA_CLUSTER_OBJECT_NAMESPACE: "keda",
    AWS_ENDPOINT_URL: awsUrl,
    AWS_ACCESS_KEY_ID: "AKIAOPERATOR",
    AWS_SECRET_ACCESS_KEY: "secret-of-the-operator",
  };
  const start = (name: (typeof PROGRAMS)[number], args: readonly string[]): Program =>
    startProgram(join(folder, name), args, { dir: plane.dir, name: `keda-${name}`, env });
  const operator = start("operator", [
    `--metrics-service-bind-address=127.0.0.1:${grpc}`,
    `--health-probe-bind-address=127.0.0.1:${health}`,
    "--enable-prometheus-metrics=false",
    `--cert-dir=${certificate.dir}`,
    "--zap-log-level=info",
  ]);
  const adapter = start("adapter", [
    `--secure-port=${secure}`,
    "--bind-address=127.0.0.1",
    `--port=${metrics}`,
    `--metrics-service-address=localhost:${grpc}`,
    `--cert-dir=${certificate.dir}`,
    `--tls-cert-file=${join(certificate.dir, "tls.crt")}`,
    `--tls-private-key-file=${join(certificate.dir, "tls.key")}`,
    `--lister-kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
  ]);
  const stop = async (): Promise<void> => {
    await adapter.stop();
    await operator.stop();
  };
  try {
    await registerGroups(plane, secure, [{ group: "external.metrics.k8s.io", version: "v1beta1" }]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
};

const installDefinitions = async ({ call }: ControlPlane, folder: string): Promise<void> => {
  for (const name of readdirSync(join(folder, DEFINITIONS))) {
    for (const document of parseAllDocuments(
      readFileSync(join(folder, DEFINITIONS, name), "utf8"),
    )) {
      const { status, body } = await call(
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        document.toJS(),
      );
      if (status !== 201)
        throw new Error(`a definition of KEDA in ${name} was answered ${status}: ${body}`);
    }
  }
  await until(
    "the kinds of KEDA are served",
    async () => (await call("GET", "/apis/keda.sh/v1alpha1/scaledobjects")).status === 200,
  );
};
