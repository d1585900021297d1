import { describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import type { Registered } from "../../../lib/rules/manifest/import/keda/registered.ts";
import type { Json } from "../../../lib/rules/model/json.ts";

type Source = Parameters<Registered["sources"]["forEach"]>[0] extends (
  value: infer Of,
  ...more: never
) => unknown
  ? Of
  : never;

const BASE: Source = { kind: "prometheus", namespaces: ["*"] };
const ROLE = "arn:aws:iam::123456789012:role/reader";
const QUEUE: Json = {
  type: "aws-sqs-queue",
  metadata: {
    queueURL: "https://sqs.eu-central-1.amazonaws.com/123456789012/orders",
    awsRegion: "eu-central-1",
  },
};
const AWS = { region: "eu-central-1", roleArn: ROLE, externalId: "e" };

const prometheus = (serverAddress: string, metadata: Json = {}, trigger: Json = {}): Json => ({
  type: "prometheus",
  metadata: { serverAddress, query: "q", threshold: "5", ...metadata },
  ...trigger,
});

/** What is said of the source "main" beside a trigger, as "lost: …" and "changed: …". */
const said = (trigger: Json, source: Source | undefined, isAll = true): readonly string[] => {
  const { findings } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [
        {
          metadata: { name: "web", namespace: "shop" },
          spec: { scaleTargetRef: { name: "web" }, minReplicaCount: 1, triggers: [trigger] },
        },
      ],
      sources: { named: { [String(trigger["type"])]: "main" }, discovered: false },
      registered: { sources: new Map(source ? [["main", source]] : []), isAll },
    },
    "native",
  );
  return findings
    .map(({ severity, message }) => `${severity}: ${message}`)
    .filter((line) => /: (?:source "main": |no source )/.test(line));
};
const refusal = (why: string): readonly string[] => [
  `lost: source "main": ${why}; register a source for it, and name that one`,
];

