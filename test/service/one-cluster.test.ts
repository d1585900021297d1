import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { getCluster, getConnection } from "../../lib/stack/store/records/clusters.ts";
import { type AskedServer, askedServer, KUBE_SYSTEM, look } from "../cluster/check/looked-at.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

const IDENTITY = "/api/v1/namespaces/kube-system";
const ANOTHER = "7f0b0f5e-6a53-4c57-8f41-4f6f7c7b1d20";

let world: ServiceWorld;
let server: AskedServer;
let service: Service;
beforeAll(async () => {
  world = await serviceWorld();
  server = await askedServer();
  service = openService({ ...world.context, checkConnection: () => look(server) });
  await service.addCluster({
    name: "first",
    connection: { kind: "secret", secretId: "prod/first" },
  });
});
afterAll(async () => {
  await server.close();
  await world.close();
});

const isA = (uid: string): void =>
  void server.documents.set(IDENTITY, {
    kind: "Namespace",
    metadata: { name: "kube-system", uid },
  });
const isVersion = (gitVersion: string): void =>
  void server.documents.set("/version", { gitVersion });
const identityOf = async (name: string) =>
  (await getConnection(world.tables, clusterName(name)))?.kubeSystemUid;
const secret = (name: string) =>
  ({ name, connection: { kind: "secret", secretId: `prod/${name}` } }) as const;

describe("one cluster has one name", () => {
  it("keeps the identity that the look has found with the connection", async () => {
    expect(await identityOf("first")).toBe(KUBE_SYSTEM);
  });

  it("shows the version that the API server said, and a check reads it anew", async () => {
    expect((await service.cluster("first")).server).toEqual({
      version: "v1.37.1",
      at: new Date(world.context.clock()).toISOString(),
    });
    const before = await getConnection(world.tables, clusterName("first"));
    isVersion("v1.38.0\u202e");
    await service.checkCluster({ name: "first" });
    expect((await service.cluster("first")).server?.version).toBe("v1.38.0\\u{202e}");
    const [listed] = await Array.fromAsync(service.clusters());
    expect(listed?.server?.version).toBe("v1.38.0\\u{202e}");
    expect(await getConnection(world.tables, clusterName("first"))).toEqual({
      ...before,
      server: expect.anything(),
    });
  });

  it("takes no version of another cluster that answers to a check", async () => {
    isA(ANOTHER);
    isVersion("v1.99.0");
    await service.checkCluster({ name: "first" });
    isA(KUBE_SYSTEM);
    expect((await service.cluster("first")).server?.version).toContain("v1.38.0");
  });

  it("refuses a second name, names the first, and stores nothing", async () => {
    await expect(service.addCluster(secret("second"))).rejects.toMatchObject({
      code: "service.unusable",
      message: expect.stringContaining(
        'Cannot add cluster "second": it is cluster "first" under a second name',
      ),
    });
    expect(await getCluster(world.tables, clusterName("second"))).toBeUndefined();
  });

  it("accepts a second name with force, and takes no identity for it", async () => {
    await service.addCluster({ ...secret("second"), force: true });
    expect(await identityOf("second")).toBeUndefined();
    await service.removeCluster("second");
  });

  it("accepts the same cluster again under its name, and refuses another one without force", async () => {
    await service.replaceCluster(secret("first"));
    expect(await identityOf("first")).toBe(KUBE_SYSTEM);
    isA(ANOTHER);
    await expect(service.replaceCluster(secret("first"))).rejects.toMatchObject({
      code: "service.unusable",
      message: expect.stringContaining("another cluster answers there than the one that was added"),
    });
    expect(await identityOf("first")).toBe(KUBE_SYSTEM);
    await service.replaceCluster({ ...secret("first"), force: true });
    expect(await identityOf("first")).toBeUndefined();
    isA(KUBE_SYSTEM);
    await service.replaceCluster(secret("first"));
    expect(await identityOf("first")).toBe(KUBE_SYSTEM);
  });

  it("keeps a stored identity where the new connection may not read one, without force", async () => {
    server.documents.delete(IDENTITY);
    await expect(service.replaceCluster(secret("first"))).rejects.toMatchObject({
      code: "service.unusable",
      message: expect.stringContaining("may not be asked for its identity"),
    });
    expect(await identityOf("first")).toBe(KUBE_SYSTEM);
    isA(KUBE_SYSTEM);
  });

  it("gives the name free when its cluster is removed", async () => {
    await service.removeCluster("first");
    await service.addCluster(secret("third"));
    expect(await identityOf("third")).toBe(KUBE_SYSTEM);
    await service.removeCluster("third");
  });

  it("keeps no identity where it may not be read", async () => {
    server.documents.delete(IDENTITY);
    await service.addCluster(secret("fourth"));
    expect(await identityOf("fourth")).toBeUndefined();
    await service.addCluster(secret("fifth"));
    isA(KUBE_SYSTEM);
  });
});
