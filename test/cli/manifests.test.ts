import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { inside } from "./inside.ts";

const example = (name: string): string => join(import.meta.dirname, `../../examples/${name}.yaml`);
/** These commands open no data folder. */
const open = () => Promise.reject(new Error("a data folder was opened"));
const run = (args: readonly string[], stdin = "") => inside(args, { stdin, open });

describe("tidemark convert", () => {
  it("prints every manifest of every file as a PodAutoscaler that is admitted", async () => {
    const { code, out, err } = await run([
      "convert",
      "-f",
      example("web"),
      "-f",
      example("watermark"),
      "-f",
      example("multi-threshold"),
    ]);
    expect(code).toBe(0);
    expect(err.split("\n").map((line) => line.slice(0, 11))).toEqual(['note: "web"', ""]);
    const documents = parseAllDocuments(out).map((document): unknown => document.toJS());
    expect(documents).toHaveLength(3);
    expect(documents.map((document) => admit(document))).toMatchObject([
      { ok: true, spec: { dialect: "hpa" } },
      { ok: true, spec: { dialect: "watermark", counts: "ready" } },
      { ok: true, spec: { dialect: "watermark", counts: "current" } },
    ]);
  });

  it("prints JSON: one manifest as it is, several as a List", async () => {
    const one = await run(["convert", "-f", example("web"), "-o", "json"]);
    expect(JSON.parse(one.out)).toMatchObject({ kind: "PodAutoscaler", metadata: { name: "web" } });
    const two = await run([
      "convert",
      "-f",
      example("web"),
      "-f",
      example("watermark"),
      "-o",
      "json",
    ]);
    expect(JSON.parse(two.out)).toMatchObject({
      kind: "List",
      items: [{ kind: "PodAutoscaler" }, { kind: "PodAutoscaler" }],
    });
  });

  it("notes of an HPA that every pod counts, and writes native rules that count the pods that are named", async () => {
    const kept = await run(["convert", "-f", example("web")]);
    expect(kept.out).toContain("rules: hpa");
    expect(kept.err).toMatch(
      /^note: "web" of ".*web\.yaml": every pod that the selector matches counts, also pods of something else and pods that have ended; --pods owned writes /,
    );
    const specs = await Promise.all(
      ["owned", "stable", "asHpa"].map(async (pods) => {
        const { code, out, err } = await run(["convert", "-f", example("web"), "--pods", pods]);
        expect({ code, err }).toEqual({ code: 0, err: "" });
        const [document] = parseAllDocuments(out).map((each): unknown => each.toJS());
        expect(document).toMatchObject({ spec: { pods } });
        const admission = admit(document);
        if (!admission.ok) throw new Error(out);
        return admission.spec;
      }),
    );
    expect(specs).toMatchObject(
      ["owned", "stable", "asHpa"].map((pods) => ({ dialect: "native", pods })),
    );
    const twice = await run(["convert", "-f", "-"], kept.out);
    expect(twice.err).toBe("");
  });

  it("leaves a PodAutoscaler what it is, from standard input too", async () => {
    const converted = await run(["convert", "-f", example("web")]);
    const again = await run(["convert", "-f", "-"], converted.out);
    expect(again).toEqual({ ...converted, err: "" });
  });

  it("says the rules of the first design too", async () => {
    const { code, out, err } = await run(["convert", "-f", example("original")]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(admit(parse(out))).toMatchObject({ ok: true, spec: { dialect: "original" } });
  });

  it("refuses a field that is not known, unless it is told otherwise", async () => {
    const mistyped = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }, maxReplicas: 3, minReplica: 2 }
`;
    expect(await run(["convert", "-f", "-"], mistyped)).toMatchObject({
      code: 1,
      out: "",
      err: 'error: Cannot accept "web" of "standard input", line 4: spec.minReplica: unknown field; write "minReplicas" if that is meant\n',
    });
    expect(await run(["convert", "-f", "-", "--validate=warn"], mistyped)).toMatchObject({
      code: 0,
      err: expect.stringMatching(
        /^warning: "web" of "standard input": spec\.minReplica: unknown field "spec\.minReplica" is ignored\nnote: "web" .*\n$/,
      ),
    });
  });

  it("reads a hostile text no further than apply does", async () => {
    const { code, err } = await run(["convert", "-f", "-"], "[]".repeat(1_000_000));
    expect([code, err]).toEqual([
      1,
      'error: Cannot read "standard input", line 1, column 3: unexpected flow-seq-start at node end\n',
    ]);
  });

  it("refuses what apply would refuse", async () => {
    const { code, err } = await run(
      ["convert", "-f", "-"],
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: web }\nspec: {}\n",
    );
    expect(code).toBe(1);
    expect(err).toMatch(/^error: Cannot accept "web" of "standard input"/);
  });
});

describe("tidemark crd", () => {
  it("prints the definition of a PodAutoscaler as the docs hold it: npm run docs -- crd", async () => {
    const { code, out, err } = await run(["crd"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      readFileSync(join(import.meta.dirname, "../../docs/pod-autoscaler.crd.yaml"), "utf8"),
    );
  });

  it("prints the same in JSON, with a status of its own, the short name pa, and conditions by type", async () => {
    const definition = JSON.parse((await run(["crd", "-o", "json"])).out);
    expect(definition).toEqual(parse((await run(["crd"])).out));
    const { names, versions } = definition.spec;
    expect(names).toMatchObject({ plural: "podautoscalers", shortNames: ["pa"] });
    const [version] = versions;
    expect(version.subresources).toEqual({ status: {} });
    expect(version.schema.openAPIV3Schema.properties.status.properties.conditions).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    });
  });

  it("writes no default into an object, so that a field that is absent stays absent", async () => {
    expect((await run(["crd", "-o", "json"])).out).not.toContain('"default":');
  });
});

describe("tidemark explain-schema", () => {
  it("prints meaning, type, default and bounds of a field", async () => {
    const { code, out } = await run(["explain-schema", "spec.scaleUp.sustainSeconds"]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "spec.scaleUp.sustainSeconds",
        "  How long the metrics must ask for it without interruption.",
        "  Type:    whole number",
        "  Default: 0",
        "  Bounds:  0 to 3600",
        "",
      ].join("\n"),
    );
  });

  it("prints the fields of an object, and without a field those of the spec", async () => {
    expect((await run(["explain-schema", "flapBudget"])).out).toContain(
      "    reversals      Most scales against the direction of the scale before.\n",
    );
    expect((await run(["explain-schema"])).out).toMatch(/^spec\n/);
  });

  it("prints JSON Schema, of a field or the whole", async () => {
    expect(JSON.parse((await run(["explain-schema", "combine", "-o", "json"])).out)).toMatchObject({
      type: ["string", "null"],
      enum: ["Max", "Min", "Mean", null],
      default: "Max",
    });
    expect(JSON.parse((await run(["explain-schema", "-o", "json"])).out)).toMatchObject({
      title: "tidemark.dev/v1 PodAutoscaler",
    });
  });

  it.each(["__proto__", "constructor", "spec.scaleUp.toString"])(
    "knows no field %s, which every object of the language has",
    async (field) => {
      const { code, err } = await run(["explain-schema", field]);
      const [path, name] = field.startsWith("spec.")
        ? ["spec.scaleUp", "toString"]
        : ["spec", field];
      expect({ code, err }).toEqual({
        code: 1,
        err: `error: Cannot explain "${field}": "${path}" has no field "${name}"\n`,
      });
    },
  );

  it("says which field was probably meant", async () => {
    const { code, err } = await run(["explain-schema", "spec.combin"]);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: Cannot explain "spec.combin": "spec" has no field "combin", did you mean "combine"?\n',
    });
  });
});
