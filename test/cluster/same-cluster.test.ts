import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { namespace } from "../../lib/rules/model/ids.ts";
import { SPEC_KINDS } from "../../lib/rules/model/spec.ts";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import { json } from "./stand-in/server.ts";
import { clientTo, deployment, seen, WHOLE, watch } from "./stand-in/watched.ts";

const IDENTITY = "/api/v1/namespaces/kube-system";
const OWN = "1f6d8f1c-8b8e-4b0e-9a53-b0b3c8e2c4f1";
const ANOTHER = "7f0b0f5e-6a53-4c57-8f41-4f6f7c7b1d20";

let server: Kubernetes;
let nowMs: number;
beforeEach(async () => {
  server = await kubernetes();
  nowMs = 1_000_000;
  fillWith(server, [["shop", "web"]]);
});
afterEach(() => server.close());

const isA = (uid: string): void =>
  void server.documents.set(IDENTITY, {
    kind: "Namespace",
    metadata: { name: "kube-system", uid },
  });
const clientOf = (kubeSystemUid: string | undefined = OWN) =>
  clientTo(server, { kubeSystemUid, clock: () => nowMs });
const web = watch("shop", "web");
const write = {
  namespace: namespace("shop"),
  target: deployment("web"),
  targetUid: "uid-shop-web",
  resourceVersion: "7",
  replicas: 3,
};
/** No cluster is synced more often. */
const SHORTEST_PERIOD_MS = 5_000;
const writes = (): readonly string[] =>
  server.seen.filter(({ method }) => method !== "GET").map(({ url }) => url.pathname);
const paths = (): readonly string[] => server.seen.map(({ url }) => url.pathname);

