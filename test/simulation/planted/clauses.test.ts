import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { play } from "../play.ts";
import { reasonOf } from "./clause-reasons.ts";
import { CLAUSES, clausesOf } from "./clauses.ts";

const SEEDS = 3;

it("the list of clauses holds every clause of every conditional write that seeds send", { timeout: 120_000 }, async () => {
  const listed = new Set(CLAUSES.map(({ write, clause }) => `${write}: ${clause}`));
  const sent = new Set<string>();
  const note = (command: unknown): unknown => {
    const found = clausesOf(command);
    for (const clause of found?.clauses ?? []) sent.add(`${found?.write}: ${clause}`);
    return command;
  };
  for (let seed = 0; seed < SEEDS; seed++) await play(seed, { faults: true, told: false, planted: { leftOut: "", sent: note } });
  expect(sent.size).toBeGreaterThan(20);
  expect([...sent].filter((one) => !listed.has(one))).toEqual([]);
});

it("the table in docs/proofs.md has a row for each clause, with an invariant or a sentence", () => {
  const page = readFileSync("docs/proofs.md", "utf8");
  for (const one of CLAUSES) {
    const start = `| ${one.write} | \`${one.clause}\` | ${one.becomes} | `;
    const row = page.split("\n").find((line) => line.startsWith(start));
    expect(row?.slice(start.length).length, start).toBeGreaterThan(20);
  }
});

it("each test that a sentence of the table names is there", () => {
  const named = CLAUSES.flatMap((clause) => /^`(test\/[^`]+)`, "(.+)"$/.exec(reasonOf(clause) ?? "") ?? []);
  expect(named.length).toBeGreaterThan(10);
  for (let at = 0; at < named.length; at += 3) expect(readFileSync(named[at + 1] ?? "", "utf8")).toContain(named[at + 2]);
});
