import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { podAutoscalerSchema } from "../../../lib/rules/manifest/native/json-schema.ts";
import type { Problem } from "../../../lib/rules/fields/problem.ts";
import { isPodAutoscaler, SHIPPED } from "../shipped.ts";
import { altered } from "./altered.ts";
import { ajv, told } from "./outside.ts";
import { runs } from "../../runs.ts";

const schema = podAutoscalerSchema();
const validate = ajv.compile(schema);
describe("the JSON Schema, by a validator that is not ours", () => {
  it("is a schema of the draft that it names", () => {
    expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(ajv.validateSchema(schema)).toBe(true);
  });

  it("takes every PodAutoscaler that is shipped", () => {
    const native = SHIPPED.filter(({ document }) => isPodAutoscaler(document));
    expect(native.length).toBeGreaterThan(4);
    for (const { document, where } of native)
      expect([where, validate(document) || told(validate.errors)]).toEqual([where, true]);
  });

  it("takes no manifest of another form", () => {
    const foreign = SHIPPED.filter(({ document }) => !isPodAutoscaler(document));
    expect(foreign.length).toBeGreaterThan(10);
    expect(foreign.filter(({ document }) => validate(document))).toEqual([]);
  });
});

const native = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  maxReplicas: 9,
  metrics: [{ external: { metric: "lag" }, target: 1 }],
};
const { metrics: _of, ...bare } = native;
const manifest = (spec: unknown) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web" },
  spec,
});

describe("fields that only some rules accept", () => {
  it.each([
    ["native, with metrics of its own", native, true],
    ["native, without metrics", bare, false],
    ["native, with the block of another form", { ...native, hpa: {} }, false],
    ["native, minReplicas 0", { ...native, minReplicas: 0 }, false],
    ["native, idle without an activation", { ...native, idle: {} }, false],
    ["hpa, with nothing else", { ...bare, rules: "hpa" }, true],
    ["hpa, with metrics of the native rules", { ...native, rules: "hpa" }, false],
    [
      "hpa, with an unknown field in a metric",
      { ...bare, rules: "hpa", hpa: { metrics: [{ type: "Resource", resorce: {} }] } },
      false,
    ],
    ["hpa, to zero by cpu alone", { ...bare, rules: "hpa", minReplicas: 0 }, false],
    [
      "watermark, with its block",
      {
        ...bare,
        rules: "watermark",
        watermark: { recommender: { url: "https://r.example", highWatermark: 2, lowWatermark: 1 } },
      },
      true,
    ],
    ["watermark, with the block of another form", { ...bare, rules: "watermark", hpa: {} }, false],
    [
      "hpa, with a block of the first design and nothing behind it",
      { ...bare, rules: "hpa", hpa: { cpuUtilization: null } },
      true,
    ],
    [
      "fields with nothing behind them",
      { ...native, idle: null, owner: null, scaleUp: null },
      true,
    ],
  ])("%s: %#", (_, spec, valid) => {
    expect([
      admit(manifest(spec)).ok && admit(manifest(spec)).warnings.length === 0,
      validate(manifest(spec)),
    ]).toEqual([valid, valid]);
  });
});

/**
 * What no JSON Schema can say: how two numbers compare, which texts are names; and, in
 * `hasTextualAmount`, what a text amounts to.
 */
const BEYOND: readonly RegExp[] = [
  /must be greater than or equal to `?minReplicas|inferior to the maximum/,
  /strictly inferior to the High/,
  /may not be \d+ while/,
  /must be an http or https address/,
  /must be less than or equal to (high|maxReplicas)/,
  /must lie within minReplicas/,
  /must be greater than or equal to everySeconds|must be one to 300 periods/,
  /cannot be read at character|no formula names|is the id of no input|is not among the functions|has no inputs|must have names and values/,
  /must be unique/,
  /must be less than minReplicas/,
  /may not contain|may not be '|regex used for validation|standard resource/,
  /must be a date that exists|must not end before|zone data/,
  /must be group\/version|unexpected GroupVersion|must specify API group/,
];

const isBeyond = ({ detail }: Problem): boolean => BEYOND.some((words) => words.test(detail));
const hasTextualAmount = (document: unknown): boolean =>
  /"(?:-1|0|0\.5|1500m|2k|1Gi)"/.test(JSON.stringify(document));

/** What the schema must say: "valid", "refused", or "free" where it cannot know. */
const wantedOf = (document: unknown): "valid" | "refused" | "free" => {
  const admission = admit(document);
  if (admission.warnings.some(({ message }) => message.startsWith("unknown field")))
    return "refused";
  if (admission.ok) return "valid";
  return hasTextualAmount(document) || admission.problems.every(isBeyond) ? "free" : "refused";
};

/** Enough that each of the three is seen. */
const DOCUMENTS = Math.max(500, runs(500).numRuns);

describe("the JSON Schema and admit()", () => {
  it("always agree, but for what JSON Schema cannot say", () => {
    const seen = { valid: 0, refused: 0, free: 0 };
    fc.assert(
      fc.property(altered, (document) => {
        const wanted = wantedOf(document);
        seen[wanted]++;
        if (wanted === "free") return;
        expect([wanted, validate(document), told(validate.errors)]).toEqual([
          wanted,
          wanted === "valid",
          expect.anything(),
        ]);
      }),
      { numRuns: DOCUMENTS },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(DOCUMENTS / 60);
  });
});
