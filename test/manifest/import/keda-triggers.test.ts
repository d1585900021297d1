import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import { WAYS_OUT } from "../../../lib/rules/manifest/import/keda/ways-out.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

interface Published {
  readonly version: string;
  readonly types: Readonly<
    Record<string, { readonly fields: readonly string[]; readonly fromEnv?: readonly string[] }>
  >;
}
/** Names of types and fields of schema/generated/scalers-schema.json of KEDA. */
const PUBLISHED = JSON.parse(
  readFileSync(new URL("recorded/keda-2.21-triggers.json", import.meta.url), "utf8"),
) as Published;

/** The least metadata with which each type is carried over. */
const CARRIED: Readonly<Record<string, Json>> = {
  "apache-kafka": { consumerGroup: "g", topic: "t" },
  "aws-cloudwatch": { namespace: "AWS/SQS", metricName: "m", targetMetricValue: "2" },
  "aws-sqs-queue": { queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/orders" },
  cpu: { value: "60" },
  memory: { value: "60" },
  cron: { timezone: "UTC", start: "0 8 * * *", end: "0 18 * * *", desiredReplicas: "4" },
  kafka: { consumerGroup: "g", topic: "t" },
  "kubernetes-workload": { podSelector: "app=backend", value: "2" },
  "metrics-api": { url: "https://api.example.com/n", valueLocation: "n", targetValue: "2" },
  prometheus: { serverAddress: "http://p", query: "sum(q)", threshold: "5" },
  rabbitmq: { queueName: "q", value: "5", host: "http://r/%2F", mode: "QueueLength" },
  redis: { listName: "l" },
  "redis-cluster": { listName: "l" },
  "redis-sentinel": { listName: "l" },
  "redis-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
  "redis-cluster-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
  "redis-sentinel-streams": { stream: "s", consumerGroup: "g", pendingEntriesCount: "5" },
};

const imported = (type: string, metadata: Json) =>
  importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [
        {
          apiVersion: "keda.sh/v1alpha1",
          kind: "ScaledObject",
          metadata: { name: "web", namespace: "shop" },
          spec: { scaleTargetRef: { name: "web" }, triggers: [{ type, metadata }] },
        },
      ],
      sources: { named: { [type]: "main" }, discovered: false },
    },
    "native",
  );

/** A value that no default and no example above has. */
const OTHER: Readonly<Record<string, string>> = {
  ignoreNullValues: "false",
  metricStat: "Maximum",
  scaleOnInFlight: "false",
  scaleOnDelayed: "true",
  allowIdleConsumers: "true",
  limitToPartitionsWithLag: "true",
  excludeUnacknowledged: "true",
  protocol: "amqp",
  useRegex: "true",
  operation: "max",
  mode: "MessageRate",
  groupByNode: "true",
  format: "xml",
  aggregateFromKubeServiceEndpoints: "true",
  unsafeSsl: "true",
  start: "0 9 * * *",
  end: "0 19 * * *",
  timezone: "Asia/Tokyo",
  queueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/mail",
  url: "https://api.example.com/m",
  host: "http://r/shop",
};

const types = Object.entries(PUBLISHED.types);

describe("the triggers that KEDA publishes", () => {
  it("are 79 types, each carried over, or refused with its nearest way out", () => {
    expect(types).toHaveLength(79);
    for (const [type] of types) {
      expect([type, Object.hasOwn(CARRIED, type), WAYS_OUT.has(type)]).toEqual([
        type,
        Object.hasOwn(CARRIED, type),
        !Object.hasOwn(CARRIED, type),
      ]);
      const { manifests, findings } = imported(type, CARRIED[type] ?? { value: "5" });
      const refused = findings.filter(({ severity }) => severity === "lost");
      expect([type, manifests.length, refused.length]).toEqual(
        Object.hasOwn(CARRIED, type) ? [type, 1, 0] : [type, 0, 1],
      );
      if (!Object.hasOwn(CARRIED, type))
        expect(refused[0]?.message).toContain(`no source for the type "${type}": `);
    }
    expect([...WAYS_OUT.keys()].filter((type) => !Object.hasOwn(PUBLISHED.types, type))).toEqual(
      [],
    );
  });

  it.each(types.filter(([type]) => Object.hasOwn(CARRIED, type)))(
    "%s: each field is carried over, noted or refused by its name",
    (type, { fields, fromEnv = [] }) => {
      const base = CARRIED[type] ?? {};
      const whole = JSON.stringify(imported(type, base));
      const all = [...fields, ...fromEnv.map((field) => `${field}FromEnv`)];
      expect(all.length).toBeGreaterThan(2);
      const silent = all.filter(
        (field) =>
          JSON.stringify(imported(type, { ...base, [field]: OTHER[field] ?? "7" })) === whole,
      );
      expect(silent).toEqual([]);
    },
  );

  it("counts the items of a list where a location ends with .#", () => {
    const { manifests } = imported("metrics-api", {
      ...CARRIED["metrics-api"],
      valueLocation: "data.jobs.#",
    });
    expect(manifests[0]).toMatchObject({
      spec: { metrics: [{ http: { path: "/n", pointer: "/data/jobs", list: "Count" } }] },
    });
  });

  it("with a field that KEDA does not have, or with a value that is no text, are refused by its name", () => {
    for (const [type, base] of Object.entries(CARRIED)) {
      for (const odd of [{ unheardOf: "7" }, { unheardOf: 7 }]) {
        const { manifests, findings } = imported(type, { ...base, ...odd });
        expect([type, manifests]).toEqual([type, []]);
        expect(
          findings.some(({ of = "", severity }) => of.includes("unheardOf") && severity === "lost"),
        ).toBe(true);
      }
    }
    const { findings } = imported("prometheus", { ...CARRIED["prometheus"], threshold: 5 });
    expect(findings).toContainEqual(
      expect.objectContaining({
        of: "spec.triggers[0] (prometheus): threshold",
        severity: "lost",
        message: "it must be a text: write it in quotes",
      }),
    );
  });
});
