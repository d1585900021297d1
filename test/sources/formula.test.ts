import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { formulaValue } from "../../lib/rules/sources/expression.ts";
import { EXPRESSION_LIMITS, readExpression } from "../../lib/rules/sources/read-expression.ts";
import { failure, type Inputs } from "../../lib/rules/sources/source.ts";
import { refused } from "../manifest/manifests.ts";
import { manifest, native, sync } from "../policy/native/world.ts";
import { runs } from "../runs.ts";

type Values = Readonly<Record<string, number | undefined>>;
const VALUES: Values = { a: 4, b: 6, c: 0.5, zero: 0, gone: undefined };

const inputs =
  (values: Values): Inputs =>
  (name) =>
    values[name] ?? failure(`${name} is missing`);

const calculated = (text: string, values = VALUES): number | string => {
  const reading = readExpression(text);
  if (reading.kind === "refused") return `${reading.at}: ${reading.message}`;
  const value = formulaValue(reading.root, inputs(values));
  return typeof value === "number" ? value : value.message;
};

describe("a formula", () => {
  it.each<readonly [string, number]>([
    ["a + b * 2", 16],
    ["(a + b) * 2", 20],
    ["a - b - 1", -3],
    ["7 % a / 2", 1.5],
    ["-a ^ 2", -16],
    ["2 ^ 3 ^ 2", 512],
    ["2 ** -1", 0.5],
    ["1.5e1 + .5", 15.5],
    ["a > b ? a : b", 6],
    ["a > 5 ? 1 : b > 5 ? 2 : 3", 2],
    ["a > 1 && !(b < 1) || c > 9 ? 1 : 0", 1],
    ["a > 1 and not (b < 1) or c > 9 ? 1 : 0", 1],
    ["min(a, b) + max([a, b])", 10],
    ["sum(a, b, c) + mean(a, b)", 15.5],
    ["median([9, a, b])", 6],
    ["median(a, b)", 5],
    ["abs(-3) + ceil(c) + floor(c) + round(2.5) + round(-2.5)", 4],
    ["float(2.5) + int(2.9) + int(-2.9)", 2.5],
    ["count([a, b, c], # > 1)", 2],
    ["count([a, b, c], { # > 1 }) >= 2 ? 5 : 1", 5],
    ["any([a, b], # > 5) ? 1 : 0", 1],
    ["all([a, b], # > 5) ? 1 : 0", 0],
    ["none([a, b], # > 5) ? 1 : 0", 0],
    ["none([a, b], # > 1000) ? 1 : 0", 1],
    ["one([a, b], # > 5) ? 1 : 0", 1],
    ["one([a, a], # > 0) ? 1 : 0", 0],
    ["count([a, b], # > a) * 2", 2],
    ["gone ?? 8", 8],
    ["gone ?? gone ?? 8", 8],
    ["a + gone ?? 1", 5],
    ["(a + gone) ?? 1", 1],
    ["a ?? gone", 4],
    ["sum([gone ?? 0, b ?? 0])", 6],
    ["zero > 0 ? a / zero : 0", 0],
    ["if a > 5 { 1 } else if b > 5 { 2 } else { 3 }", 2],
    ["if (a > 1) { a } else { b } ", 4],
    ["(if !(a > 1) { a } else { b }) + 1", 7],
    ["let x = a + b; x * x", 100],
    ["let l = [a, b, c]; let most = max(l); most > 5 ? most : sum(l)", 6],
    ["let x = gone ?? 2; x + a", 6],
    ["let far = a > 1; far && b > 1 ? 1 : 0", 1],
    ["max(let x = a; x * 2, b)", 8],
    ["len([a, b, c])", 3],
    ["len(filter([a, b, c], # > 1))", 2],
    ["max(filter([a, b, c], { # < 5 }))", 4],
    ["sum(map([a, b], # * 2 + c))", 21],
    ["sum([a, b], # * 2)", 20],
    ["mean(filter([a, b], # > 100))", 0],
    ["median(filter([a, b], # > 100))", 0],
    ["sum(filter([a, b], # > 100))", 0],
    ["count(filter([a, b, c], # > 1), # > 5)", 1],
    ["sum(map([a, b], count([1, 5, 9], # > 4) * #))", 20],
    ["let l = a > 1 ? [a, b] : [c]; len(l)", 2],
    ["1 < a < 5 ? 1 : 0", 1],
    ["1 < a < 5 && 7 > b >= 6 ? 1 : 0", 1],
    ["5 < a < 9 ? 1 : 0", 0],
  ])("gives %s as %d", (text, value) => {
    expect(calculated(text)).toBe(value);
  });

  it.each([
    ["gone", "gone is missing"],
    ["a > 1 ? a : gone", "gone is missing"],
    ["a > 1 || gone > 1 ? 1 : 0", "gone is missing"],
    ["a * gone", "gone is missing"],
    ["gone ?? gone", "gone is missing"],
    ["max([a, gone])", "gone is missing"],
    ["count([a, gone], # > 1)", "gone is missing"],
    ["a / zero", '"/" at character 3 of the formula gives no finite number'],
    ["zero / zero > 1 ? 9 : 0", '"/" at character 6 of the formula gives no finite number'],
    ["(a / zero) ?? 1", '"/" at character 4 of the formula gives no finite number'],
    ["a % zero", '"%" at character 3 of the formula gives no finite number'],
    ["10 ^ 400", '"^" at character 4 of the formula gives no finite number'],
    ["max(filter([a, b], # > 100))", '"max" at character 1 of the formula gives no finite number'],
    ["let x = gone; a", "gone is missing"],
    ["if a > 1 { a } else { gone }", "gone is missing"],
    ["len(filter([a, gone], # > 1))", "gone is missing"],
    ["(0 - a) ^ c", '"^" at character 9 of the formula gives no finite number'],
  ])("of %s is missing", (text, why) => {
    expect(calculated(text)).toBe(why);
  });

  it.each([
    ["", "1: the end is not expected here"],
    ["a +", "4: the end is not expected here"],
    ["a b", '3: "b" is not expected here'],
    ["a; b", '2: ";" is not expected here'],
    [
      "a.b",
      '2: "." is no part of a formula; a name has letters, digits and _, and a list has each of its numbers',
    ],
    [
      '"text"',
      '1: "\\"" is no part of a formula; a formula has numbers only: let the source answer with a number',
    ],
    [
      "[a] | max()",
      '5: "|" is no part of a formula; write the function around its list: max([a, b])',
    ],
    ["a in [1, 2] ? 1 : 0", '3: "in" is not expected here; write a == 1 || a == 2'],
    ["a == nil ? 0 : a", '6: "nil" is not expected here; write a ?? 0 for a value that is missing'],
    [
      "reduce([a], #)",
      '1: "reduce" is no function of formulas; write sum, min, max or the operators',
    ],
    [
      "first([a])",
      '1: "first" is no function of formulas; a formula takes no single item of a list: name the metric itself',
    ],
    [
      "now()",
      '1: "now" is no function of formulas; a formula knows no times: write the hours as spec.schedule',
    ],
    ["let x = a; let x = b; x", '16: "x" has a meaning already: give it another name'],
    ["let max = a; max", '5: "max" has a meaning already: give it another name'],
    ["let x = gone; x ?? 1", '17: "??" replaces a metric that is missing: write it in the let'],
    ["let x = a", '10: expected ";", and found the end'],
    ["let x = [a]; x", "14: a number is needed here, and this is a list"],
    ["x + (let x = a; x) + x > 1", "1: a number is needed here, and this is a comparison"],
    ["if a { 1 } else { 2 }", "4: a comparison is needed here, and this is a number"],
    ["if a > 1 { 1 }", '15: expected "else", and found the end'],
    ["if a > 1 { 1 } else 2", '21: expected "{", and found "2"'],
    ["[a, b]", "1: a number is needed here, and this is a list"],
    ["[[a], b]", "2: a number is needed here, and this is a list"],
    ["a + [b]", "5: a number is needed here, and this is a list"],
    ["filter([a], # > 1)", "1: a number is needed here, and this is a list"],
    ["len(a)", "5: a list is needed here, and this is a number"],
    ["max(a, [b])", "8: a number is needed here, and this is a list"],
    ["map([a], # > 1)", "10: a number is needed here, and this is a comparison"],
    ["a > b", "1: a number is needed here, and this is a comparison"],
    ["a + (b > 1)", "5: a number is needed here, and this is a comparison"],
    ["a && b ? 1 : 0", "1: a comparison is needed here, and this is a number"],
    ["a ? 1 : 2", "1: a comparison is needed here, and this is a number"],
    ["a < b == c ? 1 : 0", "1: a number is needed here, and this is a comparison"],
    ["a > 1 ? 1 : b > 1", "13: a number is needed here, and this is a comparison"],
    ["!a > 1 ? 1 : 2", "2: a comparison is needed here, and this is a number"],
    [
      "#",
      '1: "#" is an item of a list, and has a meaning inside count, any, all, none, one, filter, map only',
    ],
    [
      "power([a])",
      '1: "power" is no function of formulas: they have min, max, sum, mean, len, median, abs, ceil, floor, float, int, round, count, any, all, none, one, filter, map',
    ],
    [
      "constructor(a)",
      '1: "constructor" is no function of formulas: they have min, max, sum, mean, len, median, abs, ceil, floor, float, int, round, count, any, all, none, one, filter, map',
    ],
    ["max()", '1: "max" takes one or more numbers'],
    ["abs(a, b)", '1: "abs" takes one number'],
    ["max([])", "5: a list has one or more numbers"],
    ["count([], # > 1)", "7: a list has one or more numbers"],
    ["(a", '3: expected ")", and found the end'],
    ["a ? b", "1: a comparison is needed here, and this is a number"],
    ["a > 1 ? b", '10: expected ":", and found the end'],
    [`${"(".repeat(40)}a${")".repeat(40)}`, "33: a formula is at most 32 levels deep"],
    [`${"-".repeat(40)}a`, "33: a formula is at most 32 levels deep"],
    ["a+".repeat(600), "1025: a formula has at most 1024 characters, and this one has 1200"],
    [
      `count([${"a,".repeat(100)}a], #+#+#+#+#+#>1)`,
      "1: a formula takes at most 1000 steps, and this one takes 1428",
    ],
    [
      `let l = [${"a,".repeat(40)}a]; sum(map(l, max(l)))`,
      "1: a formula takes at most 1000 steps, and this one takes 1849",
    ],
  ])("is refused at its place: %s", (text, why) => {
    expect(calculated(text)).toBe(why);
  });
});

