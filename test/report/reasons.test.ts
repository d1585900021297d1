import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reasonsPage } from "../../docs/figures/reasons-page.ts";
import { reasonText, reasonTexts } from "../../lib/stack/report/reasons/reasons.ts";
import { filesBelow, ROOT } from "../architecture/source.ts";

/** Where reasons are made. */
const SOURCES = [
  ...filesBelow("lib/rules/policy"),
  ...filesBelow("lib/stack/sync"),
  ...filesBelow("lib/stack/report/objects"),
  "lib/stack/report/holds.ts",
];

/**
 * Words of the same look that are no reasons: types of conditions and metrics, kinds, and values of
 * fields.
 */
const OTHER_WORDS = new Set(
  `AbleToScale ScalingActive ScalingLimited ScalingBlocked AboveHighWatermark BelowLowWatermark BreachAbove BreachBelow ConvergeToWatermark SpecStored PodsCounted Ready ReadyReason
   Resource ContainerResource Pods Object External Prometheus Http Sqs CloudWatch Formula ReplicaSet Deployment StatefulSet ReplicationController Rollout PodAutoscaler WatermarkPodAutoscaler HorizontalPodAutoscaler Value Average AverageValue Utilization Total Percent Factor
   Max Min Mean Disabled Both SameDirection FieldValueRequired Normal Warning True False Unknown Failed Pending Running Succeeded Time NoKindMatch Accepted Evaluated Scaled Backoff In NotIn DoesNotExist`.split(
    /\s+/,
  ),
);
const WORD = /"([A-Z][A-Za-z]*[a-z][A-Za-z]*)"/g;
/** Reasons that are put together: `FailedGet${type}Metric`. */
const TEMPLATE = /reason: `([A-Za-z]*)\$\{[^}]+\}([A-Za-z]*)`/g;

const texts = SOURCES.map((path) => readFileSync(join(ROOT, path), "utf8"));
const known = reasonTexts().map(({ name }) => name);

describe("the list of reasons", () => {
  it("has every reason of the code, once", () => {
    const words = new Set(
      texts.flatMap((text) => [...text.matchAll(WORD)].map(([, word = ""]) => word)),
    );
    expect(words.size).toBeGreaterThan(90);
    expect([...words].filter((word) => !known.includes(word) && !OTHER_WORDS.has(word))).toEqual(
      [],
    );
    expect(new Set(known).size).toBe(known.length);
  });

  it("has every reason that is put together", () => {
    const templates = texts.flatMap((text) =>
      [...text.matchAll(TEMPLATE)].map(([, head = "", tail = ""]) => ({ head, tail })),
    );
    expect(templates.length).toBeGreaterThan(2);
    for (const { head, tail } of templates)
      expect(known.some((name) => name.startsWith(head) && name.endsWith(tail))).toBe(true);
  });

  it("has no reason that nothing gives", () => {
    const everything = [
      ...filesBelow("lib").filter((path) => !path.startsWith("lib/stack/report/reasons/")),
    ]
      .map((path) => readFileSync(join(ROOT, path), "utf8"))
      .join("\n");
    const made = (name: string): boolean =>
      everything.includes(`"${name}"`) ||
      texts.some((text) =>
        [...text.matchAll(TEMPLATE)].some(
          ([, head = "", tail = ""]) => name.startsWith(head) && name.endsWith(tail),
        ),
      );
    expect(known.filter((name) => !made(name))).toEqual([]);
  });

  it("says of each what it means and what to do, in sentences", () => {
    for (const { name, means, todo } of reasonTexts()) {
      expect(means, name).toMatch(/^[A-Z`].*\.$/);
      expect(todo, name).toMatch(/^[A-Z`].*[.`?]$/);
    }
  });

  it("is what docs/reasons.md has: npm run docs -- reasons", () => {
    expect(readFileSync(join(ROOT, "docs/reasons.md"), "utf8")).toBe(reasonsPage());
  });
});

describe("reasonText()", () => {
  it("finds a reason whatever its case, and names the nearest one", () => {
    expect(reasonText("scaledownstabilized")).toMatchObject({
      kind: "known",
      reason: { name: "ScaleDownStabilized", group: "What limits" },
    });
    expect(reasonText("ScaleDownStabilised")).toEqual({
      kind: "unknown",
      nearest: "ScaleDownStabilized",
    });
    expect(reasonText("nothing of the kind")).toEqual({ kind: "unknown" });
  });
});
