import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
let dir: string;
beforeAll(async () => {
  folder = await shopInMemory();
  dir = mkdtempSync(join(tmpdir(), "tidemark-export-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true });
  folder.remove();
});
const run = (...args: readonly string[]) => inside([...args, "--data", folder.data]);
const rowsIn = (...path: readonly string[]): readonly Record<string, string>[] =>
  parse(readFileSync(join(dir, ...path), "utf8"), { columns: true });

describe("tidemark export", () => {
  it("writes what events, changes and history print, as CSV", async () => {
    const { code, out } = await run(
      "export",
      "--since",
      "3h",
      "--step",
      "15s",
      "-o",
      join(dir, "csv"),
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /events\.csv: \d+ events\n.*changes\.csv: \d+ changes\n.*history\.csv: \d+ points\n$/,
    );
    expect(readdirSync(join(dir, "csv")).toSorted()).toEqual([
      "changes.csv",
      "events.csv",
      "history.csv",
    ]);
    expect(readFileSync(join(dir, "csv", "events.csv"), "utf8")).toBe(
      (await run("events", "--all", "--since", "3h", "-o", "csv")).out,
    );
    const points = rowsIn("csv", "history.csv");
    const own = JSON.parse(
      (await run("history", "shop/web", "--since", "3h", "--step", "15s", "-o", "json")).out,
    ).points;
    expect(
      points
        .filter(({ name, namespace }) => name === "web" && namespace === "shop")
        .map(({ at, current }) => [at, current]),
    ).toEqual(
      own.map(({ at, current }: { readonly at: string; readonly current: number }) => [
        at,
        String(current),
      ]),
    );
    expect(rowsIn("csv", "changes.csv").find(({ name }) => name === "web")).toMatchObject({
      by: "ada",
      verb: "apply",
      scope: "autoscaler",
    });
  });

  it("writes JSON Lines with the same documents, only what is wanted, in its range", async () => {
    const { out } = await run(
      "export",
      "--since",
      "50s",
      "--only",
      "events",
      "--format",
      "jsonl",
      "-o",
      join(dir, "lines"),
    );
    expect(out).toContain("events.jsonl: 1 events");
    expect(readdirSync(join(dir, "lines"))).toEqual(["events.jsonl"]);
    expect(readFileSync(join(dir, "lines", "events.jsonl"), "utf8")).toBe(
      (await run("events", "--all", "--since", "50s", "-o", "jsonl")).out,
    );
  });

  it("writes through no link that waits in the folder, and goes on where an export was cut off", async () => {
    const own = join(dir, "linked");
    mkdirSync(own);
    writeFileSync(join(dir, "precious"), "of a person");
    symlinkSync(join(dir, "precious"), join(own, "events.csv.part"));
    writeFileSync(join(own, "changes.csv.part"), "cut off");
    const { code } = await run("export", "--since", "1h", "--only", "events,changes", "-o", own);
    expect([code, readFileSync(join(dir, "precious"), "utf8")]).toEqual([0, "of a person"]);
    expect(lstatSync(join(own, "events.csv")).isFile()).toBe(true);
    expect(readdirSync(own).toSorted()).toEqual(["changes.csv", "events.csv"]);
  });

  it("overwrites no file, and refuses what it does not know", async () => {
    const own = join(dir, "own");
    await run("export", "--since", "1h", "--only", "changes", "-o", own);
    writeFileSync(join(own, "events.csv"), "of a person");
    const { code, err } = await run("export", "--since", "1h", "--only", "events", "-o", own);
    expect([code, readFileSync(join(own, "events.csv"), "utf8")]).toEqual([1, "of a person"]);
    expect(err).toBe(
      `error: Cannot write "${join(own, "events.csv")}": it exists already; give another folder, or move the file away\n`,
    );
    expect((await run("export", "--since", "1h", "--only", "rows", "-o", own)).err).toBe(
      'error: Cannot export "rows": give some of events, changes, history\n',
    );
  });
});
