import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FIRST, placeOf } from "./order.ts";

describe("the order of the files of tests", () => {
  it("names only files and folders that there are", () => {
    expect(FIRST.filter((path) => !existsSync(path))).toEqual([]);
  });

  it("begins with the seeds and what waits longest, then has what takes long, then what shares processes, and ends with all others", () => {
    const files = [
      { path: "/tidemark/test/e2e/readme.test.ts", isShared: false },
      { path: "/tidemark/test/sync/waves.played.test.ts", isShared: true },
      { path: "/tidemark/test/real-server/run.test.ts", isShared: false },
      { path: "/tidemark/test/e2e/clock-change.test.ts", isShared: false },
      { path: "/tidemark/test/real-server/parity.test.ts", isShared: false },
      { path: "/tidemark/test/simulation/first-seeds.test.ts", isShared: true },
    ];
    expect(files.toSorted((one, other) => placeOf(one) - placeOf(other))).toEqual(
      files.toReversed(),
    );
  });
});
