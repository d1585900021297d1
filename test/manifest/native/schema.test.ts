import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { printedJson } from "../../../lib/command/output/documents.ts";
import { explainField, membersOf } from "../../../lib/rules/manifest/native/explain-field.ts";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import { podAutoscalerSchema } from "../../../lib/rules/manifest/native/json-schema.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";

const published = readFileSync(
  new URL("../../../docs/pod-autoscaler.schema.json", import.meta.url),
  "utf8",
);
const reference = readFileSync(new URL("../../../docs/pod-autoscaler.md", import.meta.url), "utf8");

const below = (
  path: string,
  about: FieldDescription,
): readonly { readonly path: string; readonly about: FieldDescription }[] =>
  Object.entries(membersOf(about)).flatMap(([name, member]) => {
    const own = `${path}.${name}`;
    return [{ path: own, about: member }, ...below(own, member)];
  });
const fields = below("spec", SPEC.about);

describe("the schema of a PodAutoscaler", () => {
  it("is published as the code generates it: npx tidemark explain-schema -o json", () =>
    expect(published).toBe(`${printedJson(podAutoscalerSchema(), 2)}\n`));

  it("knows every field by its path, and says what it means", () => {
    expect(fields.length).toBeGreaterThan(80);
    for (const { path, about } of fields) {
      expect(explainField(path)).toMatchObject({ kind: "known", about });
      expect(about.meaning).toMatch(/^\S.*\.$/s);
    }
  });

  it("takes paths with places of lists and without spec, and points to the nearest name", () => {
    expect(explainField("metrics[0].target")).toMatchObject({
      kind: "known",
      path: "spec.metrics[].target",
    });
    for (const kind of ["pa", "podautoscaler", "PodAutoscaler", "podautoscalers"])
      expect(explainField(`${kind}.spec.scaleUp`)).toEqual(explainField("scaleUp"));
    expect(explainField("pa")).toEqual(explainField("spec"));
    expect(explainField("spec.metric")).toEqual({
      kind: "unknown",
      path: "spec",
      name: "metric",
      nearest: "metrics",
    });
    expect(explainField("spec.owner.name")).toEqual({
      kind: "unknown",
      path: "spec.owner",
      name: "name",
    });
  });

  it("is told on the page of the manifest, every field with its default and bounds", () => {
    // Blocks of other forms have pages of their own.
    const own = fields.filter(({ path }) => !/^spec\.(hpa|watermark)\./.test(path));
    const names = own.map(({ path }) => path.slice(path.lastIndexOf(".") + 1));
    expect([...new Set(names)].filter((name) => !reference.includes(name))).toEqual([]);
  });
});
