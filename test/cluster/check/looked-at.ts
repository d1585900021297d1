import type { Access } from "../../../lib/stack/cluster/access/access.ts";
import { checkConnection } from "../../../lib/stack/cluster/check/check-connection.ts";
import type {
  CheckedConnection,
  CheckedPoint,
  ConnectionReport,
} from "../../../lib/stack/cluster/check/report.ts";
import { clusterName } from "../../../lib/rules/model/ids.ts";
import { accessTo } from "../stand-in/connected.ts";
import { type Kubernetes, kubernetes } from "../stand-in/kubernetes.ts";
import { type Answer, json, type Seen } from "../stand-in/server.ts";

export interface Attributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  readonly namespace?: string;
}

/**
 * An API server that answers the questions of a check. What it answers can be changed before each
 * look.
 */
export interface AskedServer extends Kubernetes {
  /** Rights that are refused. */
  refuses: (asked: Attributes) => boolean;
  /** Every right that was asked for. */
  readonly rights: Attributes[];
  readonly groups: (groups: Readonly<Record<string, readonly string[]>>) => void;
}

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const USER = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

export const KUBE_SYSTEM = "0d4c6b1e-7f25-4f0e-9c65-3f0c0f6f3a11";

/** Everything is installed and allowed, and answers. */
export const askedServer = async (): Promise<AskedServer> => {
  const server = await kubernetes();
  const rights: Attributes[] = [];
  const asked = Object.assign(server, {
    refuses: (_asked: Attributes): boolean => false,
    rights,
    groups: (groups: Readonly<Record<string, readonly string[]>>) => {
      const list = Object.entries(groups).map(([name, versions]) => ({
        name,
        versions: versions.map((version) => ({ version })),
      }));
      server.documents.set("/apis", { kind: "APIGroupList", groups: list });
    },
  });
  server.documents.set("/api/v1/namespaces/kube-system", {
    kind: "Namespace",
    metadata: { name: "kube-system", uid: KUBE_SYSTEM },
  });
  server.documents.set("/version", { gitVersion: "v1.37.1" });
  server.documents.set(USER, {
    status: { userInfo: { username: "tidemark", groups: ["tidemark", "system:authenticated"] } },
  });
  asked.groups(ALL_GROUPS);
  server.collections.set("/apis/metrics.k8s.io/v1/pods", []);
  for (const path of [
    "/apis/custom.metrics.k8s.io/v1beta2",
    "/apis/external.metrics.k8s.io/v1beta1",
  ])
    server.documents.set(path, { kind: "APIResourceList", resources: [] });
  const review: Answer = (seen, ...rest) => {
    const { resourceAttributes } = (
      JSON.parse(seen.body) as { readonly spec: { readonly resourceAttributes: Attributes } }
    ).spec;
    rights.push(resourceAttributes);
    json(201, { status: { allowed: !asked.refuses(resourceAttributes) } })(seen, ...rest);
  };
  server.overrides.push({ match: isPostTo(REVIEWS), answer: review });
  return asked;
};

export const ALL_GROUPS = {
  "metrics.k8s.io": ["v1", "v1beta1"],
  "custom.metrics.k8s.io": ["v1beta2"],
  "external.metrics.k8s.io": ["v1beta1"],
  autoscaling: ["v2", "v1"],
  "keda.sh": ["v1alpha1"],
  "datadoghq.com": ["v1alpha1"],
} as const;

export const isPostTo =
  (path: string) =>
  ({ method, url }: Seen): boolean =>
    method === "POST" && url.pathname === path;

export interface LookOptions
  extends Pick<
    CheckedConnection,
    "namespaces" | "kinds" | "targets" | "specsFromCluster" | "scaled"
  > {
  readonly access?: Partial<Access>;
  readonly clock?: () => number;
}

/** Looks at the server over real TLS. */
export const look = (
  server: Pick<Kubernetes, "url" | "ca">,
  { access = {}, clock = Date.now, ...more }: LookOptions = {},
): Promise<ConnectionReport> =>
  checkConnection(
    { name: clusterName("eu-1"), connection: { kind: "kubeconfig", path: "/unused" }, ...more },
    {
      clock,
      trusted: {
        files: false,
        ownAddresses: true,
        kubeconfigFile: async () => accessTo(server, access),
      },
    },
  );

/** The points that are not right, as "result check". */
export const troubles = ({ checks }: ConnectionReport): readonly string[] =>
  checks
    .filter(({ result }) => result !== "passed")
    .map(({ result, check }) => `${result} ${check}`);

export const pointOf = ({ checks }: ConnectionReport, name: string): CheckedPoint => {
  const found = checks.find(({ check }) => check === name);
  if (!found)
    throw new Error(
      `Cannot find the point "${name}": there are ${checks.map(({ check }) => check).join(", ")}`,
    );
  return found;
};
