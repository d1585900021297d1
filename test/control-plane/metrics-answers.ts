import type { ControlPlane } from "./start.ts";

export const METRIC_GROUPS = [
  { group: "metrics.k8s.io", version: "v1beta1" },
  { group: "custom.metrics.k8s.io", version: "v1beta2" },
  { group: "external.metrics.k8s.io", version: "v1beta1" },
] as const;

interface Answer {
  readonly status: number;
  readonly body: object;
}

type Script = ReadonlyMap<string, number>;

/**
 * The answer of one of the three groups to one request. Pods are those that the API server has at
 * this moment.
 */
export const metricsAnswer = async (
  call: ControlPlane["call"],
  script: Script,
  url: URL,
): Promise<Answer> => {
  const [, apis, group = "", version, ...rest] = url.pathname.split("/").map(decodeURIComponent);
  if (
    apis !== "apis" ||
    !METRIC_GROUPS.some((known) => known.group === group && known.version === version)
  )
    return failure(404, "NotFound");
  if (rest.length === 0) return resourceList(group, version ?? "");
  if (script.has(`down ${group}`)) return failure(503, "ServiceUnavailable");
  const selector = url.searchParams.get("labelSelector") ?? "";
  switch (group) {
    case "metrics.k8s.io":
      return podMetrics(
        script,
        await podsOf(call, rest[0] === "namespaces" ? rest[1] : undefined, selector),
      );
    case "custom.metrics.k8s.io":
      return customMetrics(call, script, rest, selector);
    default:
      return externalMetrics(script, rest);
  }
};

const failure = (code: number, reason: string): Answer => ({
  status: code,
  body: {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    code,
    message: `the metrics stand-in has none: ${reason}`,
  },
});

const resourceList = (group: string, version: string): Answer => {
  const pods = {
    name: "pods",
    singularName: "",
    namespaced: true,
    kind: "PodMetrics",
    verbs: ["get", "list"],
  };
  const resources = group === "metrics.k8s.io" ? [pods] : [];
  return {
    status: 200,
    body: {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: `${group}/${version}`,
      resources,
    },
  };
};

interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly containers: readonly string[];
  /** The running pods with the same label `app` in this namespace. */
  readonly together: number;
}

interface ListedPod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
}

const podsOf = async (
  call: ControlPlane["call"],
  namespace: string | undefined,
  selector: string,
): Promise<readonly RunningPod[]> => {
  const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const query = `fieldSelector=status.phase%3DRunning&labelSelector=${encodeURIComponent(selector)}`;
  const { status, body } = await call("GET", `/api/v1${where}/pods?${query}`);
  if (status !== 200) throw new Error(`the pods were answered ${status}`);
  const items = (JSON.parse(body) as { readonly items: readonly ListedPod[] }).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const app = ({ metadata }: ListedPod): string =>
    `${metadata.namespace}/${metadata.labels?.["app"]}`;
  const counts = Map.groupBy(items, app);
  return items.map((item) => ({
    namespace: item.metadata.namespace,
    name: item.metadata.name,
    labels: item.metadata.labels ?? {},
    containers: item.spec.containers.map(({ name }) => name),
    together: counts.get(app(item))?.length ?? 1,
  }));
};

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");
const milli = (units: number): string => `${Math.floor(units * 1_000)}m`;

const podMetrics = (script: Script, pods: readonly RunningPod[]): Answer => {
  const unmeasured = unmeasuredPods(script, pods);
  const items = pods
    .filter((pod) => !unmeasured.has(pod))
    .flatMap((pod) => {
      const { namespace, name, labels } = pod;
      const usages = containerUsages(script, pod);
      return usages.length === 0
        ? []
        : [
            {
              metadata: { name, namespace, labels },
              timestamp: now(),
              window: "1s",
              containers: usages,
            },
          ];
    });
  return {
    status: 200,
    body: { kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items },
  };
};

/** A container without a value has no sample. */
const containerUsages = (
  script: Script,
  { namespace, labels, containers, together }: RunningPod,
): readonly object[] => {
  const app = `cpu ${namespace}/${labels["app"]}`;
  const whole = script.get(app);
  return containers.flatMap((name) => {
    const total =
      script.get(`${app}/${name}`) ?? (whole === undefined ? undefined : whole / containers.length);
    return total === undefined
      ? []
      : [{ name, usage: { cpu: `${Math.floor(total / together)}m`, memory: "64Mi" } }];
  });
};

/** The first pods by name of each app with a key `unmeasured`. */
const unmeasuredPods = (script: Script, pods: readonly RunningPod[]): ReadonlySet<RunningPod> => {
  const apps = Map.groupBy(pods, ({ namespace, labels }) => `${namespace}/${labels["app"]}`);
  const first = [...apps].flatMap(([app, own]) =>
    own
      .toSorted((one, other) => one.name.localeCompare(other.name))
      .slice(0, script.get(`unmeasured ${app}`) ?? 0),
  );
  return new Set(first);
};

const customMetrics = async (
  call: ControlPlane["call"],
  script: Script,
  rest: readonly string[],
  selector: string,
): Promise<Answer> => {
  const [, namespace = "", resource = "", name = "", metric = ""] = rest;
  if (rest.length === 4)
    return customValues([
      {
        kind: "Namespace",
        name: namespace,
        metric: name,
        total: script.get(`object ${namespace}/namespaces/${namespace}/${name}`),
      },
    ]);
  if (resource !== "pods" || name !== "*") {
    const [plural = ""] = resource.split(".");
    return customValues([
      {
        kind: "Object",
        name,
        metric,
        total: script.get(`object ${namespace}/${plural}/${name}/${metric}`),
      },
    ]);
  }
  const pods = await podsOf(call, namespace, selector);
  return customValues(
    pods.map((pod) => {
      const total = script.get(`pods ${namespace}/${pod.labels["app"]}/${metric}`);
      return {
        kind: "Pod",
        name: pod.name,
        metric,
        total: total === undefined ? undefined : total / pod.together,
      };
    }),
  );
};

interface Value {
  readonly kind: string;
  readonly name: string;
  readonly metric: string;
  readonly total: number | undefined;
}

const customValues = (values: readonly Value[]): Answer => {
  const items = values.flatMap(({ kind, name, metric, total }) =>
    total === undefined
      ? []
      : [
          {
            describedObject: { kind, name, apiVersion: "v1" },
            metric: { name: metric },
            timestamp: now(),
            windowSeconds: 1,
            value: milli(total),
          },
        ],
  );
  if (items.length === 0) return failure(404, "NotFound");
  return {
    status: 200,
    body: {
      kind: "MetricValueList",
      apiVersion: "custom.metrics.k8s.io/v1beta2",
      metadata: {},
      items,
    },
  };
};

const externalMetrics = (script: Script, [, namespace, metric]: readonly string[]): Answer => {
  const value = script.get(`external ${namespace}/${metric}`);
  const items =
    value === undefined
      ? []
      : [{ metricName: metric, metricLabels: {}, timestamp: now(), value: milli(value) }];
  return {
    status: 200,
    body: {
      kind: "ExternalMetricValueList",
      apiVersion: "external.metrics.k8s.io/v1beta1",
      metadata: {},
      items,
    },
  };
};
