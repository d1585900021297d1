import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readTrace } from "../../../lib/embedded/traces/read-trace.ts";
import { SHIPPED_TRACES } from "../../../lib/embedded/traces/trace.ts";
import { demandAt } from "../../../lib/embedded/traces/trace.ts";

const page = readFileSync(new URL("../../../docs/embedded-run.md", import.meta.url), "utf8");
const dir = mkdtempSync(join(tmpdir(), "tidemark-documented-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it("the trace of the page is read as the page says: unit, step, and the gap after 1767600120", async () => {
  const [, csv = ""] = /```csv\n([\s\S]*?)```/.exec(page) ?? [];
  const file = join(dir, "load.csv");
  writeFileSync(file, csv);
  const trace = await readTrace(file);
  expect(trace).toMatchObject({ unit: "orders per minute", stepMs: 60_000, points: { length: 4 } });
  expect(demandAt(trace, 60_000)).toEqual({ value: 180.5, missing: false });
  expect(demandAt(trace, 200_000)).toEqual({ value: 240, missing: true });
  // Beyond its end it begins again.
  expect(demandAt(trace, 360_000)).toEqual({ value: 120, missing: false });
});

it("the page names every recorded workload that a manifest may ask for", () => {
  for (const name of SHIPPED_TRACES) expect(page).toContain(`\`${name}\``);
});
