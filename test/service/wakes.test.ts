import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type Rights, rightsOf } from "../../lib/rules/model/access.ts";
import type { Wake, Waker } from "../../lib/stack/plan/wake.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

const ALARM = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:web-queue";
const GRACE = "arn:aws:sts::123456789012:assumed-role/Ops/grace";
const WEB = { name: "web-queue", alarm: ALARM, cluster: "eu-1", namespace: "shop", names: ["web"] };

let world: ServiceWorld;
let ada: Service;
const woken: Wake[] = [];
const waker: Waker = async ({ partitions }, wake) => {
  woken.push(wake);
  return partitions.map(({ name: partition }) => ({ kind: "sync", partition, dueMs: NOON }));
};
beforeAll(async () => {
  world = await serviceWorld();
  ada = openService({ ...world.context, wake: waker });
  for (const name of ["eu-1", "eu-2"])
    await ada.addCluster({ name, connection: { kind: "kubeconfig", path: `/kube/${name}` } });
});
afterAll(() => world.close());

/** A caller that may edit one namespace of one cluster. */
const grace = (namespace: string): Service => {
  const grant = { id: "g-1", arn: GRACE, role: "edit", cluster: "eu-1", namespace } as const;
  const given = { ...grant, atMs: NOON, by: "ada" };
  const rights: Rights = rightsOf({ required: true, grants: [given], version: 1 }, GRACE);
  return openService({ ...world.context, by: GRACE, rights, wake: waker });
};

describe("registered wakes", () => {
  it("are stored, listed, found unchanged, and deleted, each with its change", async () => {
    expect(await ada.putWake(WEB)).toMatchObject({ ...WEB, changed: true, updatedBy: "ada" });
    expect(await ada.putWake(WEB)).toMatchObject({ changed: false });
    expect(await ada.wakes()).toMatchObject([WEB]);
    await ada.deleteWake("web-queue");
    expect(await ada.wakes()).toEqual([]);
    const changes = await Array.fromAsync(ada.changes({ cluster: "eu-1" }));
    expect(
      changes.filter(({ scope }) => scope === "wake").map(({ verb, name, by }) => [verb, name, by]),
    ).toEqual([
      ["register", "web-queue", "ada"],
      ["unregister", "web-queue", "ada"],
    ]);
  });

  it.each([
    [
      "an alarm that is none",
      { alarm: "arn:aws:sns:eu-central-1:123456789012:topic" },
      "alarm must be the ARN of an alarm",
    ],
    ["a name that is none", { name: "Web Queue" }, "its name"],
    ["a namespace that is none", { namespace: "shop/web" }, "namespace"],
    [
      "too many names",
      { names: Array.from({ length: 51 }, (_, at) => `w-${at}`) },
      "the limit is 50",
    ],
  ])("are refused with %s", async (_what, part, words) => {
    await expect(ada.putWake({ ...WEB, ...part })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining(words),
    });
  });

  it("of other tenants are not shown, not replaced, not deleted, and their names say nothing", async () => {
    await ada.putWake(WEB);
    const other = grace("infra");
    expect(await other.wakes()).toEqual([]);
    await expect(other.putWake({ ...WEB, namespace: "infra" })).rejects.toMatchObject({
      code: "service.conflict",
      message: 'Cannot register wake "web-queue": the name is taken; choose another name',
    });
    await expect(other.deleteWake("web-queue")).rejects.toMatchObject({
      code: "service.unknown",
      message: 'Cannot find wake "web-queue": run tidemark wake list',
    });
    await expect(other.putWake({ ...WEB, name: "mine" })).rejects.toMatchObject({
      code: "service.no-grant",
    });
    expect(await grace("shop").wakes()).toMatchObject([{ name: "web-queue" }]);
    await grace("shop").deleteWake("web-queue");
  });
});

describe("wake()", () => {
  it("has the partitions of each place synced, and says when", async () => {
    woken.length = 0;
    const reason = "a queue has messages";
    expect(
      await ada.wake([
        { cluster: "eu-1", namespace: "shop", names: ["web"], reason },
        { cluster: "eu-2", reason },
      ]),
    ).toEqual({
      woken: ["eu-1", "eu-2"].map((cluster) => ({
        cluster,
        partition: "default",
        sync: "sent",
        dueAt: new Date(NOON).toISOString(),
      })),
    });
    expect(woken).toEqual([
      { cluster: "eu-1", namespace: "shop", names: ["web"], reason },
      { cluster: "eu-2", reason },
    ]);
  });

  it("wakes nothing where one of several places is unknown, or beyond the grants of the caller", async () => {
    woken.length = 0;
    const reason = "drill";
    await expect(
      ada.wake([
        { cluster: "eu-1", reason },
        { cluster: "eu-9", reason },
      ]),
    ).rejects.toMatchObject({ code: "service.unknown" });
    const limited = grace("shop");
    await expect(limited.wake([{ cluster: "eu-1", reason }])).rejects.toMatchObject({
      code: "service.no-grant",
    });
    await expect(
      limited.wake([{ cluster: "eu-1", namespace: "infra", reason }]),
    ).rejects.toMatchObject({ code: "service.no-grant" });
    await expect(limited.wake([{ cluster: "eu-2", reason }])).rejects.toMatchObject({
      code: "service.unknown",
    });
    expect(woken).toEqual([]);
  });

  it("says so where no run is alive that would sync", async () => {
    await expect(
      openService(world.context).wake([{ cluster: "eu-1", reason: "drill" }]),
    ).rejects.toMatchObject({ code: "service.conflict" });
  });
});
