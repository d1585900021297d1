import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { workload } from "../stand-in/kubernetes.ts";
import { json, type Seen, status } from "../stand-in/server.ts";
import { BESIDE_RIGHTS } from "../../../lib/stack/cluster/rights/rules.ts";
import type { ScaledWorkload } from "../../../lib/stack/cluster/check/report.ts";
import { type AskedServer, askedServer, look, pointOf, troubles } from "./looked-at.ts";

let server: AskedServer;
beforeEach(async () => {
  server = await askedServer();
  server.collections.set(DEPLOYMENTS, [
    {
      ...workload("shop", "web"),
      spec: {
        replicas: 4,
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [
              { name: "app", resources: { requests: { cpu: "500m", memory: "1Gi" } } },
              { name: "proxy", resources: { requests: { cpu: "100m" }, limits: { cpu: "1" } } },
            ],
          },
        },
      },
    },
  ]);
});
afterEach(() => server.close());

const scaled: ScaledWorkload = {
  namespace: "shop",
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 2,
  maxReplicas: 12,
  requestShares: [{ resource: "cpu" }],
};
const DEPLOYMENTS = "/apis/apps/v1/deployments";
const VERTICALS = "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers";
const BUDGETS = "/apis/policy/v1/poddisruptionbudgets";
const QUOTAS = "/api/v1/resourcequotas";
const isPlural = ({ url }: Seen, plural: string): boolean =>
  url.pathname.endsWith(`/namespaces/shop/${plural}`);

const metadata = (name: string) => ({ name, namespace: "shop" });
const vertical = (more: object = {}) => ({
  metadata: metadata("web"),
  spec: { targetRef: scaled.target, ...more },
});
const budget = (spec: object) => ({ metadata: metadata("web"), spec });
const quota = (spec: object, used: object) => ({
  metadata: metadata("shop"),
  spec,
  status: { used },
});

const rulesFound = async () =>
  ((await look(server, { scaled })).findings ?? []).map(({ rule }) => rule);

