import { describe, expect, it } from "vitest";
import { buildDashboard, gzipBytesOf } from "../../build/dashboard.ts";
import { PAGE_FILES } from "../../lib/dashboard/serve/routes.ts";

const GZIP_MAX = 60 * 1_024;

describe("buildDashboard()", () => {
  it("gives the files that the server serves, in 60 KB as a browser loads them", async () => {
    const files = await buildDashboard();
    expect([...files.keys()].sort()).toEqual(
      [...PAGE_FILES.values()].map(({ file }) => file).sort(),
    );
    expect(gzipBytesOf(files)).toBeLessThan(GZIP_MAX);
    expect(gzipBytesOf(files)).toBeGreaterThan(10_000);
  });
});
