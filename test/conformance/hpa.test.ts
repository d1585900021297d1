import { describe, expect, it } from "vitest";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";

const paths = recordedPaths("hpa");

describe("decisions of kube-controller-manager v1.37.1", () => {
  it.each(paths)("are the decisions of the hpa dialect: %s", (path) => {
    expect(firstFailure(recordedFile(path))).toBeUndefined();
  });

  it("are present for every kind of vector", () => {
    const counts = Object.entries(Object.groupBy(paths.map(recordedFile), ({ kind }) => kind)).map(
      ([kind, group = []]) => [kind, group.reduce((sum, { cases }) => sum + cases.length, 0)],
    );
    expect(Object.fromEntries(counts)).toEqual({
      "sync-sequence": 1232,
      replicas: 986,
      normalize: 835,
      admission: 420,
      quantity: 330,
    });
  });
});
