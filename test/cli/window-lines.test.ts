import { describe, expect, it } from "vitest";
import { windowLines } from "../../lib/answers/words/window-words.ts";
import { NO_WINDOWS } from "../../lib/answers/service/explain/describe.ts";
import { NOON } from "../noon.ts";

const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();
const rate = { value: 1.5, periodSeconds: 60, added: 2, removed: 0, events: [] } as const;

describe("windowLines()", () => {
  it("shows no recommendations of a dialect that keeps none", () =>
    expect(
      windowLines(
        { ...NO_WINDOWS, forbidden: [{ direction: "scaleUp", windowSeconds: 60, until: at(30) }] },
        NOON,
      ),
    ).toEqual(["Scale up forbidden window 60s: closed until 2026-03-01T12:00:30.000Z (in 30s)"]));

  it("shows what must last: not begun, lasting, and long enough", () => {
    const timer = { name: "Scale up sustain", seconds: 60 };
    const timers = [
      timer,
      { ...timer, since: at(-20), until: at(40) },
      { ...timer, since: at(-60), until: at(0) },
    ];
    expect(windowLines({ ...NO_WINDOWS, timers }, NOON)).toEqual([
      "Scale up sustain 60s: not begun",
      "Scale up sustain 60s: active since 2026-03-01T11:59:40.000Z (20s ago), which is long enough at 2026-03-01T12:00:40.000Z (in 40s)",
      "Scale up sustain 60s: active since 2026-03-01T11:59:00.000Z (60s ago), which is long enough",
    ]);
  });

  it("shows of a rate that counts its own direction alone no other changes", () => {
    const own = { ...rate, type: "Pods", countedChanges: "SameDirection" } as const;
    const rates = [
      { ...own, direction: "scaleUp" },
      { ...own, direction: "scaleDown", added: 0, removed: 3 },
    ] as const;
    expect(
      windowLines({ ...NO_WINDOWS, rates }, NOON).filter((line) => line.includes("rate")),
    ).toEqual([
      "Scale up rate 1.5 pods in 60s: 2 added",
      "Scale down rate 1.5 pods in 60s: 3 removed",
    ]);
  });

  it("shows a flap budget and a pause of the manifest with their ends", () => {
    const flap = { reversals: 2, periodSeconds: 600, made: 1 };
    const lines = (more: object) =>
      windowLines({ ...NO_WINDOWS, flap: { ...flap, ...more } }, NOON);
    expect(lines({})).toEqual(["Flap budget 2 in 10m: 1 reversal made, a scale down fits"]);
    expect(lines({ made: 2, until: at(90) })).toEqual([
      "Flap budget 2 in 10m: 2 reversals made, no scale down until 2026-03-01T12:01:30.000Z (in 90s)",
    ]);
    expect(windowLines({ ...NO_WINDOWS, pausedUntil: at(90) }, NOON)).toEqual([
      "Paused by the manifest until 2026-03-01T12:01:30.000Z (in 90s)",
    ]);
  });

  it.each([
    ["scaleUp", "Pods", "Scale up rate 1.5 pods in 60s: 2 added, 0 removed"],
    ["scaleUp", "Percent", "Scale up rate 1.5 percent in 60s: 2 added, 0 removed"],
    ["scaleUp", "Factor", "Scale up rate times 1.5 in 60s: 2 added, 0 removed"],
    ["scaleDown", "Factor", "Scale down rate divided by 1.5 in 60s: 2 added, 0 removed"],
  ] as const)("%s %s: says what a policy allows", (direction, type, line) =>
    expect(windowLines({ ...NO_WINDOWS, rates: [{ direction, type, ...rate }] }, NOON)).toEqual([
      line,
    ]),
  );
});
