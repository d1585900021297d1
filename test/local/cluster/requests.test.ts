import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lastScaledBy } from "../../../lib/stack/cluster/scale.ts";
import {
  type Fetched,
  putHpa,
  type RunningCluster,
  runCluster,
  workload,
} from "./running-cluster.ts";

const SCALE = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster({
    workloads: [workload(), workload({ name: "api" }), workload({ namespace: "bank" })],
  });
  putHpa(cluster, "bank", "old");
});
afterAll(() => cluster.remove());

interface ScaleBody {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector: string };
}

const readScale = async (): Promise<ScaleBody> => (await cluster.fetch(SCALE)).json as ScaleBody;

const putScale = (
  replicas: unknown,
  metadata: Readonly<Record<string, unknown>> = {},
  query = "",
): Promise<Fetched> =>
  cluster.fetch(`${SCALE}${query}`, {
    method: "PUT",
    body: {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "web", namespace: "shop", ...metadata },
      spec: { replicas },
    },
  });

const status = (code: number, reason: string, message: unknown) => ({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  code,
  reason,
  message,
});

const namesOf = ({ json }: Fetched): readonly string[] =>
  (json as { items: { metadata: { namespace?: string; name: string } }[] }).items.map(
    ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
  );

describe("PUT scale", () => {
  beforeEach(async () => {
    await putScale(2);
  });

  it("takes the observed resourceVersion and uid", async () => {
    const { metadata } = await readScale();
    const answer = await putScale(4, {
      resourceVersion: metadata.resourceVersion,
      uid: metadata.uid,
    });
    expect(answer.code).toBe(200);
    expect(answer.json).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name: "web", namespace: "shop", uid: metadata.uid },
      spec: { replicas: 4 },
      status: { replicas: 4, selector: "app=web" },
    });
    expect(await readScale()).toEqual(answer.json);
  });

  it("refuses a stale resourceVersion with 409", async () => {
    const { metadata } = await readScale();
    await putScale(3);
    const answer = await putScale(4, { resourceVersion: metadata.resourceVersion });
    expect(answer.code).toBe(409);
    expect(answer.json).toMatchObject({
      ...status(
        409,
        "Conflict",
        expect.stringMatching(
          /^Operation cannot be fulfilled on deployments\.apps "web": the object has been modified; /,
        ),
      ),
      details: { name: "web", group: "apps", kind: "deployments" },
    });
    expect((await readScale()).spec.replicas).toBe(3);
  });

  it("refuses the uid of another deployment with 409, whatever the resourceVersion", async () => {
    const uid = "00000000-0000-4000-8000-000000000000";
    const answer = await putScale(4, { uid });
    expect(answer.json).toMatchObject(
      status(
        409,
        "Conflict",
        expect.stringContaining(`Precondition failed: UID in precondition: ${uid}`),
      ),
    );
    expect((await readScale()).spec.replicas).toBe(2);
  });

  it("is unconditional without resourceVersion", async () => {
    expect((await putScale(5)).code).toBe(200);
  });

  it("goes to zero, which is then left out of the spec", async () => {
    expect((await putScale(0)).json).toMatchObject({ spec: {}, status: { replicas: 0 } });
    expect((await readScale()).spec).toEqual({});
  });

  it("changes nothing in a dry run", async () => {
    const before = await readScale();
    const answer = await putScale(9, {}, "?dryRun=All");
    expect(answer.json).toMatchObject({
      spec: { replicas: 9 },
      metadata: { resourceVersion: before.metadata.resourceVersion },
    });
    expect(await readScale()).toEqual(before);
    expect((await putScale(9, {}, "?dryRun=Some")).code).toBe(400);
  });

  it("checks a dry run like a write", async () => {
    expect((await putScale(-1, {}, "?dryRun=All")).code).toBe(422);
    expect((await putScale(3, { resourceVersion: "1" }, "?dryRun=All")).code).toBe(409);
  });

  it("keeps version and generation when the count is the same", async () => {
    const before = await readScale();
    expect((await putScale(2, { resourceVersion: before.metadata.resourceVersion })).json).toEqual(
      before,
    );
  });

  it("refuses a negative count with 422 and the path of the field", async () => {
    const answer = await putScale(-1);
    expect(answer.code).toBe(422);
    expect(answer.json).toMatchObject({
      ...status(
        422,
        "Invalid",
        'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      ),
      details: {
        kind: "Scale",
        group: "autoscaling",
        name: "web",
        causes: [{ field: "spec.replicas", reason: "FieldValueInvalid" }],
      },
    });
  });

  it.each([
    ["a count that is no number", () => putScale("three")],
    ["a fraction", () => putScale(1.5)],
    ["a count beyond 32 bits", () => putScale(2 ** 31)],
    ["another name", () => putScale(3, { name: "api" })],
    ["another namespace", () => putScale(3, { namespace: "bank" })],
    ["no JSON", () => cluster.fetch(SCALE, { method: "PUT", body: "{" })],
    [
      "another kind",
      () =>
        cluster.fetch(SCALE, {
          method: "PUT",
          body: { apiVersion: "apps/v1", kind: "Deployment", spec: { replicas: 3 } },
        }),
    ],
  ])("refuses %s with 400", async (_, send) => {
    const answer = await send();
    expect(answer.json).toMatchObject(status(400, "BadRequest", expect.any(String)));
    expect((await readScale()).spec.replicas).toBe(2);
  });

  it("refuses more pods than it can hold, other media types and other methods", async () => {
    expect((await putScale(10_001)).code).toBe(422);
    expect(
      (
        await cluster.fetch(SCALE, {
          method: "PUT",
          body: "spec:",
          headers: { "content-type": "application/yaml" },
        })
      ).code,
    ).toBe(415);
    expect((await cluster.fetch(SCALE, { method: "DELETE" })).json).toMatchObject(
      status(405, "MethodNotAllowed", expect.any(String)),
    );
    expect(
      (await cluster.fetch(SCALE, { method: "PUT", body: `"${"x".repeat(3 * 2 ** 20)}"` })).code,
    ).toBe(413);
  });

  it("answers 404 for a deployment that is not there", async () => {
    const answer = await cluster.fetch("/apis/apps/v1/namespaces/shop/deployments/none/scale", {
      method: "PUT",
      body: { spec: { replicas: 1 } },
    });
    expect(answer.json).toMatchObject({
      ...status(404, "NotFound", 'deployments.apps "none" not found'),
      details: { name: "none", group: "apps", kind: "deployments" },
    });
  });
});

