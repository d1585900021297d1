import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { REPORTS } from "./all.ts";
import { comparedTable, played } from "./compared.ts";

describe("the reports of other autoscalers", () => {
  it.each(played().map((one) => [one.group.reports[0], one] as const))(
    "%s is played as docs/compared.md says",
    (_report, { expected, got }) => {
      expect(got).toBe(expected);
    },
  );

  it("are on docs/compared.md, each group once", () => {
    const page = readFileSync(new URL("../../docs/compared.md", import.meta.url), "utf8");
    expect(page).toContain(comparedTable());
    const all = REPORTS.flatMap(({ reports }) => reports);
    expect(new Set(all).size).toBe(all.length);
  });

  it("that are not played name a test that is there, or say that Tidemark lacks it", () => {
    for (const { play, test, verdict, reports } of REPORTS)
      if (!play)
        expect(test ? existsSync(test) : verdict === "missing", String(reports)).toBe(true);
  });
});
