import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runFile } from "./registry.ts";
import { filesBelow, isPassedOver, readVectorFile, type VectorFile } from "./vector-file.ts";

const files = filesBelow(join(import.meta.dirname, "vectors/hpa"))
  .map(readVectorFile)
  .filter((file): file is VectorFile => !isPassedOver(file));

describe("decisions of kube-controller-manager v1.37.1", () => {
  it("are all there, of every kind", () => {
    const counts = Object.entries(Object.groupBy(files, ({ kind }) => kind)).map(([kind, group = []]) => [
      kind,
      group.reduce((sum, { cases }) => sum + cases.length, 0),
    ]);
    expect(Object.fromEntries(counts)).toEqual({ "sync-sequence": 1232, replicas: 986, normalize: 835, admission: 420, quantity: 330 });
  });

  it.each(files)("are the decisions of the hpa dialect: $kind ($path)", (file) => {
    expect(runFile(file).filter(({ differences }) => differences.length > 0)).toEqual([]);
  });
});
