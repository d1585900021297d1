import fc from "fast-check";

/**
 * Random objects as the JSON of the API has them, with fields that are read and fields that are
 * skipped. A field that is absent in one is present in the next.
 */
const some = <Shape>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) =>
  fc.record(shape, { requiredKeys: [] });

const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/),
  fc.constantFrom("web", "ümlaut", "名前", "a".repeat(300)),
);
const labels = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,8}$/),
  fc.stringMatching(/^[a-zA-Z0-9.-]{0,12}$/),
  { maxKeys: 4 },
);
const quantity = fc.constantFrom(
  "100m",
  "1",
  "0.5",
  "64Mi",
  "1e3",
  "250u",
  "12E",
  "-3",
  "nonsense",
  "",
);
const amounts = fc.dictionary(fc.constantFrom("cpu", "memory", "nvidia.com/gpu"), quantity);
/** Of the years 1 to 9999: the API has no other. */
const time = fc
  .integer({ min: -62_135_596_800, max: 253_402_300_799 })
  .map((seconds) => new Date(seconds * 1_000).toISOString().replace(/\.000Z$/, "Z"));

const resources = some({ requests: amounts, limits: amounts });
const container = some({
  name,
  image: name,
  resources,
  restartPolicy: fc.constantFrom("Always", "OnFailure"),
  env: fc.array(some({ name, value: fc.string() }), { maxLength: 3 }),
  tty: fc.boolean(),
});

const metadata = some({
  name,
  namespace: name,
  labels,
  annotations: labels,
  uid: fc.uuid(),
  resourceVersion: fc.nat().map(String),
  generation: fc.integer({ min: 1 }),
  deletionTimestamp: time,
  ownerReferences: fc.array(
    some({ apiVersion: name, kind: name, name, uid: fc.uuid(), controller: fc.boolean() }),
    { maxLength: 2 },
  ),
  finalizers: fc.array(name, { maxLength: 2 }),
});

const condition = some({
  type: fc.constantFrom("Ready", "PodScheduled", "Initialized"),
  status: fc.constantFrom("True", "False", "Unknown"),
  lastTransitionTime: time,
  observedGeneration: fc.nat(),
  message: fc.string(),
});

export const aPod = some({
  metadata,
  spec: some({
    containers: fc.array(container, { maxLength: 3 }),
    initContainers: fc.array(container, { maxLength: 2 }),
    overhead: amounts,
    resources: some({
      requests: fc.dictionary(fc.constantFrom("cpu", "memory"), quantity, { minKeys: 1 }),
    }),
    nodeName: name,
    priority: fc.integer(),
    hostNetwork: fc.boolean(),
  }),
  status: some({
    phase: fc.constantFrom("Running", "Pending", "Failed"),
    conditions: fc.array(condition, { maxLength: 4 }),
    startTime: time,
    podIP: name,
  }),
});

export const aPodMetrics = some({
  metadata,
  timestamp: time,
  window: fc.integer({ min: 0, max: 600 }).map((seconds) => `${seconds}s`),
  containers: fc.array(some({ name, usage: amounts }), { maxLength: 3 }),
});

const requirement = some({
  key: name,
  operator: fc.constantFrom("In", "NotIn", "Exists"),
  values: fc.array(name, { minLength: 1, maxLength: 2 }),
});

export const aDeployment = some({
  metadata,
  spec: some({
    replicas: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    selector: some({
      matchLabels: labels,
      matchExpressions: fc.array(requirement, { maxLength: 2 }),
    }),
    template: some({ metadata, spec: some({ containers: fc.array(container, { maxLength: 2 }) }) }),
    paused: fc.boolean(),
  }),
  status: some({
    replicas: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    observedGeneration: fc.nat(),
    readyReplicas: fc.nat(),
  }),
});
