import { describe, expect, it } from "vitest";
import { admit } from "../../lib/rules/manifest/admit.ts";
import { convertedForm } from "../../lib/rules/manifest/native/convert.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { readCase } from "./counts/case.ts";
import { readSettings } from "./counts/settings.ts";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";
import type { VectorFile } from "./vector-file.ts";

const paths = recordedPaths("counts");
const LEAST_CASES = 20;

/** The same cases, each manifest as the PodAutoscaler that `tidemark convert` makes of it. */
const converted = (file: VectorFile): VectorFile => ({
  ...file,
  cases: file.cases.map((vector) => {
    const admission = admit(readCase(vector).manifest);
    const conversion = admission.ok ? convertedForm(admission) : undefined;
    return {
      ...vector,
      manifest: conversion?.kind === "converted" ? conversion.document : undefined,
    };
  }),
});

describe("counts that were worked out by hand from the rules of each form", () => {
  it.each(paths)("are those that the code gives: %s", (path) =>
    expect(firstFailure(recordedFile(path))).toBeUndefined(),
  );

  it.each(paths)("are the same for the manifest as a PodAutoscaler: %s", (path) =>
    expect(firstFailure(converted(recordedFile(path)))).toBeUndefined(),
  );

  it.each(paths)("are at least twenty cases, each with a name of its own: %s", (path) => {
    const { cases } = recordedFile(path);
    expect(cases.length).toBeGreaterThanOrEqual(LEAST_CASES);
    expect(new Set(cases.map((vector) => vector["name"])).size).toBe(cases.length);
  });
});

describe("the settings of a case", () => {
  it.each([
    [{}, {}],
    [
      { tolerance: 0.2, downscaleStabilizationMs: 60_000 },
      { tolerance: 0.2, downscaleStabilizationMs: 60_000 },
    ],
    [
      { downscaleStabilizationSeconds: 60, cpuInitializationPeriodSeconds: 30 },
      { downscaleStabilizationMs: 60_000, cpuInitializationPeriodMs: 30_000 },
    ],
    [
      { "downscale-stabilization": "1m", "initial-readiness-delay": "10s" },
      { downscaleStabilizationMs: 60_000, initialReadinessDelayMs: 10_000 },
    ],
    [
      { "--horizontal-pod-autoscaler-tolerance": "0.3", "--period": "30s" },
      { tolerance: 0.3, syncPeriodMs: 30_000 },
    ],
    [
      { tolerance: null, downscaleStabilizationWindowSeconds: 5 },
      { downscaleStabilizationMs: 5_000 },
    ],
  ])("are read by every name that they have: %j", (given, read) =>
    expect(readSettings(given)).toEqual({ ...DEFAULT_SETTINGS, syncPeriodMs: 15_000, ...read }),
  );

  it.each([
    [
      { scaleUpFactor: 8 },
      'Unknown setting "scaleUpFactor": known are tolerance, downscaleStabilizationMs',
    ],
    [{ tolerance: "wide" }, 'The setting "tolerance" must be a number of at least 0, not "wide"'],
  ])("are refused where they would have no effect: %j", (given, message) =>
    expect(() => readSettings(given)).toThrow(message),
  );
});

describe("the manifest of a case", () => {
  const read = (manifest: unknown) =>
    readCase({ id: "case", manifest, steps: [{ at: 0 }] }).manifest["metadata"];

  it("gets a name and a namespace where it has none", () => {
    expect(read({ kind: "HorizontalPodAutoscaler" })).toEqual({
      name: "case",
      namespace: "default",
    });
    expect(read("kind: HorizontalPodAutoscaler\nmetadata: { name: web }")).toEqual({
      name: "web",
      namespace: "default",
    });
    expect(read({ spec: { scaleRef: { name: "web", namespace: "shop" } } })).toEqual({
      name: "case",
      namespace: "shop",
    });
  });

  it("may be the one item of a list, and not one of several", () => {
    const item = { metadata: { name: "web", namespace: "shop" } };
    expect(
      read({ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscalerList", items: [item] }),
    ).toEqual(item.metadata);
    expect(() => read({ apiVersion: "v1", kind: "List", items: [item, item] })).toThrow(
      "the case needs one manifest, not 2",
    );
  });
});