describe("PATCH scale", () => {
  const patch = (body: unknown, contentType = "application/merge-patch+json") =>
    cluster.fetch(SCALE, { method: "PATCH", body, headers: { "content-type": contentType } });

  it("merges what it names", async () => {
    expect((await patch({ spec: { replicas: 6 } })).json).toMatchObject({ spec: { replicas: 6 } });
    expect((await patch({ spec: { replicas: 7 }, metadata: { resourceVersion: "1" } })).code).toBe(
      409,
    );
    expect((await patch({ spec: 7 })).code).toBe(400);
    expect((await patch([], "application/json-patch+json")).code).toBe(415);
    expect((await readScale()).spec.replicas).toBe(6);
  });
});

describe("authentication", () => {
  it.each([
    ["another token", { authorization: "Bearer wrong" }],
    ["another scheme", { authorization: "Basic d2ViOndlYg==" }],
    ["an empty one", { authorization: "" }],
  ])("refuses %s with 401", async (_, headers) => {
    const answer = await cluster.fetch("/api/v1/pods", { headers });
    expect(answer.code).toBe(401);
    expect(answer.json).toMatchObject(status(401, "Unauthorized", "Unauthorized"));
  });

  it("answers health checks without a token", async () => {
    const answer = await cluster.fetch("/readyz", { headers: { authorization: "" } });
    expect(answer.code).toBe(200);
    expect(answer.bytes.toString()).toBe("ok");
  });
});

