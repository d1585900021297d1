import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { around } from "../contracts/faults.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";
import { hpa } from "./world/manifests.ts";

/*
 *  ada  put ✓ (answer lost) ─ ─ ─ ─ ─ ─ put again ✗      the edit of ada was made, and bob has edited it since: ada must not edit again
 *  bob                     edits ✓
 */
let world: ServiceWorld;
let bob: Service;
let cluster = "";
let count = 0;

const web = () => ({ cluster, namespace: "default", name: "web" });
const apply = (service: Service, max: number) =>
  service.apply([{ file: "a.yaml", text: hpa("web", { max }) }], { cluster, dryRun: false });
const TIMEOUT = Object.assign(new Error("planted: lost answer"), { name: "TimeoutError" });

/**
 * A service of ada. Something happens at its first write of a record: before it, or between it and
 * its lost answer.
 */
const adaWith = (happens: {
  readonly before?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
}): Service => {
  let first = true;
  const client = around(world.tables.client, async (command, send) => {
    if (command !== "PutItemCommand" || !first) return send();
    first = false;
    await happens.before?.();
    const answer = await send();
    if (!happens.after) return answer;
    await happens.after();
    throw TIMEOUT;
  });
  return openService({ ...world.context, tables: { ...world.tables, client } });
};

beforeAll(async () => {
  world = await serviceWorld();
  bob = openService({ ...world.context, by: "bob" });
});
afterAll(() => world.close());
beforeEach(async () => {
  cluster = `two-${++count}`;
  await bob.addCluster({ name: cluster, connection: { kind: "kubeconfig", path: "/kube/config" } });
});

describe("a delete", () => {
  it("does not say that it deleted what another editor deleted first", async () => {
    await apply(bob, 10);
    const ada = adaWith({ before: () => bob.delete(web()) });
    await expect(ada.delete(web())).rejects.toMatchObject({
      code: "service.unknown",
      message: 'Cannot edit "web": it was deleted in the meantime',
    });
  });

  it("says that it deleted the autoscaler when its own answer was lost", async () => {
    await apply(bob, 10);
    const ada = adaWith({ after: async () => {} });
    expect(await ada.delete(web())).toMatchObject({ changed: true });
  });
});

describe("an edit whose answer was lost", () => {
  it("does not create again what another editor has deleted since", async () => {
    await apply(bob, 10);
    const ada = adaWith({ after: () => bob.delete(web()) });
    expect(await apply(ada, 12)).toMatchObject([{ outcome: "configured", generation: 2 }]);
    await expect(bob.get(web())).rejects.toMatchObject({ code: "service.unknown" });
  });

  it("does not create twice what another editor has deleted since", async () => {
    const ada = adaWith({ after: () => bob.delete(web()) });
    expect(await apply(ada, 12)).toMatchObject([{ outcome: "created", generation: 1 }]);
    await expect(bob.get(web())).rejects.toMatchObject({ code: "service.unknown" });
  });

  it("does not undo the apply that another editor has made since", async () => {
    await apply(bob, 10);
    const ada = adaWith({ after: () => apply(bob, 14) });
    expect(await apply(ada, 12)).toMatchObject([{ outcome: "configured", generation: 2 }]);
    expect(await bob.get(web())).toMatchObject({ maxReplicas: 14 });
  });

  it("does not pause again what another editor has resumed since", async () => {
    await apply(bob, 10);
    const ada = adaWith({ after: () => bob.resume(web()) });
    expect(await ada.pause(web())).toMatchObject({ changed: true });
    expect((await bob.get(web())).paused).toBeUndefined();
  });

  it("does not resume again what another editor has paused since", async () => {
    await apply(bob, 10);
    await bob.pause(web());
    const ada = adaWith({ after: () => bob.pause(web()) });
    expect(await ada.resume(web())).toMatchObject({ changed: true });
    expect((await bob.get(web())).paused).toMatchObject({ by: "bob" });
  });
});

it("an edit that another editor was faster than is made on top of the other edit", async () => {
  await apply(bob, 10);
  const ada = adaWith({ before: () => bob.pause(web()) });
  expect(await apply(ada, 12)).toMatchObject([{ outcome: "configured" }]);
  expect(await bob.get(web())).toMatchObject({ maxReplicas: 12, paused: { by: "bob" } });
});
