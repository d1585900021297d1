import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { play } from "../play.ts";
import { reasonOf } from "./clause-reasons.ts";
import { CONDITIONAL_REQUESTS, REQUESTS_BY_FILE } from "./clause-requests.ts";
import { CLAUSES, clausesOf } from "./clauses.ts";

const SEEDS = 3;

const clauseKeys = (commands: readonly unknown[]): readonly string[] =>
  commands.flatMap((command) => {
    const found = clausesOf(command);
    return found?.clauses.map((clause) => `${found.write}: ${clause}`) ?? [];
  });
const LISTED = new Set(CLAUSES.map(({ write, clause }) => `${write}: ${clause}`));

it("the list of clauses is that of every conditional request that lib/stack/store builds", () => {
  // An insert into the history has no condition: its statement itself refuses a key that is there.
  expect(
    new Set([...clauseKeys(CONDITIONAL_REQUESTS), "insert into history: attribute_not_exists(pk)"]),
  ).toEqual(LISTED);
});

it("there is a request of each file of lib/stack/store that has a condition", () => {
  const files = readdirSync("lib/stack/store", { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts"),
  );
  const conditional = files.filter((file) =>
    /\bConditionExpression:/.test(readFileSync(`lib/stack/store/${file}`, "utf8")),
  );
  expect(conditional.toSorted()).toEqual(Object.keys(REQUESTS_BY_FILE).toSorted());
});

it("seeds send no other conditional request", { timeout: 120_000 }, async () => {
  const sent: unknown[] = [];
  const note = (command: unknown): unknown => {
    sent.push(command);
    return command;
  };
  for (let seed = 0; seed < SEEDS; seed++)
    await play(seed, { faults: true, told: false, planted: { leftOut: "", sent: note } });
  const keys = new Set(clauseKeys(sent));
  expect(keys.size).toBeGreaterThan(20);
  expect([...keys].filter((key) => !LISTED.has(key))).toEqual([]);
});

it("the table in docs/proofs-report.md has a row for each clause, with an invariant or a sentence", () => {
  const page = readFileSync("docs/proofs-report.md", "utf8");
  for (const one of CLAUSES) {
    const start = `| ${one.write} | \`${one.clause}\` | ${one.becomes} | `;
    const row = page.split("\n").find((line) => line.startsWith(start));
    expect(row?.slice(start.length).length, start).toBeGreaterThan(20);
  }
});

it("each test that a sentence of the table names is there", () => {
  const named = CLAUSES.flatMap(
    (clause) => /^`(test\/[^`]+)`, "(.+)"$/.exec(reasonOf(clause) ?? "") ?? [],
  );
  expect(named.length).toBeGreaterThan(10);
  for (let at = 0; at < named.length; at += 3)
    expect(readFileSync(named[at + 1] ?? "", "utf8")).toContain(named[at + 2]);
});
