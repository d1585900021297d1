import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rightsOf } from "../../lib/rules/model/access.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import type { NewSource } from "../../lib/answers/service/requests.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

let world: ServiceWorld;
let service: Service;
let count = 0;
let cluster = "";

const AWS = {
  region: "eu-central-1",
  roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-cw",
  externalId: "of-shop",
};
const SOURCES: readonly NewSource[] = [
  {
    name: "main",
    kind: "prometheus",
    url: "https://p.example.com",
    clusters: ["*"],
    namespaces: ["shop"],
    maxMetrics: 2,
  },
  {
    name: "cw",
    kind: "cloudwatch",
    aws: { ...AWS, metricNamespaces: ["AWS/*"] },
    clusters: ["*"],
    namespaces: ["*"],
  },
  {
    name: "queues",
    kind: "sqs",
    aws: { ...AWS, queues: ["orders"] },
    clusters: ["*"],
    namespaces: ["*"],
  },
  {
    name: "amp",
    kind: "amp",
    aws: { ...AWS, workspace: "ws-1a2b" },
    clusters: ["*"],
    namespaces: ["*"],
  },
];

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  for (const source of SOURCES) await service.putSource(source);
});
afterAll(() => world.close());
beforeEach(async () => {
  cluster = `c${++count}`;
  await service.addCluster({
    name: cluster,
    syncPeriodMs: 15_000,
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});

const manifest = (name: string, metrics: readonly object[], namespace = "shop"): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 5,
      metrics: metrics.map((metric, at) => ({ name: `m${at}`, target: 1, ...metric })),
    },
  });
const apply = (...texts: readonly string[]) =>
  service.apply(
    texts.map((text, at) => ({ file: `${at}.yaml`, text })),
    { cluster, dryRun: false },
  );
const warningsOf = async (
  metrics: readonly object[],
  namespace?: string,
): Promise<readonly string[]> =>
  (await apply(manifest("web", metrics, namespace)))[0]?.warnings ?? [];
const prometheus = (query: string) => ({ prometheus: { source: "main", query } });
const stat = (more: object = {}) => ({
  cloudwatch: { source: "cw", namespace: "AWS/SQS", metric: "Age", ...more },
});

