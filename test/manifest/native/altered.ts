import fc from "fast-check";

type Json = Readonly<Record<string, unknown>>;

const target = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 2,
  maxReplicas: 20,
};
const selector = {
  matchLabels: { app: "web" },
  matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }],
};

/** Manifests that use every field of every set of rules between them; all are admitted. */
export const COMPLETE: readonly Json[] = [
  {
    ...target,
    owner: "shop",
    dryRun: true,
    pausedUntil: "2030-01-31T08:00:00Z",
    schedule: [
      {
        name: "office",
        timeZone: "Europe/Berlin",
        days: ["Mon-Thu", "-1Fri"],
        from: "08:00",
        to: "17:30",
        except: ["2030-12-24", "2030-12-25/2030-12-31"],
        minReplicas: 6,
        maxReplicas: 40,
        rampMinutes: { in: 30, out: 60 },
        priority: 2,
      },
      {
        name: "freeze",
        timeZone: "Etc/UTC",
        dates: ["2030-11-29"],
        from: "20:00",
        to: "08:00",
        toDay: "Mon",
        paused: true,
        suspended: true,
      },
    ],
    combine: "Mean",
    metrics: [
      {
        name: "one",
        resource: { name: "cpu", of: "limit" },
        measure: "Percent",
        target: 60,
        tolerance: { up: "0.1", down: 0.2 },
        scaleUpOnly: true,
      },
      {
        containerResource: { name: "memory", container: "app", of: "request" },
        watermarks: { low: 40, high: 80 },
      },
      { pods: { metric: "jobs", selector }, target: 4, onMissing: { action: "scaleUpOnly" } },
      {
        object: {
          describedObject: { apiVersion: "v1", kind: "Service", name: "front" },
          metric: "rps",
          selector,
        },
        measure: "Average",
        target: 100,
      },
      {
        external: { metric: "lag", selector },
        target: 10,
        activation: 1,
        onMissing: { action: "fallback", replicas: 3, afterSeconds: 60 },
      },
      {
        namespace: { metric: "users", selector },
        measure: "Total",
        watermarks: { low: 1, high: 2 },
      },
    ],
    scaleUp: {
      sustainSeconds: 30,
      stabilizationWindowSeconds: 60,
      selectPolicy: "Min",
      policies: [
        { type: "Pods", value: 4, periodSeconds: 60 },
        { type: "Factor", value: 1.5, periodSeconds: 60 },
      ],
      countedChanges: "SameDirection",
      stepMinimum: 2,
      replicaModulo: 2,
      forbiddenAfterEventSeconds: 60,
    },
    scaleDown: {
      selectPolicy: "Disabled",
      policies: [{ type: "Percent", value: 10, periodSeconds: 60 }],
    },
    flapBudget: { reversals: 2, periodSeconds: 600 },
    idle: { replicas: 0, afterSeconds: 300 },
  },
  {
    ...target,
    rules: "hpa",
    hpa: {
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
        },
        {
          type: "ContainerResource",
          containerResource: {
            name: "memory",
            container: "app",
            target: { type: "AverageValue", averageValue: 500 },
          },
        },
        {
          type: "Pods",
          pods: {
            metric: { name: "jobs", selector },
            target: { type: "AverageValue", averageValue: 4 },
          },
        },
        {
          type: "Object",
          object: {
            describedObject: { apiVersion: "v1", kind: "Service", name: "front" },
            metric: { name: "rps" },
            target: { type: "Value", value: 9 },
          },
        },
        {
          type: "External",
          external: { metric: { name: "lag", selector }, target: { type: "Value", value: 9 } },
        },
      ],
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: "Max",
          policies: [{ type: "Pods", value: 4, periodSeconds: 15 }],
          tolerance: 0.05,
        },
        scaleDown: { policies: [{ type: "Percent", value: 10, periodSeconds: 60 }] },
      },
    },
  },
  {
    ...target,
    rules: "hpa",
    hpa: {
      constraints: {
        scaleUp: { rate: { percent: 900, pods: 4, periodSeconds: 60 }, delaySeconds: 0 },
        scaleDown: { percent: 10, pods: 1, periodSeconds: 600 },
        delaySeconds: 300,
      },
    },
  },
  { ...target, rules: "hpa", hpa: { cpuUtilization: { targetPercentage: 75 } } },
  {
    ...target,
    rules: "watermark",
    watermark: {
      counts: "current",
      metrics: [
        {
          type: "External",
          external: { metricName: "lag", metricSelector: {}, highWatermark: 4, lowWatermark: 2 },
        },
        { type: "Resource", resource: { name: "cpu", metricSelector: selector, highWatermark: 4 } },
      ],
      algorithm: "average",
      tolerance: 0.1,
      scaleUpLimitFactor: 50,
      scaleDownLimitFactor: 20,
      upscaleForbiddenWindowSeconds: 60,
      downscaleForbiddenWindowSeconds: 300,
      upscaleDelayAboveWatermarkSeconds: 10,
      downscaleDelayBelowWatermarkSeconds: 10,
      replicaScalingAbsoluteModulo: 1,
      convergeTowardsWatermark: "highwatermark",
      tolerateZero: true,
      minAvailableReplicaPercentage: 50,
      readinessDelaySeconds: 10,
      readinessDelay: 7,
    },
  },
  {
    ...target,
    rules: "watermark",
    watermark: {
      recommender: {
        url: "https://recommender.example/v1",
        targetType: "cpu",
        settings: { a: "b" },
        highWatermark: 1,
        lowWatermark: 0.5,
        tlsConfig: {
          caFile: "a",
          certFile: "b",
          keyFile: "c",
          serverName: "d",
          insecureSkipVerify: true,
          minVersion: "TLS12",
          maxVersion: "TLS13",
        },
      },
    },
  },
  {
    ...target,
    metrics: [
      {
        prometheus: { source: "main", query: "sum(rate(x[2m]))", whenEmpty: 0 },
        everySeconds: 30,
        maxAgeSeconds: 90,
        target: 10,
      },
      {
        http: { source: "shop", path: "/queues/orders", pointer: "/depth" },
        measure: "Average",
        target: 4,
      },
      {
        sqs: { source: "aws", queue: "orders.fifo", accountId: "123456789012", count: ["Visible"] },
        target: 100,
        activation: 0,
      },
      {
        name: "age",
        cloudwatch: {
          source: "aws",
          namespace: "AWS/SQS",
          metric: "Age",
          dimensions: { QueueName: "orders" },
          stat: "p99",
          accountId: "123456789012",
          periodSeconds: 60,
          lookbackSeconds: 300,
          offsetSeconds: 60,
          whenEmpty: 1,
        },
        watermarks: { low: 1, high: 2 },
      },
    ],
  },
  {
    ...target,
    metrics: [
      { name: "queue", external: { metric: "lag" }, input: true },
      { formula: { expression: "2 * queue" }, target: 10 },
      {
        cloudwatch: {
          source: "aws",
          expression: "errors / requests",
          inputs: [
            { id: "errors", namespace: "Shop", metric: "Errors", stat: "Sum" },
            { id: "requests", namespace: "Shop", metric: "Requests", stat: "Sum" },
          ],
          periodSeconds: 300,
        },
        target: 1,
      },
    ],
  },
].map((spec) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web", namespace: "shop", labels: { a: "b" } },
  spec,
}));

