import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { recordedFile, recordedPaths } from "./recorded.ts";
import { firstFailure } from "./registry.ts";

const paths = recordedPaths("hpa");

describe("decisions of kube-controller-manager", () => {
  it.each(paths)("are the decisions of the hpa dialect: %s", (path) => {
    expect(firstFailure(recordedFile(path))).toBeUndefined();
  });

  it("are the same in 1.38, but where its own were recorded", () => {
    const [earlier, byRelease] = ["replicas.json", "replicas-by-release.json"].map((name) =>
      recordedFile(join("hpa", name)),
    );
    if (!(earlier && byRelease)) throw new RangeError("a file of vectors is missing");
    const others = new Set(byRelease.cases.map(({ id }) => id));
    const later = earlier.cases.filter(({ id }) => !others.has(`again-${id}-1.38`));
    expect(earlier.cases.length - later.length).toBe(45);
    const cases = later.map((one) => ({ ...one, hpaVersion: "1.38" }));
    expect(firstFailure({ ...earlier, cases })).toBeUndefined();
  });

  it("are present for every kind of vector", () => {
    const counts = Object.entries(Object.groupBy(paths.map(recordedFile), ({ kind }) => kind)).map(
      ([kind, group = []]) => [kind, group.reduce((sum, { cases }) => sum + cases.length, 0)],
    );
    expect(Object.fromEntries(counts)).toEqual({
      "sync-sequence": 1232,
      replicas: 986 + 325,
      normalize: 835,
      admission: 420,
      quantity: 330,
    });
  });
});
