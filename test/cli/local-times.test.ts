import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  instantText,
  shortInstantText,
  withLocalTimes,
} from "../../lib/stack/report/instant-text.ts";
import { text } from "../../lib/stack/report/printed.ts";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const zone = process.env["TZ"];
const setZone = (name: string | undefined): void => {
  if (name === undefined) delete process.env["TZ"];
  else process.env["TZ"] = name;
};

beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());
beforeEach(() => setZone("Europe/Berlin"));
afterEach(() => setZone(zone));
const run = (...args: readonly string[]) => inside([...args, "--data", folder.data]);

const UTC = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/;
const LOCAL = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+0[12]:00/;

describe("times in texts", () => {
  it.each([
    [["describe", "shop/web"]],
    [["explain", "shop/web"]],
    [["explain", "shop/web", "--at", "50s"]],
    [["events", "--all"]],
    [["events", "--all", "-o", "wide"]],
    [["events", "shop/web", "--why"]],
    [["changes", "--all"]],
    [["timeline", "shop/web"]],
    [["schedule", "shop/web"]],
    [["status"]],
    [["pause", "shop/web", "--until", "2h"]],
    [["cluster", "describe", "eu-1"]],
    [["fleet", "freeze", "--reason", "drill"]],
    [["fleet", "describe"]],
  ])("of %j are local, with the zone, and none is in UTC", async (args) => {
    const { out, err } = await run(...args);
    expect(out + err).not.toMatch(UTC);
    if (args[1] !== "eu-1" && args[1] !== "freeze" && args[0] !== "cluster")
      expect(out).toMatch(LOCAL);
  });

  it("of documents, CSV and templates stay in UTC", async () => {
    for (const output of ["json", "yaml", "jsonl", "csv", "jsonpath={.items[*].at}"]) {
      const { out } = await run("events", "--all", "-o", output);
      expect(out).toMatch(UTC);
      expect(out).not.toMatch(LOCAL);
    }
  });

  it("are in UTC with --utc, before and after the command, and for what is read too", async () => {
    for (const args of [
      ["--utc", "events", "shop/web"],
      ["events", "shop/web", "--utc"],
      ["cluster", "describe", "eu-1", "--utc"],
    ]) {
      expect((await run(...args)).out).not.toMatch(LOCAL);
    }
    expect((await run("events", "shop/web", "--since", "11:59:15", "--utc")).out).toMatch(
      /^2026-03-01T11:59:15Z +45s /m,
    );
    expect((await run("events", "shop/web", "--since", "11:59:15", "--utc")).err).toContain(
      "is 2026-03-01T11:59:15Z (UTC)",
    );
    expect(process.env["TZ"]).toBe("Europe/Berlin");
  });

  it("can be pasted into --at, --since and --until: the whole second counts", async () => {
    const [time = ""] = (await run("events", "shop/web", "--since", "50s")).out.match(LOCAL) ?? [];
    const { out } = await run("events", "shop/web", "--since", time, "--until", time);
    expect(out.trimEnd().split("\n")).toHaveLength(2);
    const explained = (await run("explain", "shop/web")).out;
    const [evaluated = ""] = explained.match(LOCAL) ?? [];
    expect((await run("explain", "shop/web", "--at", evaluated)).out).toMatch(
      /^Shown: +the nearest stored evaluation, 0s before$/m,
    );
  });
});

describe("tidemark events", () => {
  it("--for is the name of the autoscaler, with its type", async () => {
    expect(await run("events", "--for", "hpa/web", "-n", "shop", "-o", "jsonl")).toEqual(
      await run("events", "shop/web", "-o", "jsonl"),
    );
    expect((await run("events", "--for", "wpa/web", "-n", "shop")).err).toContain("error: ");
  });

  it("--why has the metrics and steps of each below it, and is refused for documents", async () => {
    const { out } = await run("events", "shop/web", "--why");
    expect(out.trimEnd().split("\n").length).toBeGreaterThan(4);
    expect(out).toMatch(/^ {4}\S/m);
    expect((await run("events", "shop/web", "--why", "-o", "json")).err).toContain(
      'Cannot use --why with --output "json"',
    );
  });
});

describe("instantText()", () => {
  it("has the offset that the zone has at the instant, and Z where it has none", () => {
    expect(instantText(Date.UTC(2026, 0, 5, 13, 3, 16, 40))).toBe("2026-01-05T14:03:16+01:00");
    expect(instantText(Date.UTC(2026, 6, 5, 13, 3, 16))).toBe("2026-07-05T15:03:16+02:00");
    setZone("America/St_Johns");
    expect(instantText(Date.UTC(2026, 0, 5, 13))).toBe("2026-01-05T09:30:00-03:30");
    setZone("UTC");
    expect(instantText(Date.UTC(2026, 0, 5, 13))).toBe("2026-01-05T13:00:00Z");
  });

  it("is short on the day of the reader only", () => {
    const nowMs = Date.UTC(2026, 0, 5, 22, 30);
    expect(shortInstantText(Date.UTC(2026, 0, 5, 13, 3, 16), nowMs)).toBe("14:03:16");
    expect(shortInstantText(Date.UTC(2026, 0, 5, 23, 30), nowMs)).toBe("2026-01-06T00:30:00");
  });

  it("is in sentences and lists of a document too, and leaves what is printed, and what is no instant", () => {
    const printed = text`2026-01-05T13:00:00.000Z`;
    expect(
      withLocalTimes({ a: ["until 2026-01-05T13:00:00.000Z, then 3"], b: 1, c: null, printed }),
    ).toEqual({
      a: ["until 2026-01-05T14:00:00+01:00, then 3"],
      b: 1,
      c: null,
      printed,
    });
    expect(withLocalTimes("2026-13-45T99:00:00Z")).toBe("2026-13-45T99:00:00Z");
  });
});
