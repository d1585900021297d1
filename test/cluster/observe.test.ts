import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { autoscalerUid, namespace } from "../../lib/rules/model/ids.ts";
import type { ApiFailure } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { partsOf } from "../answers.ts";
import { fillWith, type Kubernetes, kubernetes, workload } from "./stand-in/kubernetes.ts";
import { json, status } from "./stand-in/server.ts";
import { CPU, clientTo, deployment, QUEUE, seen, WHOLE, watch } from "./stand-in/watched.ts";

let server: Kubernetes;
let client: ClusterClient;
let notices: string[];
beforeEach(async () => {
  server = await kubernetes();
  notices = [];
  client = clientTo(server, { notice: (message) => notices.push(message) });
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const fill = (apps: readonly (readonly [string, string])[], podsEach?: number): void =>
  fillWith(server, apps, podsEach);
const forbid = (path: string, failure: Partial<ApiFailure> = {}): void => {
  const { code = 403, reason = "Forbidden", message = "not for you" } = failure;
  server.overrides.push({
    match: ({ url }) => decodeURIComponent(url.pathname) === path,
    answer: status(code, reason, message),
  });
};
const LISTS = [
  "/apis/apps/v1/deployments",
  "/api/v1/pods",
  "/apis/metrics.k8s.io/v1beta1/pods",
  "/apis/autoscaling/v2/horizontalpodautoscalers",
];
const listCalls = () =>
  server
    .paths()
    .filter((path) => LISTS.some((list) => path.endsWith(`/${list.split("/").at(-1)}`)));

describe("observe()", () => {
  it("gives scale, pods and metrics of one autoscaler", async () => {
    fill([["shop", "web"]]);
    const web = watch("shop", "web");
    const { observation, rivals } = seen(await client.observe([web], WHOLE), web);
    expect(observation.scale).toEqual({
      kind: "read",
      uid: "uid-shop-web",
      resourceVersion: "7",
      generation: 3,
      specReplicas: 2,
      statusReplicas: 2,
      selector: "app=web",
    });
    expect(observation.pods.all.map(({ name }) => name)).toEqual(["web-0", "web-1"]);
    expect(observation.podsUnread).toBeUndefined();
    expect(observation.pods.all[0]).toMatchObject({
      phase: "Running",
      ready: { status: "True" },
      containers: [{ requests: { cpu: 100n } }],
    });
    const { resource } = partsOf(observation.answers);
    expect(resource).toMatchObject({ kind: "answered" });
    expect(
      resource?.kind === "answered" && resource.items.all[0]?.containers[0]?.usage["cpu"],
    ).toBe(80n);
    expect(rivals).toEqual([]);
  });

  it("makes a number of LIST calls that does not depend on how many autoscalers there are", async () => {
    const counts: number[] = [];
    for (const size of [10, 100, 400]) {
      const apps = Array.from(
        { length: size },
        (_, index) => [`team-${index % 5}`, `app-${index}`] as const,
      );
      fill(apps, 1);
      const before = listCalls().length;
      const watched = apps.map(([ns, app]) => watch(ns, app));
      const observed = await client.observe(watched, WHOLE);
      counts.push(listCalls().length - before);
      expect(
        watched.filter((one) => seen(observed, one).observation.scale.kind === "read"),
      ).toHaveLength(size);
    }
    expect(counts).toEqual([4, 4, 4]);
  });

  it("asks namespace by namespace where the partition is part of the cluster", async () => {
    fill([
      ["shop", "web"],
      ["bank", "web"],
      ["zoo", "web"],
    ]);
    await client.observe([watch("shop", "web"), watch("bank", "web")], {
      budgetMs: 5_000,
      namespaces: [namespace("shop"), namespace("bank")],
    });
    expect(
      server
        .paths()
        .filter((path) => path.endsWith("/pods"))
        .toSorted(),
    ).toEqual([
      "GET /api/v1/namespaces/bank/pods",
      "GET /api/v1/namespaces/shop/pods",
      "GET /apis/metrics.k8s.io/v1beta1/namespaces/bank/pods",
      "GET /apis/metrics.k8s.io/v1beta1/namespaces/shop/pods",
    ]);
  });

  it("keeps pods of other namespaces apart", async () => {
    const apps = Array.from({ length: 6 }, (_, index) => [`team-${index}`, "web"] as const);
    fill(apps);
    const watched = apps.map(([ns, app]) => watch(ns, app));
    const observed = await client.observe(watched, WHOLE);
    for (const one of watched) expect(seen(observed, one).observation.pods.all).toHaveLength(2);
    expect(server.paths()).toContain("GET /api/v1/pods");
  });

  it("reads lists of several pages", async () => {
    const apps = Array.from({ length: 1_200 }, (_, index) => ["shop", `app-${index}`] as const);
    fill(apps, 1);
    const watched = apps.map(([ns, app]) => watch(ns, app));
    const observed = await client.observe(watched, WHOLE);
    expect(
      watched.filter((one) => seen(observed, one).observation.scale.kind === "failed"),
    ).toEqual([]);
    expect(seen(observed, watch("shop", "app-0")).observation.pods.all).toHaveLength(1_200);
    expect(server.seen.filter(({ url }) => url.pathname.endsWith("/deployments"))).toHaveLength(3);
  });

  it("starts a list again when its continue token has expired", async () => {
    const apps = Array.from({ length: 600 }, (_, index) => ["shop", `app-${index}`] as const);
    fill(apps, 1);
    let expired = 0;
    server.overrides.push({
      match: ({ url }) =>
        url.pathname.endsWith("/v1/namespaces/shop/pods") &&
        url.searchParams.has("continue") &&
        expired++ === 0,
      answer: status(410, "Expired", "The provided continue parameter is too old"),
    });
    const web = watch("shop", "app-0");
    expect(seen(await client.observe([web], WHOLE), web).observation.pods.all).toHaveLength(600);
  });

  it("asks for single objects where few of many are autoscaled, and remembers it", async () => {
    fill(
      Array.from({ length: 300 }, (_, index) => ["shop", `app-${index}`] as const),
      0,
    );
    const watched = [
      watch("shop", "app-7", { metrics: [] }),
      watch("shop", "app-250", { metrics: [] }),
    ];
    const first = await client.observe(watched, WHOLE);
    const second = await client.observe(watched, WHOLE);
    for (const observed of [first, second])
      for (const one of watched)
        expect(seen(observed, one).observation.scale).toMatchObject({
          kind: "read",
          generation: 3,
        });
    const [list, ...rest] = server.seen.filter(({ url }) => url.pathname.includes("/deployments"));
    expect(list?.url.searchParams.get("limit")).toBe("16");
    expect(rest.map(({ url }) => url.pathname.split("/").at(-1)).toSorted()).toEqual([
      "app-250",
      "app-250",
      "app-7",
    ]);
  });

  it("stops a list that has shown all it was asked for", async () => {
    const apps = Array.from({ length: 900 }, (_, index) => ["shop", `app-${index}`] as const);
    fill(apps, 0);
    // Older servers do not say how much remains.
    const items = server.collections.get("/apis/apps/v1/deployments")?.slice(0, 500);
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("/deployments"),
      answer: json(200, { metadata: { continue: "500" }, items }),
    });
    const watched = apps.slice(0, 400).map(([ns, app]) => watch(ns, app, { metrics: [] }));
    const observed = await client.observe(watched, WHOLE);
    expect(
      watched.filter((one) => seen(observed, one).observation.scale.kind === "failed"),
    ).toEqual([]);
    expect(server.paths().filter((path) => path.endsWith("/deployments"))).toHaveLength(1);
  });

  it("says that a target is not there, in the server's words", async () => {
    fill([["shop", "web"]]);
    const gone = watch("shop", "gone");
    const { observation } = seen(await client.observe([watch("shop", "web"), gone], WHOLE), gone);
    expect(observation.scale).toEqual({
      kind: "failed",
      failure: { code: 404, reason: "NotFound", message: 'deployments.apps "gone" not found' },
    });
  });

  it("works with a role that may only read scales", async () => {
    fill([["shop", "web"]]);
    forbid("/apis/apps/v1/namespaces/shop/deployments");
    forbid("/apis/apps/v1/namespaces/shop/deployments/web");
    const web = watch("shop", "web");
    for (let sync = 0; sync < 2; sync++) {
      expect(seen(await client.observe([web], WHOLE), web).observation.scale).toMatchObject({
        kind: "read",
        specReplicas: 2,
        selector: "app=web",
      });
    }
    expect(server.paths().filter((path) => path.endsWith("/deployments"))).toHaveLength(1);
  });

  it("finds custom resources by discovery and reads their scale", async () => {
    server.documents.set("/apis/example.com", {
      preferredVersion: { version: "v2" },
      versions: [{ version: "v1" }, { version: "v2" }],
    });
    server.documents.set("/apis/example.com/v2", {
      resources: [
        { name: "rollouts/scale", kind: "Scale" },
        { name: "rollouts", kind: "Rollout" },
      ],
    });
    server.collections.set("/apis/example.com/v2/rollouts", [workload("shop", "web", 5)]);
    const web = watch("shop", "web", {
      metrics: [],
      target: { apiVersion: "example.com/v1", kind: "Rollout", name: "web" },
    });
    for (let sync = 0; sync < 2; sync++) {
      expect(seen(await client.observe([web], WHOLE), web).observation.scale).toMatchObject({
        kind: "read",
        specReplicas: 5,
      });
    }
    expect(
      server.paths().filter((path) => path.includes("example.com") && !path.includes("shop")),
    ).toEqual(["GET /apis/example.com", "GET /apis/example.com/v2"]);
  });

  it("finds a kind that a known group gets later: within a minute of its absence, and at once after the cluster says that it came", async () => {
    let nowMs = Date.now();
    let newestKindMs = 0;
    client.close();
    client = clientTo(server, { clock: () => nowMs, newestKindMs: () => newestKindMs });
    const served = (...kinds: readonly string[]): void => {
      server.documents.set("/apis/example.com/v1", {
        resources: kinds.map((kind) => ({ name: `${kind.toLowerCase()}s`, kind })),
      });
      for (const kind of kinds)
        server.collections.set(`/apis/example.com/v1/${kind.toLowerCase()}s`, [
          workload("shop", "web", 5),
        ]);
    };
    const scaleOf = async (kind: string): Promise<string> => {
      const web = watch("shop", "web", {
        metrics: [],
        target: { apiVersion: "example.com/v1", kind, name: "web" },
      });
      return seen(await client.observe([web], WHOLE), web).observation.scale.kind;
    };
    server.documents.set("/apis/example.com", {
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }],
    });
    served("Rollout");
    expect([await scaleOf("Rollout"), await scaleOf("Canary")]).toEqual(["read", "failed"]);
    served("Rollout", "Canary");
    nowMs += 59_000;
    expect(await scaleOf("Canary")).toBe("failed");
    nowMs += 1_000;
    expect(await scaleOf("Canary")).toBe("read");
    expect(await scaleOf("Batch")).toBe("failed");
    served("Rollout", "Canary", "Batch");
    nowMs += 1;
    newestKindMs = nowMs;
    expect(await scaleOf("Batch")).toBe("read");
    expect(server.paths().filter((path) => path === "GET /apis/example.com/v1")).toHaveLength(3);
  });

  it.each([
    [
      "a group that is not served",
      { apiVersion: "nowhere.example/v1", kind: "Teapot", name: "pot" },
      'no matches for kind "Teapot" in group "nowhere.example"',
    ],
    [
      "a kind that the core group has not",
      { apiVersion: "v1", kind: "Teapot", name: "pot" },
      'no matches for kind "Teapot" in group ""',
    ],
    [
      "a broken apiVersion",
      { apiVersion: "a/b/c", kind: "Teapot", name: "pot" },
      "unexpected GroupVersion string: a/b/c",
    ],
  ])("says what the mapper says of %s", async (_name, target, message) => {
    server.documents.set("/api/v1", { resources: [{ name: "pods", kind: "Pod" }] });
    const pot = watch("shop", "pot", { target });
    expect(seen(await client.observe([pot], WHOLE), pot).observation.scale).toMatchObject({
      kind: "failed",
      failure: { message },
    });
  });

  it("does not conclude that an API lacks the kind when it cannot be asked, and asks again next time", async () => {
    server.documents.set("/apis/example.com", {
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }],
    });
    forbid("/apis/example.com/v1", {
      code: 503,
      reason: "ServiceUnavailable",
      message: "the aggregated API is down",
    });
    const web = watch("shop", "web", {
      metrics: [],
      target: { apiVersion: "example.com/v1", kind: "Rollout", name: "web" },
    });
    expect(seen(await client.observe([web], WHOLE), web).observation.scale).toMatchObject({
      failure: { code: 503, message: "the aggregated API is down" },
    });
    server.overrides.length = 0;
    server.documents.set("/apis/example.com/v1", {
      resources: [{ name: "rollouts", kind: "Rollout" }],
    });
    server.collections.set("/apis/example.com/v1/rollouts", [workload("shop", "web")]);
    expect(seen(await client.observe([web], WHOLE), web).observation.scale).toMatchObject({
      kind: "read",
    });
  });

  it("asks nothing more when no scale could be read", async () => {
    fill([]);
    await client.observe([watch("shop", "gone")], WHOLE);
    expect(server.paths().filter((path) => path.endsWith("/pods"))).toEqual([]);
  });

  it("lists pods only when some metric needs them", async () => {
    fill([["shop", "web"]]);
    server.documents.set("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth", {
      items: [{ value: "12", timestamp: "2026-05-01T12:00:00Z" }],
    });
    const web = watch("shop", "web", { metrics: [QUEUE] });
    const { observation } = seen(await client.observe([web], WHOLE), web);
    expect(server.paths().filter((path) => path.endsWith("/pods"))).toEqual([]);
    // No pods were read, which is not the same as that there are none.
    expect(observation).toMatchObject({ pods: { all: [] }, podsUnread: true });
    expect(partsOf(observation.answers).resource).toBeUndefined();
    expect([...partsOf(observation.answers).external.values()]).toMatchObject([
      { kind: "answered", items: [{ milli: 12_000n }] },
    ]);
  });

  it("lists pods when another selector may overlap, and not when it cannot", async () => {
    fill([
      ["shop", "web"],
      ["shop", "api"],
    ]);
    const metrics = [QUEUE];
    await client.observe(
      [
        watch("shop", "web", { metrics, selector: "app=web" }),
        watch("shop", "api", { metrics, selector: "app=api" }),
      ],
      WHOLE,
    );
    expect(server.paths().filter((path) => path.endsWith("/pods"))).toEqual([]);
    await client.observe(
      [
        watch("shop", "web", { metrics, selector: "app=web" }),
        watch("shop", "api", { metrics, selector: "tier=front" }),
      ],
      WHOLE,
    );
    expect(server.paths().filter((path) => path.endsWith("/pods"))).toEqual([
      "GET /api/v1/namespaces/shop/pods",
    ]);
  });

  it("tells the neighbours and the selectors of their last sync", async () => {
    fill([
      ["shop", "web"],
      ["shop", "api"],
      ["bank", "web"],
    ]);
    const watched = [
      watch("shop", "web", { selector: "app=web" }),
      watch("shop", "api"),
      watch("bank", "web", { selector: "app=web" }),
    ];
    const observed = await client.observe(watched, WHOLE);
    expect(seen(observed, watch("shop", "api")).observation.others).toEqual([
      { name: "web", selector: "app=web" },
    ]);
  });

  it("does not count a dry run among the neighbours, because it writes nothing", async () => {
    fill([
      ["shop", "web"],
      ["shop", "api"],
    ]);
    const web = watch("shop", "web", { selector: "app=web" });
    const dry = {
      ...watch("shop", "api", { selector: "app=web" }),
      spec: { ...web.spec, dryRun: true },
    };
    const observed = await client.observe([web, dry], WHOLE);
    expect(seen(observed, web).observation.others).toEqual([{ name: "web", selector: "app=web" }]);
  });

  it("asks identical questions once", async () => {
    fill([
      ["shop", "web"],
      ["shop", "api"],
      ["bank", "web"],
    ]);
    for (const ns of ["shop", "bank"])
      server.documents.set(`/apis/external.metrics.k8s.io/v1beta1/namespaces/${ns}/queue_depth`, {
        items: [],
      });
    const metrics = [QUEUE];
    await client.observe(
      [
        watch("shop", "web", { metrics }),
        watch("shop", "api", { metrics }),
        watch("bank", "web", { metrics }),
      ],
      WHOLE,
    );
    expect(server.paths().filter((path) => path.includes("external.metrics"))).toHaveLength(2);
  });

  it("asks custom metrics for pods by the target's selector, for objects by their resource, for the Namespace by its own path", async () => {
    fill([["shop", "web"]]);
    server.documents.set("/apis/custom.metrics.k8s.io", {
      preferredVersion: { version: "v1beta1" },
      versions: [{ version: "v1beta1" }, { version: "v1beta2" }],
    });
    server.documents.set("/apis/networking.k8s.io", {
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }],
    });
    server.documents.set("/apis/networking.k8s.io/v1", {
      resources: [{ name: "ingresses", kind: "Ingress" }],
    });
    const base = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop";
    const value = (name: string) => ({
      items: [{ describedObject: { name }, value: "3", timestamp: "2026-05-01T12:00:00Z" }],
    });
    server.documents.set(`${base}/pods/*/rps`, value("web-0"));
    server.documents.set(`${base}/ingresses.networking.k8s.io/main/hits`, value("main"));
    server.documents.set(`${base}/metrics/jobs`, value("shop"));
    const target = { type: "AverageValue", averageValueMilli: 1_000n };
    const web = watch("shop", "web", {
      metrics: [
        {
          type: "Pods",
          metric: { name: "rps", selector: { matchLabels: { verb: "GET" } } },
          target,
        },
        {
          type: "Object",
          metric: { name: "hits" },
          describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" },
          target,
        },
        {
          type: "Object",
          metric: { name: "jobs" },
          describedObject: { apiVersion: "v1", kind: "Namespace", name: "elsewhere" },
          target,
        },
        {
          type: "Object",
          metric: { name: "steam" },
          describedObject: { apiVersion: "kitchen.example/v1", kind: "Teapot", name: "pot" },
          target,
        },
      ],
    });
    const { custom } = partsOf(seen(await client.observe([web], WHOLE), web).observation.answers);
    expect([...custom.values()]).toMatchObject([
      { kind: "answered", items: [{ describes: "web-0", milli: 3_000n }] },
      { kind: "answered", items: [{ describes: "main" }] },
      { kind: "answered", items: [{ describes: "shop" }] },
      {
        kind: "failed",
        failure: {
          message:
            'unable to map kind Teapot.kitchen.example to resource: no matches for kind "Teapot" in group "kitchen.example"',
        },
      },
    ]);
    expect(
      custom.has(
        queryKey({
          for: "pods",
          metric: "rps",
          metricSelector: "verb=GET",
          podSelector: "app=web",
        }),
      ),
    ).toBe(true);
    const call = server.seen.find(({ url }) => url.pathname.endsWith("/rps"));
    expect(call?.url.searchParams.get("labelSelector")).toBe("app=web");
    expect(call?.url.searchParams.get("metricLabelSelector")).toBe("verb=GET");
  });

  it.each([["NaN"], ["12 apples"], [""], [null]])(
    "takes a metric that reads %j for failed, never for a number",
    async (value) => {
      fill([["shop", "web"]]);
      server.documents.set("/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth", {
        items: [{ value, timestamp: "2026-05-01T12:00:00Z" }],
      });
      const web = watch("shop", "web", { metrics: [QUEUE] });
      expect([
        ...partsOf(
          seen(await client.observe([web], WHOLE), web).observation.answers,
        ).external.values(),
      ]).toMatchObject([{ kind: "failed" }]);
    },
  );

  it("says that no metrics API is there", async () => {
    fill([["shop", "web"]]);
    server.collections.delete("/apis/metrics.k8s.io/v1beta1/pods");
    const metric = {
      type: "Pods",
      metric: { name: "rps" },
      target: { type: "AverageValue", averageValueMilli: 1n },
    } as const;
    const web = watch("shop", "web", { metrics: [CPU, metric, QUEUE] });
    const answers = partsOf(seen(await client.observe([web], WHOLE), web).observation.answers);
    const words = "the server could not find the requested resource";
    expect(answers.resource).toMatchObject({
      kind: "failed",
      failure: { code: 404, message: `${words} (get pods.metrics.k8s.io)` },
    });
    expect([...answers.custom.values()]).toMatchObject([
      {
        kind: "failed",
        failure: { message: "no custom metrics API (custom.metrics.k8s.io) registered" },
      },
    ]);
    expect([...answers.external.values()]).toMatchObject([
      {
        kind: "failed",
        failure: { message: `${words} (get queue_depth.external.metrics.k8s.io)` },
      },
    ]);
  });

  it("lets every metric fail when the pods cannot be read, because no pods and unknown pods are not the same", async () => {
    fill([["shop", "web"]]);
    forbid("/api/v1/namespaces/shop/pods");
    const web = watch("shop", "web", { metrics: [CPU, QUEUE] });
    const { observation } = seen(await client.observe([web], WHOLE), web);
    expect(observation.scale.kind).toBe("read");
    expect([
      partsOf(observation.answers).resource,
      ...partsOf(observation.answers).external.values(),
    ]).toMatchObject([
      { kind: "failed", failure: { code: 403, message: "not for you" } },
      { kind: "failed", failure: { code: 403, message: "not for you" } },
    ]);
  });

  it("counts calls and bytes", async () => {
    fill([["shop", "web"]]);
    const { calls, bytes } = await client.observe([watch("shop", "web")], WHOLE);
    expect(calls).toBe(server.seen.length);
    expect(bytes).toBeGreaterThan(1_000);
  });

  it("observes nothing without a call", async () => {
    expect(await client.observe([], WHOLE)).toEqual({
      observations: new Map(),
      calls: 0,
      bytes: 0,
    });
  });
});