const WORDS = [
  "a",
  "b",
  "gone",
  "zero",
  "1",
  "2.5",
  "0",
  "1e9",
  "+",
  "-",
  "*",
  "/",
  "%",
  "^",
  "<",
  ">=",
  "==",
  "&&",
  "||",
  "!",
  "?",
  ":",
  "??",
  "(",
  ")",
  "[",
  "]",
  ",",
  "#",
  "{",
  "}",
  "let x =",
  ";",
  "x",
  "if",
  "else",
];
const FUNCTION_WORDS = [
  "min(",
  "max(",
  "sum([",
  "mean(",
  "median(",
  "abs(",
  "round(",
  "count([a,b],",
  "any([a],",
  "all([gone],",
  "len(filter([a, b],",
  "sum(map([a, zero],",
];

/** Whole formulas: every one can be read. */
const { number } = fc.letrec<{ number: string; truth: string }>((tie) => ({
  number: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("a", "b", "c", "zero", "gone", "1", "0", "2.5"),
    fc
      .tuple(tie("number"), fc.constantFrom("+", "-", "*", "/", "%", "^", "??"), tie("number"))
      .map(([l, o, r]) => `(${l} ${o} ${r})`),
    fc.tuple(tie("truth"), tie("number"), tie("number")).map(([t, l, r]) => `(${t} ? ${l} : ${r})`),
    fc
      .tuple(fc.constantFrom("min", "max", "sum", "mean", "median"), tie("number"), tie("number"))
      .map(([f, l, r]) => `${f}(${l}, ${r})`),
    fc
      .tuple(fc.constantFrom("abs", "ceil", "floor", "float", "int", "round", "-"), tie("number"))
      .map(([f, of]) => `${f}(${of})`),
    fc.tuple(tie("number"), tie("number")).map(([l, r]) => `count([${l}, ${r}], # > 1)`),
    fc.tuple(tie("number"), tie("number")).map(([l, r]) => `len(filter([${l}, ${r}], # > 1))`),
    fc.tuple(tie("number"), tie("number")).map(([l, r]) => `max(map([${l}, ${r}], # - 1))`),
    fc
      .tuple(tie("truth"), tie("number"), tie("number"))
      .map(([t, l, r]) => `(if ${t} { ${l} } else { ${r} })`),
    tie("number").map((of) => `(let x = ${of}; x + 1)`),
  ),
  truth: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(tie("number"), fc.constantFrom("<", "<=", ">", ">=", "==", "!="), tie("number"))
      .map(([l, o, r]) => `(${l} ${o} ${r})`),
    fc
      .tuple(tie("truth"), fc.constantFrom("&&", "||"), tie("truth"))
      .map(([l, o, r]) => `(${l} ${o} ${r})`),
    tie("truth").map((of) => `!(${of})`),
  ),
}));

