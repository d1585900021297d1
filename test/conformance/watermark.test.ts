import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runFile } from "./registry.ts";
import { filesBelow, isPassedOver, readVectorFile, type VectorFile } from "./vector-file.ts";

const files = filesBelow(join(import.meta.dirname, "vectors/watermark"))
  .map(readVectorFile)
  .filter((file): file is VectorFile => !isPassedOver(file));

describe("decisions of the Watermark Pod Autoscaler", () => {
  it("are all there", () => {
    expect(files.length).toBe(44);
    expect(files.reduce((sum, { cases }) => sum + cases.length, 0)).toBe(1021);
  });

  it.each(files)("are the decisions of the watermark dialect: $kind ($path)", (file) => {
    expect(runFile(file).filter(({ differences }) => differences.length > 0)).toEqual([]);
  });
});
