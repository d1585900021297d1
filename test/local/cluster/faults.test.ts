import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RunningCluster, runCluster } from "./running-cluster.ts";

const SCALE = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

const errors: unknown[] = [];
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster({ onError: (error) => errors.push(error) });
});
afterEach(() => cluster.faults.clear());
afterAll(async () => {
  await cluster.remove();
  expect(errors).toEqual([]);
});

const put = (replicas: number, timeoutMs?: number, signal?: AbortSignal) =>
  cluster.fetch(SCALE, {
    method: "PUT",
    body: { spec: { replicas } },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  });
const replicas = async () =>
  ((await cluster.fetch(SCALE)).json as { spec: { replicas: number } }).spec.replicas;

describe("faults", () => {
  it("answer with a status of their own for as many requests as asked, below their path only", async () => {
    cluster.faults.add({
      path: "/apis/metrics.k8s.io",
      kind: "status",
      code: 503,
      reason: "ServiceUnavailable",
      message: "the server is currently unable to handle the request",
      times: 2,
    });
    const asked = async (path: string) => (await cluster.fetch(path)).code;
    const metrics = "/apis/metrics.k8s.io/v1beta1/pods";
    expect([
      await asked(metrics),
      await asked("/api/v1/pods"),
      await asked(metrics),
      await asked(metrics),
    ]).toEqual([503, 200, 503, 200]);
  });

  it("ask for patience with 429 and Retry-After", async () => {
    cluster.faults.add({
      path: SCALE,
      method: "PUT",
      kind: "status",
      code: 429,
      reason: "TooManyRequests",
      message: "too many requests",
      retryAfterSeconds: 3,
    });
    const answer = await put(3);
    expect(answer.code).toBe(429);
    expect(answer.headers["retry-after"]).toBe("3");
    expect(answer.json).toMatchObject({
      kind: "Status",
      code: 429,
      details: { retryAfterSeconds: 3 },
    });
    expect(await replicas()).toBe(2);
  });

  it("cut the connection before the request has an effect", async () => {
    cluster.faults.add({ path: SCALE, method: "PUT", kind: "reset" });
    await expect(put(4)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await replicas()).toBe(2);
  });

  it("cut the connection after the request had its effect", async () => {
    cluster.faults.add({ path: SCALE, method: "PUT", kind: "reset", when: "after" });
    await expect(put(4)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await replicas()).toBe(4);
  });

  it("leave a request without an answer, with or without effect", async () => {
    const end = cluster.faults.add({ path: SCALE, method: "PUT", kind: "hang" });
    await expect(put(5, 200)).rejects.toMatchObject({ name: "AbortError" });
    expect(await replicas()).toBe(4);
    end();
    cluster.faults.add({ path: SCALE, method: "PUT", kind: "hang", when: "after" });
    const client = new AbortController();
    const hanging = expect(put(5, 60_000, client.signal)).rejects.toMatchObject({
      name: "AbortError",
    });
    await expect.poll(replicas).toBe(5);
    client.abort();
    await hanging;
  });

  it("answer 500 though the request had its effect", async () => {
    cluster.faults.add({
      path: SCALE,
      method: "PUT",
      kind: "status",
      code: 500,
      reason: "InternalError",
      message: "etcdserver: request timed out",
      when: "after",
    });
    expect((await put(6)).code).toBe(500);
    expect(await replicas()).toBe(6);
  });

  it("let a write land late, after its client has gone", async () => {
    cluster.faults.add({ path: SCALE, method: "PUT", kind: "slow", delayMs: 1500, times: 1 });
    await expect(put(7, 800)).rejects.toMatchObject({ name: "AbortError" });
    expect(await replicas()).toBe(6);
    await expect.poll(replicas, { timeout: 3000 }).toBe(7);
  });

  it("have no effect after their end", async () => {
    const end = cluster.faults.add({ path: "/", kind: "reset" });
    end();
    expect((await cluster.fetch("/api/v1/pods")).code).toBe(200);
  });
});
