import { describe, expect, it } from "vitest";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";

const paths = recordedPaths("hpa");

describe("decisions of kube-controller-manager v1.37.1", () => {
  it.each(paths)("are the decisions of the hpa dialect: %s", (path) => {
    expect(firstFailure(recordedFile(path))).toBeUndefined();
  });

  it("are those of 1.38 but for pods that ended well", () => {
    const replicas = paths.map(recordedFile).filter(({ kind }) => kind === "replicas");
    const isWithout = (vector: object): boolean => !JSON.stringify(vector).includes("Succeeded");
    const cases = replicas.flatMap((file) => file.cases.filter(isWithout));
    expect(cases.length).toBeGreaterThan(500);
    for (const file of replicas) {
      const later = file.cases.filter(isWithout).map((one) => ({ ...one, hpaVersion: "1.38" }));
      expect(firstFailure({ ...file, cases: later })).toBeUndefined();
    }
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
