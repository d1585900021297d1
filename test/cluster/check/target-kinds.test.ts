import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { json, status } from "../stand-in/server.ts";
import { ALL_GROUPS, type AskedServer, askedServer, look, pointOf, troubles } from "./looked-at.ts";

let server: AskedServer;
beforeEach(async () => {
  server = await askedServer();
  server.groups({ ...ALL_GROUPS, "argoproj.io": ["v1alpha1", "v1"], "tidemark.dev": ["v1"] });
  server.documents.set("/apis/argoproj.io/v1alpha1", { kind: "APIResourceList", resources: [] });
  server.documents.set("/apis/argoproj.io/v1", {
    kind: "APIResourceList",
    resources: [...served("Rollout", "rollouts"), ...served("Fleet", "fleets")],
  });
});
afterEach(() => server.close());

const served = (kind: string, plural: string, withScale = true): readonly object[] => [
  { name: plural, kind },
  ...(withScale ? [{ name: `${plural}/scale`, kind: "Scale" }] : []),
];
const ROLLOUT = { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" };
const SPECS = "/apis/tidemark.dev/v1/podautoscalers";

const rightsOn = (group: string): readonly string[] =>
  server.rights
    .filter((right) => right.group === group)
    .map(({ resource, subresource, verb }) => `${verb} ${resource}/${subresource}`);

describe("the custom kinds that autoscalers name", () => {
  it("are asked about without --kind, in whatever version serves them, and each once", async () => {
    server.refuses = ({ group, verb }) => group === "argoproj.io" && verb === "update";
    const targets = [
      ROLLOUT,
      { ...ROLLOUT, apiVersion: "argoproj.io/v1" },
      { apiVersion: "apps/v1", kind: "Deployment" },
    ];
    const report = await look(server, {
      targets,
      kinds: [{ group: "argoproj.io", plural: "rollouts" }],
    });
    expect(rightsOn("argoproj.io")).toEqual(["get rollouts/scale", "update rollouts/scale"]);
    expect(pointOf(report, "rollouts.argoproj.io")).toEqual({
      check: "rollouts.argoproj.io",
      result: "warning",
      message: "not allowed: update rollouts/scale.argoproj.io",
      fix: "apply the roles: tidemark cluster rbac --kind argoproj.io/rollouts | kubectl apply -f -",
    });
  });

  it("are found in the objects of the cluster that hold specs", async () => {
    server.collections.set(SPECS, [
      { spec: { scaleTargetRef: { ...ROLLOUT, kind: "Fleet", name: "web" } } },
    ]);
    const report = await look(server, { specsFromCluster: ["PodAutoscaler"] });
    expect(pointOf(report, "fleets.argoproj.io")).toMatchObject({
      result: "passed",
      message: "can be read and scaled",
    });
    expect(
      server.seen
        .filter(({ url }) => url.pathname === SPECS)
        .map(({ url }) => url.searchParams.get("limit")),
    ).toEqual(["300"]);
  });

  it("warn where the cluster does not serve them, or serves them without a scale", async () => {
    server.documents.set("/apis/argoproj.io/v1", {
      resources: served("Rollout", "rollouts", false),
    });
    const targets = [
      ROLLOUT,
      { apiVersion: "argoproj.io/v1", kind: "Gone" },
      { apiVersion: "v1", kind: "Pod" },
      { apiVersion: "a/b/c", kind: "Odd" },
    ];
    const report = await look(server, { targets });
    expect(troubles(report)).toEqual([
      "warning Rollout.argoproj.io",
      "warning Gone.argoproj.io",
      "warning Pod",
      "warning Odd.a/b/c",
    ]);
    expect(pointOf(report, "Rollout.argoproj.io").message).toBe(
      "it has no scale: the autoscalers that name it hold",
    );
    expect(pointOf(report, "Gone.argoproj.io").message).toBe(
      "not served: the autoscalers that name it hold",
    );
    expect([report.usable, rightsOn("argoproj.io")]).toEqual([true, []]);
  });

  it("warn where the API server does not tell its kinds", async () => {
    server.overrides.push({
      match: ({ url }) => url.pathname === "/apis/argoproj.io/v1alpha1",
      answer: status(503, "ServiceUnavailable", "down"),
    });
    const report = await look(server, { targets: [ROLLOUT] });
    expect(pointOf(report, "Rollout.argoproj.io")).toMatchObject({
      result: "warning",
      message: "unknown: down",
    });
    server.overrides.push({ match: ({ url }) => url.pathname === "/apis", answer: json(403, {}) });
    expect(
      pointOf(await look(server, { targets: [ROLLOUT] }), "Rollout.argoproj.io").message,
    ).toContain("the list of API groups cannot be read");
  });

  it("never bring words of a cluster into the command to copy", async () => {
    const plural = "rollouts; rm -rf ~";
    server.documents.set("/apis/argoproj.io/v1", { resources: served("Rollout", plural) });
    server.refuses = () => true;
    const report = await look(server, { targets: [ROLLOUT] });
    expect(JSON.stringify(report)).not.toContain("rm -rf");
  });

  it("are bounded in number", async () => {
    const targets = Array.from({ length: 23 }, (_, at) => ({
      apiVersion: `group-${at}.example/v1`,
      kind: "Thing",
    }));
    const report = await look(server, { targets });
    expect(troubles(report).length).toBe(21);
    expect(pointOf(report, "kinds").message).toBe(
      "20 custom kinds were looked for, and not 3 more",
    );
  });
});

describe("the role tidemark-status", () => {
  it("is asked for where the cluster holds specs, for the kinds that are read from it, and is optional", async () => {
    expect((await look(server)).checks.map(({ check }) => check)).not.toContain("tidemark-status");
    server.refuses = ({ subresource, resource }) =>
      subresource === "status" || resource === "events";
    server.collections.set(SPECS, []);
    const report = await look(server, { specsFromCluster: ["PodAutoscaler"] });
    expect(report.usable).toBe(true);
    expect(pointOf(report, "tidemark-status")).toEqual({
      check: "tidemark-status",
      result: "skipped",
      message:
        "not allowed: patch podautoscalers/status.tidemark.dev; create events.events.k8s.io; patch events.events.k8s.io; optional: without it the objects show no status and have no Events; tidemark cluster rbac --status prints the role",
    });
    server.refuses = () => false;
    expect(
      pointOf(await look(server, { specsFromCluster: ["PodAutoscaler"] }), "tidemark-status")
        .result,
    ).toBe("passed");
  });
});