describe("observe() looks for rivals", () => {
  const hpa = (name: string, more: Record<string, unknown> = {}) => ({
    metadata: { namespace: "shop", name, ...more },
    spec: { scaleTargetRef: { apiVersion: "apps/v1beta1", kind: "Deployment", name: "web" } },
  });
  const install = (
    group: string,
    version: string,
    plural: string,
    items: readonly Record<string, unknown>[],
  ) => {
    server.documents.set(`/apis/${group}`, {
      versions: [{ version }],
      preferredVersion: { version },
    });
    server.collections.set(`/apis/${group}/${version}/${plural}`, [...items]);
  };
  const rivalsOf = async (): Promise<readonly string[]> => {
    const web = watch("shop", "web");
    return seen(await client.observe([web, watch("shop", "api")], WHOLE), web).rivals.map(
      ({ kind, name }) => `${kind} ${name}`,
    );
  };
  beforeEach(() =>
    fill([
      ["shop", "web"],
      ["shop", "api"],
    ]),
  );

  it("finds an HPA, a ScaledObject and a WatermarkPodAutoscaler of the same target", async () => {
    server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", [
      hpa("web"),
      hpa("keda-hpa-web", { ownerReferences: [{ kind: "ScaledObject", name: "queue" }] }),
    ]);
    install("keda.sh", "v1alpha1", "scaledobjects", [
      { metadata: { namespace: "shop", name: "queue" }, spec: { scaleTargetRef: { name: "web" } } },
    ]);
    const wpa = (name: string, dryRun: boolean) => ({
      ...hpa(name),
      spec: { ...hpa(name).spec, dryRun },
    });
    install("datadoghq.com", "v1alpha1", "watermarkpodautoscalers", [
      wpa("tide", false),
      wpa("rehearsal", true),
    ]);
    expect(await rivalsOf()).toEqual([
      "HorizontalPodAutoscaler web",
      "ScaledObject queue",
      "WatermarkPodAutoscaler tide",
    ]);
    expect(
      seen(await client.observe([watch("shop", "api")], WHOLE), watch("shop", "api")).rivals,
    ).toEqual([]);
  });

  it("finds kinds of one group by the version that has each, also where the group prefers another", async () => {
    server.documents.set("/apis/datadoghq.com", {
      versions: ["v2alpha1", "v1alpha2", "v1alpha1"].map((version) => ({ version })),
      preferredVersion: { version: "v2alpha1" },
    });
    server.collections.set("/apis/datadoghq.com/v1alpha1/watermarkpodautoscalers", [hpa("tide")]);
    const datadog = (name: string, policy: object) => ({
      metadata: { namespace: "shop", name },
      spec: {
        targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        ...policy,
      },
    });
    server.collections.set("/apis/datadoghq.com/v1alpha2/datadogpodautoscalers", [
      datadog("pods", { applyPolicy: { mode: "Apply" } }),
      datadog("without-policy", {}),
      datadog("rehearsal", { applyPolicy: { mode: "Preview" } }),
      datadog("old-rehearsal", { policy: { applyMode: "None" } }),
    ]);
    expect(await rivalsOf()).toEqual([
      "WatermarkPodAutoscaler tide",
      "DatadogPodAutoscaler pods",
      "DatadogPodAutoscaler without-policy",
    ]);
  });

  describe("and a ScaledObject that KEDA has paused", () => {
    const owned = hpa("keda-hpa-queue", {
      ownerReferences: [{ kind: "ScaledObject", name: "queue" }],
    });
    const PAUSED = { "autoscaling.keda.sh/paused": "true" };
    const STOPPED = [{ type: "Paused", status: "True" }];
    const queue = (annotations: object, conditions: readonly object[]) => ({
      metadata: { namespace: "shop", name: "queue", annotations },
      spec: { scaleTargetRef: { name: "web" } },
      status: { conditions },
    });

    it.each([
      [
        "stands for the HPA that it still owns",
        [owned],
        queue(PAUSED, STOPPED),
        ["ScaledObject queue"],
      ],
      [
        "is a rival until KEDA says that it has stopped",
        [],
        queue(PAUSED, []),
        ["ScaledObject queue"],
      ],
      ["is a rival again without the annotation", [], queue({}, STOPPED), ["ScaledObject queue"]],
      [
        "is a rival while it is brought to a count",
        [],
        queue({ ...PAUSED, "autoscaling.keda.sh/paused-replicas": "3" }, STOPPED),
        ["ScaledObject queue"],
      ],
      ["is none when it has stopped and its HPA is gone", [], queue(PAUSED, STOPPED), []],
    ] as const)("%s", async (_words, hpas, object, rivals) => {
      server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", [...hpas]);
      install("keda.sh", "v1alpha1", "scaledobjects", [object]);
      expect(await rivalsOf()).toEqual(rivals);
    });
  });

  it("asks only for what is installed, and not again at once", async () => {
    await rivalsOf();
    await rivalsOf();
    expect(
      server
        .paths()
        .filter((path) => /keda|datadog/.test(path))
        .toSorted(),
    ).toEqual(["GET /apis/datadoghq.com", "GET /apis/keda.sh"]);
  });

  it("goes on when it may not look, and says so once", async () => {
    forbid("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers");
    expect(await rivalsOf()).toEqual([]);
    expect(await rivalsOf()).toEqual([]);
    expect(server.paths().filter((path) => path.endsWith("horizontalpodautoscalers"))).toHaveLength(
      1,
    );
    expect(notices).toEqual([
      'Cannot look for a HorizontalPodAutoscaler on the same targets in cluster "eu-1": not for you',
    ]);
  });

  describe("and is not answered", () => {
    const FAILURE = { code: 500, reason: "InternalError" };
    const HPAS = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers";
    const unknownOf = async (name: string): Promise<string | undefined> => {
      const one = watch("shop", name);
      return seen(await client.observe([one], WHOLE), one).rivalsUnknown;
    };

    it("knows of none in a new client, which is not the same as that there is none", async () => {
      forbid(HPAS, FAILURE);
      expect(await unknownOf("web")).toBe(
        "no HorizontalPodAutoscaler could be looked for: not for you",
      );
      server.overrides.length = 0;
      expect(await unknownOf("web")).toBeUndefined();
      forbid(HPAS, FAILURE);
      expect(await unknownOf("web")).toBeUndefined();
    });

    it("knows nothing of a target that no answer was ever about", async () => {
      expect(await unknownOf("web")).toBeUndefined();
      forbid(HPAS, FAILURE);
      expect([await unknownOf("web"), typeof (await unknownOf("api"))]).toEqual([
        undefined,
        "string",
      ]);
    });

    it("takes a group whose versions cannot be read for one that may be installed, until it was read once", async () => {
      forbid("/apis/keda.sh", FAILURE);
      expect(await unknownOf("web")).toBe("no ScaledObject could be looked for: not for you");
      server.overrides.length = 0;
      expect(await unknownOf("web")).toBeUndefined();
    });

    it.each([403, 404])(
      "goes on after %i, as documented: there is no right or nothing to look",
      async (code) => {
        forbid(HPAS, { code, reason: "No" });
        forbid("/apis/keda.sh", { code, reason: "No" });
        expect(await unknownOf("web")).toBeUndefined();
      },
    );
  });

  it("remembers rivals over a passing failure", async () => {
    server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", [hpa("web")]);
    expect(await rivalsOf()).toEqual(["HorizontalPodAutoscaler web"]);
    forbid("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", {
      code: 500,
      reason: "InternalError",
    });
    expect(await rivalsOf()).toEqual(["HorizontalPodAutoscaler web"]);
  });
});

it("autoscalers of one target share one reading", async () => {
  fill([["shop", "web"]]);
  const observed = await client.observe(
    [
      watch("shop", "one", { target: deployment("web") }),
      watch("shop", "two", { target: deployment("web") }),
    ],
    WHOLE,
  );
  expect([...observed.observations.keys()]).toEqual([
    autoscalerUid("shop/one"),
    autoscalerUid("shop/two"),
  ]);
  expect(server.paths().filter((path) => path.includes("deployments"))).toHaveLength(1);
});
