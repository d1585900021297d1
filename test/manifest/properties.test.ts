import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FORMS } from "../../lib/rules/manifest/other-kinds.ts";
import { type Admitted, admit, admitOrThrow, specOf } from "../../lib/rules/manifest/admit.ts";
import { readManifests } from "../../lib/rules/manifest/documents.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { milliOfText } from "../../lib/rules/model/quantity.ts";
import type { HpaSpec } from "../../lib/rules/model/spec-hpa.ts";
import { runs } from "../runs.ts";
import { hpaSpec, v2 } from "./manifests.ts";

const RUNS = runs(1_000);

/** Runs it, and lets nothing but the project's own error out. */
const outcomeOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    if (error instanceof TidemarkError) return error.message;
    throw error;
  }
};

const quantity = fc.oneof(
  fc.constantFrom("0", "1", "250m", "1Gi", "1n", "-1", "1e3", "9E", "8Ei", "x", ""),
  fc.integer(),
  fc.double(),
  fc.bigInt().map(String),
);
const word = fc.constantFrom(
  "",
  "cpu",
  "web",
  "..",
  "a/b",
  "Web",
  "Utilization",
  "Value",
  "AverageValue",
  "Pods",
  "Percent",
  "Max",
  "Disabled",
  "apps/v1",
  "a/b/c",
);
const number = fc.oneof(
  fc.integer({ min: -2, max: 4_000 }),
  fc.constantFrom(2 ** 31, 1.5, Number.NaN, "5"),
);
const leaf = fc.oneof(quantity, word, number, fc.constantFrom(null, undefined, true, {}, []));
const record = (names: readonly string[], value: fc.Arbitrary<unknown>) =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });

const target = fc.oneof(
  record(["type", "value", "averageValue", "averageUtilization"], leaf),
  leaf,
);
const identifier = fc.oneof(record(["name", "selector"], leaf), leaf);
const source = fc.oneof(
  record(
    [
      "name",
      "container",
      "metric",
      "target",
      "describedObject",
      "metricName",
      "targetValue",
      "targetAverageValue",
      "surprise",
    ],
    fc.oneof(leaf, target, identifier),
  ),
  leaf,
);
const metric = fc.oneof(
  fc.record(
    {
      type: fc.constantFrom("Object", "External", "Pods", "Resource", "ContainerResource", ""),
      object: source,
      external: source,
      pods: source,
      resource: source,
      containerResource: source,
    },
    { requiredKeys: [] },
  ),
  leaf,
);
const rules = fc.oneof(
  record(
    ["stabilizationWindowSeconds", "selectPolicy", "tolerance", "policies"],
    fc.oneof(leaf, fc.array(record(["type", "value", "periodSeconds"], leaf))),
  ),
  leaf,
);
const sides = fc.oneof(record(["scaleUp", "scaleDown"], rules), leaf);
const direction = fc.oneof(
  record(
    ["percent", "pods", "periodSeconds", "delaySeconds", "rate"],
    fc.oneof(leaf, record(["percent", "pods"], leaf)),
  ),
  leaf,
);

/** Manifests of every form that are close to right: each field is there or not, right or wrong. */
const nearlyRight = fc
  .record({
    apiVersion: fc.constantFrom(...FORMS.map(({ apiVersion }) => apiVersion)),
    kind: fc.constant("HorizontalPodAutoscaler"),
    metadata: fc.oneof(
      fc.record(
        {
          name: word,
          namespace: word,
          labels: fc.oneof(fc.dictionary(fc.string(), leaf), leaf),
          annotations: fc.oneof(fc.dictionary(fc.string(), word), leaf),
        },
        { requiredKeys: [] },
      ),
      leaf,
    ),
    spec: fc.oneof(
      fc.record(
        {
          scaleTargetRef: fc.oneof(record(["kind", "name", "apiVersion"], word), leaf),
          scaleRef: fc.oneof(
            record(["kind", "name", "apiVersion", "namespace", "subresource"], word),
            leaf,
          ),
          minReplicas: number,
          maxReplicas: number,
          metrics: fc.oneof(fc.array(metric, { maxLength: 4 }), leaf),
          behavior: sides,
          constraints: fc.oneof(record(["scaleUp", "scaleDown", "delaySeconds"], direction), leaf),
          cpuUtilization: fc.oneof(record(["targetPercentage"], number), leaf),
        },
        { requiredKeys: [] },
      ),
      leaf,
    ),
  })
  .map((document): unknown => document);

describe("any JSON value", () => {
  it("never makes admit() throw", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.jsonValue().map((spec) => ({ ...v2(), spec })),
          nearlyRight,
        ),
        fc.option(nearlyRight),
        (document, old) => {
          const admission = admit(document, { old: old ?? undefined });
          if (admission.ok) expect(admission.spec.maxReplicas).toBeGreaterThanOrEqual(1);
          else expect(admission.problems.length).toBeGreaterThan(0);
        },
      ),
      RUNS,
    );
  });

  it("always gives a spec or Tidemark's own error", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          nearlyRight.map((document) => JSON.stringify(document)),
        ),
        (text) => {
          outcomeOf(() => specOf(text));
          outcomeOf(() => readManifests(text, "hpa.yaml").map((given) => admitOrThrow(given)));
        },
      ),
      runs(300),
    );
  });
});

