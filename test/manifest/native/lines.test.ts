import { describe, expect, it } from "vitest";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import { podAutoscalerSchema } from "../../../lib/rules/manifest/native/json-schema.ts";
import { ajv } from "./outside.ts";

type Json = Readonly<Record<string, unknown>>;

const document = (metric: Json, more: Json = {}) => ({
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 10,
    metrics: [
      { name: "queue", external: { metric: "lag" }, input: true },
      { target: 10, ...metric },
      { name: "twice", formula: { expression: "queue * 2" }, target: 10 },
    ],
    ...more,
  },
});
const validate = ajv.compile(podAutoscalerSchema());
const refused = (raw: unknown): readonly string[] => {
  const admission = admit(raw, { validation: "strict" });
  return admission.ok ? [] : admission.problems.map(({ field }) => field);
};

/** The texts of a language among the fields of a metric, each as a person writes it in a block. */
const TEXTS: readonly (readonly [field: string, of: (text: string) => Json, text: string])[] = [
  [
    "prometheus.query",
    (query) => ({ prometheus: { source: "main", query } }),
    "sum(\n\trate(requests[2m])\r\n)\n",
  ],
  [
    "formula.expression",
    (expression) => ({ formula: { expression } }),
    "queue\n  + 2 *\tmax(queue, 10)\n",
  ],
  [
    "cloudwatch.expression",
    (expression) => ({ cloudwatch: { source: "aws", expression } }),
    'SELECT MAX(Age)\nFROM "AWS/SQS"\n',
  ],
];

describe("a text of a language", () => {
  it.each(TEXTS)("%s may have line ends and tabs", (_field, of, text) => {
    const raw = document(of(text));
    expect(refused(raw)).toEqual([]);
    expect([validate(raw), validate.errors]).toEqual([true, null]);
  });

  it.each(TEXTS)("%s may have no other control character", (field, of, text) => {
    for (const hidden of ["\u001b", "\u0000", "\u000b", "\u2028", "\u202e", "\u200b"]) {
      const raw = document(of(`${text}${hidden}`));
      expect(refused(raw)).toContain(`spec.metrics[1].${field}`);
      expect(validate(raw)).toBe(false);
    }
  });

  it.each<readonly [string, Json, Json]>([
    ["spec.owner", { external: { metric: "lag" } }, { owner: "a\nb" }],
    ["spec.metrics[1].name", { external: { metric: "lag" }, name: "a\nb" }, {}],
    ["spec.metrics[1].external.metric", { external: { metric: "a\tb" } }, {}],
    ["spec.metrics[1].prometheus.source", { prometheus: { source: "a\nb", query: "up" } }, {}],
  ])("is no name: %s may have none", (field, metric, more) => {
    const raw = document(metric, more);
    expect(refused(raw)).toContain(field);
    expect(validate(raw)).toBe(false);
  });
});

describe("the path of a document", () => {
  const of = (path: string) => document({ http: { source: "api", path, pointer: "/depth" } });
  it.each(["/api/queues/%2F/orders", "/%2f"])("may have %s", (path) => {
    expect(refused(of(path))).toEqual([]);
  });
  it.each(["/a%2Fb", "/%2E%2E/secret", "/a/..%2Fb", "/%252F", "/%2F%2F", "/%00", "/../a"])(
    "may not have %s",
    (path) => {
      expect(refused(of(path))).toContain("spec.metrics[1].http.path");
    },
  );
});
