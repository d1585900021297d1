import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEverydayTime } from "../../lib/stack/report/instant-text.ts";
import { NOON } from "../noon.ts";
import { type Folder, shopFolder } from "./folder.ts";

const zone = process.env["TZ"];
beforeAll(() => {
  process.env["TZ"] = "Europe/Berlin";
});
afterAll(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

// Noon is 12:00 UTC of Sunday, the first of March 2026: 13:00 in Berlin.
describe("an everyday time", () => {
  it.each([
    ["today", "2026-02-28T23:00:00.000Z"],
    ["yesterday", "2026-02-27T23:00:00.000Z"],
    ["monday", "2026-02-22T23:00:00.000Z"],
    ["Mon", "2026-02-22T23:00:00.000Z"],
    ["sunday", "2026-02-28T23:00:00.000Z"],
    ["sunday 14:00", "2026-02-22T13:00:00.000Z"],
    ["09:00", "2026-03-01T08:00:00.000Z"],
    ["9:05:07", "2026-03-01T08:05:07.000Z"],
    ["13:00", "2026-03-01T12:00:00.000Z"],
    ["13:01", "2026-02-28T12:01:00.000Z"],
    ["2026-01-05", "2026-01-04T23:00:00.000Z"],
    ["2025-07-05 18:30", "2025-07-05T16:30:00.000Z"],
    ["2026-01-05T18:30", "2026-01-05T17:30:00.000Z"],
    ["yesterday 18:30", "2026-02-28T17:30:00.000Z"],
  ])(
    "of the past reads %s in the time zone of the machine, as the newest that has come",
    (text, wanted) => {
      expect(iso(readEverydayTime(text, NOON, "past"))).toBe(wanted);
    },
  );

  it.each([
    ["tomorrow", "2026-03-01T23:00:00.000Z"],
    ["sunday", "2026-03-07T23:00:00.000Z"],
    ["monday", "2026-03-01T23:00:00.000Z"],
    ["13:00", "2026-03-02T12:00:00.000Z"],
    ["18:30", "2026-03-01T17:30:00.000Z"],
    // Summer time has begun by then.
    ["2026-04-05 09:00", "2026-04-05T07:00:00.000Z"],
  ])("of the future reads %s as the next to come", (text, wanted) => {
    expect(iso(readEverydayTime(text, NOON, "future"))).toBe(wanted);
  });

  it.each([
    "",
    " ",
    "noon",
    "24:00",
    "9",
    "12:60",
    "2026-02-30",
    "2026-2-3",
    "monday 25:00",
    "09:00 monday",
    "constructor",
  ])("is not %j", (text) => {
    expect(readEverydayTime(text, NOON, "past")).toBeUndefined();
  });
});

describe("a command with an everyday time", () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await shopFolder();
  });
  afterAll(() => folder.remove());

  it("says on standard error which instant it took, with the time zone, and prints the range", async () => {
    const env = { TZ: "America/New_York" };
    const { code, out, err } = await folder.tidemark(
      [
        "events",
        "-n",
        "shop",
        "--since",
        "06:00",
        "--until",
        "06:30",
        "-o",
        "jsonpath={.items[*].reason}",
      ],
      {
        env,
      },
    );
    expect([code, out]).toEqual([0, "ScaleUp"]);
    expect(err).toBe(
      'note: --since "06:00" is 2026-03-01T06:00:00-05:00 (America/New_York)\nnote: --until "06:30" is 2026-03-01T06:30:00-05:00 (America/New_York)\n',
    );
    const wrong = await folder.tidemark(["events", "--all", "--since", "1h", "--until", "2h"]);
    expect(wrong).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot use --until "2h" with --since "1h": 2026-03-01T11:00:00+01:00 is before 2026-03-01T12:00:00+01:00\n',
    });
  });

  it("knows the time zones of this Node", () => {
    expect(
      execFileSync(process.execPath, ["-p", "new Date(0).getTimezoneOffset()"], {
        env: { TZ: "Asia/Kolkata" },
      }).toString(),
    ).toBe("-330\n");
  });
});
