import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { rbacText } from "../../lib/stack/cluster/rights/rbac-text.ts";
import { namespace } from "../../lib/rules/model/ids.ts";
import type { HpaMetric } from "../../lib/rules/model/spec-hpa.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { type Kubernetes, kubernetes, pod, podMetrics, workload } from "./stand-in/kubernetes.ts";
import { WATCHED_OBJECTS_MIN } from "../../lib/stack/cluster/request-limits.ts";
import { manyPods } from "./stand-in/many-pods.ts";
import { type Asked, askedText, requestInfo } from "./stand-in/request-info.ts";
import type { Seen } from "./stand-in/server.ts";
import {
  CPU,
  clientTo,
  deployment,
  QUEUE,
  WHOLE,
  watch,
  watermarkWithMonitor,
} from "./stand-in/watched.ts";

const ROOT = join(import.meta.dirname, "../..");
const yaml = readFileSync(join(ROOT, "infra/cluster-rbac.yaml"), "utf8");

const rule = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
  verbs: z.array(z.string()),
});
const role = z.strictObject({
  apiVersion: z.literal("rbac.authorization.k8s.io/v1"),
  kind: z.literal("ClusterRole"),
  metadata: z.strictObject({ name: z.string() }),
  rules: z.array(rule),
});
const named = z.strictObject({
  apiGroup: z.literal("rbac.authorization.k8s.io"),
  kind: z.string(),
  name: z.string(),
});
const binding = z.strictObject({
  apiVersion: z.literal("rbac.authorization.k8s.io/v1"),
  kind: z.literal("ClusterRoleBinding"),
  metadata: z.strictObject({ name: z.string() }),
  roleRef: named,
  subjects: z.array(named),
});
const documents = parseAllDocuments(yaml, { strict: true }).map((document) => {
  expect(document.errors).toEqual([]);
  return z.discriminatedUnion("kind", [role, binding]).parse(document.toJS());
});
const roles = documents.filter((document) => document.kind === "ClusterRole");

const permissions = roles.flatMap(({ metadata, rules }) =>
  rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ role: metadata.name, group, resource, resourceNames, verb })),
      ),
    ),
  ),
);
const allows = (permission: (typeof permissions)[number], asked: Asked): boolean =>
  asked.kind === "resource" &&
  permission.group === asked.group &&
  permission.verb === asked.verb &&
  (permission.resourceNames === undefined || permission.resourceNames.includes(asked.name ?? "")) &&
  (permission.resource === "*" || permission.resource === asked.resource);
/** Discovery is open to every authenticated user by the role system:discovery. */
const isDiscovery = (asked: Asked): boolean =>
  asked.kind === "path" && asked.verb === "get" && /^\/apis?(\/|$)/.test(asked.path);

const TARGETS = [
  { apiVersion: "apps/v1", kind: "Deployment", plural: "/apis/apps/v1/deployments" },
  { apiVersion: "apps/v1", kind: "StatefulSet", plural: "/apis/apps/v1/statefulsets" },
  { apiVersion: "apps/v1", kind: "ReplicaSet", plural: "/apis/apps/v1/replicasets" },
  { apiVersion: "v1", kind: "ReplicationController", plural: "/api/v1/replicationcontrollers" },
] as const;
const target = { type: "AverageValue", averageValueMilli: 1_000n };
const METRICS: readonly HpaMetric[] = [
  CPU,
  QUEUE,
  { type: "Pods", metric: { name: "rps" }, target },
  {
    type: "Object",
    metric: { name: "hits" },
    describedObject: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    target,
  },
  {
    type: "Object",
    metric: { name: "jobs" },
    describedObject: { kind: "Namespace", name: "shop" },
    target,
  },
];

/** The calls to a cluster with more pods than are listed in each sync. */
const seenByLarge = async (): Promise<readonly Seen[]> => {
  const large = await manyPods([{ namespace: "shop", name: "web" }]);
  const client = clientTo(large);
  for (let at = 0; at <= WATCHED_OBJECTS_MIN; at++)
    large.set(`web-${at}`, { namespace: "shop", app: "web", ready: true });
  for (let sync = 0; sync < 2; sync++) await client.observe([watch("shop", "web")], WHOLE);
  client.close();
  await large.close();
  return large.seen;
};

