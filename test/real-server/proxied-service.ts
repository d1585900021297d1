import { networkInterfaces } from "node:os";
import { parseAllDocuments } from "yaml";
import { sourceRbacText } from "../../lib/stack/cluster/rights/rbac-text.ts";
import type { SourceService } from "../../lib/rules/model/metric-source.ts";
import { UNSCHEDULED } from "../control-plane/kubelet.ts";
import type { ControlPlane } from "../control-plane/start.ts";

/**
 * An address of this machine to which the API server sends requests: it sends none to loopback.
 * Undefined where there is no other.
 */
export const ownAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

type Call = Pick<ControlPlane, "call">;

const post = async ({ call }: Call, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await call("POST", path, body);
  if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${answer}`);
};

/**
 * Makes a Service that leads to a server of this machine, in a namespace of its own. The API server
 * sends requests to addresses of pods only, so that the server looks like one.
 */
export const makeService = async (
  plane: Call,
  { namespace, name, port }: SourceService,
  server: URL,
): Promise<void> => {
  const [ip, targetPort] = [server.hostname, Number(server.port)];
  await post(plane, "/api/v1/namespaces", { metadata: { name: namespace } });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await post(plane, pods, {
    metadata: { name, labels: UNSCHEDULED },
    spec: { containers: [{ name, image: "none" }] },
  });
  const running = {
    phase: "Running",
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  const { status, body } = await plane.call(
    "PATCH",
    `${pods}/${name}/status`,
    { status: running },
    "application/merge-patch+json",
  );
  if (status !== 200) throw new Error(`the status of the pod was answered ${status}: ${body}`);
  await post(plane, `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name },
    spec: { ports: [{ name: "web", port: Number(port), targetPort }] },
  });
  await post(plane, `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, {
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [
      { addresses: [ip], conditions: { ready: true }, targetRef: { kind: "Pod", namespace, name } },
    ],
    ports: [{ name: "web", port: targetPort }],
  });
};

/**
 * Gives Tidemark the right to ask a source, as `tidemark cluster rbac --source NAME | kubectl apply -f -` does.
 */
export const allowSource = async (
  plane: Call,
  source: string,
  service: SourceService,
): Promise<void> => {
  for (const document of parseAllDocuments(sourceRbacText(source, service))) {
    const object: { readonly kind: string } = document.toJS();
    const plural = object.kind === "Role" ? "roles" : "rolebindings";
    await post(
      plane,
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${service.namespace}/${plural}`,
      object,
    );
  }
};