describe("a registered source beside the trigger that it stands for", () => {
  const service = {
    namespace: "monitoring",
    name: "prom",
    port: "9090",
    path: "",
    scheme: "http",
  } as const;

  it.each<readonly [string, Json, Source]>([
    [
      "its service by the whole name",
      prometheus("http://prom.monitoring.svc.cluster.local:9090"),
      { ...BASE, service },
    ],
    ["its service by two names", prometheus("http://prom.monitoring:9090"), { ...BASE, service }],
    ["its service by one name", prometheus("http://prom:9090"), { ...BASE, service }],
    [
      "its service with a named port",
      prometheus("http://prom.monitoring:9090"),
      { ...BASE, service: { ...service, port: "web" } },
    ],
    [
      "its address",
      prometheus("https://Prom.example.com/"),
      { ...BASE, url: "https://prom.example.com" },
    ],
    [
      "the mode of its credential",
      prometheus(
        "https://p.example.com",
        { authModes: "oauth" },
        { authenticationRef: { name: "p" } },
      ),
      {
        ...BASE,
        url: "https://p.example.com",
        auth: { kind: "oauth2", secretId: "s" },
      },
    ],
    [
      "its tenant",
      prometheus("https://prom.example.com", { customHeaders: "X-Scope-OrgID=a" }),
      { ...BASE, url: "https://prom.example.com", headers: { "x-scope-orgid": "a" } },
    ],
    ["its queue", QUEUE, { ...BASE, kind: "sqs", aws: { ...AWS, queues: ["ord*"] } }],
  ])("agrees in %s", (_what, trigger, source) => {
    expect(said(trigger, source)).toEqual([]);
  });

  it.each<readonly [string, Json, Source, string]>([
    [
      "kind",
      prometheus("http://p"),
      { ...BASE, kind: "sqs" },
      "it is of kind sqs, and the trigger asks prometheus",
    ],
    [
      "address",
      prometheus("https://one.example.com"),
      { ...BASE, url: "https://other.example.com" },
      "its address is https://other.example.com, and the trigger asks https://one.example.com",
    ],
    [
      "service",
      prometheus("http://prom.other.svc:9090"),
      { ...BASE, service },
      "it asks the service monitoring/prom:9090, and the trigger http://prom.other.svc:9090",
    ],
    [
      "port of a service",
      prometheus("http://prom.monitoring.svc"),
      { ...BASE, service },
      "it asks the service monitoring/prom:9090, and the trigger http://prom.monitoring.svc",
    ],
    [
      "tenant in a header",
      prometheus("https://p.example.com", { customHeaders: "X-Scope-OrgID=a" }),
      { ...BASE, url: "https://p.example.com", headers: { "x-scope-orgid": "b" } },
      'its header x-scope-orgid is "b", and the trigger\'s "a"',
    ],
    [
      "tenant that only the source has",
      prometheus("https://p.example.com"),
      { ...BASE, url: "https://p.example.com", headers: { "x-scope-orgid": "b" } },
      'its header x-scope-orgid is "b", and the trigger\'s not set',
    ],
    [
      "tenant in a parameter",
      prometheus("https://p.example.com", { namespace: "one" }),
      { ...BASE, url: "https://p.example.com" },
      'its parameter namespace is not set, and the trigger\'s "one"',
    ],
    [
      "Region",
      QUEUE,
      { ...BASE, kind: "sqs", aws: { ...AWS, region: "us-east-1", queues: ["*"] } },
      "it asks in Region us-east-1, and the trigger in eu-central-1",
    ],
    [
      "queues",
      QUEUE,
      { ...BASE, kind: "sqs", aws: { ...AWS, queues: ["paid-*"] } },
      'it may not count the queue "orders" (its option --queue)',
    ],
    [
      "namespaces of CloudWatch",
      {
        type: "aws-cloudwatch",
        metadata: {
          namespace: "AWS/SQS",
          metricName: "m",
          dimensionName: "d",
          dimensionValue: "v",
          targetMetricValue: "5",
          minMetricValue: "0",
          awsRegion: "eu-central-1",
        },
      },
      { ...BASE, kind: "cloudwatch", aws: { ...AWS, metricNamespaces: ["Own/*"] } },
      'it may not read the namespace "AWS/SQS" of CloudWatch (its option --metric-namespace)',
    ],
    [
      "namespaces that may ask it",
      prometheus("https://p.example.com"),
      { ...BASE, url: "https://p.example.com", namespaces: ["other"] },
      'autoscalers of namespace "shop" may not ask it',
    ],
  ])("is refused for another %s", (_what, trigger, source, why) => {
    expect(said(trigger, source)).toEqual(refusal(why));
  });

  it.each<readonly [string, Json, Source, string]>([
    [
      "a host that only the cluster knows",
      prometheus("http://prom.monitoring.svc:9090"),
      { ...BASE, url: "https://prom.example.com" },
      "its address https://prom.example.com must be another name of http://prom.monitoring.svc:9090",
    ],
    [
      "no credential",
      prometheus("https://p.example.com", {}, { authenticationRef: { name: "prom" } }),
      { ...BASE, url: "https://p.example.com" },
      "it asks without a credential, and the trigger as shop/TriggerAuthentication/prom",
    ],
    [
      "another way to authenticate",
      prometheus(
        "https://p.example.com",
        { authModes: "bearer" },
        { authenticationRef: { name: "prom" } },
      ),
      { ...BASE, url: "https://p.example.com", auth: { kind: "basic", secretId: "s" } },
      "it asks by basic, and the trigger by bearer",
    ],
    [
      "headers in its secret",
      prometheus("https://p.example.com", { customHeaders: "X-Scope-OrgID=a" }),
      { ...BASE, url: "https://p.example.com", auth: { kind: "headers", secretId: "s" } },
      "its secret must have the header x-scope-orgid with the value of the trigger",
    ],
  ])("is noted for %s", (_what, trigger, source, why) => {
    expect(said(trigger, source)).toEqual([`changed: source "main": ${why}`]);
  });

  it("is missed where all sources are known, and only there", () => {
    const trigger = prometheus("http://p");
    expect(said(trigger, undefined)).toEqual([
      'changed: no source "main" is registered yet: register it before the takeover; tidemark source discover prints the command',
    ]);
    expect(said(trigger, undefined, false)).toEqual([]);
  });
});
