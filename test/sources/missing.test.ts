import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FieldDescription } from "../../lib/rules/fields/field-types.ts";
import type { Answer, MeasuredSamples } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { questions } from "../../lib/rules/policy/dialects.ts";
import { SOURCE_NAMES, type SourceName, sourceNamed } from "../../lib/rules/sources/sources.ts";
import { NO_METRICS, scaleRead } from "../observation.ts";
import { native, sync } from "../policy/native/world.ts";

/**
 * What a manifest writes for the required fields of a block: texts and amounts that every field
 * accepts.
 */
const filled = ({ type, fields = {}, choices, least = 1 }: FieldDescription): unknown => {
  if (type === "integer" || type === "quantity") return least;
  if (type !== "object") return choices?.[0] ?? "cpu";
  const required = Object.entries(fields).filter(([, field]) => field.required);
  return Object.fromEntries(
    required.map(([name, field]) => [name, PLACES.has(name) ? "/cpu" : filled(field)]),
  );
};

/** Fields whose texts begin with a slash. */
const PLACES: ReadonlySet<string> = new Set(["path", "pointer"]);

/** A metric of the source that may not be missing: a formula is calculated from another one. */
const specWith = (name: SourceName) =>
  name === "formula"
    ? native({
        metrics: [
          { external: { metric: "load" }, input: true },
          { formula: { expression: "max(load, 1)" }, target: 10 },
        ],
      })
    : native({
        metrics: [
          {
            [name]: { ...(filled(sourceNamed(name).field.about) as object), ...ALTERNATIVES[name] },
            target: 10,
          },
        ],
      });

/** Fields of which a manifest writes one form or the other, so that none is required by itself. */
const ALTERNATIVES: Partial<Record<SourceName, object>> = {
  cloudwatch: { namespace: "AWS/SQS", metric: "ApproximateAgeOfOldestMessage" },
  object: { describedObject: { kind: "Service", name: "web" } },
};

const answer: fc.Arbitrary<Answer<MeasuredSamples> | undefined> = fc.constantFrom(
  undefined,
  NO_METRICS,
  {
    kind: "answered" as const,
    items: [],
  },
);

describe("the table of sources", () => {
  it.each(SOURCE_NAMES)("asks a question for a metric of %s", (name) => {
    expect(questions(specWith(name), "shop", scaleRead(3)).metrics).toHaveLength(1);
  });

  it.each(SOURCE_NAMES)("never shrinks a workload on a metric of %s that is missing", (name) => {
    const spec = specWith(name);
    const asked = questions(spec, "shop", scaleRead(3)).metrics;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), answer, (replicas, missing) => {
        // PodMetrics are an index: where none are answered, the answer has no values of a pod.
        const found =
          missing?.kind === "answered" && asked[0]?.for === "resource" ? NO_METRICS : missing;
        const answers = new Map(
          found === undefined ? [] : asked.map((query) => [queryKey(query), found] as const),
        );
        const { decision, count } = sync(spec, { replicas, observed: { answers }, unstored: true });
        expect(count).toBe(replicas);
        expect(decision).toMatchObject({ kind: "hold", failed: true });
      }),
    );
  });
});
