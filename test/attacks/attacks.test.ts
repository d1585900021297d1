import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ATTACKS } from "./attacks.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");
const [, section = ""] = /\n## Attacks, before and now\n(.*?)\n## /s.exec(page) ?? [];

describe("the attacks of npm run prove -- attacks", () => {
  it("are those of docs/security.md, in its order, each with what it reached before and what it reaches now", () => {
    const rows = section
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| attack"))
      .map((line) => line.slice(2, -2).split(" | "));
    expect(ATTACKS.length).toBeGreaterThan(25);
    expect(rows.map(([name]) => name)).toEqual(ATTACKS.map(({ name }) => name));
    expect(rows.filter(([, before = "", now = ""]) => before === "" || now === "")).toEqual([]);
  });

  it("reach nothing: the list of recommender hosts, changed with the right to edit", async () => {
    const attack = ATTACKS.find(({ name }) => name.startsWith("the list of recommender hosts"));
    expect(await attack?.play(ROOT)).toMatchObject({
      held: true,
      saw: expect.stringContaining("the edit URL answered 403"),
    });
  });

  it.each(
    ATTACKS.filter(({ name }) => name.includes("recommender") && !name.startsWith("the list")),
  )("reach nothing: $name", async ({ play }) => {
    expect(await play(ROOT)).toMatchObject({ held: true });
  });
});
