import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { startAuthenticator } from "./authenticator.ts";
import { startHpaController, startWorkloadControllers } from "./controllers.ts";
import { startKubelet } from "./kubelet.ts";
import { startScriptedMetrics } from "./metrics-script.ts";
import { type ControlPlane, startControlPlane } from "./start.ts";

/**
 * A whole cluster on this machine: the real control plane with its controllers, stand-ins for
 * kubelets, metrics and the token authenticator, and the roles of Tidemark.
 */
export interface WholeCluster {
  readonly plane: ControlPlane;
  /** Where its metrics are set. */
  readonly metricsUrl: string;
  /** Of a user of the group tidemark. */
  readonly tidemarkToken: string;
  /** Of another one, named busy. */
  readonly busyToken: string;
  readonly close: () => Promise<void>;
}

export interface WholeClusterOptions {
  /** More flags of the API server. */
  readonly flags?: readonly string[];
  /** What the API server writes into its audit log. */
  readonly auditPolicy?: string;
  /** Between two looks of the HPA controller. Default: a second. */
  readonly hpaPeriodSeconds?: number;
}

const ROLES = join(import.meta.dirname, "../../infra/cluster-rbac.yaml");
const GROUP = "tidemark";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const PATHS: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
};

export const startWholeCluster = async (
  binaries: string,
  { flags = [], auditPolicy, hpaPeriodSeconds }: WholeClusterOptions = {},
): Promise<WholeCluster> => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-cluster-"));
  const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const part of closing.splice(0)) await part();
  };
  try {
    const authenticator = await startAuthenticator(dir);
    closing.unshift(authenticator.close);
    const [tidemarkToken, busyToken] = [newToken(), newToken()];
    const plane = await startControlPlane(binaries, {
      flags: (file) => [...authenticator.flags(file), ...flags],
      ...(auditPolicy !== undefined && { auditPolicy }),
      users: [
        { name: "tidemark", group: GROUP, token: tidemarkToken },
        { name: "busy", group: GROUP, token: busyToken },
      ],
    });
    closing.unshift(plane.close);
    const metrics = await startScriptedMetrics(plane, dir);
    closing.unshift(metrics.close);
    const [workloads, hpa] = [
      startWorkloadControllers(plane, binaries),
      startHpaController(plane, binaries, hpaPeriodSeconds),
    ];
    closing.unshift(workloads.stop, hpa.stop);
    const kubelet = startKubelet(plane);
    closing.unshift(kubelet.stop);
    await applyRoles(plane);
    return { plane, metricsUrl: metrics.controlUrl, tidemarkToken, busyToken, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const newToken = (): string => randomBytes(32).toString("base64url");

/** Gives the group tidemark the rights of infra/cluster-rbac.yaml. */
export const applyRoles = async ({ call }: Pick<ControlPlane, "call">): Promise<void> => {
  for (const document of parseAllDocuments(readFileSync(ROLES, "utf8"))) {
    const object: { readonly kind: string } = document.toJS();
    const { status, body } = await call("POST", `${RBAC}/${PATHS[object.kind]}`, object);
    if (status !== 201)
      throw new Error(`a ${object.kind} of ${ROLES} was answered ${status}: ${body}`);
  }
};
