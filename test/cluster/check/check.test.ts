import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  OBSERVE_RULES,
  SCALE_RULES,
  STATUS_RULES,
} from "../../../lib/stack/cluster/rights/rules.ts";
import { json, status } from "../stand-in/server.ts";
import {
  ALL_GROUPS,
  type AskedServer,
  askedServer,
  isPostTo,
  look,
  pointOf,
  troubles,
} from "./looked-at.ts";

let server: AskedServer;
beforeEach(async () => {
  server = await askedServer();
});
afterEach(() => server.close());

const USER = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const APPLY = "apply the roles: tidemark cluster rbac | kubectl apply -f -";

describe("a look at a cluster", () => {
  it("finds nothing wrong where everything is right, and changes nothing", async () => {
    const report = await look(server);
    expect(report).toMatchObject({ name: "eu-1", usable: true });
    expect(troubles(report)).toEqual([]);
    expect(pointOf(report, "version").message).toBe("v1.37.1");
    expect(pointOf(report, "user").message).toBe('"tidemark", in tidemark');
    expect(pointOf(report, "metrics.k8s.io").message).toBe("v1 answers");
    const written = server.seen.filter(
      ({ method, url }) => method !== "GET" && !/selfsubject(access)?reviews$/.test(url.pathname),
    );
    expect(written).toEqual([]);
  });

  it("asks for exactly the rights of the roles, in the whole cluster, and for specs only where they are read from it", async () => {
    await look(server);
    expect(server.rights.filter(({ group }) => group === "tidemark.dev")).toEqual([]);
    server.rights.length = 0;
    server.groups({ ...ALL_GROUPS, "tidemark.dev": ["v1"] });
    const { checks } = await look(server, { specsFromCluster: ["PodAutoscaler"] });
    expect(checks.find(({ check }) => check === "podautoscalers.tidemark.dev")).toMatchObject({
      result: "passed",
    });
    const text = (group: string, resource: string, verb: string): string =>
      `${verb} ${resource}.${group}`;
    const asked = server.rights.map(({ group, resource, subresource, verb }) =>
      text(group, subresource === undefined ? resource : `${resource}/${subresource}`, verb),
    );
    const ofSpecs = STATUS_RULES.filter(({ group }) => group !== "datadoghq.com");
    // The identity is read, and so is the right to it.
    const asks = OBSERVE_RULES.filter(({ names }) => names === undefined);
    const granted = [...asks, ...SCALE_RULES, ...ofSpecs].flatMap(({ group, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => text(group, resource, verb))),
    );
    expect(asked.toSorted()).toEqual(granted.toSorted());
    expect(server.rights.filter(({ namespace }) => namespace !== undefined)).toEqual([]);
  });

  it("asks for the scale of custom resources that are named, and for no other right on them", async () => {
    server.refuses = ({ group, verb }) => group === "argoproj.io" && verb === "update";
    const report = await look(server, { kinds: [{ group: "argoproj.io", plural: "rollouts" }] });
    expect(
      server.rights
        .filter(({ group }) => group === "argoproj.io")
        .map(({ resource, subresource, verb }) => [resource, subresource, verb]),
    ).toEqual([
      ["rollouts", "scale", "get"],
      ["rollouts", "scale", "update"],
    ]);
    expect(pointOf(report, "rollouts.argoproj.io")).toEqual({
      check: "rollouts.argoproj.io",
      result: "warning",
      message: "not allowed: update rollouts/scale.argoproj.io",
      fix: "apply the roles: tidemark cluster rbac --kind argoproj.io/rollouts | kubectl apply -f -",
    });
  });

  it("fails where no kind can be read and scaled, and warns where another kind can", async () => {
    server.refuses = ({ subresource }) => subresource === "scale";
    const none = await look(server);
    expect(none.usable).toBe(false);
    expect(troubles(none)).toEqual(
      ["deployments.apps", "statefulsets.apps", "replicasets.apps", "replicationcontrollers"].map(
        (kind) => `failed ${kind}`,
      ),
    );
    server.refuses = ({ resource }) => resource === "statefulsets";
    const some = await look(server);
    expect([some.usable, troubles(some)]).toEqual([true, ["warning statefulsets.apps"]]);
    expect(pointOf(some, "statefulsets.apps").message).toBe(
      "not allowed: get statefulsets.apps; list statefulsets.apps; update statefulsets/scale.apps",
    );
  });

  it("fails without the list of pods, because every metric needs them", async () => {
    server.refuses = ({ group, resource }) => group === "" && resource === "pods";
    const report = await look(server);
    expect([report.usable, troubles(report)]).toEqual([false, ["failed pods"]]);
    expect(pointOf(report, "pods")).toMatchObject({
      message: "not allowed: list pods; watch pods; every metric would fail without it",
      fix: APPLY,
    });
  });

  it("warns where pods can be listed and not watched, which only costs", async () => {
    server.refuses = ({ group, resource, verb }) =>
      group === "" && resource === "pods" && verb === "watch";
    const report = await look(server);
    expect([report.usable, troubles(report)]).toEqual([true, ["warning pods"]]);
    expect(pointOf(report, "pods").message).toBe(
      "not allowed: watch pods; where there are more than 500, each sync lists them all",
    );
  });

  it("tells a user outside the group to join it", async () => {
    server.documents.set(USER, {
      status: { userInfo: { username: "arn:aws:iam::1:role/x", groups: ["system:authenticated"] } },
    });
    server.refuses = () => true;
    const report = await look(server);
    expect(pointOf(report, "user").message).toBe('"arn:aws:iam::1:role/x", in no group');
    expect(pointOf(report, "pods").fix).toBe(
      `give the user the group "tidemark" (for EKS by its access entry), and ${APPLY}`,
    );
  });

  it("asks in each namespace of the partitions where the whole cluster is refused, and names those that are missing", async () => {
    server.refuses = ({ namespace, resource }) =>
      namespace === undefined || (namespace === "cart" && resource === "deployments");
    const report = await look(server, { namespaces: ["shop", "cart", "bank"] });
    expect([report.usable, troubles(report)]).toEqual([true, ["warning deployments.apps"]]);
    expect(pointOf(report, "deployments.apps")).toMatchObject({
      message:
        "not allowed: get deployments.apps; list deployments.apps; update deployments/scale.apps, in namespace cart",
      fix: "apply the roles: tidemark cluster rbac --namespaces shop,cart,bank | kubectl apply -f -",
    });
    expect(server.paths()).toContain("GET /apis/metrics.k8s.io/v1/namespaces/shop/pods");
  });

  it("asks in the first twenty of many namespaces, and says so", async () => {
    server.refuses = ({ namespace }) => namespace === undefined;
    const namespaces = Array.from({ length: 25 }, (_, at) => `ns-${at}`);
    const report = await look(server, { namespaces });
    expect(troubles(report)).toEqual(["skipped namespaces"]);
    expect(pointOf(report, "namespaces").message).toBe(
      "rights were asked for in the first 20 namespaces, not in 5 more",
    );
    expect(new Set(server.rights.map(({ namespace }) => namespace)).size).toBe(21);
  });

  it("warns of a question about a right that is not answered, because the right may be there", async () => {
    server.overrides.unshift({
      match: isPostTo("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
      answer: status(403, "Forbidden", "no reviews for you"),
    });
    const report = await look(server);
    expect(report.usable).toBe(true);
    expect(pointOf(report, "deployments.apps")).toMatchObject({
      result: "warning",
      message: "could not be asked: no reviews for you",
    });
  });
});

describe("the metrics APIs", () => {
  it("warn where metrics.k8s.io is not served, and are skipped where another is not, because few manifests need it", async () => {
    server.groups({ autoscaling: ["v2"] });
    const report = await look(server);
    expect([report.usable, troubles(report)]).toEqual([
      true,
      [
        "warning metrics.k8s.io",
        "skipped custom.metrics.k8s.io",
        "skipped external.metrics.k8s.io",
        "skipped scaledobjects.keda.sh",
        "skipped watermarkpodautoscalers.datadoghq.com",
        "skipped datadogpodautoscalers.datadoghq.com",
        "skipped datadogmonitors.datadoghq.com",
      ],
    ]);
    expect(pointOf(report, "metrics.k8s.io").fix).toBe(
      "install metrics-server where manifests name CPU or memory",
    );
  });

  it("warn where one is registered and its server is down, with the command that shows why", async () => {
    server.groups({ ...ALL_GROUPS, "metrics.k8s.io": ["v1beta1"] });
    server.overrides.push({
      match: ({ url }) => url.pathname.startsWith("/apis/metrics.k8s.io/v1beta1"),
      answer: status(503, "ServiceUnavailable", "service unavailable"),
    });
    const point = pointOf(await look(server), "metrics.k8s.io");
    expect(point).toEqual({
      check: "metrics.k8s.io",
      result: "warning",
      message:
        "v1beta1 is served and does not answer: service unavailable; metrics of CPU and memory fail",
      fix: "look at the API: kubectl get apiservice v1beta1.metrics.k8s.io",
    });
  });

  it("warn where one may not be read", async () => {
    server.refuses = ({ group }) => group === "external.metrics.k8s.io";
    const report = await look(server);
    expect(troubles(report)).toEqual(["warning external.metrics.k8s.io"]);
    expect(pointOf(report, "external.metrics.k8s.io")).toMatchObject({
      message:
        "not allowed: list *.external.metrics.k8s.io; metrics of the type External fail without it",
      fix: APPLY,
    });
  });

  it("count as answered where the answer is longer than a look reads", async () => {
    server.documents.set("/apis/custom.metrics.k8s.io/v1beta2", {
      resources: Array.from({ length: 300_000 }, (_, at) => `metric-${at}`),
    });
    expect(troubles(await look(server))).toEqual([]);
  });
});

describe("user, version and clock", () => {
  it("is refused where the server does not accept the credentials", async () => {
    const answer = status(401, "Unauthorized", "Unauthorized");
    server.overrides.unshift({ match: () => true, answer });
    const report = await look(server);
    expect([report.usable, troubles(report)]).toEqual([false, ["failed user"]]);
    expect(pointOf(report, "user")).toMatchObject({
      message: "the server does not accept the credentials: Unauthorized",
    });
    expect(pointOf(report, "user").fix).toContain("renew the token or the certificate");
  });

  it("is refused where the server takes the call for anonymous", async () => {
    server.documents.set(USER, {
      status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
    });
    expect(troubles(await look(server))).toEqual(["failed user"]);
  });

  it("goes on to the rights where the server cannot tell the user, as before 1.28", async () => {
    server.documents.delete(USER);
    const report = await look(server);
    expect([report.usable, troubles(report)]).toEqual([true, ["warning user"]]);
    expect(server.rights.length).toBeGreaterThan(10);
  });

  it.each([
    [-40_000, "it is 40 s ahead of the clock here: ages of pods and metrics are wrong by as much"],
    [40_000, "it is 40 s behind the clock here: ages of pods and metrics are wrong by as much"],
  ])("warns of clocks that differ: ours by %d ms", async (byMs, message) => {
    const report = await look(server, { clock: () => Date.now() + byMs });
    expect([report.usable, troubles(report)]).toEqual([true, ["warning clock"]]);
    expect(pointOf(report, "clock").message.replace(/\b(39|41) s/, "40 s")).toBe(message);
  });

  it("accepts clocks that differ by a second", async () => {
    expect(troubles(await look(server, { clock: () => Date.now() + 1_000 }))).toEqual([]);
  });

  it("warns where the certificate is not checked", async () => {
    expect(troubles(await look(server, { access: { rejectUnauthorized: false } }))).toEqual([
      "warning tls",
    ]);
  });

  it("is told what to do at every point that is not right", async () => {
    server.refuses = () => true;
    server.documents.set("/version", {});
    server.overrides.push({
      match: ({ url }) => url.pathname === "/version",
      answer: json(403, {}),
    });
    const report = await look(server, { clock: () => Date.now() - 60_000 });
    const wrong = report.checks.filter(({ result }) => result === "failed" || result === "warning");
    expect(wrong.length).toBeGreaterThan(8);
    expect(wrong.filter(({ fix = "" }) => fix === "")).toEqual([]);
  });
});