type Path = readonly (string | number)[];

const pathsOf = (value: unknown, path: Path = []): readonly Path[] => {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value as Json);
  return [
    ...(path.length > 0 ? [path] : []),
    ...entries.flatMap(([name, member]) => pathsOf(member, [...path, name])),
  ];
};

const ABSENT = Symbol("absent");

/**
 * The value with another one at the path; an unknown name appears beside it when `beside` is given.
 */
const replaced = (value: unknown, [name, ...rest]: Path, by: unknown): unknown => {
  if (name === undefined) return by;
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, index) =>
      index === name ? within(entry, rest, by) : [entry],
    );
  const entries = Object.entries((value ?? {}) as Json).flatMap(([own, member]) =>
    own === name
      ? within(member, rest, by).map((inner) => [own, inner] as const)
      : [[own, member] as const],
  );
  return Object.fromEntries(entries);
};

const within = (value: unknown, rest: Path, by: unknown): readonly unknown[] => {
  const inner = replaced(value, rest, by);
  return inner === ABSENT ? [] : [inner];
};

const REPLACEMENTS = [
  ABSENT,
  null,
  "",
  "web",
  "fallback",
  "hpa",
  "current",
  "0.5",
  "1500m",
  "2k",
  true,
  -1,
  0,
  0.5,
  1,
  2,
  99.9,
  100,
  101,
  1801,
  3601,
  86_401,
  2 ** 31,
  1e7,
  [],
  {},
  [null],
  { unknown: 1 },
];

const change = (document: Json): fc.Arbitrary<(document: unknown) => unknown> => {
  const paths = pathsOf(document).filter((path) => path[0] !== "apiVersion" && path[0] !== "kind");
  const path = fc.constantFrom(...paths);
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(path, fc.constantFrom<unknown>(...REPLACEMENTS)).map(
        ([at, by]) =>
          (given: unknown) =>
            replaced(given, at, by),
      ),
    },
    // A value from elsewhere in the manifests, so that fields stand where they do not belong.
    {
      weight: 1,
      arbitrary: fc.tuple(path, path).map(
        ([at, from]) =>
          (given: unknown) =>
            replaced(given, at, valueAt(document, from)),
      ),
    },
    {
      weight: 1,
      arbitrary: path.map(
        (at) => (given: unknown) =>
          replaced(given, [...at.slice(0, -1)], besides(valueAt(given, at.slice(0, -1)))),
      ),
    },
  );
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<string | number, unknown>)[name]
        : undefined,
    value,
  );

const besides = (value: unknown): unknown =>
  Array.isArray(value) || typeof value !== "object" || value === null
    ? value
    : { ...value, metricz: 1 };

/** Every manifest with none to two changes at any place. */
export const altered: fc.Arbitrary<unknown> = fc
  .constantFrom(...COMPLETE)
  .chain((document) =>
    fc
      .array(change(document), { maxLength: 2 })
      .map((changes) => changes.reduce<unknown>((given, apply) => apply(given), document)),
  );
