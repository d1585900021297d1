import { describe, expect, it } from "vitest";
import { readShippedTrace } from "../../../lib/embedded/traces/read-trace.ts";
import { SHIPPED_TRACES } from "../../../lib/embedded/traces/trace.ts";
import { loadText } from "../../../lib/embedded/view/summary.ts";

describe("amountText()", () => {
  it.each([
    [
      "what was counted per minute is counted",
      57,
      "invocations per minute (sum)",
      60_000,
      "57 invocations",
    ],
    [
      "a rate per second over a minute is sixty times as much",
      57,
      "requests per second",
      60_000,
      "3420 requests",
    ],
    ["a rate of several minutes is counted over them", 57, "calls per 5 min", 300_000, "57 calls"],
    [
      "what is no rate has an average",
      120,
      "percent CPU of one EC2 instance",
      300_000,
      "on average 5.0 percent CPU of one EC2 instance",
    ],
    ["a unit of nothing else has one too", 3_000, "units", 60_000, "on average 25.0 units"],
  ])("says that %s", (_what, samples, unit, stepMs, text) => {
    expect(loadText(samples, { unit, stepMs, elapsedMs: 2 * 3_600_000 })).toBe(text);
  });

  it.each(SHIPPED_TRACES)("never calls an amount of %s a rate", async (name) => {
    const { unit, stepMs } = await readShippedTrace(name);
    expect(loadText(57, { unit, stepMs, elapsedMs: 3_600_000 })).not.toMatch(/ per |\(sum\)/);
  });
});
