import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { serverCredentials } from "../../lib/local/run/certificates.ts";
import type { App } from "./fill.ts";
import type { ControlPlane } from "./start.ts";

/** A metrics.k8s.io behind the API server's aggregation: every pod of every workload uses as much CPU as is set. */
export interface MetricsAdapter {
  /** In thousandths of a core, of each pod. */
  cpuMilli: number;
  readonly close: () => Promise<void>;
}

const GROUP = "metrics.k8s.io";
const VERSION = "v1beta1";
const READY_MAX_MS = 60_000;
const LOOK_AGAIN_MS = 100;

/** Serves the group on loopback and tells the API server where. `dir` holds the certificate. */
export const startMetricsAdapter = async (plane: Pick<ControlPlane, "call">, apps: readonly App[], dir: string): Promise<MetricsAdapter> => {
  const { certificatePem, keyPem } = await serverCredentials(dir, Date.now());
  const adapter = { cpuMilli: 0 };
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    const path = new URL(request.url ?? "", "https://adapter").pathname;
    const answer = answerOf(path, apps, adapter.cpuMilli);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { kind: "Status", code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  await register(plane, (server.address() as AddressInfo).port);
  return Object.assign(adapter, {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};

const answerOf = (path: string, apps: readonly App[], cpuMilli: number): object | undefined => {
  const root = `/apis/${GROUP}/${VERSION}`;
  if (path === root) {
    const resources = [{ name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] }];
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/${VERSION}`, resources };
  }
  const match = new RegExp(`^${root}(?:/namespaces/([^/]+))?/pods$`).exec(path);
  if (!match) return undefined;
  const timestamp = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const items = apps
    .filter(({ namespace }) => match[1] === undefined || match[1] === namespace)
    .map(({ namespace, name }) => ({
      metadata: { name: `${name}-0`, namespace, labels: { app: name } },
      timestamp,
      window: "15s",
      containers: [{ name: "app", usage: { cpu: `${cpuMilli}m`, memory: "64Mi" } }],
    }));
  return { kind: "PodMetricsList", apiVersion: `${GROUP}/${VERSION}`, metadata: {}, items };
};

const register = async ({ call }: Pick<ControlPlane, "call">, port: number): Promise<void> => {
  const service = { name: "metrics-adapter", namespace: "kube-system", port };
  await call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: service.namespace } });
  await call("POST", `/api/v1/namespaces/${service.namespace}/services`, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service.name },
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
  });
  await call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${VERSION}.${GROUP}` },
    spec: { group: GROUP, version: VERSION, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service },
  });
  const untilMs = performance.now() + READY_MAX_MS;
  for (;;) {
    const { status, body } = await call("GET", `/apis/${GROUP}/${VERSION}/pods`);
    if (status === 200) return;
    if (performance.now() > untilMs) throw new Error(`the API server does not reach the metrics adapter: ${status} ${body}`);
    await wait(LOOK_AGAIN_MS);
  }
};