let server: Kubernetes;
let asked: readonly Asked[];
beforeAll(async () => {
  server = await kubernetes();
  const client = clientTo(server);
  for (const { plural } of TARGETS) server.collections.set(plural, [workload("shop", "web")]);
  server.collections.set("/api/v1/pods", [pod("shop", "web")]);
  server.collections.set("/apis/metrics.k8s.io/v1beta1/pods", [podMetrics("shop", "web")]);
  for (const [group, version] of [
    ["custom.metrics.k8s.io", "v1beta2"],
    ["keda.sh", "v1alpha1"],
    ["datadoghq.com", "v1alpha1"],
  ]) {
    server.documents.set(`/apis/${group}`, {
      versions: [{ version }],
      preferredVersion: { version },
    });
  }
  const watched = TARGETS.map(({ apiVersion, kind }) =>
    watch("shop", `web-${kind.toLowerCase()}`, {
      target: { apiVersion, kind, name: "web" },
      metrics: METRICS,
    }),
  );
  await client.observe([...watched, watermarkWithMonitor("shop", "gated")], WHOLE);
  await client.observe(
    ["a", "b", "c", "d", "e"].map((ns) => watch(ns, "web")),
    WHOLE,
  );
  await client.listSpecs({
    kinds: SPEC_KINDS,
    namespaces: "all",
    knownVersion: () => undefined,
    budgetMs: 1_000,
  });
  for (const { apiVersion, kind } of TARGETS) {
    await client.readScale(namespace("shop"), { apiVersion, kind, name: "web" }, 1_000);
    await client.putScale(
      {
        namespace: namespace("shop"),
        target: { apiVersion, kind, name: "web" },
        targetUid: "uid-shop-web",
        resourceVersion: "7",
        replicas: 3,
      },
      1_000,
    );
  }
  client.close();
  const identified = clientTo(server, { kubeSystemUid: "uid-of-kube-system" });
  await identified.readScale(namespace("shop"), deployment("web"), 1_000);
  identified.close();
  asked = [...server.seen, ...(await seenByLarge())].map(requestInfo);
});
afterAll(() => server.close());

describe("the roles of infra/cluster-rbac.yaml", () => {
  it("are compared with calls of every sort", () => {
    expect(asked.length).toBeGreaterThan(20);
    expect(new Set(asked.map(askedText))).toContain("update deployments/scale.apps");
  });

  it("allow every call that is made", () => {
    const refused = asked.filter(
      (call) => !isDiscovery(call) && !permissions.some((permission) => allows(permission, call)),
    );
    expect(refused.map(askedText)).toEqual([]);
  });

  it("allow nothing that is never asked for", () => {
    expect(
      permissions.filter((permission) => !asked.some((call) => allows(permission, call))),
    ).toEqual([]);
  });

  it("keep writing in a role of its own, which names the scale subresource and nothing else", () => {
    const writing = permissions.filter(({ verb }) => !["get", "list", "watch"].includes(verb));
    expect(writing.length).toBeGreaterThan(0);
    expect(
      writing.filter(
        ({ role: name, resource, verb }) =>
          name !== "tidemark-scale" || !resource.endsWith("/scale") || verb !== "update",
      ),
    ).toEqual([]);
    expect(
      permissions.filter(({ role: name, verb }) => name === "tidemark-scale" && verb !== "update"),
    ).toEqual([]);
  });

  it("are bound to the group tidemark, each by a binding of its own", () => {
    const bindings = documents.filter((document) => document.kind === "ClusterRoleBinding");
    expect(
      bindings.map(({ roleRef, subjects }) => [
        roleRef.name,
        subjects.map(({ kind, name }) => `${kind} ${name}`),
      ]),
    ).toEqual([
      ["tidemark-observe", ["Group tidemark"]],
      ["tidemark-scale", ["Group tidemark"]],
    ]);
  });

  it("are what `tidemark cluster rbac` prints", () => {
    expect(rbacText({})).toBe(yaml);
  });

  it("are what docs/clusters.md shows", () => {
    const page = readFileSync(join(ROOT, "docs/clusters.md"), "utf8");
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => block);
    expect(blocks).toContain(yaml);
  });
});

it("a custom resource needs get and update of its scale, as docs/clusters.md says", async () => {
  const client = clientTo(server);
  server.documents.set("/apis/argoproj.io", {
    versions: [{ version: "v1alpha1" }],
    preferredVersion: { version: "v1alpha1" },
  });
  server.documents.set("/apis/argoproj.io/v1alpha1", {
    resources: [{ name: "rollouts", kind: "Rollout" }],
  });
  server.collections.set("/apis/argoproj.io/v1alpha1/rollouts", [workload("shop", "web")]);
  const before = server.seen.length;
  const rollout = { ...deployment("web"), apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" };
  await client.observe([watch("shop", "rollout", { target: rollout, metrics: [] })], WHOLE);
  await client.putScale(
    {
      namespace: namespace("shop"),
      target: rollout,
      targetUid: "uid-shop-web",
      resourceVersion: "7",
      replicas: 3,
    },
    1_000,
  );
  client.close();
  const calls = server.seen.slice(before).map(requestInfo);
  expect(calls.map(askedText).filter((text) => text.includes("rollouts"))).toEqual([
    "get rollouts/scale.argoproj.io",
    "update rollouts/scale.argoproj.io",
  ]);
});