describe("a client of a cluster whose identity is stored", () => {
  it("asks for it once before the calls of a sync, and again before the calls of the next one", async () => {
    isA(OWN);
    const client = clientOf();
    await client.observe([web], WHOLE);
    await client.observe([web], WHOLE);
    expect(paths()[0]).toBe(IDENTITY);
    const looks = (): number => paths().filter((path) => path === IDENTITY).length;
    // One before the first read, and one after the last, before what it shows is used.
    expect(looks()).toBe(3);
    expect((await client.putScale(write, 1_000)).kind).toBe("applied");
    expect(looks()).toBe(3);
    nowMs += SHORTEST_PERIOD_MS;
    expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("read");
    expect(looks()).toBe(5);
    client.close();
  });

  it("compares before a PUT that is the first call of all", async () => {
    isA(ANOTHER);
    const client = clientOf();
    expect(await client.putScale(write, 1_000)).toMatchObject({
      kind: "unsent",
      failure: { reason: "OtherCluster" },
    });
    expect(writes()).toEqual([]);
    client.close();
  });

  it("reads, lists and writes nothing where another cluster answers, and says which", async () => {
    isA(ANOTHER);
    const client = clientOf();
    const { scale } = seen(await client.observe([web], WHOLE), web).observation;
    expect(scale).toMatchObject({
      kind: "failed",
      failure: { code: 0, reason: "OtherCluster", message: expect.stringContaining(ANOTHER) },
    });
    const specs = await client.listSpecs({
      kinds: SPEC_KINDS,
      namespaces: "all",
      knownVersion: () => undefined,
      budgetMs: 1_000,
    });
    expect(
      JSON.stringify(specs, (_key, value: unknown) => (value instanceof Map ? [...value] : value)),
    ).toContain("OtherCluster");
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    expect((await client.readScale(namespace("shop"), deployment("web"), 1_000)).kind).toBe(
      "failed",
    );
    expect(new Set(paths())).toEqual(new Set([IDENTITY]));
    client.close();
  });

  it("goes on where the own cluster answers again", async () => {
    isA(ANOTHER);
    const client = clientOf();
    await client.observe([web], WHOLE);
    isA(OWN);
    nowMs += SHORTEST_PERIOD_MS;
    expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("read");
    client.close();
  });

  it("holds from the next sync on where the cluster is replaced while the client lives", async () => {
    isA(OWN);
    const client = clientOf();
    await client.observe([web], WHOLE);
    isA(ANOTHER);
    nowMs += SHORTEST_PERIOD_MS;
    expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("failed");
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    client.close();
  });

  // Each is what another cluster may answer, or a restart of the own one.
  const answers = [403, 404, 429, 500, 503].map((status) => ({ status }));
  it.each(answers)(
    "never forgets a mismatch after an answer $status, however often and late",
    async ({ status }) => {
      isA(ANOTHER);
      let isRefusing = false;
      server.overrides.push({
        match: ({ url }) => isRefusing && url.pathname === IDENTITY,
        answer: json(status, { kind: "Status", code: status, reason: "Forbidden" }),
      });
      const client = clientOf();
      await client.observe([web], WHOLE);
      isRefusing = true;
      for (let minute = 0; minute < 12; minute++) {
        nowMs += 60_000;
        expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("failed");
        expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
      }
      isRefusing = false;
      isA(OWN);
      nowMs += 1_000;
      expect((await client.putScale(write, 1_000)).kind).toBe("applied");
      client.close();
    },
  );

  it.each([403, 404])(
    "holds where the right to read it is lost, and says what to do: %i",
    async (status) => {
      isA(OWN);
      const client = clientOf();
      expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("read");
      server.overrides.push({
        match: ({ url }) => url.pathname === IDENTITY,
        answer: json(status, { kind: "Status", code: status, reason: "Forbidden" }),
      });
      nowMs += SHORTEST_PERIOD_MS;
      const { scale } = seen(await client.observe([web], WHOLE), web).observation;
      expect(scale).toMatchObject({
        kind: "failed",
        failure: {
          code: 0,
          reason: "IdentityUnknown",
          message: expect.stringMatching(/tidemark cluster rbac.*--replace --force/),
        },
      });
      expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
      expect(writes()).toEqual([]);
      client.close();
    },
  );

  it("uses nothing of an observation in which the address moved, and sends no PUT of it", async () => {
    isA(OWN);
    const client = clientOf();
    // The address moves after the first look, before the first LIST.
    server.overrides.push({
      match: ({ url }) => {
        if (url.pathname !== IDENTITY) isA(ANOTHER);
        return false;
      },
      answer: json(200, {}),
    });
    const { scale } = seen(await client.observe([web], WHOLE), web).observation;
    expect(scale).toMatchObject({ kind: "failed", failure: { reason: "OtherCluster" } });
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    expect(writes()).toEqual([]);
    client.close();
  });

  it("compares again after a single scale that was read, before the PUT that rests on it", async () => {
    isA(OWN);
    const client = clientOf();
    server.overrides.push({
      match: ({ url }) => {
        if (url.pathname.includes("deployments")) isA(ANOTHER);
        return false;
      },
      answer: json(200, {}),
    });
    await client.readScale(namespace("shop"), deployment("web"), 1_000);
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    expect(writes()).toEqual([]);
    client.close();
  });

  it("holds after a clock that was set back, and after a machine that stood still", async () => {
    isA(OWN);
    const client = clientOf();
    await client.observe([web], WHOLE);
    isA(ANOTHER);
    nowMs -= 3_600_000;
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    client.close();
  });

  it("holds where it cannot be read for another reason, and asks again a second later", async () => {
    let broken = true;
    isA(OWN);
    server.overrides.push({
      match: ({ url }) => broken && url.pathname === IDENTITY,
      answer: json(500, { kind: "Status", code: 500 }),
    });
    const client = clientOf();
    expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("failed");
    expect(await client.putScale(write, 1_000)).toMatchObject({ kind: "unsent" });
    broken = false;
    nowMs += 1_000;
    expect(seen(await client.observe([web], WHOLE), web).observation.scale.kind).toBe("read");
    client.close();
  });

  it("is never asked where no identity is stored", async () => {
    const client = clientTo(server);
    await client.observe([web], WHOLE);
    expect(paths()).not.toContain(IDENTITY);
    client.close();
  });
});
