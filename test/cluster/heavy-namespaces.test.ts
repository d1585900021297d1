import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type {
  ClusterClient,
  ObservedCluster,
  Watched,
} from "../../lib/stack/cluster/cluster-client.ts";
import { HEAVY_BYTES, HEAVY_LOOKS } from "../../lib/stack/cluster/request-limits.ts";
import { partsOf } from "../answers.ts";
import {
  fillWith,
  type Kubernetes,
  kubernetes,
  pod,
  podMetrics,
  workload,
} from "./stand-in/kubernetes.ts";
import { heldTime } from "../turns/held-time.ts";
import { status } from "./stand-in/server.ts";
import { CPU, clientTo, seen, WHOLE, watch, watermarkWithMonitor } from "./stand-in/watched.ts";

const [DEPLOYMENTS, PODS] = ["/apis/apps/v1/deployments", "/api/v1/pods"] as const;
const TEAMS = ["bank", "farm", "mill", "port"].map((name) => watch(name, "web"));
const SHOP = watch("shop", "web");
const LARGE = "x".repeat(HEAVY_BYTES / 2);

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  fillWith(
    server,
    [...TEAMS, SHOP].map((watched) => [watched.namespace, "web"] as const),
  );
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** Adds three objects of half a MiB to namespace "shop", which none of the others has. */
const makeLarge = (path: string): void => {
  const large = (index: number) => ({
    ...(path === PODS ? pod("shop", "large", index) : workload("shop", `large-${index}`)),
    filler: LARGE,
  });
  server.collections.get(path)?.push(...[0, 1, 2].map(large));
};
const observe = (watched: readonly Watched[]): Promise<ObservedCluster> =>
  client.observe(watched, { ...WHOLE, inRounds: true });
const names = ({ observations }: ObservedCluster): readonly string[] =>
  [...observations.keys()].toSorted();
const listsOf = (path: string): readonly string[] =>
  server.seen.flatMap(({ url: { pathname, searchParams } }) =>
    pathname.endsWith(path.slice(path.lastIndexOf("/"))) &&
    pathname.startsWith(path.slice(0, path.lastIndexOf("/")))
      ? [`${pathname} ${searchParams.get("fieldSelector") ?? ""}`]
      : [],
  );

const seenOf = (observed: ObservedCluster): unknown => {
  const { scale, pods, answers, others } = seen(observed, SHOP).observation;
  return { scale, pods: pods.all, resource: partsOf(answers).resource?.kind, others };
};

