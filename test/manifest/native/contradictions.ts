export const METRIC = { external: { metric: "lag" }, target: 10 };

/** A PodAutoscaler of the native rules with these fields. */
export const document = (
  spec: Readonly<Record<string, unknown>> = {},
  without: readonly string[] = [],
) => {
  const full: Readonly<Record<string, unknown>> = {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 10,
    metrics: [METRIC],
    ...spec,
  };
  const kept = Object.fromEntries(Object.entries(full).filter(([name]) => !without.includes(name)));
  return {
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: kept,
  };
};

export const metric = (more: Readonly<Record<string, unknown>>) => ({
  metrics: [{ ...METRIC, ...more }],
});
export const up = (more: Readonly<Record<string, unknown>>) => ({ scaleUp: more });
export const policies = (...given: readonly object[]) => ({ policies: given });
export const M = "spec.metrics[0]";
export const S = "spec.schedule[0]";
/** One entry of a schedule with these fields beside what an entry needs. */
export const entry = (more: Readonly<Record<string, unknown>>) => ({
  schedule: [{ name: "office", timeZone: "Europe/Berlin", minReplicas: 3, ...more }],
});

type Row = readonly [
  what: string,
  spec: Readonly<Record<string, unknown>>,
  problems: readonly string[],
];

/** Every contradiction between fields, with the problems that it has. */
export const CONTRADICTIONS: readonly Row[] = [
  ["no metric", { metrics: [] }, ["spec.metrics: "]],
  ["no source", { metrics: [{ target: 1 }] }, [`${M}: `]],
  [
    "two sources",
    metric({ pods: { metric: "x" } }),
    [`${M}.external: may not be set together with pods`],
  ],
  ["no level", metric({ target: undefined }), [`${M}.target: `]],
  [
    "target and watermarks",
    metric({ watermarks: { low: 1, high: 2 } }),
    [`${M}.target: may not be set together with watermarks`],
  ],
  [
    "tolerance and watermarks",
    metric({ target: undefined, tolerance: {}, watermarks: { low: 1, high: 2 } }),
    [`${M}.tolerance: may not be set together with watermarks`],
  ],
  [
    "an input with a target",
    metric({ input: true }),
    [
      `${M}.input: no formula names "lag"`,
      "spec.metrics: every metric is an input",
      `${M}.target: may not be set with input: true`,
    ],
  ],
  [
    "only inputs",
    metric({ input: true, target: undefined }),
    [`${M}.input: no formula names "lag"`, "spec.metrics: every metric is an input"],
  ],
  [
    "crossed watermarks",
    metric({ target: undefined, watermarks: { low: 3, high: 2 } }),
    [`${M}.watermarks.low: must be less than or equal to high: the watermarks are crossed`],
  ],
  [
    "a percentage of something outside",
    metric({ measure: "Percent" }),
    [`${M}.measure: must be Average or Total for external`],
  ],
  [
    "the total of a resource",
    { metrics: [{ resource: { name: "cpu" }, measure: "Total", target: 1 }] },
    [`${M}.measure: must be Percent or Average for resource`],
  ],
  [
    "a broken percentage",
    { metrics: [{ resource: { name: "cpu" }, target: "0.5" }] },
    [`${M}.target: must be a whole percentage up to 1000000`],
  ],
  [
    "a percentage that is only nearly whole",
    { metrics: [{ resource: { name: "cpu" }, target: "59.9999" }] },
    [`${M}.target: must be a whole percentage up to 1000000`],
  ],
  [
    "two metrics of one name",
    { metrics: [METRIC, METRIC] },
    ['spec.metrics[1].name: must be unique: "lag" is the name of another metric'],
  ],
  [
    "fallback without a count",
    metric({ onMissing: { action: "fallback" } }),
    [`${M}.onMissing.replicas: `, `${M}.onMissing.afterSeconds: `],
  ],
  [
    "a count without fallback",
    metric({ onMissing: { replicas: 3 } }),
    [`${M}.onMissing.replicas: may only be set with action: fallback`],
  ],
  [
    "a larger step than there is room",
    up({ stepMinimum: 9 }),
    [
      "spec.scaleUp.stepMinimum: must be less than or equal to maxReplicas - minReplicas, which is 8: no change is that large",
    ],
  ],
  [
    "half a pod",
    up(policies({ type: "Pods", value: "1.5", periodSeconds: 60 })),
    ["spec.scaleUp.policies[0].value: must be a whole number of pods"],
  ],
  [
    "nearly two pods",
    up(policies({ type: "Pods", value: "1.9999", periodSeconds: 60 })),
    ["spec.scaleUp.policies[0].value: must be a whole number of pods"],
  ],
  [
    "times one",
    up(policies({ type: "Factor", value: 1, periodSeconds: 60 })),
    ["spec.scaleUp.policies[0].value: must be greater than 1: times 1 changes nothing"],
  ],
  ["no policies", up(policies()), ["spec.scaleUp.policies: must hold at least one policy"]],
  [
    "idle above min",
    { idle: { replicas: 2 }, ...metric({ activation: 1 }) },
    ["spec.idle.replicas: must be less than minReplicas"],
  ],
  [
    "idle without activation",
    { idle: {} },
    ["spec.metrics: idle needs a metric with an activation threshold"],
  ],
  [
    "activation by pods",
    { idle: {}, metrics: [{ resource: { name: "cpu" }, target: 60, activation: 1 }] },
    [`${M}.activation: may not be set for a metric of pods: an idle workload has none`],
  ],
  [
    "a time that is none",
    { pausedUntil: "tomorrow" },
    ["spec.pausedUntil: must be an RFC 3339 time"],
  ],
  [
    "a day that its month does not have",
    { pausedUntil: "2030-02-30T08:00:00Z" },
    ["spec.pausedUntil: must be an RFC 3339 time"],
  ],
  [
    "an hour that no day has",
    { pausedUntil: "2030-02-28T24:00:00Z" },
    ["spec.pausedUntil: must be an RFC 3339 time"],
  ],
  ["an empty time", { pausedUntil: "" }, ["spec.pausedUntil: must be an RFC 3339 time"]],
  [
    "an entry without a name and a zone",
    { schedule: [{ minReplicas: 3 }] },
    [`${S}.name: `, `${S}.timeZone: `],
  ],
  [
    "a zone that is an offset",
    entry({ timeZone: "+02:00" }),
    [`${S}.timeZone: must be the name of an area, not an offset or an abbreviation`],
  ],
  [
    "a zone that is an abbreviation",
    entry({ timeZone: "EST" }),
    [`${S}.timeZone: must be the name of an area, not an offset or an abbreviation`],
  ],
  [
    "a zone that nobody knows",
    entry({ timeZone: "Europe/Berln" }),
    [`${S}.timeZone: is not in the zone data of this runtime`],
  ],
  [
    "days and dates",
    entry({ days: ["Mon"], dates: ["2030-01-31"] }),
    [`${S}.dates: may not be set together with days`],
  ],
  ["no days", entry({ days: [] }), [`${S}.days: must have at least one`]],
  [
    "a weekday that is none",
    entry({ days: ["Monday", "6Mon"] }),
    [`${S}.days[0]: must be a weekday`, `${S}.days[1]: must be a weekday`],
  ],
  [
    "a date without its year",
    entry({ dates: ["12-24"] }),
    [`${S}.dates[0]: must be a date with its year`],
  ],
  [
    "a date that does not exist",
    entry({ except: ["2030-02-30"] }),
    [`${S}.except[0]: must be a date that exists`],
  ],
  [
    "dates that end before they begin",
    entry({ dates: ["2030-02-03/2030-02-01"] }),
    [`${S}.dates[0]: must not end before it begins`],
  ],
  [
    "a time of day that is none",
    entry({ from: "24:00", to: "8:00" }),
    [`${S}.from: must be a time of day`, `${S}.to: must be a time of day, or 24:00`],
  ],
  [
    "an entry that sets nothing",
    entry({ minReplicas: undefined }),
    [`${S}: an entry sets minReplicas, maxReplicas or paused`],
  ],
  [
    "two entries of one name",
    { schedule: [...entry({}).schedule, ...entry({}).schedule] },
    ['spec.schedule[1].name: must be unique: "office" is the name of another entry'],
  ],
  [
    "more dates than a list may have",
    entry({ dates: Array.from({ length: 201 }, () => "2030-01-31") }),
    [`${S}.dates: must have at most 200 items, not 201`],
  ],
  ["an empty choice", { combine: "" }, ['spec.combine: supported values: "Max", "Mean", "Min"']],
  [
    "a target without a group",
    { scaleTargetRef: { kind: "Deployment", name: "web" } },
    ["spec.scaleTargetRef.apiVersion: must be group/version"],
  ],
  [
    "names that are no part of an address",
    {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a/b" },
      metrics: [{ external: { metric: "a%b" }, target: 1 }],
    },
    ["spec.scaleTargetRef.name: may not contain '/'", `${M}.external.metric: may not contain '%'`],
  ],
  [
    "a described object of two groups",
    {
      metrics: [
        {
          object: {
            metric: "rps",
            describedObject: { apiVersion: "a/b/c", kind: "Ingress", name: "front" },
          },
          target: 1,
        },
      ],
    },
    [`${M}.object.describedObject.apiVersion: must be group/version`],
  ],
  [
    "min above max",
    { minReplicas: 11 },
    ["spec.maxReplicas: must be greater than or equal to minReplicas"],
  ],
  ["a foreign block", { hpa: {} }, ["spec.hpa: may not be set with rules: native"]],
  [
    "fields of another form beside native ones",
    { behavior: {}, algorithm: "average" },
    [
      "spec.behavior: may not stand here: it belongs to another form",
      "spec.algorithm: may not stand here: it belongs to another form",
    ],
  ],
  [
    "metrics of another form",
    {
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
        },
      ],
    },
    ["spec.metrics: may not stand here: it belongs to another form", `${M}.target: `],
  ],
  [
    "unknown rules",
    { rules: "keda" },
    ['spec.rules: supported values: "hpa", "native", "watermark"'],
  ],
  [
    "native fields with foreign rules",
    { rules: "hpa" },
    ["spec.metrics: may not be set with rules: hpa"],
  ],
];
