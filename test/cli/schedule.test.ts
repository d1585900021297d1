import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
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
const page = readFileSync(new URL("../../docs/output.md", import.meta.url), "utf8");

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data]);
const applied = async (name: string, text: string): Promise<Said> => {
  const file = join(folder.data, name);
  writeFileSync(file, text);
  return run("apply", "-f", file, "--cluster", "eu-1");
};

beforeAll(async () => {
  folder = await shopInMemory();
  expect((await applied("checkout.yaml", MANIFEST)).code).toBe(0);
});
afterAll(() => folder.remove());

describe("tidemark schedule", () => {
  it("prints the bounds now and the coming changes, in the time of the entry and here, as the page shows them", async () => {
    const { out, err } = await run("schedule", "shop/checkout", "--next", "5");
    expect(err).toBe("");
    expect(out.split("\n").map((line) => line.split(/ {3,}/))).toEqual([
      [
        'At 2026-03-01T12:00:00Z: minReplicas 1 by the schedule "weekend", maxReplicas 5 by the schedule "weekend"',
      ],
      ["LOCAL TIME", "TIME", "MIN", "MAX", "WHAT"],
      ["2026-03-02 07:00 Europe/Berlin", "2026-03-02T06:00:00Z", "2", "40", "by the manifest"],
      [
        "2026-03-02 07:30 Europe/Berlin",
        "2026-03-02T06:30:00Z",
        "2",
        "40",
        "the floor climbs to 10 until 2026-03-02 08:00",
      ],
      [
        "2026-03-02 08:00 Europe/Berlin",
        "2026-03-02T07:00:00Z",
        "10",
        "40",
        'min by the schedule "office"',
      ],
      ["2026-03-02 18:00 Europe/Berlin", "2026-03-02T17:00:00Z", "2", "40", "by the manifest"],
      [
        "2026-03-03 07:30 Europe/Berlin",
        "2026-03-03T06:30:00Z",
        "2",
        "40",
        "the floor climbs to 10 until 2026-03-03 08:00",
      ],
      [""],
    ]);
    expect(page).toContain(out);
  });

  it("looks from another time on, across a change of the clock, and prints JSON", async () => {
    const { out } = await run(
      "schedule",
      "shop/checkout",
      "--next",
      "1",
      "--at",
      "2026-03-29T12:00:00Z",
      "-o",
      "json",
    );
    expect(JSON.parse(out)).toMatchObject({
      name: "checkout",
      at: "2026-03-29T12:00:00.000Z",
      max: {
        replicas: 5,
        by: { kind: "schedule", name: "weekend", until: "2026-03-30T05:00:00.000Z" },
      },
      changes: [
        {
          at: "2026-03-30T05:00:00.000Z",
          local: "2026-03-30 07:00",
          min: { replicas: 2, by: { kind: "manifest" } },
        },
      ],
    });
  });

  it("says so where nothing changes, and refuses a number that is none", async () => {
    expect((await run("schedule", "shop/web")).out).toContain("No change within 400 days");
    expect(await run("schedule", "shop/web", "--next", "0")).toMatchObject({
      code: 1,
      err: expect.stringContaining('Cannot use --next "0"'),
    });
  });
});

describe("tidemark apply of a schedule", () => {
  it("refuses an entry that never is, with its line, and warns of one whose dates are past", async () => {
    const never = MANIFEST.replace(
      'days: [Mon-Fri], from: "08:00", to: "18:00"',
      'dates: [2026-03-29], from: "02:10", to: "02:50"',
    );
    expect(await applied("never.yaml", never)).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 10: spec.schedule[0]: it has no window within 400 days"),
    });
    const past = MANIFEST.replace("days: [Mon-Fri]", "dates: [2025-12-24]");
    const { code, err } = await applied("past.yaml", past);
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining("spec.schedule[0]: its dates are all past"),
    });
  });
});

describe("tidemark calendar", () => {
  const stored = async (name: string, text: string): Promise<Said> => {
    const file = join(folder.data, name);
    writeFileSync(file, text);
    return run("calendar", "put", "de", "-f", file);
  };

  it("stores, lists and deletes calendars, and a schedule leaves their dates out", async () => {
    const { out, err } = await stored(
      "de.txt",
      "2020-12-25 # long past\n2026-03-02\n2026-12-25/2026-12-26\n",
    );
    expect([out, err]).toEqual([
      "Calendar de stored: 3 dates from 2026-03-02 to 2026-12-26 (3 new, 0 gone)\n",
      expect.stringContaining("dates before 2026-01-29 are left out"),
    ]);
    expect((await run("calendar", "list")).out).toBe(
      "NAME   DATES   NEXT         LAST\nde     3       2026-03-02   2026-12-26\n",
    );
    expect((await run("calendar", "list", "-o", "dates")).out).toBe(
      "2026-03-02 # de\n2026-12-25 # de\n2026-12-26 # de\n",
    );

    expect(
      (
        await applied(
          "checkout.yaml",
          MANIFEST.replace("rampMinutes: { in: 30 } }", "exceptFrom: de }"),
        )
      ).code,
    ).toBe(0);
    const next = (await run("schedule", "shop/checkout", "--next", "2")).out;
    expect(next).toContain("2026-03-02 07:00 Europe/Berlin");
    expect(next).toContain("2026-03-03 08:00 Europe/Berlin");
    expect((await run("calendar", "delete", "de")).err).toContain(
      'the schedule of "eu-1/shop/checkout" names it',
    );
    expect((await run("calendar", "delete", "de", "--force")).out).toBe("Calendar de deleted\n");
    expect((await run("schedule", "shop/checkout")).err).toContain(
      'warning: there is no calendar "de", so that the autoscaler holds',
    );
    expect((await run("calendar", "list")).out).toBe("No calendars\n");
  });

  it("reads an iCalendar file, and says to which day rules without an end are written out", async () => {
    const text =
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20241003\nRRULE:FREQ=YEARLY\nSUMMARY:Unity\nEND:VEVENT\nEND:VCALENDAR\n";
    const { out, err } = await stored("de.ics", text);
    expect(out).toBe("Calendar de stored: 3 dates from 2026-10-03 to 2028-10-03 (3 new, 0 gone)\n");
    expect(err).toContain("are written out to 2028-12-31; put the file again before then");
    expect((await stored("de.ics", text.replace("YEARLY", "WEEKLY"))).err).toContain(
      'line 4: event "Unity": RRULE with FREQ=WEEKLY is not read',
    );
  });
});
