import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient, ScaleWrite } from "../../lib/stack/cluster/cluster-client.ts";
import { putScaleWithin } from "../../lib/stack/cluster/scale.ts";
import { namespace } from "../../lib/rules/model/ids.ts";
import { type Kubernetes, kubernetes, workload } from "./stand-in/kubernetes.ts";
import { type Answer, json, status } from "./stand-in/server.ts";
import { clientTo, deployment } from "./stand-in/watched.ts";

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web", 2)]);
  client = clientTo(server);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const write: ScaleWrite = {
  namespace: namespace("shop"),
  target: deployment("web"),
  targetUid: "uid-shop-web",
  resourceVersion: "7",
  replicas: 5,
};
const puts = () => server.seen.filter(({ method }) => method === "PUT");
const answerPuts = (answer: Answer) =>
  server.overrides.push({ match: ({ method }) => method === "PUT", answer });

describe("putScale()", () => {
  it("writes the scale under uid and resourceVersion, as tidemark, with a deadline for the server", async () => {
    expect(await client.putScale(write, 1_000)).toEqual({ kind: "applied", resourceVersion: "8" });
    const [put] = puts();
    expect(put?.url.pathname).toBe("/apis/apps/v1/namespaces/shop/deployments/web/scale");
    expect(put?.url.searchParams.get("fieldManager")).toBe("tidemark-uid-of-eu-1");
    expect(put?.url.searchParams.get("timeout")).toMatch(/^\d+ms$/);
    expect(JSON.parse(put?.body ?? "")).toEqual({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "web", namespace: "shop", uid: "uid-shop-web", resourceVersion: "7" },
      spec: { replicas: 5 },
    });
  });

  it("tells the generation where the answer has one", async () => {
    answerPuts(json(200, { metadata: { resourceVersion: "9", generation: 4 } }));
    expect(await client.putScale(write, 1_000)).toEqual({
      kind: "applied",
      resourceVersion: "9",
      generation: 4,
    });
  });

  it.each([
    ["an old resourceVersion", { resourceVersion: "6" }],
    ["the uid of a deleted target", { targetUid: "uid-of-another" }],
  ])("meets a conflict with %s", async (_name, change) => {
    expect(await client.putScale({ ...write, ...change }, 1_000)).toMatchObject({
      kind: "conflict",
      failure: { code: 409, reason: "Conflict" },
    });
    expect(puts()).toHaveLength(1);
  });

  it.each([
    [400, "refused"],
    [401, "refused"],
    [403, "refused"],
    [404, "refused"],
    [408, "unclear"],
    [409, "conflict"],
    [410, "refused"],
    [422, "refused"],
    [500, "unclear"],
    [502, "unclear"],
    [503, "unclear"],
    [504, "unclear"],
    [302, "unclear"],
  ])("takes a %i for %s, after one attempt", async (code, kind) => {
    answerPuts(status(code, "Whatever", "words of the server", { "retry-after": "0" }));
    expect(await client.putScale(write, 1_000)).toEqual({
      kind,
      failure: { code, reason: "Whatever", message: "words of the server" },
    });
    expect(puts()).toHaveLength(1);
  });

  it("says of a 429 that the server was too busy, that nothing changed, and what comes next", async () => {
    answerPuts(status(429, "TooManyRequests", "slow down", { "retry-after": "0" }));
    const message =
      "the API server was too busy (429) and refused the scale, so nothing changed; the next sync decides again: slow down";
    expect(await client.putScale(write, 1_000)).toEqual({
      kind: "refused",
      failure: { code: 429, reason: "TooManyRequests", message },
    });
    expect(puts()).toHaveLength(1);
  });

  it.each<[string, Answer]>([
    ["no answer", () => undefined],
    ["a reset", (_seen, _response, socket) => socket.destroy()],
    [
      "a reset inside the answer",
      (_seen, response, socket) =>
        void response.writeHead(200, { "content-length": "99" }).write("{", () => socket.destroy()),
    ],
    ["a 200 that is no Scale", json(200, { hello: "from the proxy" })],
    ["a 200 that is no JSON", (_seen, response) => response.end("<html>")],
  ])("takes %s for unclear, after one attempt", async (_name, answer) => {
    answerPuts(answer);
    expect(await client.putScale(write, 200)).toMatchObject({
      kind: "unclear",
      failure: { code: 0 },
    });
    expect(puts()).toHaveLength(1);
  });

  it("is not sent where the server proves never to have seen it", async () => {
    await server.close();
    expect(await client.putScale(write, 1_000)).toMatchObject({
      kind: "unsent",
      failure: { code: 0, reason: "ConnectionRefused" },
    });
  });

  it("is not sent when the kind is unknown", async () => {
    const target = { apiVersion: "nowhere.example/v1", kind: "Teapot", name: "pot" };
    const message = 'no matches for kind "Teapot" in group "nowhere.example"';
    expect(await client.putScale({ ...write, target }, 1_000)).toMatchObject({
      kind: "unsent",
      failure: { message },
    });
    expect(puts()).toHaveLength(0);
  });

  it("is not sent when finding the path took all the time", async () => {
    let now = 0;
    const found = {
      kind: "found",
      value: { base: "/apis/example.com/v1", plural: "rollouts", resource: "rollouts.example.com" },
    } as const;
    const kindPath = async () => {
      now = 1_000;
      return found;
    };
    const never = (): never => {
      throw new TypeError("nothing may be sent");
    };
    const transport = {
      get: never,
      getOnce: never,
      put: never,
      edit: never,
      doubt: never,
      close: never,
    };
    const discovery = { kindPath, groupVersions: never, forget: never };
    const session = {
      cluster: "eu-1",
      transport,
      discovery,
      fieldManager: "tidemark",
      elapsed: () => now,
      after: never,
    };
    const answer = await putScaleWithin(session, write, 1_000);
    expect(answer).toEqual({
      kind: "unsent",
      failure: {
        code: 0,
        reason: "NotSent",
        message: 'Cannot scale Deployment "web": the time was spent before the write',
      },
    });
  });

  it("escapes names, so that no name reaches another object", async () => {
    answerPuts(status(404, "NotFound", "not found"));
    await client.putScale({ ...write, target: deployment("../secrets/key?x") }, 1_000);
    expect(puts()[0]?.url.pathname).toBe(
      "/apis/apps/v1/namespaces/shop/deployments/..%2Fsecrets%2Fkey%3Fx/scale",
    );
  });
});

describe("readScale()", () => {
  it("reads what a write then changes", async () => {
    const read = () => client.readScale(namespace("shop"), deployment("web"), 1_000);
    expect(await read()).toMatchObject({
      kind: "read",
      specReplicas: 2,
      resourceVersion: "7",
      generation: 3,
    });
    await client.putScale(write, 1_000);
    expect(await read()).toMatchObject({
      kind: "read",
      specReplicas: 5,
      resourceVersion: "8",
      generation: 4,
    });
  });

  it("gives the server's words when there is nothing", async () => {
    const failure = { code: 404, reason: "NotFound", message: 'deployments.apps "gone" not found' };
    expect(await client.readScale(namespace("shop"), deployment("gone"), 1_000)).toEqual({
      kind: "failed",
      failure,
    });
  });

  it("keeps to its time", async () => {
    server.overrides.push({ match: () => true, answer: () => undefined });
    const before = performance.now();
    expect(await client.readScale(namespace("shop"), deployment("web"), 200)).toMatchObject({
      kind: "failed",
      failure: { reason: "Timeout" },
    });
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