describe("lists", () => {
  it.each([
    ["app=web", ["bank/web", "shop/web"]],
    ["app==web", ["bank/web", "shop/web"]],
    ["app!=web", ["shop/api"]],
    ["app in (api, web)", ["bank/web", "shop/api", "shop/web"]],
    ["app notin (web),app", ["shop/api"]],
    ["!app", []],
    ["tier", []],
    ["app=web,tier", []],
    ["", ["bank/web", "shop/api", "shop/web"]],
  ])("obey the labelSelector %j", async (selector, names) => {
    expect(
      namesOf(
        await cluster.fetch(
          `/apis/apps/v1/deployments?labelSelector=${encodeURIComponent(selector)}`,
        ),
      ),
    ).toEqual(names);
  });

  it.each(["app=", "app in web", "=web", "app==web)", "app web"])(
    "refuse or take literally the labelSelector %j",
    async (selector) => {
      const answer = await cluster.fetch(
        `/apis/apps/v1/deployments?labelSelector=${encodeURIComponent(selector)}`,
      );
      if (selector === "app=") expect(namesOf(answer)).toEqual([]);
      else
        expect(answer.json).toMatchObject(
          status(
            400,
            "BadRequest",
            `unable to parse requirement: "${selector}" is not a label selector`,
          ),
        );
    },
  );

  it.each([
    ["metadata.name=web", ["bank/web", "shop/web"]],
    ["metadata.name!=web", ["shop/api"]],
    ["metadata.name=web,metadata.namespace=bank", ["bank/web"]],
  ])("obey the fieldSelector %s", async (selector, names) => {
    expect(
      namesOf(await cluster.fetch(`/apis/apps/v1/deployments?fieldSelector=${selector}`)),
    ).toEqual(names);
  });

  it("refuse fields that the kind does not have", async () => {
    const answer = await cluster.fetch(
      "/apis/apps/v1/deployments?fieldSelector=status.phase%3DRunning",
    );
    expect(answer.json).toMatchObject(
      status(400, "BadRequest", "field label not supported: status.phase"),
    );
    expect((await cluster.fetch("/api/v1/pods?fieldSelector=status.phase%3DRunning")).code).toBe(
      200,
    );
    expect((await cluster.fetch("/api/v1/pods?fieldSelector=what")).code).toBe(400);
  });

  it("show autoscalers of the cluster's own in both versions", async () => {
    for (const version of ["v1", "v2"])
      expect(
        namesOf(await cluster.fetch(`/apis/autoscaling/${version}/horizontalpodautoscalers`)),
      ).toEqual(["bank/old"]);
  });

  it("refuse to watch with 405", async () => {
    expect((await cluster.fetch("/api/v1/pods?watch=true")).json).toMatchObject(
      status(405, "MethodNotAllowed", expect.stringContaining("watch")),
    );
    expect((await cluster.fetch("/api/v1/pods?watch=false")).code).toBe(200);
  });

  it("are compressed from 128 KiB on for clients that accept gzip", async () => {
    await putScale(300);
    const plain = await cluster.fetch("/api/v1/namespaces/shop/pods");
    const zipped = await cluster.fetch("/api/v1/namespaces/shop/pods", {
      headers: { "accept-encoding": "gzip" },
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 5);
    await putScale(2);
  });
});

describe("tables, as kubectl asks for them", () => {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  const rows = async (path: string) => {
    const { json } = await cluster.fetch(path, { headers: { accept } });
    const { columnDefinitions, rows: found } = json as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    return [columnDefinitions.map(({ name }) => name), ...found.map(({ cells }) => cells)];
  };

  it("show counts and the age by the cluster's own clock", async () => {
    expect(await rows("/apis/apps/v1/namespaces/bank/deployments")).toEqual([
      ["Name", "Ready", "Up-to-date", "Available", "Age"],
      ["web", "2/2", 2, 2, "10m"],
    ]);
    expect(await rows("/api/v1/namespaces/bank")).toEqual([
      ["Name", "Status", "Age"],
      ["bank", "Active", "10m"],
    ]);
  });

  it("show of an HPA what kubectl prints: its target, each metric with its name, bounds and count", async () => {
    const path = "/apis/autoscaling/v2/namespaces/bank/horizontalpodautoscalers";
    const external = (name: string, target: object) => ({
      type: "External",
      external: { metric: { name }, target },
    });
    const spec = {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 9,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
        },
        external("jobs", { type: "AverageValue", averageValue: "30" }),
        external("calls", { type: "Value", value: "9" }),
      ],
    };
    const body = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "bank" },
      spec,
    };
    await cluster.fetch(path, { method: "POST", body });
    const head = ["Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"];
    const unmeasured = "cpu: <unknown>/60%, <unknown>/30 (avg) + 1 more...";
    const [names, ...found] = await rows(path);
    expect(names).toEqual(head);
    expect(found).toContainEqual(["web", "Deployment/web", unmeasured, "<unset>", "9", 0, "0s"]);
    const measuredStatus = {
      currentReplicas: 2,
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 43 } } },
        { type: "External", external: { current: { averageValue: "12" } } },
      ],
    };
    await cluster.fetch(`${path}/web/status`, {
      method: "PATCH",
      body: { status: measuredStatus },
      headers: { "content-type": "application/merge-patch+json" },
    });
    const shown = (await rows(path)).find(([name]) => name === "web");
    const [, , targets, , , replicas] = shown ?? [];
    expect([targets, replicas]).toEqual(["cpu: 43%/60%, 12/30 (avg) + 1 more...", 2]);
    await cluster.fetch(`${path}/web`, { method: "DELETE" });
  });

  it("show how far pods are", async () => {
    const statuses = async () =>
      (await rows("/api/v1/namespaces/shop/pods?labelSelector=app%3Dapi"))
        .slice(1)
        .map(([, ready, phase]) => `${ready} ${phase}`);
    const scale = "/apis/apps/v1/namespaces/shop/deployments/api/scale";
    await cluster.fetch(scale, { method: "PUT", body: { spec: { replicas: 3 } } });
    expect((await statuses()).toSorted()).toEqual(["0/1 Pending", "1/1 Running", "1/1 Running"]);
    cluster.time.nowMs += 1000;
    expect(await statuses()).toContain("0/1 ContainerCreating");
    cluster.time.nowMs += 60_000;
    await cluster.fetch(scale, { method: "PUT", body: { spec: { replicas: 2 } } });
    expect((await statuses()).toSorted()).toEqual([
      "0/1 Terminating",
      "1/1 Running",
      "1/1 Running",
    ]);
  });
});

