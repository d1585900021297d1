import { setTimeout as wait } from "node:timers/promises";
import type { ControlPlane } from "./start.ts";

/** An API group that another server on this machine answers. */
export interface AggregatedGroup {
  readonly group: string;
  readonly version: string;
}

const READY_MAX_MS = 60_000;
const LOOK_AGAIN_MS = 100;
const NAMESPACE = "kube-system";

/**
 * Tells the API server that the groups are answered at this port of localhost, and waits until it
 * asks there.
 */
export const registerGroups = async (
  { call }: Pick<ControlPlane, "call">,
  port: number,
  groups: readonly AggregatedGroup[],
): Promise<void> => {
  const service = { name: "metrics-adapter", namespace: NAMESPACE, port };
  await call("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await call("POST", `/api/v1/namespaces/${NAMESPACE}/services`, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service.name },
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
  });
  for (const { group, version } of groups) {
    await call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service,
      },
    });
  }
  for (const { group, version } of groups) await untilAnswering(call, `/apis/${group}/${version}`);
};

const untilAnswering = async (call: ControlPlane["call"], path: string): Promise<void> => {
  const untilMs = performance.now() + READY_MAX_MS;
  for (;;) {
    const { status, body } = await call("GET", path);
    if (status === 200) return;
    if (performance.now() > untilMs)
      throw new Error(`the API server does not reach the adapter of ${path}: ${status} ${body}`);
    await wait(LOOK_AGAIN_MS);
  }
};
