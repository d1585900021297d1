import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reasonTexts } from "../../lib/stack/report/reasons/reasons.ts";
import { filesBelow, ROOT } from "../architecture/source.ts";

const page = readFileSync(join(ROOT, "docs/watermark.md"), "utf8");
const [, section = ""] = /\n## Log lines\n([\s\S]*?)\n## /.exec(page) ?? [];
const rows = [...section.matchAll(/^\| (.*?) \| (.*) \|$/gm)]
  .map(([, original = "", here = ""]) => ({ original, here }))
  .slice(1);
const rules = filesBelow("lib/rules/policy/watermark").map((path) =>
  readFileSync(join(ROOT, path), "utf8"),
);
const quoted = (name: string): boolean => rules.some((text) => text.includes(`"${name}"`));

/** The lines of the controller's log, by their first words (its source of April 2026). */
const ORIGINALS = [
  "Target deploy",
  "getReadyPodsCount",
  "groupPods",
  "Too many ready Pods reported",
  "Value is above highMark",
  "Value is below lowMark",
  "Within bounds of the watermarks",
  "Recommendation is lower than current number of replicas while attempting to upscale",
  "Proposing replicas",
  "Downscaling rate higher than limit set by scaleDownLimitFactor",
  "Upscaling rate higher than limit set by scaleUpLimitFactor",
  "Maximum downscale recommendation is higher than current number of ready replicas",
  "Normalized Desired replicas",
  "Too early to downscale",
  "Too early to upscale",
  "Cooldown status",
  "Will not scale: value has not been out of bounds for long enough",
  "Will not scale: number of replicas has not changed",
  "Warning, retrieved 0 from the External Metrics Provider",
  "DryRun mode: scaling change was inhibited",
  "Successful rescale",
];

describe("the page of the log lines of the Watermark Pod Autoscaler", () => {
  it("has a row for each line that is worth keeping", () => {
    expect(
      ORIGINALS.filter((line) => !rows.some(({ original }) => original.includes(`\`${line}`))),
    ).toEqual([]);
  });

  it("names only reasons, conditions, steps and series that the rules give", () => {
    const words = rows.flatMap(({ here }) =>
      [...here.matchAll(/`([A-Za-z_]+)(?:\{[^`]*\})?`/g)].map(([, word = ""]) => word),
    );
    const reasons = words.filter((word) => /^[A-Z][a-z]+[A-Z]/.test(word));
    const known = new Set(reasonTexts().map(({ name }) => name));
    expect(reasons.length).toBeGreaterThan(12);
    expect(reasons.filter((word) => !known.has(word) && !quoted(word))).toEqual([]);
    const steps = rows.flatMap(({ here }) =>
      [...here.matchAll(/the step `(\w+)`/g)].map(([, step = ""]) => step),
    );
    expect(new Set(steps)).toEqual(new Set(["propose", "normalise", "gates"]));
    expect(steps.filter((step) => !quoted(step))).toEqual([]);
    const series = words.filter((word) => word.includes("_") && word !== "labels_info");
    expect(series.length).toBeGreaterThan(5);
    expect(series.filter((word) => !quoted(word))).toEqual([]);
  });
});