describe("single objects", () => {
  it("carry kind and apiVersion", async () => {
    const answer = await cluster.fetch("/apis/apps/v1/namespaces/bank/deployments/web");
    expect(answer.json).toMatchObject({
      kind: "Deployment",
      apiVersion: "apps/v1",
      metadata: { name: "web", namespace: "bank", generation: 1 },
    });
    expect((await cluster.fetch("/api/v1/namespaces/bank")).json).toMatchObject({
      kind: "Namespace",
      metadata: { name: "bank" },
    });
  });

  it.each([
    ["/apis/apps/v1/namespaces/shop/deployments/none", 'deployments.apps "none" not found'],
    ["/apis/apps/v1/namespaces/none/deployments/web", 'deployments.apps "web" not found'],
    ["/api/v1/namespaces/shop/pods/none", 'pods "none" not found'],
    [
      "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods/none",
      'podmetrics.metrics.k8s.io "none" not found',
    ],
  ])("are not found: %s", async (path, message) => {
    expect((await cluster.fetch(path)).json).toMatchObject(status(404, "NotFound", message));
  });

  it.each([
    "/apis/keda.sh/v1alpha1/scaledobjects",
    "/apis/apps/v2/deployments",
    "/apis/apps/v1/namespaces/shop/replicasets/x/log",
    "/nothing",
    "/apis/constructor",
  ])("answer 404 as plain text where nothing is served: %s", async (path) => {
    const answer = await cluster.fetch(path);
    expect(answer.code).toBe(404);
    expect(answer.bytes.toString()).toBe("404 page not found\n");
  });

  it("refuses a broken escape with 400", async () => {
    expect((await cluster.fetch("/api/v1/namespaces/%zz/pods")).code).toBe(400);
  });
});

