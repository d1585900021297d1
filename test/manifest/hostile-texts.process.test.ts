import { beforeAll, describe, expect, it } from "vitest";
import {
  type Budget,
  MAX_DEPTH,
  MAX_DOCUMENTS,
  MAX_LEXEMES,
  MAX_MANIFESTS,
  MAX_NODES,
  MAX_STEP_BYTES,
  MAX_TEXT_BYTES,
  newBudget,
} from "../../lib/rules/manifest/budget.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { v2 } from "./manifests.ts";

/** A tenth of the largest text, read under a tenth of the limits. */
const SCALE = 10;
const SIZE = Math.floor(MAX_TEXT_BYTES / SCALE);

const filled = (part: string, before = "", after = "", size = SIZE): string =>
  before + part.repeat(Math.floor((size - before.length - after.length) / part.length)) + after;

const numbered = (part: (index: number) => string, length: number): string =>
  Array.from({ length }, (_, index) => part(index)).join("");

/** Texts of 200 KiB that are all work and no manifest, or look like it. */
const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ["[]", filled("[]")],
  ["{} ", filled("{} ")],
  ["{} on lines", filled("{}\n")],
  ["open lists", filled("[")],
  ["open objects", filled("{")],
  ["closed lists", filled("]")],
  ["lists inside each other", "[".repeat(SIZE / 2) + "]".repeat(SIZE / 2)],
  ["list items inside each other", filled("- ")],
  ["keys inside each other", filled("? ")],
  ["empty lists in a list", filled("[],", "[", "]")],
  ["commas", filled(",", "[")],
  ["empty documents", filled("---\n")],
  ["ends of documents", filled("...\n")],
  ["directives", filled("%a\n")],
  ["comments", filled("#\n")],
  ["line breaks", filled("\n")],
  ["blank lines", filled(" \n")],
  ["tabs", filled("\t")],
  ["quotes", filled("' ")],
  ["colons", filled("a:")],
  ["anchors", filled("&a ")],
  ["tags", filled("!a ")],
  ["aliases", filled("- *a\n", "a: &a x\nb:\n")],
  ["items", filled("- a\n")],
  ["the same key", filled("a: b\n")],
  ["other keys", numbered((index) => `k${index}: 1\n`, 18_000)],
  ["other anchors", numbered((index) => `- &a${index} x\n`, 15_000)],
  ["keys that are lists", filled("? [a]\n: b\n")],
  [
    "a merge key",
    `a: &a {${numbered((index) => `k${index}: 1,`, 10_000)}}\nb:\n${"- <<: *a\n".repeat(90)}`,
  ],
  ["a long text, repeated", `a: &a ${"x".repeat(190_000)}\nb: [${"*a,".repeat(90)}]\n`],
  ["a long text of many lines", filled("words\n  ", "a: ")],
  ["a long text of escapes", filled("\\n", 'a: "', '"')],
];

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** A budget of a tenth, which tells how many tokens were read. */
const tenth = (): { readonly budget: Budget; readonly lexemes: () => number } => {
  const real = newBudget();
  let lexemes = 0;
  const spend: Budget["spend"] = (what, amount, at) => {
    if (what === "lexemes") lexemes += amount;
    real.spend(what, amount * SCALE, at);
  };
  return { budget: { ...real, spend }, lexemes: () => lexemes };
};

const readBy = (text: string) => {
  const { budget, lexemes } = tenth();
  const fromMs = cpuMs();
  const outcome = (() => {
    try {
      return readManifests(text, "hostile.yaml", { budget }).length;
    } catch (error) {
      if (!isTidemarkError(error, "manifest.unreadable")) throw error;
      return "refused";
    }
  })();
  return { ms: cpuMs() - fromMs, lexemes: lexemes(), outcome };
};

/** A tenth of a step, of the usual kind. */
const ORDINARY = JSON.stringify(
  { kind: "List", items: Array.from({ length: MAX_MANIFESTS / SCALE }, () => v2()) },
  undefined,
  2,
);

/**
 * How many times as much as an ordinary text the same number of tokens may cost: the parser does
 * more for some than for others.
 */
const MOST_TIMES_ORDINARY = 5;

describe("readManifests() of a hostile text", () => {
  let mostMs = 0;
  beforeAll(() => {
    readBy(ORDINARY);
    const ordinary = Array.from({ length: 5 }, () => readBy(ORDINARY)).toSorted(
      (a, b) => a.ms - b.ms,
    )[2];
    mostMs =
      ((ordinary?.ms ?? 0) / (ordinary?.lexemes ?? 1)) *
      (MAX_LEXEMES / SCALE) *
      MOST_TIMES_ORDINARY;
  });

  it.each(HOSTILE)(
    "refuses it in our own words, for the processor time of a few ordinary texts of as many tokens at most: %s",
    (_, text) => {
      const { outcome, lexemes, ms } = readBy(text);
      expect(outcome).toBe("refused");
      expect(lexemes).toBeLessThanOrEqual(MAX_LEXEMES / SCALE + 1);
      expect(ms).toBeLessThan(mostMs);
    },
  );

  it.each(["[]", "{} "])("refuses two megabytes of %s at the first fault", (part) => {
    const fromMs = cpuMs();
    const text = filled(part, "", "", MAX_TEXT_BYTES);
    expect(() => readManifests(text, "hostile.yaml")).toThrow(
      'Cannot read "hostile.yaml", line 1, column ',
    );
    expect(cpuMs() - fromMs).toBeLessThan(1_000);
  });
});

describe("a budget", () => {
  const at = { where: "a.yaml" };

  it.each([
    ["bytes", MAX_STEP_BYTES],
    ["manifests", MAX_MANIFESTS],
    ["documents", MAX_DOCUMENTS],
    ["lexemes", MAX_LEXEMES],
    ["nodes", MAX_NODES],
  ] as const)("admits as many %s as its limit, and not one more", (what, most) => {
    const budget = newBudget();
    budget.spend(what, most - 1, at);
    budget.spend(what, 1, at);
    expect(() => budget.spend(what, 1, at)).toThrow(
      /^Cannot read "a\.yaml": .*; apply it in several steps$/,
    );
  });

  it("ends when the processor time is over", () => {
    let nowMs = 5;
    const budget = newBudget(() => nowMs);
    nowMs = 20_005;
    budget.checkTime(at);
    nowMs = 20_006;
    expect(() => budget.checkTime(at)).toThrow(
      'Cannot read "a.yaml": reading it takes more than 20 s of processor time; apply it in several steps',
    );
  });

  it("is shared by all texts of a step: many small ones cost no more than one large one", () => {
    const budget = newBudget();
    const text = numbered(() => "---\n", MAX_DOCUMENTS / 2 + 1);
    readManifests(`${text}kind: A\n`, "a.yaml", { budget });
    expect(() => readManifests(`${text}kind: A\n`, "b.yaml", { budget })).toThrow(
      'Cannot read "b.yaml": one step has more than 5000 documents',
    );
  });
});

it.each([
  ["flow", (depth: number) => "[".repeat(depth) + "]".repeat(depth)],
  ["block", (depth: number) => numbered((index) => `${" ".repeat(index)}a:\n`, depth)],
])(
  "readManifests() reads a %s nesting of a manifest's depth, and refuses one without end",
  (_, nested) => {
    expect(readManifests(nested(MAX_DEPTH / 2), "a.yaml")).toHaveLength(1);
    expect(() => readManifests(nested(MAX_DEPTH + 1), "a.yaml")).toThrow(
      `it is nested more than ${MAX_DEPTH} levels deep`,
    );
  },
);
