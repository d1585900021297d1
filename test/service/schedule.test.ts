import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openQueries, openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { rightsOf } from "../../lib/rules/model/access.ts";
import { autoscalerName, clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { DAY_MS, HOUR_MS } from "../../lib/rules/model/time-text.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { around } from "../contracts/faults.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

/** A Thursday before the change of the clock in Europe. */
const THURSDAY = Date.parse("2026-03-26T12:00:00Z");

const MANIFEST = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 2
  maxReplicas: 40
  metrics: [{ resource: { name: cpu }, target: 60 }]
  schedule:
    - { name: office, timeZone: Europe/Berlin, days: [Mon-Fri], from: "08:00", to: "18:00", minReplicas: 10, rampMinutes: { in: 30 }, except: [2026-03-31], exceptFrom: de }
    - { name: night, timeZone: Europe/Berlin, days: [Mon-Sun], from: "22:00", to: "02:30", maxReplicas: 5, suspended: true }
`;

let world: ServiceWorld;
let ada: Service;
beforeAll(async () => {
  world = await serviceWorld();
  ada = openService({ ...world.context, clock: () => THURSDAY });
  await ada.addCluster({ name: "eu-1", connection: { kind: "kubeconfig", path: "/kube/config" } });
  await ada.putCalendar({ name: "de", dates: ["2026-04-03", "2026-04-06"] });
  await ada.apply([{ file: "web.yaml", text: MANIFEST }], { cluster: "eu-1", dryRun: false });
});
afterAll(() => world.close());

const WEB = { name: "eu-1/shop/web" };

describe("schedule()", () => {
  it("has the windows of two weeks, those that are left out too, with what leaves them out", async () => {
    const { at, until, lanes, missingCalendars, clockChanges } = await ada.schedule(WEB);
    expect([at, until, missingCalendars]).toEqual([
      "2026-03-26T12:00:00.000Z",
      "2026-04-09T12:00:00.000Z",
      [],
    ]);
    expect(lanes.map(({ name, suspended }) => [name, suspended])).toEqual([
      ["office", undefined],
      ["night", true],
    ]);
    const [office] = lanes;
    // Eleven weekdays: the window of the first has begun, and the window of the last has not ended.
    expect(office).toMatchObject({ timeZone: "Europe/Berlin", minReplicas: 10 });
    expect(office?.windows).toHaveLength(11);
    expect(office?.windows[0]).toEqual({
      rampFrom: "2026-03-26T06:30:00.000Z",
      from: "2026-03-26T07:00:00.000Z",
      until: "2026-03-26T17:00:00.000Z",
    });
    expect(
      office?.windows.flatMap(({ from, exceptedBy }) =>
        exceptedBy === undefined ? [] : [[from.slice(0, 10), exceptedBy]],
      ),
    ).toEqual([
      ["2026-03-31", "except"],
      ["2026-04-03", "de"],
      ["2026-04-06", "de"],
    ]);
    // In summer 08:00 in Berlin is an hour earlier.
    expect(office?.windows[2]?.from).toBe("2026-03-30T06:00:00.000Z");
    expect(clockChanges).toEqual([
      {
        at: "2026-03-29T01:00:00.000Z",
        timeZone: "Europe/Berlin",
        before: "+01:00",
        after: "+02:00",
      },
    ]);
  });

  it("has the changes that were asked for, and the overrides of the stretch with their places", async () => {
    await ada.setOverride({
      ...{ cluster: "eu-1", namespace: "shop", name: "web", min: 20, max: 30, reason: "TV spot" },
      fromMs: THURSDAY + HOUR_MS,
      untilMs: THURSDAY + 2 * HOUR_MS,
    });
    const { min, changes, overrides } = await ada.schedule({ ...WEB, most: 2 });
    expect(min).toMatchObject({ replicas: 10, by: { kind: "schedule", name: "office" } });
    expect(changes.map((change) => [change.at, change.min.replicas, change.max.replicas])).toEqual([
      ["2026-03-26T13:00:00.000Z", 20, 30],
      ["2026-03-26T14:00:00.000Z", 10, 40],
    ]);
    expect(overrides).toMatchObject([
      { scope: "autoscaler", name: "web", state: "ahead", reason: "TV spot" },
    ]);
    const before = await ada.schedule({ ...WEB, untilMs: THURSDAY + HOUR_MS });
    expect(before.overrides).toEqual([]);
    const ended = await ada.schedule({ ...WEB, fromMs: THURSDAY + 3 * HOUR_MS });
    expect(ended.overrides).toEqual([]);
  });

  it.each([
    ["ends before it begins", THURSDAY - 1],
    ["is longer than 62 days", THURSDAY + 63 * DAY_MS],
  ])("refuses a stretch that %s", async (_why, untilMs) => {
    await expect(ada.schedule({ ...WEB, untilMs })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining("at most 62 days after it"),
    });
  });

  it("names a calendar that is not there, once, with the field that names it", async () => {
    await ada.deleteCalendar("de", true);
    expect((await ada.schedule(WEB)).missingCalendars).toEqual([
      { name: "de", field: "spec.schedule[0].exceptFrom" },
    ]);
  });
});

describe("schedules()", () => {
  it("has the schedule of each autoscaler of a screen, as one of them is asked for", async () => {
    const other = MANIFEST.replaceAll("name: web", "name: api").replace(", exceptFrom: de", "");
    await ada.apply([{ file: "api.yaml", text: other }], { cluster: "eu-1", dryRun: false });
    const times = { fromMs: THURSDAY + HOUR_MS, untilMs: THURSDAY + DAY_MS, most: 1 };
    const names = ["eu-1/shop/web", "eu-1/shop/nothing", "eu-9/shop/web", "eu-1/shop/api"];
    const { schedules, unread } = await ada.schedules({ names, ...times });
    expect(schedules).toEqual([
      await ada.schedule({ ...WEB, ...times }),
      await ada.schedule({ name: "eu-1/shop/api", ...times }),
    ]);
    expect(unread).toEqual([]);
  });

  it("leaves out what the caller may not look at, and asks the table twice", async () => {
    const asked: string[] = [];
    const client = around(world.tables.client, (command, send) => {
      asked.push(command);
      return send();
    });
    const own = { ...world.context, tables: { ...world.tables, client }, clock: () => THURSDAY };
    const grace = "arn:aws:iam::123456789012:user/grace";
    const grant = {
      id: "g-1",
      arn: grace,
      role: "view",
      cluster: "eu-1",
      namespace: "pay",
    } as const;
    const given = { ...grant, atMs: THURSDAY, by: "ada" };
    const rights = rightsOf({ required: true, grants: [given], version: 1 }, grace);
    const names = ["eu-1/shop/web", "eu-1/shop/api"];
    expect((await openQueries({ ...own, rights }).schedules({ names })).schedules).toEqual([]);
    asked.length = 0;
    expect((await openQueries(own).schedules({ names })).schedules).toHaveLength(2);
    expect(asked).toHaveLength(2);
  });

  it("names an autoscaler whose manifest cannot be read beside the others", async () => {
    const name = {
      cluster: clusterName("eu-1"),
      namespace: namespace("shop"),
      name: autoscalerName("api"),
    };
    const record = await getAutoscaler(world.tables, name);
    if (!record) throw new TypeError("There is no record");
    await putAutoscaler(
      world.tables,
      { ...record, manifest: "{", generation: record.generation + 1 },
      record.generation,
    );
    const { schedules, unread } = await ada.schedules({
      names: ["eu-1/shop/api", "eu-1/shop/web"],
    });
    expect(schedules.map((one) => one.name)).toEqual(["web"]);
    expect(unread).toMatchObject([{ name: "api", message: expect.stringMatching(/./) }]);
  });

  it("refuses a name that is not whole, and times that are no stretch", async () => {
    await expect(ada.schedules({ names: ["web"] })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining("wanted CLUSTER/NAMESPACE/NAME"),
    });
    await expect(
      ada.schedules({ names: [], fromMs: THURSDAY, untilMs: THURSDAY }),
    ).rejects.toMatchObject({ code: "service.invalid" });
  });

  it("refuses more changes together than one schedule may list", async () => {
    const names = Array.from({ length: 25 }, (_, at) => `eu-1/shop/web-${at}`);
    await expect(ada.schedules({ names, most: 40 })).resolves.toMatchObject({ unread: [] });
    await expect(ada.schedules({ names, most: 41 })).rejects.toMatchObject({
      code: "service.invalid",
      message: expect.stringContaining("ask for at most 40 of each"),
    });
  });
});