describe("a namespace with more than a MiB and a tenth of a LIST", () => {
  it.each([DEPLOYMENTS, PODS])(
    "is read after the others were decided, in every sync but the first of a client: %s",
    async (path) => {
      makeLarge(path);
      const first = await observe([...TEAMS, SHOP]);
      expect(names(first)).toHaveLength(5);
      server.seen.splice(0);
      const second = await observe([...TEAMS, SHOP]);
      expect(names(second)).toEqual(["bank/web", "farm/web", "mill/web", "port/web"]);
      expect(listsOf(path)).toEqual([`${path} metadata.namespace!=shop`]);
      const later = await second.later?.();
      expect(listsOf(path).slice(1)).toEqual([
        `${path.replace(/\/(?=[^/]*$)/, "/namespaces/shop/")} `,
      ]);
      expect(later && seenOf(later)).toEqual(seenOf(first));
      expect(later?.later).toBeUndefined();
      // Whoever decides once gets all of them.
      expect(names(await client.observe([...TEAMS, SHOP], WHOLE))).toHaveLength(5);
    },
  );

  it("is left out after a LIST that it kept from ending", async () => {
    makeLarge(PODS);
    server.collections
      .get(PODS)
      ?.push(...Array.from({ length: 600 }, (_, index) => pod("zoo", "many", index)));
    server.overrides.push({
      match: ({ url }) => url.pathname === PODS && url.searchParams.has("continue"),
      answer: () => undefined,
    });
    client.close();
    const time = heldTime();
    client = clientTo(server, { elapsed: time.elapsed, surroundings: { after: time.after } });
    const observed = client.observe([...TEAMS, SHOP], WHOLE);
    await vi.waitFor(
      () =>
        expect(
          server.seen.some(({ url }) => url.pathname === PODS && url.searchParams.has("continue")),
        ).toBe(true),
      { timeout: 20_000 },
    );
    time.pass(WHOLE.budgetMs);
    await observed;
    server.overrides.splice(0);
    server.seen.splice(0);
    await observe([...TEAMS, SHOP]);
    expect(listsOf(PODS)[0]).toBe(`${PODS} metadata.namespace!=shop`);
  });

  it("is found by smaller pages after a LIST that was late, and left out from then on", async () => {
    makeLarge(PODS);
    // A slow link: a page with all objects does not come within the time of a sync.
    server.overrides.push({
      match: ({ url }) => url.pathname === PODS && Number(url.searchParams.get("limit")) > 31,
      answer: () => undefined,
    });
    const limits = { ...WHOLE, budgetMs: 2_000 };
    await client.observe([...TEAMS, SHOP], limits);
    expect(listsOf(PODS)).toEqual([`${PODS} `]);
    server.seen.splice(0);
    const second = await client.observe([...TEAMS, SHOP], limits);
    expect(server.seen.some(({ url }) => url.searchParams.get("limit") === "31")).toBe(true);
    expect(names(second)).toHaveLength(5);
    server.seen.splice(0);
    server.overrides.splice(0);
    await observe([...TEAMS, SHOP]);
    expect(listsOf(PODS)[0]).toBe(`${PODS} metadata.namespace!=shop`);
  });

  it("is not read at all where it has no autoscaler", async () => {
    makeLarge(PODS);
    await observe(TEAMS);
    server.seen.splice(0);
    const second = await observe(TEAMS);
    expect(names(second)).toHaveLength(4);
    expect(second.later).toBeUndefined();
    expect(listsOf(PODS)).toEqual([`${PODS} metadata.namespace!=shop`]);
  });

  it("is read with the others again once it is small", async () => {
    makeLarge(PODS);
    await observe([...TEAMS, SHOP]);
    server.collections.get(PODS)?.splice(-3);
    await (await observe([...TEAMS, SHOP])).later?.();
    server.seen.splice(0);
    expect(names(await observe([...TEAMS, SHOP]))).toHaveLength(5);
    expect(listsOf(PODS)).toEqual([`${PODS} `]);
  });

  it("is read with the others where the server knows no field selector", async () => {
    makeLarge(PODS);
    await observe([...TEAMS, SHOP]);
    server.overrides.push({
      match: ({ url }) => url.searchParams.has("fieldSelector"),
      answer: status(400, "BadRequest", "field label not supported: metadata.namespace"),
    });
    const second = await observe([...TEAMS, SHOP]);
    const all = [...names(second), ...names((await second.later?.()) ?? second)];
    expect(new Set(all).size).toBe(5);
    server.seen.splice(0);
    expect(names(await observe([...TEAMS, SHOP]))).toHaveLength(5);
    expect(listsOf(PODS)).toEqual([`${PODS} `]);
  });
});

