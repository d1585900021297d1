import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { membersOf } from "../../../lib/rules/manifest/native/explain-field.ts";
import type { FieldDescription } from "../../../lib/rules/fields/field-types.ts";
import { podAutoscalerSchema } from "../../../lib/rules/manifest/native/json-schema.ts";
import { SPEC } from "../../../lib/rules/manifest/native/spec-fields.ts";
import { ajv } from "./outside.ts";

type Json = Readonly<Record<string, unknown>>;

const METRIC = { external: { metric: "lag" }, target: 10 };
const document = (spec: Json) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 10,
    metrics: [METRIC],
    ...spec,
  },
});
const metric = (more: Json): Json => ({ metrics: [{ ...METRIC, ...more }] });
const marks = (watermarks: Json): Json => metric({ target: undefined, watermarks });

interface Row {
  /** Path of the field, places of lists left open as in the reference. */
  readonly field: string;
  readonly of: (value: number) => Json;
  readonly least: number;
  /** Absent: as large as a number can be. */
  readonly most?: number;
  /** From one value to the next that is told apart. */
  readonly step: number;
  /** Bounds that depend on another field, which JSON Schema cannot say. */
  readonly relative?: true;
}

const THOUSANDTH = 0.001;
const MILLION = 1_000_000;

const inAdvice: Row = {
  field: "spec.advice.horizonMinutes",
  of: (horizonMinutes) => ({ advice: { forecast: "floor", horizonMinutes } }),
  least: 0,
  most: 240,
  step: 1,
};

const inEntry: readonly Row[] = (
  [
    ["minReplicas", 1, MILLION],
    ["maxReplicas", 1, MILLION],
    ["rampMinutes.in", 0, 1_440],
    ["rampMinutes.out", 0, 1_440],
    ["priority", -1_000, 1_000],
  ] as const
).map(([path, least, most]) => ({
  field: `spec.schedule[].${path}`,
  of: (value: number): Json => {
    const [name = "", inner] = path.split(".");
    const set = inner === undefined ? { [name]: value } : { [name]: { [inner]: value } };
    return { schedule: [{ name: "office", timeZone: "Europe/Berlin", minReplicas: 3, ...set }] };
  },
  least,
  most,
  step: 1,
}));

const inDirection = (way: string): readonly Row[] => {
  const rule = (name: string, least: number, most: number, more: Json = {}): Row => ({
    field: `spec.${way}.${name}`,
    of: (value) => ({ ...more, [way]: { [name]: value } }),
    least,
    most,
    step: 1,
  });
  const policy = (name: string, least: number, most: number, type: string, step: number): Row => ({
    field: `spec.${way}.policies[].${name}`,
    of: (value) => ({
      [way]: { policies: [{ type, value: 50, periodSeconds: 60, [name]: value }] },
    }),
    least,
    most,
    step,
  });
  const roomy = { minReplicas: 1, maxReplicas: MILLION };
  return [
    rule("sustainSeconds", 0, 3600),
    rule("stabilizationWindowSeconds", 0, 86_400),
    rule("forbiddenAfterEventSeconds", 0, 86_400),
    { ...rule("stepMinimum", 1, MILLION - 1, roomy), relative: true },
    rule("replicaModulo", 1, MILLION),
    policy("value", 1, MILLION, "Pods", 1),
    policy("value", THOUSANDTH, MILLION, "Percent", THOUSANDTH),
    policy("value", 1 + THOUSANDTH, MILLION, "Factor", THOUSANDTH),
    policy("periodSeconds", 1, 86_400, "Pods", 1),
  ];
};

