import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { admit, admitOrThrow } from "../../../lib/rules/manifest/admit.ts";
import { counts } from "../../policy/native/world.ts";
import { rulesMarkdown } from "../../../docs/figures/rules-table.ts";
import { referenceRows } from "./rows.ts";

const page = readFileSync(new URL("../../../docs/pod-autoscaler.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]): unknown =>
  parse(yaml),
);

interface Row {
  readonly step: string;
  readonly adds: string;
  readonly pods: number;
  readonly seen: string;
  readonly then: string;
}

const rows = [
  ...page.matchAll(/^\| ([\w, ]+) \| `(.+)` \| (\d+) \| (\d+: [^|]+) \| ([\d, ]+) \|$/gm),
].map(
  ([, step = "", adds = "", pods = "", seen = "", then = ""]): Row => ({
    step,
    adds,
    pods: Number(pods),
    seen,
    then,
  }),
);

type Json = Readonly<Record<string, unknown>>;

/** The base of the table with what a row adds; both directions keep what they had. */
const withRow = (adds: string): Json => {
  const base = examples[1] as { readonly spec: Json };
  const added = parse(`{ ${adds} }`) as Json;
  const direction = (name: string): Json => ({
    ...(base.spec[name] as Json),
    ...(added[name] as Json | undefined),
  });
  return {
    ...base,
    spec: {
      ...base.spec,
      ...added,
      scaleUp: direction("scaleUp"),
      scaleDown: direction("scaleDown"),
    },
  };
};

const stepsOf = (seen: string): readonly (readonly [number, Readonly<Record<string, number>>])[] =>
  seen.split(", ").map((part) => {
    const [seconds = "", load = ""] = part.split(": ");
    return [Number(seconds), load === "?" ? {} : { load: Number(load) }];
  });

describe("docs/pod-autoscaler.md", () => {
  it("shows manifests that are admitted without a warning", () => {
    expect(examples).toHaveLength(3);
    for (const document of examples)
      expect(admit(document)).toMatchObject({ ok: true, warnings: [] });
  });

  it("has a worked example of every step", () => {
    const told = new Set(rows.map(({ step }) => step.split(",")[0]));
    expect([...told]).toEqual([
      "bounds",
      "propose",
      "idle",
      "combine",
      "sustain",
      "stabilize",
      "round",
      "limit",
      "clamp",
      "cool down",
      "flap",
      "set bounds",
      "override",
    ]);
  });

  it.each(rows)("works as it says: $step, $adds", ({ adds, pods, seen, then }) => {
    const { spec } = admitOrThrow({ document: withRow(adds), where: "the row" });
    expect(counts(spec, pods, stepsOf(seen)).join(", ")).toBe(then);
  });

  it("has every rule between fields: npm run docs -- crd", () => {
    expect(page).toContain(`<!-- rules -->\n${rulesMarkdown()}\n<!-- end of rules -->`);
  });

  it("has the row of every field, as the code describes it", () => {
    expect(referenceRows.length).toBeGreaterThan(60);
    expect(referenceRows.filter((row) => !page.includes(row))).toEqual([]);
  });
});
