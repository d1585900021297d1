import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { getCluster, raiseClusterVersion } from "../../lib/stack/store/records/clusters.ts";
import { around } from "../contracts/faults.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

/*
 *  ada  put ✓ (answer lost) ─ ─ ─ ─ ─ ─ put again ✗      the edit of ada was made, and bob has edited the cluster since: ada must not edit again
 *  bob                     edits ✓
 */
let world: ServiceWorld;
let bob: Service;
let name = "";
let count = 0;

/**
 * A service of ada. Something happens between its first write of the cluster, after so many others,
 * and the lost answer to it.
 */
const adaWith = (happens: () => Promise<unknown>, putsBefore = 0): Service => {
  let puts = 0;
  const client = around(world.tables.client, async (command, send) => {
    if (command !== "PutItemCommand" || puts++ !== putsBefore) return send();
    await send();
    await happens();
    throw Object.assign(new Error("planted: lost answer"), { name: "TimeoutError" });
  });
  return openService({ ...world.context, tables: { ...world.tables, client } });
};

const stored = () => getCluster(world.tables, clusterName(name));

beforeAll(async () => {
  world = await serviceWorld();
  bob = openService({ ...world.context, by: "bob" });
});
afterAll(() => world.close());
beforeEach(async () => {
  name = `edited-${++count}`;
  await bob.addCluster({ name, connection: { kind: "kubeconfig", path: "/kube/config" } });
});

it("a pause whose answer was lost does not pause again what another person has resumed since", async () => {
  await adaWith(() => bob.resumeCluster(name)).pauseCluster(name);
  expect((await stored())?.paused).toBeUndefined();
});

it("a resume whose answer was lost does not undo the pause that another person has made since", async () => {
  await bob.pauseCluster(name);
  await adaWith(() => bob.pauseCluster(name)).resumeCluster(name);
  expect((await stored())?.paused).toMatchObject({ by: "bob" });
});

it("a replace whose answer was lost does not undo the settings that another person has replaced since", async () => {
  const replace = (service: Service, tolerance: number) =>
    service.replaceCluster({ name, settings: { tolerance } });
  await replace(
    adaWith(() => replace(bob, 0.3)),
    0.2,
  );
  expect((await stored())?.settings.tolerance).toBe(0.3);
});

it("an edit whose answer was lost is known although a sync has raised the version before the next edit", async () => {
  const ada = adaWith(async () => {
    await raiseClusterVersion(world.tables, clusterName(name), (await stored())?.version ?? 0);
    await bob.resumeCluster(name);
  });
  await ada.pauseCluster(name);
  expect((await stored())?.paused).toBeUndefined();
});

it("an add whose answer was lost says that it added the cluster, though another person has paused it since", async () => {
  name = `${name}-new`;
  // The connection is written before the cluster.
  const ada = adaWith(() => bob.pauseCluster(name), 1);
  expect(
    await ada.addCluster({ name, connection: { kind: "kubeconfig", path: "/kube/config" } }),
  ).toMatchObject({ name });
  expect((await stored())?.paused).toMatchObject({ by: "bob" });
});

it("an edit that another editor was first with is made again upon that of the other", async () => {
  let first = true;
  const client = around(world.tables.client, async (command, send) => {
    if (command !== "PutItemCommand" || !first) return send();
    first = false;
    await bob.pauseCluster(name);
    return send();
  });
  await openService({ ...world.context, tables: { ...world.tables, client } }).replaceCluster({
    name,
    settings: { tolerance: 0.2 },
  });
  expect(await stored()).toMatchObject({ paused: { by: "bob" }, settings: { tolerance: 0.2 } });
});
