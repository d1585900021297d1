import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sizeRowsOf } from "../../docs/figures/sizes-table.ts";
import { sharedStack } from "./shared-stack.ts";

/** A page may lag this much behind the code, so that not every edit needs the command. */
const SLACK = 0.1;

describe("docs/api.md", () => {
  it("says the sizes of the functions as they are, written by npm run docs -- sizes", async () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");
    const table = /<!-- sizes -->\n(.*?)<!-- end of sizes -->/s.exec(page)?.[1] ?? "";
    const written = [...table.matchAll(/^\| (\w+) \| (\d+) \| (\d+) \|$/gm)].map(
      ([, name, kib, packed]) => ({
        name,
        kib: Number(kib),
        packed: Number(packed),
      }),
    );
    const stack = await sharedStack();
    const rows = sizeRowsOf(stack.packaged.bundles);
    await stack.done();
    expect(written.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
    for (const [index, { name, kib, packedKib }] of rows.entries()) {
      expect(Math.abs((written[index]?.kib ?? 0) / kib - 1), name).toBeLessThan(SLACK);
      expect(Math.abs((written[index]?.packed ?? 0) / packedKib - 1), name).toBeLessThan(SLACK);
    }
  }, 120_000);
});