describe("a look beside a workload", () => {
  it("asks for four lists and for no right, and finds nothing where there is nothing", async () => {
    for (const path of [VERTICALS, BUDGETS, QUOTAS]) server.collections.set(path, []);
    const report = await look(server, { scaled });
    expect(report.findings).toEqual([]);
    expect(troubles(report)).toEqual([]);
    expect(server.rights).toEqual([]);
    const lists = server.seen.filter(({ url }) => url.pathname.includes("/namespaces/shop/"));
    expect(lists.map(({ method, url }) => `${method} ${url.pathname}`).toSorted()).toEqual(
      [
        "GET /apis/apps/v1/namespaces/shop/deployments",
        "GET /apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers",
        "GET /apis/policy/v1/namespaces/shop/poddisruptionbudgets",
        "GET /api/v1/namespaces/shop/resourcequotas",
      ].toSorted(),
    );
  });

  it("finds what each of the three kinds does to the pods", async () => {
    server.collections.set(VERTICALS, [vertical()]);
    server.collections.set(BUDGETS, [
      budget({ selector: { matchLabels: { app: "web" } }, minAvailable: 2 }),
    ]);
    server.collections.set(QUOTAS, [
      quota({ hard: { "requests.cpu": "3" } }, { "requests.cpu": "2400m" }),
    ]);
    const { findings = [] } = await look(server, { scaled });
    expect(findings.map(({ rule, evidence }) => `${rule}: ${evidence}`)).toEqual([
      'vertical-autoscaler: VerticalPodAutoscaler "web" (updateMode Auto) sets the requests of cpu of Deployment "web", and cpu is measured in percent of them',
      'quota-below-maximum: ResourceQuota "shop" has 2400m of 3 of requests.cpu in use: 1 more pod fits, and maxReplicas 12 is 8 above the count of 4',
      'disruption-budget: PodDisruptionBudget "web" has minAvailable 2, and Deployment "web" has 2 pods at its minimum: none of them may be evicted',
    ]);
  });

  it.each([
    ["of another workload", vertical({ targetRef: { ...scaled.target, name: "api" } })],
    [
      "of another group",
      vertical({ targetRef: { ...scaled.target, apiVersion: "argoproj.io/v1" } }),
    ],
    ["that only recommends", vertical({ updatePolicy: { updateMode: "Off" } })],
    [
      "that leaves out each container",
      vertical({ resourcePolicy: { containerPolicies: [{ containerName: "*", mode: "Off" }] } }),
    ],
    [
      "that sets memory only",
      vertical({
        resourcePolicy: {
          containerPolicies: [{ containerName: "*", controlledResources: ["memory"] }],
        },
      }),
    ],
  ])("says nothing of a VerticalPodAutoscaler %s", async (_name, object) => {
    server.collections.set(VERTICALS, [object]);
    expect(await rulesFound()).toEqual([]);
  });

  it("says nothing of a quota with scopes, and of a budget without a selector that can be read", async () => {
    const full = { pods: "4" };
    server.collections.set(QUOTAS, [
      quota({ hard: full, scopes: ["Terminating"] }, full),
      quota({ hard: full, scopeSelector: { matchExpressions: [] } }, full),
    ]);
    server.collections.set(BUDGETS, [
      budget({ minAvailable: 2 }),
      budget({
        minAvailable: 2,
        selector: { matchExpressions: [{ key: "app", operator: "Like" }] },
      }),
    ]);
    expect(await rulesFound()).toEqual([]);
  });

  it("names the right where a list is refused, and goes on with the others", async () => {
    for (const path of [VERTICALS, BUDGETS]) server.collections.set(path, []);
    server.collections.set(QUOTAS, [quota({ hard: { pods: "4" } }, { pods: "4" })]);
    server.overrides.push({
      match: (seen) => isPlural(seen, "verticalpodautoscalers"),
      answer: status(403, "Forbidden", "verticalpodautoscalers is forbidden"),
    });
    const report = await look(server, { scaled });
    expect(pointOf(report, "verticalpodautoscalers.autoscaling.k8s.io")).toMatchObject({
      result: "warning",
      fix: "tidemark cluster rbac --doctor | kubectl apply -f -",
    });
    expect(report.findings?.map(({ rule }) => rule)).toEqual(["quota-refuses"]);
  });

  it("says that a kind is not served, which is no trouble", async () => {
    const report = await look(server, { scaled });
    expect(pointOf(report, "verticalpodautoscalers.autoscaling.k8s.io")).toMatchObject({
      result: "passed",
      message: "not served",
    });
  });

  it("says where the workload is gone, or of a kind whose pods are not known", async () => {
    server.collections.set(DEPLOYMENTS, []);
    expect(pointOf(await look(server, { scaled }), "workload").message).toBe(
      'Deployment "shop/web" is not in the cluster',
    );
    const target = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "web" };
    const report = await look(server, { scaled: { ...scaled, target } });
    expect(pointOf(report, "workload").result).toBe("skipped");
  });

  it("shows no control characters of a tenant's names", async () => {
    server.collections.set(VERTICALS, [
      {
        ...vertical({ updatePolicy: { updateMode: "A\u001b[31m" } }),
        metadata: metadata("w\u202Eeb"),
      },
    ]);
    const { findings } = await look(server, { scaled });
    expect(findings).toHaveLength(1);
    expect(JSON.stringify(findings)).not.toMatch(/\\u001b|\u202E/);
  });

  it("survives answers of another shape", async () => {
    for (const plural of ["verticalpodautoscalers", "poddisruptionbudgets", "resourcequotas"])
      server.overrides.push({
        match: (seen) => isPlural(seen, plural),
        answer: json(200, {
          items: [null, 1, {}, { spec: 3 }, { metadata: { name: {} }, spec: { targetRef: [] } }],
        }),
      });
    expect(await rulesFound()).toEqual([]);
  });

  it("asks only for what the role tidemark-doctor allows", async () => {
    await look(server, { scaled });
    const asked = server.seen
      .map(({ url }) => /^\/(?:api|apis\/([^/]+))\/v1\/namespaces\/shop\/(\w+)$/.exec(url.pathname))
      .flatMap((match) =>
        match && match[2] !== "deployments" ? [`${match[2]}.${match[1] ?? ""}`] : [],
      );
    expect(asked.toSorted()).toEqual(
      BESIDE_RIGHTS.flatMap(({ group, resources }) =>
        resources.map((each) => `${each}.${group}`),
      ).toSorted(),
    );
  });
});