describe("a namespace whose other controllers have more than a MiB and a tenth of their LIST", () => {
  const HPAS = "/apis/autoscaling/v2/horizontalpodautoscalers";
  const MINUTE_MS = 60_000;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.now();
    client.close();
    client = clientTo(server, { clock: () => nowMs });
    const hpa = (index: number) => ({
      metadata: { namespace: "shop", name: `hpa-${index}`, uid: `u-${index}` },
      spec: {
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: index === 2 ? "web" : `none-${index}`,
        },
      },
      filler: LARGE,
    });
    server.collections.set(HPAS, [0, 1, 2].map(hpa));
    expect(names(await observe([...TEAMS, SHOP]))).toHaveLength(5);
    nowMs += MINUTE_MS;
    server.seen.splice(0);
  });

  it("is read after the others were decided, and its controllers are seen as before", async () => {
    const second = await observe([...TEAMS, SHOP]);
    expect(names(second)).toEqual(["bank/web", "farm/web", "mill/web", "port/web"]);
    expect(listsOf(HPAS)).toEqual([`${HPAS} metadata.namespace!=shop`]);
    const later = await second.later?.();
    expect(listsOf(HPAS)[1]).toBe("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers ");
    expect(later?.observations.get(SHOP.uid)?.rivals).toMatchObject([
      { kind: "HorizontalPodAutoscaler", name: "hpa-2" },
    ]);
    expect(later?.later).toBeUndefined();
    // The LIST of the others is believed for a minute, as one of all namespaces is.
    server.seen.splice(0);
    await (await observe([...TEAMS, SHOP])).later?.();
    expect(listsOf(HPAS)).toEqual([
      "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers ",
    ]);
  });

  it("is not read where it has no autoscaler", async () => {
    const second = await observe(TEAMS);
    expect([names(second).length, second.later, listsOf(HPAS)]).toEqual([
      4,
      undefined,
      [`${HPAS} metadata.namespace!=shop`],
    ]);
  });

  it("holds alone where its own LIST fails, also in the next sync, in which it is light again and the LIST of all fails", async () => {
    server.overrides.push({
      match: ({ url }) => url.pathname.includes("/namespaces/shop/horizontal"),
      answer: status(500, "InternalError", "no"),
    });
    const second = await observe([...TEAMS, SHOP]);
    const later = await second.later?.();
    expect(later?.observations.get(SHOP.uid)?.rivalsUnknown).toMatch(
      /^no HorizontalPodAutoscaler could be looked for: /,
    );
    expect(TEAMS.map(({ uid }) => second.observations.get(uid)?.rivalsUnknown)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    server.collections.set(HPAS, []);
    server.overrides.splice(0);
    nowMs += MINUTE_MS;
    await (await observe([...TEAMS, SHOP])).later?.();
    server.overrides.push({
      match: ({ url }) => url.pathname.endsWith("/horizontalpodautoscalers"),
      answer: status(500, "InternalError", "no"),
    });
    nowMs += MINUTE_MS;
    const light = await observe([...TEAMS, SHOP]);
    expect(light.observations.get(SHOP.uid)?.rivalsUnknown).toMatch(
      /^no HorizontalPodAutoscaler could be looked for: /,
    );
    expect(TEAMS.map(({ uid }) => light.observations.get(uid)?.rivalsUnknown)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("a namespace whose Datadog monitors have more than a MiB and a tenth of their LIST", () => {
  const MONITORS = "/apis/datadoghq.com/v1alpha1/datadogmonitors";
  const GATED = ["bank", "farm", "mill", "port", "shop"].map((name) =>
    watermarkWithMonitor(name, "web"),
  );
  const [shop, teams] = [GATED.slice(-1)[0] as Watched, GATED.slice(0, -1)];
  const monitorsIn = ({ observations }: ObservedCluster) =>
    [...observations.values()].map(({ observation }) => observation.monitor);
  const monitor = (of: string, name: string, filler = "") => ({
    metadata: { namespace: of, name },
    status: { monitorState: "OK" },
    filler,
  });
  beforeEach(async () => {
    server.collections.set(MONITORS, [
      ...GATED.map(({ namespace: of }) => monitor(of, "web")),
      ...[0, 1, 2].map((index) => monitor("shop", `large-${index}`, LARGE)),
    ]);
    expect(names(await observe(GATED))).toHaveLength(5);
    server.seen.splice(0);
  });

  it("is read after the others were decided, and its monitors are found as before", async () => {
    const second = await observe(GATED);
    expect(names(second)).toEqual(["bank/web", "farm/web", "mill/web", "port/web"]);
    expect(listsOf(MONITORS)).toEqual([`${MONITORS} metadata.namespace!=shop`]);
    expect(monitorsIn(second)).toEqual(teams.map(() => ({ kind: "found", state: "OK" })));
    const later = await second.later?.();
    expect(listsOf(MONITORS)[1]).toBe(
      "/apis/datadoghq.com/v1alpha1/namespaces/shop/datadogmonitors ",
    );
    expect(later?.observations.get(shop.uid)?.observation.monitor).toEqual({
      kind: "found",
      state: "OK",
    });
    expect(later?.later).toBeUndefined();
  });

  it("keeps none waiting that names no monitor, in the same namespace too", async () => {
    const plain = watch("shop", "plain");
    const second = await observe([...teams, plain]);
    expect(names(second)).toEqual(["bank/web", "farm/web", "mill/web", "port/web", "shop/plain"]);
    expect(second.later).toBeUndefined();
  });

  it("holds alone where its own LIST fails", async () => {
    server.overrides.push({
      match: ({ url }) => url.pathname.includes("/namespaces/shop/datadog"),
      answer: status(500, "InternalError", "no"),
    });
    const second = await observe(GATED);
    expect(monitorsIn(second)).toEqual(teams.map(() => ({ kind: "found", state: "OK" })));
    expect((await second.later?.())?.observations.get(shop.uid)?.observation.monitor).toMatchObject(
      { kind: "failed", failure: { code: 500 } },
    );
  });
});

describe("a namespace whose rules look at many more pods than those of the others", () => {
  it("is decided after the others", async () => {
    const numbers = Array.from({ length: 1_000 }, (_, index) => index);
    const shop = watch("shop", "web", {
      metrics: Array.from({ length: HEAVY_LOOKS / numbers.length }, () => CPU),
    });
    server.collections.get(PODS)?.push(...numbers.map((index) => pod("shop", "web", index + 2)));
    server.collections
      .get("/apis/metrics.k8s.io/v1beta1/pods")
      ?.push(...numbers.map((index) => podMetrics("shop", "web", index + 2)));
    const first = await observe([...TEAMS, shop]);
    expect(names(first)).toEqual(["bank/web", "farm/web", "mill/web", "port/web"]);
    const later = await first.later?.();
    expect(later && names(later)).toEqual(["shop/web"]);
  });
});
