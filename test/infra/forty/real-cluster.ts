import { mkdir } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { appsOf, fillCluster } from "../../control-plane/fill.ts";
import { kubeconfigText } from "../../control-plane/kubeconfig.ts";
import { type MetricsAdapter, startMetricsAdapter } from "../../control-plane/metrics-adapter.ts";
import { type ControlPlane, startControlPlane } from "../../control-plane/start.ts";
import { CLUSTER_ADDRESS } from "../load-balancer.ts";

/** The deployment of a real cluster: one pod of 100m. */
export const [REAL_APP = { namespace: "team-0", name: "app-00000" }] = appsOf(1);

export interface RealCluster {
  readonly plane: ControlPlane;
  readonly adapter: MetricsAdapter;
  /** What is in its secret, by who may use it. */
  readonly kubeconfig: string;
  readonly replicas: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The plural of each kind that `tidemark cluster rbac` prints. */
const PLACES: Readonly<Record<string, string>> = {
  ServiceAccount: "/api/v1/namespaces/tidemark/serviceaccounts",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
};

/** How a service account of the cluster gets its rights, and how long its token lasts. */
export interface AccountOptions {
  /** What `tidemark cluster rbac --service-account tidemark/tidemark` printed. */
  readonly roles: string;
  readonly hours: number;
}

/** A bound token of a service account that has the printed roles. */
const boundToken = async (
  { call }: ControlPlane,
  { roles, hours }: AccountOptions,
): Promise<string> => {
  const make = async (path: string, body: object): Promise<unknown> => {
    const { status, body: answer } = await call("POST", path, body);
    if (status >= 300) throw new Error(`POST ${path} was answered ${status}: ${answer}`);
    return JSON.parse(answer);
  };
  await make("/api/v1/namespaces", { metadata: { name: "tidemark" } });
  for (const document of parseAllDocuments(roles)) {
    const object = document.toJS() as { readonly kind: string };
    const place = PLACES[object.kind];
    if (place === undefined) throw new RangeError(`Cannot make a ${object.kind}: it has no place`);
    await make(place, object);
  }
  const { status } = (await make(`${PLACES["ServiceAccount"]}/tidemark/token`, {
    spec: { expirationSeconds: hours * 3_600 },
  })) as { readonly status: { readonly token: string } };
  return status.token;
};

/**
 * A real etcd and kube-apiserver with one workload, reached as in a VPC: by an administrator's
 * token, or by that of a service account.
 */
export const startRealCluster = async (
  binaries: string,
  folder: string,
  account?: AccountOptions,
): Promise<RealCluster> => {
  await mkdir(folder, { recursive: true });
  const plane = await startControlPlane(binaries);
  await fillCluster(plane, [REAL_APP]);
  const adapter = await startMetricsAdapter(plane, [REAL_APP], folder);
  const token = account === undefined ? plane.token : await boundToken(plane, account);
  const config: { clusters: { cluster: Record<string, string> }[] } = JSON.parse(
    kubeconfigText(plane, { token }),
  );
  for (const { cluster } of config.clusters) {
    cluster["server"] = `https://${CLUSTER_ADDRESS}:${new URL(plane.url).port}`;
    cluster["tls-server-name"] = "localhost";
  }
  return {
    plane,
    adapter,
    kubeconfig: JSON.stringify(config),
    replicas: async () => {
      const path = `/apis/apps/v1/namespaces/${REAL_APP.namespace}/deployments/${REAL_APP.name}`;
      return JSON.parse((await plane.call("GET", path)).body).spec.replicas;
    },
    close: async () => {
      await adapter.close();
      await plane.close();
    },
  };
};