const amount = fc.constantFrom(
  "1",
  "250m",
  "0.5",
  "1500Mi",
  "1e3",
  "1n",
  "12345678901234567890",
  "7.9Ei",
  "08",
  "1.500",
  "5E-1",
);
const selector = fc.constantFrom(
  undefined,
  {},
  { matchLabels: { b: "1", a: "2" } },
  { matchExpressions: [{ key: "k", operator: "In", values: ["x"] }] },
);
const named = fc.record({ name: fc.constantFrom("rps", "Hits", "queue.depth"), selector });
const perPod = fc.record({ type: fc.constant("AverageValue"), averageValue: amount });
const whole = fc.record({ type: fc.constant("Value"), value: amount });
const usage = fc.oneof(
  perPod,
  fc.record({
    type: fc.constant("Utilization"),
    averageUtilization: fc.integer({ min: 1, max: 300 }),
  }),
);
const described = fc.constantFrom(
  { kind: "Service", name: "web" },
  { kind: "Namespace", name: "other", apiVersion: "v1" },
);
const goodMetric = fc.oneof(
  fc.record({
    type: fc.constant("Resource"),
    resource: fc.record({ name: fc.constantFrom("cpu", "memory"), target: usage }),
  }),
  fc.record({
    type: fc.constant("ContainerResource"),
    containerResource: fc.record({
      name: fc.constant("cpu"),
      container: fc.constant("app"),
      target: usage,
    }),
  }),
  fc.record({ type: fc.constant("Pods"), pods: fc.record({ metric: named, target: perPod }) }),
  fc.record({
    type: fc.constant("Object"),
    object: fc.record({
      describedObject: described,
      metric: named,
      target: fc.oneof(whole, perPod),
    }),
  }),
  fc.record({
    type: fc.constant("External"),
    external: fc.record({ metric: named, target: fc.oneof(whole, perPod) }),
  }),
);
/** Bounds go one step beyond what is allowed, so that about half of these are refused. */
const goodRules = fc.record(
  {
    stabilizationWindowSeconds: fc.oneof(
      fc.integer({ min: 0, max: 3_600 }),
      fc.constantFrom(-1, 3_601),
    ),
    selectPolicy: fc.constantFrom("Max", "Min", "Disabled"),
    tolerance: amount,
    policies: fc.array(
      fc.record({
        type: fc.constantFrom("Pods", "Percent"),
        value: fc.integer({ min: 0, max: 200 }),
        periodSeconds: fc.oneof(fc.integer({ min: 1, max: 1_800 }), fc.constantFrom(0, 1_801)),
      }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);
const good = fc
  .record(
    {
      minReplicas: fc.integer({ min: 0, max: 4 }),
      maxReplicas: fc.integer({ min: 3, max: 50 }),
      metrics: fc.array(goodMetric, { maxLength: 3 }),
      behavior: fc.record({ scaleUp: goodRules, scaleDown: goodRules }, { requiredKeys: [] }),
    },
    { requiredKeys: ["maxReplicas"] },
  )
  .map((spec) => v2(spec));

/** Most of what is generated must get in, or the property says nothing. */
const countingAdmitted = (
  check: (document: unknown, admission: Admitted & { readonly spec: HpaSpec }) => void,
): number => {
  let count = 0;
  fc.assert(
    fc.property(good, (document) => {
      const admission = admit(document);
      if (!admission.ok) return;
      count++;
      check(document, { ...admission, spec: hpaSpec(admission.spec) });
    }),
    RUNS,
  );
  return count;
};

describe("an admitted manifest", () => {
  it("always stores what is admitted again as the same", () => {
    const count = countingAdmitted((document, { stored, spec, warnings }) => {
      const again = admit(stored, { old: document });
      expect(again).toMatchObject({ ok: true, stored, spec, changed: false, warnings });
    });
    // A quantity beyond 64 bits is refused too.
    expect(count).toBeGreaterThan(RUNS.numRuns / 8);
  });

  it("never has a bound, a window or a policy outside the API's limits", () => {
    const count = countingAdmitted(
      (_, { spec: { minReplicas, maxReplicas, behavior, metrics } }) => {
        expect(minReplicas).toBeLessThanOrEqual(maxReplicas);
        expect(metrics.length).toBeGreaterThan(0);
        for (const side of behavior ? [behavior.scaleUp, behavior.scaleDown] : []) {
          expect(side.stabilizationWindowSeconds ?? 0).toBeGreaterThanOrEqual(0);
          expect(side.stabilizationWindowSeconds ?? 0).toBeLessThanOrEqual(3_600);
          expect(
            side.policies.every(
              ({ value, periodSeconds }) =>
                value > 0 && periodSeconds > 0 && periodSeconds <= 1_800,
            ),
          ).toBe(true);
          expect(side.policies.length).toBeGreaterThan(0);
        }
      },
    );
    expect(count).toBeGreaterThan(RUNS.numRuns / 8);
  });

  it("never decides by other numbers than the stored texts say", () => {
    const milli = (text: unknown) => (typeof text === "string" ? milliOfText(text) : undefined);
    countingAdmitted((_, { spec, stored }) => {
      const metrics = (
        stored["spec"] as {
          metrics: readonly {
            readonly external?: { readonly target: Readonly<Record<string, unknown>> };
          }[];
        }
      ).metrics;
      for (const [index, own] of spec.metrics.entries()) {
        if (own.type !== "External") continue;
        const wanted = metrics[index]?.external?.target;
        expect([own.target.valueMilli, own.target.averageValueMilli]).toEqual([
          milli(wanted?.["value"]),
          milli(wanted?.["averageValue"]),
        ]);
      }
    });
  });
});
