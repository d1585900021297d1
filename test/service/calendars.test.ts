import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { getFleet } from "../../lib/stack/store/records/clusters.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

let world: ServiceWorld;
let ada: Service;
beforeAll(async () => {
  world = await serviceWorld();
  ada = openService(world.context);
  await ada.addCluster({ name: "eu-1", connection: { kind: "kubeconfig", path: "/kube/config" } });
});
afterAll(() => world.close());

const office = (calendar: string, name = "web"): string => `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 2
  maxReplicas: 40
  metrics: [{ resource: { name: cpu }, target: 60 }]
  schedule: [{ name: office, timeZone: Etc/UTC, from: "08:00", to: "18:00", minReplicas: 10, exceptFrom: ${calendar} }]
`;
const apply = (text: string) =>
  ada.apply([{ file: "web.yaml", text }], { cluster: "eu-1", dryRun: false });

describe("calendars of the fleet", () => {
  it("are stored sorted, each date once, and say what is new and what is gone", async () => {
    expect(
      await ada.putCalendar({
        name: "de",
        dates: ["2026-12-25/2026-12-26", "2026-10-03", "2026-12-25"],
      }),
    ).toEqual({
      name: "de",
      dates: ["2026-10-03", "2026-12-25", "2026-12-26"],
      changed: true,
      added: 3,
      removed: 0,
    });
    expect(
      await ada.putCalendar({ name: "de", dates: ["2026-10-03", "2026-12-25"] }),
    ).toMatchObject({ changed: true, added: 0, removed: 1 });
    const { version } = await getFleet(world.tables);
    expect(
      await ada.putCalendar({ name: "de", dates: ["2026-12-25", "2026-10-03"] }),
    ).toMatchObject({ changed: false, added: 0, removed: 0 });
    expect((await getFleet(world.tables)).version).toBe(version);
    const edits = (await Array.fromAsync(ada.changes({}))).filter(
      ({ verb }) => verb === "put-calendar",
    );
    expect(edits.map(({ scope, by }) => [scope, by])).toEqual([
      ["fleet", "ada"],
      ["fleet", "ada"],
    ]);
    expect(edits.map(({ fields }) => fields)).toContainEqual([
      { path: "calendars.de.2026-12-26", before: true },
    ]);
  });

  it.each([
    ["an unknown date", { name: "x", dates: ["2026-02-30"] }, '"2026-02-30" is no date'],
    ["no dates", { name: "x", dates: [] }, "it has no dates"],
    ["a bad name", { name: "DE!", dates: ["2026-12-25"] }, "the name must be small letters"],
    ["too many dates", { name: "x", dates: ["2026-01-01/2027-03-01"] }, "the limit is 400"],
  ])("are refused with %s", async (_what, calendar, words) => {
    await expect(ada.putCalendar(calendar)).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining(words),
    });
  });

  it("with as many dates as before, and another one among them, is an edit", async () => {
    await ada.putCalendar({ name: "same", dates: ["2026-10-03", "2026-12-25"] });
    expect(
      await ada.putCalendar({ name: "same", dates: ["2026-10-03", "2026-12-24"] }),
    ).toMatchObject({ dates: ["2026-10-03", "2026-12-24"], changed: true, added: 1, removed: 1 });
    await ada.deleteCalendar("same");
  });

  it("have at most 1,000 dates in all, because each sync reads them", async () => {
    for (const name of ["a", "b"])
      await ada.putCalendar({ name, dates: ["2026-01-01/2027-02-04"] });
    await expect(ada.putCalendar({ name: "c", dates: ["2026-01-01/2027-01-01"] })).rejects.toThrow(
      "and the limit is 1000",
    );
    for (const name of ["a", "b"]) await ada.deleteCalendar(name);
  });

  it("must be there when a manifest names one, and cannot be deleted while a schedule names it", async () => {
    await expect(apply(office("fr"))).rejects.toThrow(
      /spec\.schedule\[0\]\.exceptFrom: there is no calendar "fr", and the fleet has de; correct the name/,
    );
    await apply(office("de"));
    await expect(ada.deleteCalendar("de")).rejects.toMatchObject({
      code: "service.in-use",
      message: expect.stringContaining('the schedule of "eu-1/shop/web" names it'),
    });
    await expect(ada.deleteCalendar("none")).rejects.toMatchObject({ code: "service.unknown" });
  });

  it("keep windows from starting on their dates, and one that was deleted by force is shown as unknown", async () => {
    const boundsOn = async (date: string) => {
      world.set(Date.parse(`${date}T12:00:00Z`));
      return (await ada.get({ name: "eu-1/shop/web" })).bounds;
    };
    expect([
      (await boundsOn("2026-12-24"))?.min.replicas,
      (await boundsOn("2026-12-25"))?.min.replicas,
    ]).toEqual([10, 2]);
    expect(await boundsOn("2026-12-24")).not.toHaveProperty("unknownCalendar");
    await ada.deleteCalendar("de", true);
    expect(await boundsOn("2026-12-25")).toMatchObject({
      unknownCalendar: { name: "de", field: "spec.schedule[0].exceptFrom" },
    });
    expect(await ada.calendars()).toEqual([]);
    world.set(NOON);
  });

  it("warn an apply when all of their dates are past", async () => {
    await ada.putCalendar({ name: "old", dates: ["2025-12-25"] });
    const [applied] = await apply(office("old", "old"));
    expect(applied?.warnings).toEqual([
      expect.stringContaining('the last date of calendar "old" is 2025-12-25, which is past'),
    ]);
  });
});
