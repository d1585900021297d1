import { describe, expect, it } from "vitest";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import { parseSelector } from "../../lib/rules/model/selector-text.ts";

const ITEMS = [
  { name: "a", labels: { app: "web", tier: "front" } },
  { name: "b", labels: { app: "web", tier: "back" } },
  { name: "c", labels: { app: "api" } },
  { name: "d", labels: { app: "" } },
  { name: "e", labels: {} },
];

/** The same items, counting how often the labels of any of them are read. */
const counted = () => {
  let reads = 0;
  const items = ITEMS.map(({ name, labels }) => ({
    name,
    get labels(): Readonly<Record<string, string>> {
      reads++;
      return labels;
    },
  }));
  return { index: labelIndex(items), reads: () => reads };
};

const selectorOf = (text: string) => {
  const reading = parseSelector(text);
  if (reading.kind === "invalid") throw new RangeError(reading.message);
  return reading.selector;
};

describe("labelIndex()", () => {
  it.each([
    ["", "abcde"],
    ["app=web", "ab"],
    ["app in (web)", "ab"],
    ["app in (web,api)", "abc"],
    ["app=web,tier=back", "b"],
    ["tier,app=web", "ab"],
    ["app=", "d"],
    ["app!=web", "cde"],
    ["toString=x", ""],
    ["app=absent", ""],
  ])("selects by %j", (text, names) =>
    expect(
      counted()
        .index.select(selectorOf(text))
        .map(({ name }) => name)
        .join(""),
    ).toBe(names),
  );

  it.each(["app=web", "app in (web)"])(
    "reads the labels of all items once for %j, then none",
    (text) => {
      const { index, reads } = counted();
      index.select(selectorOf(text));
      const first = reads();
      index.select(selectorOf(text));
      index.select(selectorOf("app=api"));
      expect([first > 0, reads()]).toEqual([true, first]);
    },
  );

  it.each(["app=web,tier=back", "tier in (back,front),app=web", "app in (web),tier!=front"])(
    "reads the labels of the candidates alone for %j",
    (text) => {
      const { index, reads } = counted();
      index.select(selectorOf("app=web"));
      index.select(selectorOf("tier=back"));
      const before = reads();
      index.select(selectorOf(text));
      expect(reads() - before).toBeLessThanOrEqual(2);
    },
  );
});
