import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ASSUMED, billOf } from "../../lib/answers/cost/bill.ts";
import { MONTH_SECONDS } from "../../lib/answers/cost/prices.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/private-clusters.md"), "utf8");

/** Dollars for a gigabyte: a NAT gateway, a peering between zones in both directions, a gateway. */
const GB_DOLLARS = [0.045, 0.02, 0.02] as const;
const KIB = 1_024;
const GB = 1e9;
const PERIOD_SECONDS = 15;

it.each(["50", "300", "1,300"])(
  "docs/private-clusters.md: %s KiB of a sync cost what the page says",
  (kib) => {
    const syncs = MONTH_SECONDS / PERIOD_SECONDS;
    const gb = (Number(kib.replace(",", "")) * KIB * syncs) / GB;
    const dollars = GB_DOLLARS.map((each) => `$${(gb * each).toFixed(2)}`);
    expect(PAGE).toContain(`| ${kib} KiB | ${gb.toFixed(1)} | ${dollars.join(" | ")} |`);
    expect(PAGE).toContain(`of 15-second syncs ${syncs.toLocaleString("en")}:`);
  },
);

it("docs/private-clusters.md: a second stack costs what an empty one costs", () => {
  const { firstMonth } = billOf({
    ...{ ...ASSUMED, clusterMetrics: "none" },
    ...{ clusters: 0, autoscalers: 0, secrets: 0 },
  });
  expect(PAGE).toContain(`the fixed part of the bill ($${firstMonth.toFixed(2)} a month`);
});