describe("a scaled workload", () => {
  it("names the last writer of its count in managedFields, so that two stacks see each other", async () => {
    const fieldsOf = async (): Promise<unknown> => {
      const { json } = await cluster.fetch("/apis/apps/v1/namespaces/bank/deployments/web");
      return (json as { readonly metadata: { readonly managedFields?: unknown } }).metadata
        .managedFields;
    };
    const scaleTo = (replicas: number, manager: string) =>
      cluster.fetch(`/apis/apps/v1/namespaces/bank/deployments/web/scale?fieldManager=${manager}`, {
        method: "PUT",
        body: { spec: { replicas } },
      });
    expect(await fieldsOf()).toBeUndefined();
    await scaleTo(3, "tidemark-one");
    expect(await fieldsOf()).toMatchObject([
      { manager: "tidemark-one", subresource: "scale", operation: "Update" },
    ]);
    await scaleTo(4, "tidemark-two");
    expect(await fieldsOf()).toMatchObject([{ manager: "tidemark-two" }]);
    expect(lastScaledBy({ managedFields: await fieldsOf() })).toBe("tidemark-two");
  });
});

describe("discovery", () => {
  it("names groups, versions and resources", async () => {
    expect((await cluster.fetch("/apis")).json).toMatchObject({
      kind: "APIGroupList",
      groups: [
        { name: "apps", preferredVersion: { groupVersion: "apps/v1" } },
        { name: "autoscaling", preferredVersion: { groupVersion: "autoscaling/v2" } },
        { name: "events.k8s.io" },
        { name: "tidemark.dev" },
        { name: "datadoghq.com", preferredVersion: { version: "v1alpha1" } },
        { name: "metrics.k8s.io" },
        { name: "custom.metrics.k8s.io", preferredVersion: { version: "v1beta2" } },
        { name: "external.metrics.k8s.io" },
        { name: "networking.k8s.io" },
      ],
    });
    expect((await cluster.fetch("/api")).json).toMatchObject({
      kind: "APIVersions",
      versions: ["v1"],
    });
    expect((await cluster.fetch("/apis/apps")).json).toMatchObject({
      kind: "APIGroup",
      name: "apps",
    });
  });

  it.each([
    [
      "/api/v1",
      "v1",
      [
        "namespaces",
        "pods",
        "replicationcontrollers",
        "replicationcontrollers/scale",
        "services",
        "events",
      ],
    ],
    [
      "/apis/apps/v1",
      "apps/v1",
      [
        "deployments",
        "deployments/scale",
        "replicasets",
        "replicasets/scale",
        "statefulsets",
        "statefulsets/scale",
      ],
    ],
    ["/apis/networking.k8s.io/v1", "networking.k8s.io/v1", ["ingresses"]],
    [
      "/apis/autoscaling/v2",
      "autoscaling/v2",
      ["horizontalpodautoscalers", "horizontalpodautoscalers/status"],
    ],
    ["/apis/tidemark.dev/v1", "tidemark.dev/v1", ["podautoscalers", "podautoscalers/status"]],
    ["/apis/events.k8s.io/v1", "events.k8s.io/v1", ["events"]],
    ["/apis/metrics.k8s.io/v1beta1", "metrics.k8s.io/v1beta1", ["pods"]],
    [
      "/apis/custom.metrics.k8s.io/v1beta2",
      "custom.metrics.k8s.io/v1beta2",
      ["pods/demand", "deployments.apps/demand"],
    ],
    ["/apis/external.metrics.k8s.io/v1beta1", "external.metrics.k8s.io/v1beta1", ["demand"]],
  ])("lists what %s serves", async (path, groupVersion, names) => {
    const { json } = await cluster.fetch(path);
    expect(json).toMatchObject({ kind: "APIResourceList", groupVersion });
    expect((json as { resources: { name: string }[] }).resources.map(({ name }) => name)).toEqual(
      names,
    );
  });

  it("says that a deployment's scale is one of autoscaling/v1", async () => {
    const { json } = await cluster.fetch("/apis/apps/v1");
    const { resources } = json as { resources: { name: string }[] };
    expect(resources.find(({ name }) => name === "deployments/scale")).toMatchObject({
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
    });
  });
});