describe("any formula", () => {
  it("is always read or refused with a place inside it, and is always a finite number or missing", () => {
    const text = fc.oneof(
      fc
        .array(fc.constantFrom(...WORDS, ...FUNCTION_WORDS), { maxLength: 30 })
        .map((words) => words.join(" ")),
      fc.string({ unit: "binary", maxLength: 60 }),
      number,
    );
    fc.assert(
      fc.property(text, (formula) => {
        const reading = readExpression(formula);
        if (reading.kind === "refused") {
          expect(reading.at).toBeGreaterThanOrEqual(1);
          expect(reading.at).toBeLessThanOrEqual(
            Math.min(formula.length, EXPRESSION_LIMITS.characters) + 1,
          );
          return;
        }
        const value = formulaValue(reading.root, inputs(VALUES));
        if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
        else expect(value.message).not.toBe("");
      }),
      runs(1_000),
    );
  });

  it("never has a value without an input that no ?? replaces", () => {
    fc.assert(
      fc.property(number, (formula) => {
        const reading = readExpression(`${formula} + gone`);
        if (reading.kind === "refused") return;
        expect(formulaValue(reading.root, inputs(VALUES))).toMatchObject({ kind: "failure" });
      }),
      runs(200),
    );
  });
});

const input = (name: string) => ({ external: { metric: name }, input: true });
const METRICS = [
  input("queue"),
  input("rate"),
  { formula: { expression: "queue + 2 * rate" }, measure: "Average", target: 10 },
];
const spec = (metrics: readonly object[] = METRICS, more: object = {}) =>
  native({ metrics, ...more });

