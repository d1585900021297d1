import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mutationTable } from "./mutation-table.ts";
import { PARTS } from "./parts.ts";
import {
  atLoad,
  kept,
  leftOver,
  type MutantRecord,
  type MutationReport,
  scoreOf,
  summaryOf,
  totalOf,
  withResults,
} from "./summary.ts";

const mutant = (status: string, line: number, statusReason?: string): MutantRecord => ({
  status,
  mutatorName: "EqualityOperator",
  replacement: "a >=\n  b",
  location: { start: { line, column: 5 }, end: { line: line + 1, column: 9 } },
  ...(statusReason !== undefined && { statusReason }),
});

const report: MutationReport = {
  files: {
    "lib/one.ts": {
      mutants: [
        mutant("Killed", 1),
        mutant("Killed", 2),
        mutant("Survived", 3),
        mutant("Timeout", 4, "Hit limit reached (501/500)"),
      ],
    },
    "lib/other.ts": {
      mutants: [
        mutant("Timeout", 5),
        mutant("NoCoverage", 6),
        mutant("RuntimeError", 7),
        mutant("Ignored", 8),
      ],
    },
  },
};

describe("the parts of the mutation test", () => {
  it("hold every file of lib/rules/policy and lib/rules/model exactly once", () => {
    const files = Object.values(PARTS).flatMap((globs) => globs.flatMap((glob) => globSync(glob)));
    const wanted = globSync(["lib/rules/policy/**/*.ts", "lib/rules/model/**/*.ts"]);
    expect(wanted.length).toBeGreaterThan(90);
    expect(files.toSorted()).toEqual(wanted.toSorted());
  });
});

describe("the table of docs/proofs-report.md", () => {
  const rows = [
    ...readFileSync("docs/proofs-report.md", "utf8").matchAll(
      /^\| (?:`([\w/]+)`.*?|all) \| ([\d,]+) \| ([\d,]+) \|.* ([\d.]+) % \|$/gm,
    ),
  ].map(([, part = "all", mutants = "", killed = "", score = ""]) => ({
    part,
    mutants: Number(mutants.replaceAll(",", "")),
    killed: Number(killed.replaceAll(",", "")),
    score: Number(score),
  }));
  const parts = rows.filter(({ part }) => part !== "all");

  it("has a row for each part", () =>
    expect(parts.map(({ part }) => part)).toEqual(Object.keys(PARTS)));

  it("has the form that the command writes, which is a row for each part and their sum", () => {
    const head = /<!-- mutation -->\n(.*\n.*)\n/.exec(
      readFileSync("docs/proofs-report.md", "utf8"),
    )?.[1];
    expect(mutationTable([{ part: "model", summary: summaryOf(report) }]).split("\n")).toEqual([
      ...(head ?? "").split("\n"),
      "| `model` | 8 | 2 | 1 | 1 | 1 | 1 | 1 | 66.7 % |",
      "| all | 8 | 2 | 1 | 1 | 1 | 1 | 1 | 66.7 % |",
    ]);
  });

  it("adds up to its last row", () => {
    const all = rows.at(-1);
    expect(all?.mutants).toBe(parts.reduce((sum, { mutants }) => sum + mutants, 0));
    expect(all?.killed).toBe(parts.reduce((sum, { killed }) => sum + killed, 0));
  });
});

describe("summaryOf()", () => {
  it("tells endless loops from mutants that the clock ended", () =>
    expect(summaryOf(report)).toEqual({
      mutants: 8,
      killed: 2,
      endless: 1,
      slow: 1,
      survived: 1,
      uncovered: 1,
      broken: 1,
      ignored: 1,
    }));

  it("is added up over the parts", () =>
    expect(totalOf([summaryOf(report), summaryOf(report)])).toEqual({
      mutants: 16,
      killed: 4,
      endless: 2,
      slow: 2,
      survived: 2,
      uncovered: 2,
      broken: 2,
      ignored: 2,
    }));
});

describe("scoreOf()", () => {
  it("counts what no test reaches as survived, and leaves out what could not be tried", () => {
    expect(scoreOf(summaryOf(report))).toBeCloseTo((100 * 4) / 6, 10);
    expect(scoreOf(summaryOf({ files: {} }))).toBeUndefined();
  });
});

describe("what runs only when a file is loaded", () => {
  it("is asked for by its place", () => expect(atLoad(report)).toEqual(["lib/other.ts:8:4-9:8"]));

  it("gets the result of the second run, and nothing else does", () => {
    const second = {
      files: { "lib/other.ts": { mutants: [mutant("Survived", 8), mutant("Survived", 5)] } },
    };
    expect(summaryOf(withResults(report, second))).toEqual({
      ...summaryOf(report),
      ignored: 0,
      survived: 2,
    });
    expect(withResults(report, { files: {} })).toEqual(report);
  });

  it("is tried again, unless it was killed; so is what the clock ended", () => {
    const loaded = (status: string, line: number): MutantRecord => ({
      ...mutant(status, line),
      static: true,
    });
    const before = {
      files: {
        "lib/one.ts": {
          mutants: [
            loaded("Killed", 1),
            loaded("Survived", 2),
            mutant("Survived", 3),
            mutant("Timeout", 4),
          ],
        },
      },
    };
    expect(kept(before)).toEqual({
      files: { "lib/one.ts": { mutants: [loaded("Killed", 1), mutant("Survived", 3)] } },
    });
  });
});

describe("leftOver()", () => {
  it("names what was not killed for certain, one line each", () =>
    expect(leftOver(report)).toEqual([
      "lib/one.ts:3:5  Survived  EqualityOperator  a >= b",
      "lib/other.ts:5:5  Timeout  EqualityOperator  a >= b",
      "lib/other.ts:6:5  NoCoverage  EqualityOperator  a >= b",
      "lib/other.ts:7:5  RuntimeError  EqualityOperator  a >= b",
    ]));
});
