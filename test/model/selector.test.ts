import { describe, expect, it } from "vitest";
import {
  labelIndex,
  canonicalSelector,
  selects,
  type Requirement,
  type Selector,
  selectorOf,
} from "../../lib/rules/model/selector.ts";
import { parseSelector } from "../../lib/rules/model/selector-text.ts";

const parsed = (text: string): Selector => {
  const reading = parseSelector(text);
  if (reading.kind === "invalid") throw new RangeError(reading.message);
  return reading.selector;
};

const refusal = (text: string): string => {
  const reading = parseSelector(text);
  return reading.kind === "invalid" ? reading.message : "";
};

describe("parseSelector()", () => {
  it.each<[string, Selector]>([
    ["", []],
    ["  ", []],
    ["app=web", [{ key: "app", operator: "=", values: ["web"] }]],
    ["app==web", [{ key: "app", operator: "=", values: ["web"] }]],
    ["app!=web", [{ key: "app", operator: "!=", values: ["web"] }]],
    [
      "app = web , tier",
      [
        { key: "app", operator: "=", values: ["web"] },
        { key: "tier", operator: "exists", values: [] },
      ],
    ],
    ["!dead", [{ key: "dead", operator: "!", values: [] }]],
    ["tier in (a,b)", [{ key: "tier", operator: "in", values: ["a", "b"] }]],
    ["tier notin (a, b ,a)", [{ key: "tier", operator: "notin", values: ["a", "b"] }]],
    ["tier in (,)", [{ key: "tier", operator: "in", values: [""] }]],
    ["tier in (a,)", [{ key: "tier", operator: "in", values: ["a", ""] }]],
    ["app=", [{ key: "app", operator: "=", values: [""] }]],
    [
      "app=,tier",
      [
        { key: "app", operator: "=", values: [""] },
        { key: "tier", operator: "exists", values: [] },
      ],
    ],
    ["n>5", [{ key: "n", operator: "gt", values: ["5"] }]],
    ["n<5", [{ key: "n", operator: "lt", values: ["5"] }]],
    ["in=notin", [{ key: "in", operator: "=", values: ["notin"] }]],
    [
      "example.com/app-name=a_b.c",
      [{ key: "example.com/app-name", operator: "=", values: ["a_b.c"] }],
    ],
  ])("reads %j", (text, selector) => {
    expect(parseSelector(text)).toEqual({ kind: "selector", selector });
  });

  it.each<readonly [string, string]>([
    ["app in", "unable to parse requirement: found '' expected: '('"],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
    ["=x", "found '=', expected: !, identifier, or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    ["a,=", "found '=', expected: identifier after ','"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a=(", "unable to parse requirement: found '(', expected: identifier"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"],
    [
      "a in ()",
      "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      "a notin ()",
      "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      "a>v1",
      "unable to parse requirement: values[0]: Invalid value: \"v1\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      "a>1v",
      "unable to parse requirement: values[0]: Invalid value: \"1v\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    ...["==", "!=", "!", ")", ">", "<"].map(
      (symbol) =>
        [
          `a!=${symbol}`,
          `unable to parse requirement: found '${symbol}', expected: identifier`,
        ] as const,
    ),
    [
      "a>b",
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      "a<",
      "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])("refuses %j in the words of the API", (text, message) => {
    expect(refusal(text)).toBe(message);
  });
});

describe("matches()", () => {
  const labels = {
    app: "web",
    tier: "front",
    n: "7",
    v: "v7",
    w: "7v",
    below: "-7",
    above: "+7",
    empty: "",
  };

  it.each([
    ["", true],
    ["app=web", true],
    ["app=api", false],
    ["app=web,tier=front", true],
    ["app=web,tier=back", false],
    ["app!=api", true],
    ["app!=web", false],
    ["missing!=x", true],
    ["app in (api,web)", true],
    ["app in (api,back)", false],
    ["missing in (x)", false],
    ["app notin (api)", true],
    ["app notin (api,web)", false],
    ["missing notin (x)", true],
    ["tier", true],
    ["missing", false],
    ["!missing", true],
    ["!tier", false],
    ["empty=", true],
    ["n>6", true],
    ["n>7", false],
    ["n<8", true],
    ["n<7", false],
    ["n>+6", true],
    ["below<-6", true],
    ["below>-7", false],
    ["above>6", true],
    ["n>-8", true],
    ["n<+8", true],
    ["n<+6", false],
    ["missing>6", false],
    ["app>6", false],
    ["v>6", false],
    ["w>6", false],
    ["empty<6", false],
    ["missing<6", false],
    ["toString", false],
  ])("of %j is %s", (text, expected) => {
    expect(selects(parsed(text), labels)).toBe(expected);
  });

  it("compares numbers beyond 2^53 exactly", () => {
    expect(selects(parsed("n>9007199254740992"), { n: "9007199254740993" })).toBe(true);
  });
});

describe("canonicalSelector()", () => {
  it.each([
    ["", ""],
    ["b=1,a!=2", "a!=2,b=1"],
    ["tier in (b,a),!dead,x", "!dead,tier in (a,b),x"],
    ["z notin (q),n>5,m<4", "m<4,n>5,z notin (q)"],
    ["a=1,a=2", "a=1,a=2"],
  ])("of %j is %j", (text, canonical) => {
    expect(canonicalSelector(parsed(text))).toBe(canonical);
    expect(canonicalSelector(parsed(canonical))).toBe(canonical);
  });
});

describe("selectorOf()", () => {
  const expressions = (
    ...matchExpressions: readonly { key: string; operator: string; values?: readonly string[] }[]
  ) => selectorOf({ matchExpressions });

  it("filters nothing when the manifest gives none", () => {
    expect(selectorOf(undefined)).toEqual({ kind: "selector", selector: [] });
    expect(selectorOf({})).toEqual({ kind: "selector", selector: [] });
  });

  it("reads labels and expressions", () => {
    const wanted: readonly Requirement[] = [
      { key: "app", operator: "=", values: ["web"] },
      { key: "tier", operator: "in", values: ["b", "a"] },
      { key: "old", operator: "notin", values: ["x"] },
      { key: "live", operator: "exists", values: [] },
      { key: "dead", operator: "!", values: [] },
    ];
    const manifest = {
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "tier", operator: "In", values: ["b", "a"] },
        { key: "old", operator: "NotIn", values: ["x"] },
        { key: "live", operator: "Exists" },
        { key: "dead", operator: "DoesNotExist", values: [] },
      ],
    };
    expect(selectorOf(manifest)).toEqual({ kind: "selector", selector: wanted });
  });

  it.each([
    [
      "an unknown operator",
      { key: "a", operator: "Sort" },
      '"Sort" is not a valid label selector operator',
    ],
    [
      "an operator that only objects have",
      { key: "a", operator: "toString" },
      '"toString" is not a valid label selector operator',
    ],
    [
      "In without values",
      { key: "a", operator: "In" },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      "NotIn without values",
      { key: "a", operator: "NotIn", values: [] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      "Exists with values",
      { key: "a", operator: "Exists", values: ["x", "y"] },
      "values: Invalid value: [x y]: values set must be empty for exists and does not exist",
    ],
  ])("refuses %s", (_, expression, message) => {
    expect(expressions(expression)).toEqual({ kind: "invalid", message });
  });
});

describe("labelIndex()", () => {
  const items = [
    { name: "one", labels: { app: "web", tier: "front" } },
    { name: "two", labels: { app: "api" } },
    { name: "three", labels: { app: "web" } },
    { name: "four", labels: {} },
  ];
  const index = labelIndex<
    (typeof items)[number] & { readonly labels: Readonly<Record<string, string>> }
  >(items);
  const names = (text: string) => index.select(parsed(text)).map(({ name }) => name);

  it.each([
    ["", ["one", "two", "three", "four"]],
    ["app=web", ["one", "three"]],
    ["app in (web)", ["one", "three"]],
    ["app in (web,api)", ["one", "two", "three"]],
    ["app=web,tier=front", ["one"]],
    ["app=web,!tier", ["three"]],
    ["!app", ["four"]],
    ["app=none", []],
    ["none=x", []],
    ["toString=x", []],
  ])("selects %j in the order of the list", (text, expected) => {
    expect(names(text)).toEqual(expected);
    // The second time the index stands already.
    expect(names(text)).toEqual(expected);
  });
});
