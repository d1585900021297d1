import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";
import { specVersion } from "./world/synced.ts";

/*
 *  record written ─✗ died ── spec version raised       the sync goes on with what it has cached
 *        the same again: nothing to change ── spec version raised
 */
let world: ServiceWorld;
let service: Service;
/** Dies where it would raise the spec version. */
let dying: Service;
let cluster = "";
let count = 0;

const source = (text: string) => [{ file: "a.yaml", text }];
const web = () => ({ cluster, namespace: "default", name: "web" });
const version = (): Promise<number> => specVersion(world.tables, clusterName(cluster));

const dyingTables = (tables: Tables): Tables => {
  const client = Object.create(tables.client) as Tables["client"];
  client.send = (async (command: Parameters<Tables["client"]["send"]>[0]) => {
    if (command instanceof UpdateItemCommand) throw new Error("died");
    return tables.client.send(command);
  }) as Tables["client"]["send"];
  return { ...tables, client };
};

beforeAll(async () => {
  world = await serviceWorld();
  service = openService(world.context);
  dying = openService({ ...world.context, tables: dyingTables(world.tables) });
});
afterAll(() => world.close());
beforeEach(async () => {
  cluster = `half-${++count}`;
  await service.addCluster({
    name: cluster,
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});

it("apply tells each partition once of what it finds unchanged", async () => {
  const manifests = source(documents(hpa("web"), hpa("api")));
  await expect(dying.apply(manifests, { cluster, dryRun: false })).rejects.toThrow("died");
  expect(await version()).toBe(0);
  expect((await service.apply(source(hpa("web")), { cluster, dryRun: false }))[0]?.outcome).toBe(
    "unchanged",
  );
  expect(await version()).toBe(1);
  // The one that died had stored both, side by side.
  await service.apply(manifests, { cluster, dryRun: false });
  await service.apply(manifests, { cluster, dryRun: false });
  expect(await version()).toBe(3);
});

it("apply tells no partition in a dry run", async () => {
  await service.apply(source(hpa("web")), { cluster, dryRun: false });
  await service.apply(source(hpa("web")), { cluster, dryRun: true });
  expect(await version()).toBe(1);
});

it("pause and resume tell the partition of what they find done", async () => {
  await service.apply(source(hpa("web")), { cluster, dryRun: false });
  await expect(dying.pause(web())).rejects.toThrow("died");
  expect(await version()).toBe(1);
  expect(await service.pause(web())).toMatchObject({ changed: false });
  expect(await version()).toBe(2);
  await expect(dying.resume(web())).rejects.toThrow("died");
  expect(await service.resume(web())).toMatchObject({ changed: false });
  expect(await version()).toBe(3);
});

it("pause and resume find an autoscaler deleted by an edit that died, and tell the partition", async () => {
  await service.apply(source(hpa("web")), { cluster, dryRun: false });
  await expect(dying.delete(web())).rejects.toThrow("died");
  await expect(service.pause(web())).rejects.toMatchObject({ code: "service.unknown" });
  expect(await version()).toBe(2);
  await expect(service.resume(web())).rejects.toMatchObject({ code: "service.unknown" });
  expect(await version()).toBe(3);
});

it("an edit whose condition an edit that died has changed is refused, and tells the partition", async () => {
  const [applied] = await service.apply(source(hpa("web")), { cluster, dryRun: false });
  const onlyIf = [{ uid: applied?.uid ?? "", generation: 1 }];
  await expect(dying.pause({ ...web(), onlyIf })).rejects.toThrow("died");
  expect(await version()).toBe(1);
  await expect(service.pause({ ...web(), onlyIf })).rejects.toMatchObject({
    code: "service.changed",
  });
  expect(await version()).toBe(2);
  await expect(
    service.apply(source(hpa("web")), { cluster, dryRun: true, onlyIf }),
  ).rejects.toMatchObject({ code: "service.changed" });
  expect(await version()).toBe(2);
  await expect(
    service.apply(source(hpa("web")), { cluster, dryRun: false, onlyIf }),
  ).rejects.toMatchObject({ code: "service.changed" });
  expect(await version()).toBe(3);
});

it("delete says that there is no autoscaler, and tells the partition of the path", async () => {
  await service.apply(source(hpa("web")), { cluster, dryRun: false });
  await expect(dying.delete(web())).rejects.toThrow("died");
  expect(await version()).toBe(1);
  await expect(service.delete(web())).rejects.toMatchObject({ code: "service.unknown" });
  expect(await version()).toBe(2);
  await expect(service.delete({ cluster, name: "web" })).rejects.toMatchObject({
    code: "service.unknown",
  });
  expect(await version()).toBe(2);
});