describe("a metric with a formula", () => {
  it("is admitted as docs/sources.md shows it, as every metric there", () => {
    const page = readFileSync(new URL("../../docs/sources.md", import.meta.url), "utf8");
    const blocks = [...page.matchAll(/```yaml\n(metrics:[\s\S]*?)```/g)].map(
      ([, yaml = ""]): unknown => parse(yaml),
    );
    expect(blocks).toHaveLength(6);
    for (const block of blocks)
      expect(admit(manifest(block as Readonly<Record<string, unknown>>))).toMatchObject({
        ok: true,
      });
  });

  it("scales on the value of the formula, and its inputs ask for nothing", () => {
    const { decision, count } = sync(spec(), { replicas: 2, values: { queue: 30, rate: 10 } });
    expect(count).toBe(5);
    const shown = [
      { name: "queue", value: "30" },
      { name: "rate", value: "10" },
    ];
    const formula = {
      name: "formula",
      type: "Formula",
      kind: "measured",
      value: "25",
      target: "10",
      ratio: 2.5,
      proposal: 5,
      inputs: shown,
    };
    expect(decision.metrics).toEqual([formula]);
    expect(decision.windows.status.currentMetrics).toEqual([
      {
        type: "Formula",
        formula: { expression: "queue + 2 * rate", current: { averageValue: "25" } },
      },
    ]);
  });

  it("never shrinks without one of its inputs, and says which", () => {
    const { decision, count } = sync(spec(), { replicas: 4, values: { queue: 0 } });
    expect(count).toBe(4);
    expect(decision).toMatchObject({
      kind: "hold",
      failed: true,
      because: { reason: "MetricMissing" },
    });
    expect(decision.because.message).toContain("its input rate is missing");
    expect(decision.metrics).toMatchObject([
      {
        kind: "failed",
        inputs: [
          { name: "queue", value: "0" },
          { name: "rate", message: expect.stringMatching(/./) },
        ],
      },
    ]);
  });

  it("goes on where ?? stands in for an input that is missing", () => {
    const metrics = [
      input("queue"),
      input("rate"),
      { formula: { expression: "queue + (rate ?? 5)" }, measure: "Average", target: 10 },
    ];
    expect(sync(spec(metrics), { replicas: 4, values: { queue: 5 } }).count).toBe(1);
  });

  it("wakes an idle workload, and puts it to rest", () => {
    const [queue, rate, formula] = METRICS;
    const idle = spec([{ ...queue }, { ...rate }, { ...formula, activation: 1 }], {
      minReplicas: 2,
      idle: { afterSeconds: 0 },
    });
    expect(sync(idle, { replicas: 0, values: { queue: 2, rate: 0 } }).count).toBe(2);
    expect(sync(idle, { replicas: 2, values: { queue: 0, rate: 0 } }).count).toBe(0);
    expect(sync(idle, { replicas: 2, values: { queue: 0 } }).count).toBe(2);
    expect(sync(idle, { replicas: 0, values: { queue: 0 } }).count).toBe(0);
  });

  it.each([
    [
      [{ formula: { expression: "queue +" }, target: 1 }],
      "spec.metrics[0].formula.expression",
      "cannot be read at character 8: the end is not expected here",
    ],
    [
      [input("queue"), { formula: { expression: "1 + queu + queue" }, target: 1 }],
      "spec.metrics[1].formula.expression",
      'cannot be read at character 5: "queu" is the name of no other metric',
    ],
    [
      [{ formula: { expression: "formula" }, target: 1 }],
      "spec.metrics[0].formula.expression",
      'cannot be read at character 1: "formula" is a formula, or a metric of pods',
    ],
    [
      [
        { resource: { name: "cpu" }, target: 50 },
        { formula: { expression: "cpu" }, target: 1 },
      ],
      "spec.metrics[1].formula.expression",
      'cannot be read at character 1: "cpu" is a formula, or a metric of pods',
    ],
    [
      [input("queue"), { external: { metric: "rate" }, target: 1 }],
      "spec.metrics[0].input",
      'no formula names "queue"',
    ],
    [[input("queue")], "spec.metrics", "every metric is an input"],
    [
      [
        { ...input("queue"), target: 1 },
        { formula: { expression: "queue" }, target: 1 },
      ],
      "spec.metrics[0].target",
      "may not be set with input: true",
    ],
    [
      [
        { ...input("queue"), onMissing: { action: "scaleUpOnly" } },
        { formula: { expression: "queue" }, target: 1 },
      ],
      "spec.metrics[0].onMissing",
      "may not be set with input: true",
    ],
    [[{ formula: { expression: "1" } }], "spec.metrics[0].target", ""],
  ])("is refused with the field: %j", (metrics, field, detail) => {
    expect(refused(manifest({ metrics })).problems).toContainEqual(
      expect.objectContaining({ field, detail }),
    );
  });

  it("that cannot be read is the only problem: its inputs are not called unused", () => {
    const { problems } = refused(
      manifest({ metrics: [input("queue"), { formula: { expression: "queue +" }, target: 1 }] }),
    );
    expect(problems.map(({ field }) => field)).toEqual(["spec.metrics[1].formula.expression"]);
  });
});
