import { describe, expect, it } from "vitest";
import { admit } from "../../lib/manifest/admit.ts";
import { convert } from "../../lib/manifest/tidemark/convert.ts";
import { readCase } from "./counts/case.ts";
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
    const conversion = admission.ok ? convert(admission) : undefined;
    return { ...vector, manifest: conversion?.kind === "converted" ? conversion.document : undefined };
  }),
});

describe("counts that were worked out by hand from the rules of each form", () => {
  it.each(paths)("are those that the code gives: %s", (path) => expect(firstFailure(recordedFile(path))).toBeUndefined());

  it.each(paths)("are the same for the manifest as a PodAutoscaler: %s", (path) =>
    expect(firstFailure(converted(recordedFile(path)))).toBeUndefined(),
  );

  it.each(paths)("are at least twenty cases, each with a name of its own: %s", (path) => {
    const { cases } = recordedFile(path);
    expect(cases.length).toBeGreaterThanOrEqual(LEAST_CASES);
    expect(new Set(cases.map((vector) => vector["name"])).size).toBe(cases.length);
  });
});
