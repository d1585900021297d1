import { describe, expect, it } from "vitest";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";

const paths = recordedPaths("watermark");

describe("decisions of the Watermark Pod Autoscaler", () => {
  it.each(paths)("are the decisions of the watermark dialect: %s", (path) => {
    expect(firstFailure(recordedFile(path))).toBeUndefined();
  });

  it("are present for every kind of vector", () => {
    const files = paths.map(recordedFile);
    expect(files.length).toBe(44);
    expect(files.reduce((sum, { cases }) => sum + cases.length, 0)).toBe(1021);
  });
});
