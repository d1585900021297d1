import {
  type Kubernetes,
  pod,
  podMetrics,
  type Raw,
  workload,
} from "../cluster/stand-in/kubernetes.ts";
import { json, status } from "../cluster/stand-in/server.ts";

/** Comes first in every LIST, which is in order of namespaces. */
export const TENANT = "aaa-tenant";
const [DEPLOYMENTS, PODS, METRICS, HPAS] = [
  "/apis/apps/v1/deployments",
  "/api/v1/pods",
  "/apis/metrics.k8s.io/v1beta1/pods",
  "/apis/autoscaling/v2/horizontalpodautoscalers",
] as const;
const EXTERNAL = "/apis/external.metrics.k8s.io/";
const MB = 1024 * 1024;

export interface App {
  readonly namespace: string;
  readonly name: string;
}

/** An autoscaler of the tenant, as a manifest. */
export interface Manifest extends App {
  readonly metrics: readonly object[];
  readonly target?: object;
  /** The whole text, where it is no HPA of these metrics. */
  readonly text?: string;
}

/** What an attack sets up. */
type Served = Pick<Kubernetes, "collections" | "documents" | "overrides">;

/** What one tenant does to a cluster that others use as well. */
export interface Attack {
  readonly name: string;
  /** True where the tenant is always over its share, so that its own autoscalers hold. */
  readonly isOver?: true;
  /** Sets up the cluster, and returns the autoscalers of the tenant. */
  readonly make: (server: Served) => readonly Manifest[];
}

export const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};
const external = (name: string): object => ({
  type: "External",
  external: { metric: { name }, target: { type: "AverageValue", averageValue: "10" } },
});
const times = <Item>(count: number, item: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** Puts objects before all others. */
const first = ({ collections }: Served, path: string, objects: readonly Raw[]): void => {
  collections.set(path, [...objects, ...(collections.get(path) ?? [])]);
};
const large = (bytes: number, object: Raw): Raw => ({ ...object, filler: "x".repeat(bytes) });

/** An adapter that answers the queries of the tenant like this; those of others at once. */
const adapter = (
  { overrides }: Served,
  answer: Kubernetes["overrides"][number]["answer"],
): void => {
  overrides.push({
    match: ({ url }) => url.pathname.startsWith(`${EXTERNAL}v1beta1/namespaces/${TENANT}/`),
    answer,
  });
};
const VALUE = { items: [{ metricName: "m", value: "12", timestamp: "2026-05-01T12:00:00Z" }] };

const withExternal = (
  server: Served,
  autoscalers: number,
  metricsEach: number,
): readonly Manifest[] => {
  const apps = times(autoscalers, (index) => ({ namespace: TENANT, name: `app-${index}` }));
  first(
    server,
    DEPLOYMENTS,
    apps.map(({ namespace, name }) => workload(namespace, name)),
  );
  return apps.map((app, at) => ({
    ...app,
    metrics: times(metricsEach, (index) => external(`m-${at}-${index}`)),
  }));
};

export const ATTACKS: readonly Attack[] = [
  {
    name: "50 External metrics of 1 s each",
    make: (server) => {
      adapter(server, (...call) => setTimeout(() => json(200, VALUE)(...call), 1_000));
      return withExternal(server, 1, 50);
    },
  },
  {
    name: "40 pods of 1 MB",
    make: (server) => {
      first(
        server,
        PODS,
        times(40, (index) => large(MB, pod(TENANT, "large", index))),
      );
      return [];
    },
  },
  {
    name: "40 Deployments of 1 MB",
    make: (server) => {
      first(
        server,
        DEPLOYMENTS,
        times(40, (index) => large(MB, workload(TENANT, `large-${index}`))),
      );
      return [];
    },
  },
  {
    name: "140 HPAs with annotations of 250 KB",
    make: (server) => {
      const annotated = (index: number): Raw => ({
        metadata: {
          namespace: TENANT,
          name: `hpa-${index}`,
          uid: `u-${index}`,
          annotations: { note: "n".repeat(250_000) },
        },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: `none-${index}` },
        },
      });
      first(server, HPAS, times(140, annotated));
      return [];
    },
  },
  {
    name: "20 selectors of 170 KB over 1,000 pods",
    make: (server) => {
      const apps = times(20, (index) => `wide-${index}`);
      const selecting = (app: string): Raw => ({
        ...workload(TENANT, app),
        spec: {
          replicas: 2,
          selector: {
            matchExpressions: [
              {
                key: "app",
                operator: "In",
                values: [app, ...times(20_000, (at) => `${app}${at}`)],
              },
            ],
          },
        },
      });
      first(server, DEPLOYMENTS, apps.map(selecting));
      first(
        server,
        PODS,
        times(1_000, (index) => pod(TENANT, `wide-${index % 20}`, index)),
      );
      first(
        server,
        METRICS,
        times(1_000, (index) => podMetrics(TENANT, `wide-${index % 20}`, index)),
      );
      return apps.map((name) => ({ namespace: TENANT, name, metrics: [CPU] }));
    },
  },
  {
    name: "500 autoscalers that each look at 5,000 pods",
    isOver: true,
    make: (server) => {
      const apps = times(500, (index) => `all-${index}`);
      const selecting = (app: string): Raw => ({
        ...workload(TENANT, app),
        spec: {
          replicas: 2,
          selector: {
            matchExpressions: [{ key: "app", operator: "NotIn", values: [app, "none"] }],
          },
        },
      });
      first(server, DEPLOYMENTS, apps.map(selecting));
      first(
        server,
        PODS,
        times(5_000, (index) => pod(TENANT, "many", index)),
      );
      first(
        server,
        METRICS,
        times(5_000, (index) => podMetrics(TENANT, "many", index)),
      );
      return apps.map((name) => ({ namespace: TENANT, name, metrics: [CPU] }));
    },
  },
  {
    name: "10,000 pods",
    make: (server) => {
      first(
        server,
        PODS,
        times(10_000, (index) => pod(TENANT, "many", index)),
      );
      first(server, DEPLOYMENTS, [workload(TENANT, "many")]);
      return [{ namespace: TENANT, name: "many", metrics: [CPU] }];
    },
  },
  {
    name: "an adapter that trickles its answers",
    make: (server) => {
      adapter(server, (_seen, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 50);
        response.on("close", () => clearInterval(timer));
      });
      return withExternal(server, 5, 10);
    },
  },
  {
    name: "1 MB in each of 100 answers",
    isOver: true,
    make: (server) => {
      const body = {
        items: times(10_000, (index) => ({
          ...VALUE.items[0],
          metricLabels: { label: `${index}-${"x".repeat(60)}` },
        })),
      };
      adapter(server, json(200, body));
      return withExternal(server, 10, 10);
    },
  },
  {
    name: "429 with Retry-After",
    make: (server) => {
      adapter(server, status(429, "TooManyRequests", "try again later", { "retry-after": "1" }));
      return withExternal(server, 5, 10);
    },
  },
  {
    name: "20 pods of 10,000 containers",
    make: (server) => {
      const many = (index: number): Raw => ({
        ...pod(TENANT, "wide", index),
        spec: {
          containers: times(10_000, (at) => ({
            name: `c-${at}`,
            resources: { requests: { cpu: "1m" } },
          })),
        },
      });
      first(server, PODS, times(20, many));
      first(server, DEPLOYMENTS, [workload(TENANT, "wide")]);
      return [{ namespace: TENANT, name: "wide", metrics: [CPU] }];
    },
  },
  {
    name: "1,000 autoscalers of 40 metrics that each look at 90 pods",
    isOver: true,
    make: (server) => {
      const apps = times(1_000, (index) => `all-${index}`);
      const selecting = (app: string): Raw => ({
        ...workload(TENANT, app),
        spec: {
          replicas: 2,
          selector: {
            matchExpressions: [{ key: "app", operator: "NotIn", values: [app, "none"] }],
          },
        },
      });
      first(server, DEPLOYMENTS, apps.map(selecting));
      first(
        server,
        PODS,
        times(90, (index) => pod(TENANT, "few", index)),
      );
      first(
        server,
        METRICS,
        times(90, (index) => podMetrics(TENANT, "few", index)),
      );
      return apps.map((name) => ({ namespace: TENANT, name, metrics: times(40, () => CPU) }));
    },
  },
  {
    name: "1,000 queries of 100 ms",
    make: (server) => {
      adapter(server, (...call) => setTimeout(() => json(200, VALUE)(...call), 100));
      return withExternal(server, 100, 10);
    },
  },
  {
    name: "20 custom resources whose scale takes 5 s",
    make: (server) => {
      server.documents.set("/apis/example.com", {
        versions: [{ version: "v1" }],
        preferredVersion: { version: "v1" },
      });
      server.documents.set("/apis/example.com/v1", {
        resources: [{ name: "rollouts", kind: "Rollout" }],
      });
      server.overrides.push({
        match: ({ url }) =>
          url.pathname.startsWith(`/apis/example.com/v1/namespaces/${TENANT}/rollouts/`),
        answer: (...call) => setTimeout(() => json(200, {})(...call), 5_000),
      });
      return times(20, (index) => ({
        namespace: TENANT,
        name: `rollout-${index}`,
        metrics: [CPU],
        target: { apiVersion: "example.com/v1", kind: "Rollout", name: `rollout-${index}` },
      }));
    },
  },
];