const rows: readonly Row[] = [
  {
    field: "spec.minReplicas",
    of: (value) => ({ minReplicas: value, maxReplicas: MILLION }),
    least: 1,
    most: MILLION,
    step: 1,
  },
  {
    field: "spec.maxReplicas",
    of: (value) => ({ minReplicas: 1, maxReplicas: value }),
    least: 1,
    most: MILLION,
    step: 1,
  },
  {
    field: "spec.maxReplicas",
    of: (value) => ({ maxReplicas: value }),
    least: 2,
    step: 1,
    relative: true,
  },
  {
    field: "spec.metrics[].target",
    of: (value) => metric({ target: value }),
    least: THOUSANDTH,
    step: THOUSANDTH,
  },
  {
    field: "spec.metrics[].target",
    of: (value) => ({ metrics: [{ resource: { name: "cpu" }, target: value }] }),
    least: 1,
    most: MILLION,
    step: 1,
  },
  {
    field: "spec.metrics[].watermarks.low",
    of: (value) => marks({ low: value, high: 50 }),
    least: THOUSANDTH,
    most: 50,
    step: THOUSANDTH,
    relative: true,
  },
  {
    field: "spec.metrics[].watermarks.high",
    of: (value) => marks({ low: THOUSANDTH, high: value }),
    least: THOUSANDTH,
    step: THOUSANDTH,
  },
  {
    field: "spec.metrics[].tolerance.up",
    of: (value) => metric({ tolerance: { up: value } }),
    least: 0,
    most: 100,
    step: THOUSANDTH,
  },
  {
    field: "spec.metrics[].tolerance.down",
    of: (value) => metric({ tolerance: { down: value } }),
    least: 0,
    most: 100,
    step: THOUSANDTH,
  },
  {
    field: "spec.metrics[].onMissing.replicas",
    of: (value) => metric({ onMissing: { action: "fallback", replicas: value, afterSeconds: 0 } }),
    least: 2,
    most: 10,
    step: 1,
    relative: true,
  },
  ...["everySeconds", "maxAgeSeconds"].map((name) => ({
    field: `spec.metrics[].${name}`,
    of: (value: number): Json => ({
      metrics: [{ prometheus: { source: "main", query: "up" }, target: 1, [name]: value }],
    }),
    least: 1,
    most: 3_600,
    step: 1,
  })),
  {
    field: "spec.metrics[].redis.database",
    of: (value) => ({
      metrics: [{ redis: { source: "main", key: "jobs", database: value }, target: 1 }],
    }),
    least: 0,
    most: 1_023,
    step: 1,
  },
  ...[
    { name: "periodSeconds", least: 60, most: 3_600, step: 60, relative: true as const },
    { name: "lookbackSeconds", least: 60, most: 10_800, step: 1, relative: true as const },
    { name: "offsetSeconds", least: 0, most: 3_600, step: 1 },
  ].map(({ name, ...bounds }) => ({
    field: `spec.metrics[].cloudwatch.${name}`,
    of: (value: number): Json => ({
      metrics: [
        {
          cloudwatch: { source: "main", namespace: "AWS/SQS", metric: "Age", [name]: value },
          target: 1,
        },
      ],
    }),
    ...bounds,
  })),
  {
    field: "spec.metrics[].onMissing.afterSeconds",
    of: (value) => metric({ onMissing: { action: "fallback", replicas: 3, afterSeconds: value } }),
    least: 0,
    most: 86_400,
    step: 1,
  },
  {
    field: "spec.metrics[].activation",
    of: (value) => ({ idle: {}, ...metric({ activation: value }) }),
    least: 0,
    step: THOUSANDTH,
  },
  ...inDirection("scaleUp"),
  ...inDirection("scaleDown"),
  {
    field: "spec.flapBudget.reversals",
    of: (value) => ({ flapBudget: { reversals: value, periodSeconds: 60 } }),
    least: 1,
    most: 100,
    step: 1,
  },
  {
    field: "spec.flapBudget.periodSeconds",
    of: (value) => ({ flapBudget: { reversals: 1, periodSeconds: value } }),
    least: 1,
    most: 3600,
    step: 1,
  },
  {
    field: "spec.idle.replicas",
    of: (value) => ({ idle: { replicas: value }, ...metric({ activation: 1 }) }),
    least: 0,
    most: 1,
    step: 1,
    relative: true,
  },
  inAdvice,
  ...inEntry,
  {
    field: "spec.idle.afterSeconds",
    of: (value) => ({ idle: { afterSeconds: value }, ...metric({ activation: 1 }) }),
    least: 0,
    most: 86_400,
    step: 1,
  },
];

const validate = ajv.compile(podAutoscalerSchema());
/** Fields that are told of, places of lists left open. */
const toldOf = (spec: Json): readonly string[] => {
  const admission = admit(document(spec));
  return admission.ok
    ? []
    : admission.problems.map(({ field }) => field.replaceAll(/\[\d+\]/g, "[]"));
};
/** A multiple of the step, without the dust of doubles. */
const exact = (value: number): number => Number(value.toFixed(3));

describe("each bound of a single field: below, at and above", () => {
  it.each(rows)(
    "$field, least $least, most $most",
    ({ field, of, least, most, step, relative }) => {
      const at = (value: number): readonly [readonly string[], unknown] => {
        const spec = of(exact(value));
        return [
          toldOf(spec).filter((told) => told === field),
          relative ? undefined : validate(document(spec)),
        ];
      };
      const refused = [[field], relative ? undefined : false];
      const taken = [[], relative ? undefined : true];
      expect([at(least - step), at(least), at(least + step)]).toEqual([refused, taken, taken]);
      if (most === undefined) return;
      expect([at(most), at(most + step)]).toEqual([taken, refused]);
    },
  );

  const bounded = (path: string, about: FieldDescription): readonly string[] => {
    if (about.readElsewhere) return [];
    const own = about.least !== undefined || about.most !== undefined ? [path] : [];
    return [
      ...own,
      ...Object.entries(membersOf(about)).flatMap(([name, member]) =>
        bounded(`${path}${about.type === "list" ? "[]" : ""}.${name}`, member),
      ),
    ];
  };

  it("has a row for every field that has bounds", () => {
    const fields = bounded("spec", SPEC.about);
    expect(fields.length).toBeGreaterThan(25);
    expect(fields.filter((field) => !rows.some((row) => row.field === field))).toEqual([]);
  });
});