describe("apply of a metric of a source", () => {
  it.each<readonly [string, object, RegExp]>([
    [
      "a metric of CloudWatch each minute",
      stat(),
      /AWS takes some \$0\.44 a month for "m0", asked every 60 s \(list prices; everySeconds asks less often\)/,
    ],
    [
      "a metric of CloudWatch each sync",
      { ...stat(), everySeconds: 5 },
      /\$1\.75 a month for "m0", asked every 15 s/,
    ],
    [
      "the inputs of an expression",
      {
        cloudwatch: {
          source: "cw",
          expression: "a / b",
          inputs: [stat().cloudwatch, stat().cloudwatch].map(({ namespace, metric }, at) => ({
            id: "ab"[at],
            namespace,
            metric,
          })),
        },
      },
      /\$1\.31 a month/,
    ],
    [
      "a queue",
      { sqs: { source: "queues", queue: "orders" } },
      /\$0\.07 a month for "m0", asked every 15 s/,
    ],
    ["a workspace", { prometheus: { source: "amp", query: "up" } }, /at most \$17\.52 a month/],
  ])("says the dollars of %s", async (_what, metric, words) => {
    expect(await warningsOf([metric])).toEqual([expect.stringMatching(words)]);
    expect(await warningsOf([metric])).toEqual([]);
  });

  it("says nothing of a source that costs nothing", async () => {
    expect(await warningsOf([prometheus("up")])).toEqual([]);
  });

  it("warns of a source that does not answer this namespace, with the same words whether there is one", async () => {
    const words = (source: string): string =>
      `"0.yaml", line 1: spec.metrics[0]: no source "${source}" is registered for namespace "bank" of cluster "${cluster}", so that the metric is missing; an administrator registers it with tidemark source put`;
    expect(await warningsOf([prometheus("up")], "bank")).toEqual([words("main")]);
    expect(await warningsOf([{ prometheus: { source: "none", query: "up" } }], "bank")).toEqual([
      words("none"),
    ]);
  });

  it.each<readonly [object, RegExp]>([
    [
      { prometheus: { source: "cw", query: "up" } },
      /the metric is missing: source "cw" is of kind cloudwatch, and this metric needs prometheus or amp/,
    ],
    [
      { sqs: { source: "queues", queue: "mail" } },
      /the metric is missing: source "queues" does not allow queue "mail"/,
    ],
    [
      { cloudwatch: { source: "cw", expression: "SUM(SEARCH('{AWS/SQS}', 'Sum', 60))" } },
      /allows neither SEARCH nor SELECT/,
    ],
  ])(
    "warns of what the source does not allow, and counts no dollars for it: %j",
    async (metric, words) => {
      expect(await warningsOf([metric])).toEqual([expect.stringMatching(words)]);
    },
  );

  it("is refused above the share of its namespace of maxMetrics, by different questions", async () => {
    await apply(manifest("web", [prometheus("a")]), manifest("api", [prometheus("a")]));
    await apply(manifest("jobs", [prometheus("b")]));
    await expect(apply(manifest("more", [prometheus("a"), prometheus("c")]))).rejects.toMatchObject(
      {
        code: "manifest.invalid",
        message: expect.stringMatching(
          /^Cannot accept "0.yaml", line 1: spec\.metrics\[0\]: source "main" would not be asked for it: namespace "shop" has 3 different questions, and its share of the 2 of a sync \(maxMetrics\) is 2; ask fewer metrics/,
        ),
      },
    );
    await expect(apply(manifest("web", [prometheus("c")]))).rejects.toMatchObject({
      message: expect.stringContaining("3 different questions"),
    });
    // What replaces a question of its own needs no room.
    await apply(manifest("jobs", [prometheus("c")]));
    expect((await apply(manifest("more", [prometheus("a"), prometheus("c")])))[0]?.outcome).toBe(
      "created",
    );
  });

  it("says nothing of other tenants' questions: not how many they are, and not whether they ask this one", async () => {
    const source = SOURCES[0];
    if (!source) throw new Error("no source");
    await service.putSource({ ...source, name: "both", namespaces: ["*"] });
    const both = (query: string): object => ({ prometheus: { source: "both", query } });
    const grant = { id: "g-1", arn: "arn:aws:iam::123456789012:user/grace", role: "edit" } as const;
    const rights = rightsOf(
      {
        required: true,
        version: 1,
        grants: [{ ...grant, cluster: "*", namespace: "shop", by: "ada", atMs: 0 }],
      },
      grant.arn,
    );
    const grace = openService({ ...world.context, rights });
    const said = async (...queries: readonly string[]): Promise<string> => {
      const text = manifest("web", queries.map(both));
      return grace.apply([{ file: "0.yaml", text }], { cluster, dryRun: true }).then(
        (applied) => JSON.stringify(applied).replaceAll(/"at":"[^"]*"/g, ""),
        (error: Error) => error.message,
      );
    };
    const asks = [["secret"], ["other"], ["secret", "x"], ["a", "b", "c"]];
    const before: string[] = [];
    for (const queries of asks) before.push(await said(...queries));
    await apply(manifest("hidden", [both("secret"), both("more")], "infra"));
    const after: string[] = [];
    for (const queries of asks) after.push(await said(...queries));
    expect(after).toEqual(before);
    // Its own questions are counted.
    expect(after[3]).toContain("3 different questions");
    await service.deleteSource("both");
  });

  it("is checked in a dry run against the sources of the same files, and otherwise against what is registered", async () => {
    const limited = (maxMetrics: number, name: string): string =>
      JSON.stringify({
        apiVersion: "tidemark.dev/v1",
        kind: "MetricSource",
        metadata: { name },
        spec: {
          kind: "prometheus",
          url: "https://p.example.com",
          clusters: ["*"],
          namespaces: ["*"],
          maxMetrics,
        },
      });
    const metrics = ["a", "b", "c"].map((query) => ({ prometheus: { source: "raised", query } }));
    const files = (maxMetrics: number, name = "raised") => [
      { file: "source.yaml", text: limited(maxMetrics, name) },
      { file: "web.yaml", text: manifest("web", metrics) },
    ];
    await service.putSource({
      name: "raised",
      kind: "prometheus",
      url: "https://p.example.com",
      clusters: ["*"],
      namespaces: ["*"],
      maxMetrics: 2,
    });
    expect(await service.apply(files(3), { cluster, dryRun: true })).toMatchObject([
      { outcome: "created", warnings: [] },
    ]);
    await expect(service.apply(files(3), { cluster, dryRun: false })).rejects.toMatchObject({
      message: expect.stringContaining("its share of the 2 of a sync (maxMetrics) is 2"),
    });
    // Lowered in the same files, or by a file for another source: refused before anything is
    // registered.
    await service.putSource({
      name: "raised",
      kind: "prometheus",
      url: "https://p.example.com",
      clusters: ["*"],
      namespaces: ["*"],
      maxMetrics: 5,
    });
    await expect(service.apply(files(1), { cluster, dryRun: true })).rejects.toMatchObject({
      message: expect.stringContaining("its share of the 1 of a sync (maxMetrics) is 1"),
    });
    expect(await service.apply(files(1, "other"), { cluster, dryRun: true })).toMatchObject([
      { outcome: "created" },
    ]);
  });

  it("is accepted again where the limit was lowered below what is stored", async () => {
    await service.putSource({
      ...SOURCES[0],
      name: "lowered",
      kind: "prometheus",
      clusters: ["*"],
      namespaces: ["*"],
      maxMetrics: 5,
    });
    const metrics = ["a", "b", "c"].map((query) => ({ prometheus: { source: "lowered", query } }));
    await apply(manifest("web", metrics));
    await service.putSource({
      ...SOURCES[0],
      name: "lowered",
      kind: "prometheus",
      clusters: ["*"],
      namespaces: ["*"],
      maxMetrics: 2,
    });
    expect((await apply(manifest("web", metrics)))[0]?.outcome).toBe("unchanged");
    expect((await apply(manifest("web", metrics.slice(1))))[0]?.outcome).toBe("configured");
  });
});