const heavy = (path: string, objects: readonly Raw[]) => (server: Served) => {
  first(server, path, objects);
  return [];
};

/** Attacks that take the time of a slow link. */
export const LINK_ATTACKS: readonly Attack[] = [
  {
    name: "30 pods of 1 MB",
    make: heavy(
      PODS,
      times(30, (index) => large(1_000_000, pod(TENANT, "large", index))),
    ),
  },
  {
    name: "80 Deployments of 250 KB",
    make: heavy(
      DEPLOYMENTS,
      times(80, (index) => large(250_000, workload(TENANT, `large-${index}`))),
    ),
  },
  ...ATTACKS.filter(({ name }) => /^40 |^140 /.test(name)),
];

/** The manifest of an autoscaler, as it is stored. */
export const manifestText = ({ namespace, name, metrics, target, text }: Manifest): string =>
  text ??
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: target ?? { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics,
    },
  });

/** The other tenants: each with fifty workloads of one pod, which want a replica more. */
export const othersOf = (count: number): readonly App[] =>
  times(count, (index) => ({ namespace: `team-${Math.floor(index / 50)}`, name: `app-${index}` }));

export const fillOthers = (server: Served, others: readonly App[]): void => {
  server.collections.set(
    DEPLOYMENTS,
    others.map(({ namespace, name }) => workload(namespace, name, 1)),
  );
  server.collections.set(
    PODS,
    others.map(({ namespace, name }) => pod(namespace, name)),
  );
  server.collections.set(
    METRICS,
    others.map(({ namespace, name }) => podMetrics(namespace, name)),
  );
  server.collections.set(HPAS, []);
  server.documents.set("/apis/metrics.k8s.io", {
    versions: [{ version: "v1beta1" }],
    preferredVersion: { version: "v1beta1" },
  });
};
