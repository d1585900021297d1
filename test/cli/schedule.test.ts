import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const MANIFEST = `apiVersion: tidemark.dev/v1
kind: PodAutoscaler
metadata: { name: checkout, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: checkout }
  minReplicas: 2
  maxReplicas: 40
  metrics: [{ resource: { name: cpu }, target: 60 }]
  schedule:
    - { name: office, timeZone: Europe/Berlin, days: [Mon-Fri], from: "08:00", to: "18:00", minReplicas: 10, rampMinutes: { in: 30 } }
    - { name: weekend, timeZone: Europe/Berlin, days: [Fri], from: "20:00", to: "07:00", toDay: Mon, minReplicas: 1, maxReplicas: 5 }
`;
const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
const applied = async (name: string, text: string): Promise<Said> => {
  const file = join(folder.data, name);
  writeFileSync(file, text);
  return run("apply", "-f", file, "--cluster", "eu-1");
};

beforeAll(async () => {
  folder = await shopFolder();
  expect((await applied("checkout.yaml", MANIFEST)).code).toBe(0);
});
afterAll(() => folder.remove());

describe("tidemark schedule", () => {
  it("prints the bounds now and the coming changes, in local time and UTC, as the page shows them", async () => {
    const { out, err } = await run("schedule", "shop/checkout", "--next", "5");
    expect(err).toBe("");
    expect(out.split("\n").map((line) => line.split(/ {3,}/))).toEqual([
      ['At 2026-03-01T12:00:00.000Z: minReplicas 1 by the schedule "weekend", maxReplicas 5 by the schedule "weekend"'],
      ["LOCAL TIME", "UTC", "MIN", "MAX", "WHAT"],
      ["2026-03-02 07:00 Europe/Berlin", "2026-03-02T06:00:00.000Z", "2", "40", "by the manifest"],
      ["2026-03-02 07:30 Europe/Berlin", "2026-03-02T06:30:00.000Z", "2", "40", "the floor climbs to 10 until 2026-03-02 08:00"],
      ["2026-03-02 08:00 Europe/Berlin", "2026-03-02T07:00:00.000Z", "10", "40", 'min by the schedule "office"'],
      ["2026-03-02 18:00 Europe/Berlin", "2026-03-02T17:00:00.000Z", "2", "40", "by the manifest"],
      ["2026-03-03 07:30 Europe/Berlin", "2026-03-03T06:30:00.000Z", "2", "40", "the floor climbs to 10 until 2026-03-03 08:00"],
      [""],
    ]);
    expect(page).toContain(out);
  });

  it("looks from another time on, across a change of the clock, and prints JSON", async () => {
    const { out } = await run("schedule", "shop/checkout", "--next", "1", "--at", "2026-03-29T12:00:00Z", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({
      name: "checkout",
      at: "2026-03-29T12:00:00.000Z",
      max: { replicas: 5, by: { kind: "schedule", name: "weekend", until: "2026-03-30T05:00:00.000Z" } },
      changes: [{ at: "2026-03-30T05:00:00.000Z", local: "2026-03-30 07:00", min: { replicas: 2, by: { kind: "manifest" } } }],
    });
  });

  it("says so where nothing changes, and refuses a number that is none", async () => {
    expect((await run("schedule", "shop/web")).out).toContain("No change within 400 days");
    expect(await run("schedule", "shop/web", "--next", "0")).toMatchObject({ code: 1, err: expect.stringContaining('Cannot use --next "0"') });
  });
});

describe("tidemark apply of a schedule", () => {
  it("refuses an entry that never is, with its line, and warns of one whose dates are past", async () => {
    const never = MANIFEST.replace('days: [Mon-Fri], from: "08:00", to: "18:00"', 'dates: [2026-03-29], from: "02:10", to: "02:50"');
    expect(await applied("never.yaml", never)).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 10: spec.schedule[0]: it has no window within 400 days"),
    });
    const past = MANIFEST.replace("days: [Mon-Fri]", "dates: [2025-12-24]");
    const { code, err } = await applied("past.yaml", past);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("spec.schedule[0]: its dates are all past") });
  });
});
