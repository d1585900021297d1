import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ScopedOverride } from "../../../lib/rules/model/override.ts";
import type { ScheduleEntry } from "../../../lib/rules/model/schedule.ts";
import { effectiveBounds } from "../../../lib/rules/policy/bounds/effective-bounds.ts";
import { entry, override } from "./schedules.ts";

/** Tuesday, an hour ahead of UTC in Berlin. */
const at = (clock: string, date = "2026-11-24"): number => Date.parse(`${date}T${clock}:00+01:00`);

const boundsAt = (
  nowMs: number,
  schedule: readonly ScheduleEntry[],
  overrides: readonly ScopedOverride[] = [],
): string => {
  const { min, max, paused, holds } = effectiveBounds(
    { minReplicas: 2, maxReplicas: 20, schedule },
    { overrides, calendars: [] },
    nowMs,
  );
  return [
    `${min.replicas}-${max.replicas}`,
    ...(paused ? [`paused by ${paused.name}`] : []),
    ...holds.map(({ id }) => `held by ${id}`),
  ].join(" ");
};

describe("bounds by schedule", () => {
  it("hold from the beginning of a window to its end, which is outside", () => {
    const office = [entry({ minReplicas: 10 })];
    expect(
      ["07:59", "08:00", "16:59", "17:00"].map((clock) => boundsAt(at(clock), office)),
    ).toEqual(["2-20", "10-20", "10-20", "2-20"]);
  });

  it("of the highest priority go before others, per field; of equal priority the largest value counts", () => {
    const schedule = [
      entry({ name: "a", minReplicas: 10, maxReplicas: 30 }),
      entry({ name: "b", minReplicas: 12, maxReplicas: 25 }),
      entry({ name: "c", minReplicas: 4, priority: 1 }),
    ];
    expect(boundsAt(at("12:00"), schedule)).toBe("4-30");
    expect(boundsAt(at("12:00"), schedule.slice(0, 2))).toBe("12-30");
    expect(boundsAt(at("12:00"), [entry({ minReplicas: 1 })])).toBe("1-20");
  });

  it("keep the ceiling at or above the floor", () => {
    expect(boundsAt(at("12:00"), [entry({ minReplicas: 30 })])).toBe("30-30");
    const { max } = effectiveBounds(
      { minReplicas: 8, maxReplicas: 20, schedule: [entry({ maxReplicas: 5 })] },
      { overrides: [], calendars: [] },
      at("12:00"),
    );
    expect(max).toEqual({ replicas: 8, source: { kind: "floor" } });
  });

  it("pause with any entry, and name the one that lasts longest", () => {
    expect(
      boundsAt(at("12:00"), [
        entry({ paused: true }),
        entry({ name: "later", paused: true, to: "18:00" }),
      ]),
    ).toBe("2-20 paused by later");
  });

  it("are those of the manifest for a suspended entry", () => {
    expect(boundsAt(at("12:00"), [entry({ minReplicas: 10, suspended: true })])).toBe("2-20");
  });

  it("climb before a window and fall after it: full at `from`, rounded up on the way", () => {
    const ramped = [entry({ minReplicas: 10, rampInMs: 60 * 60_000, rampOutMs: 30 * 60_000 })];
    const clocks = [
      "06:59",
      "07:00",
      "07:01",
      "07:30",
      "07:52",
      "07:53",
      "08:00",
      "16:59",
      "17:00",
      "17:15",
      "17:29",
      "17:30",
    ];
    expect(clocks.map((clock) => boundsAt(at(clock), ramped))).toEqual(
      ["2", "2", "3", "6", "9", "10", "10", "10", "10", "6", "3", "2"].map((min) => `${min}-20`),
    );
  });

  it("ramp from what holds without the entry, and never below it", () => {
    const day = entry({ name: "day", minReplicas: 6 });
    const sale = entry({ name: "sale", from: "12:00", minReplicas: 10, rampInMs: 60 * 60_000 });
    expect(boundsAt(at("11:30"), [day, sale])).toBe("8-20");
    expect(boundsAt(at("11:30"), [{ ...day, minReplicas: 15 }, sale])).toBe("15-20");
    expect(boundsAt(at("11:30"), [{ ...day, priority: 1 }, sale])).toBe("6-20");
  });

  it("let a ceiling fall in steps after its window, and rise at once", () => {
    const sale = [entry({ maxReplicas: 100, rampInMs: 60 * 60_000, rampOutMs: 60 * 60_000 })];
    expect(["07:30", "08:00", "17:30", "18:00"].map((clock) => boundsAt(at(clock), sale))).toEqual([
      "2-20",
      "2-100",
      "2-60",
      "2-20",
    ]);
  });

  it("name the entry and its end", () => {
    const { min, max } = effectiveBounds(
      {
        minReplicas: 2,
        maxReplicas: 20,
        schedule: [entry({ minReplicas: 10, rampInMs: 60 * 60_000 })],
      },
      { overrides: [], calendars: [] },
      at("07:30"),
    );
    expect(min.source).toEqual({
      kind: "schedule",
      name: "office",
      untilMs: at("08:00"),
      ramp: "in",
    });
    expect(max.source).toEqual({ kind: "manifest" });
  });
});

describe("bounds by overrides", () => {
  const now = at("12:00");

  it("go before the schedule, and the schedule before the manifest", () => {
    expect(boundsAt(now, [entry({ minReplicas: 10 })], [override("autoscaler", { min: 4 })])).toBe(
      "4-20",
    );
  });

  it("of the narrowest scope count, per field", () => {
    const overrides = [
      override("fleet", { min: 3, max: 90 }),
      override("cluster", { min: 4, max: 80 }),
      override("namespace", { min: 5 }),
      override("autoscaler", { min: 6 }),
    ];
    expect(boundsAt(now, [], overrides)).toBe("6-80");
  });

  it("that are forced count before all others, the widest scope first", () => {
    const overrides = [
      override("autoscaler", { max: 90 }),
      override("cluster", { max: 50 }, { force: true }),
      override("fleet", { max: 10 }, { force: true }),
      override("autoscaler", { max: 40 }, { force: true }),
    ];
    expect(boundsAt(now, [], overrides)).toBe("2-10");
  });

  it("cap a floor that is weaker, of manifest or schedule or of an override that comes after, and no stronger one", () => {
    const day = [entry({ minReplicas: 15 })];
    expect(boundsAt(now, day, [override("fleet", { max: 12 })])).toBe("12-12");
    expect(boundsAt(now, [], [override("fleet", { max: 1 })])).toBe("1-1");
    const floor = override("namespace", { min: 30 }, { id: "floor" });
    expect(
      boundsAt(now, day, [floor, override("fleet", { max: 12 }, { id: "cap", force: true })]),
    ).toBe("12-12");
    expect(boundsAt(now, day, [floor, override("fleet", { max: 12 }, { id: "cap" })])).toBe(
      "30-30",
    );
    expect(boundsAt(now, day, [override("fleet", { max: 20, minFactorMilli: 2_000 })])).toBe(
      "20-20",
    );
  });

  it("multiply the own minimum of each autoscaler, rounded up", () => {
    expect(boundsAt(now, [], [override("namespace", { minFactorMilli: 1_250 })])).toBe("3-20");
    expect(
      boundsAt(
        now,
        [entry({ minReplicas: 7 })],
        [override("namespace", { minFactorMilli: 1_500 })],
      ),
    ).toBe("11-20");
  });

  it("hold where any of them holds: a narrower one lifts no hold", () => {
    expect(
      boundsAt(
        now,
        [],
        [override("fleet", { hold: true }, { id: "f" }), override("autoscaler", { min: 3 })],
      ),
    ).toBe("3-20 held by f");
  });

  it("that are expired, or begin later, are as if they were not there", () => {
    const over = override("autoscaler", { min: 9 }, { untilMs: now });
    const ahead = override("autoscaler", { min: 9 }, { fromMs: now + 1 });
    expect(boundsAt(now, [], [over, ahead])).toBe("2-20");
    expect(boundsAt(now - 1, [], [over])).toBe("9-20");
    expect(boundsAt(now + 1, [], [ahead])).toBe("9-20");
  });

  it("of an expired narrow one do not hide a wider one", () => {
    expect(
      boundsAt(
        now,
        [],
        [override("autoscaler", { min: 9 }, { untilMs: now }), override("cluster", { min: 5 })],
      ),
    ).toBe("5-20");
  });
});

const count = fc.integer({ min: 1, max: 60 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const ramp = fc.constantFrom(0, 15 * 60_000, 90 * 60_000);
const anyEntry = fc
  .record({
    timeZone: fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"),
    fromMinute: fc.integer({ min: 0, max: 1_439 }),
    toMinute: fc.integer({ min: 0, max: 1_440 }),
    minReplicas: maybe(count),
    maxReplicas: maybe(count),
    paused: maybe(fc.boolean()),
    rampInMs: ramp,
    rampOutMs: ramp,
    priority: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ minReplicas, maxReplicas, paused, ...rest }) => ({
    ...entry(),
    ...rest,
    ...(minReplicas !== undefined && { minReplicas }),
    ...(maxReplicas !== undefined && { maxReplicas }),
    ...(paused !== undefined && { paused }),
  }));
const schedules = fc
  .array(anyEntry, { maxLength: 5 })
  .map((all) => all.map((each, index) => ({ ...each, name: `e${index}` })));
const anyOverride = fc
  .record({
    scope: fc.constantFrom(
      "fleet" as const,
      "cluster" as const,
      "namespace" as const,
      "autoscaler" as const,
    ),
    min: maybe(count),
    max: maybe(count),
    factor: maybe(fc.integer({ min: 100, max: 3_000 })),
    hold: fc.boolean(),
    force: fc.boolean(),
    from: fc.integer({ min: -10, max: 10 }),
    length: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ scope, min, max, factor, hold, force, from, length }) => ({
    scope,
    from,
    length,
    more: { force },
    set: {
      ...(hold && { hold: true }),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(factor !== undefined && { minFactorMilli: factor }),
    },
  }));
const instant = fc.integer({ min: Date.UTC(2026, 9, 20), max: Date.UTC(2026, 10, 10) });
const overridesAt = (
  drawn: readonly (typeof anyOverride extends fc.Arbitrary<infer Value> ? Value : never)[],
  nowMs: number,
) =>
  drawn.map(({ scope, set, from, length, more }, index) =>
    override(scope, set, {
      ...more,
      id: `o${index}`,
      fromMs: nowMs + from * 60_000,
      untilMs: nowMs + (from + length) * 60_000,
    }),
  );

describe("effectiveBounds()", () => {
  const spec = { minReplicas: 3, maxReplicas: 30 };

  it("is always a function of its inputs alone: neither the order of entries and overrides nor what was asked before says anything", () => {
    fc.assert(
      fc.property(
        schedules,
        fc.array(anyOverride, { maxLength: 5 }),
        fc.array(instant, { minLength: 1, maxLength: 4 }),
        (schedule, drawn, times) => {
          const fresh = (order: readonly ScheduleEntry[]): readonly ScheduleEntry[] =>
            order.map((each) => ({ ...each }));
          for (const nowMs of times) {
            const overrides = overridesAt(drawn, nowMs);
            const people = { overrides, calendars: [] };
            const reversed = { overrides: overrides.toReversed(), calendars: [] };
            const first = effectiveBounds({ ...spec, schedule: fresh(schedule) }, people, nowMs);
            const again = effectiveBounds({ ...spec, schedule }, people, nowMs);
            const other = effectiveBounds(
              { ...spec, schedule: fresh(schedule).toReversed() },
              reversed,
              nowMs,
            );
            expect(again).toEqual(first);
            expect({ ...other, holds: other.holds.toReversed() }).toEqual(first);
          }
        },
      ),
    );
  });

  it("never gives a ceiling below the floor, and never a floor below 1", () => {
    fc.assert(
      fc.property(
        schedules,
        fc.array(anyOverride, { maxLength: 5 }),
        instant,
        (schedule, drawn, nowMs) => {
          const { min, max } = effectiveBounds(
            { ...spec, schedule },
            { overrides: overridesAt(drawn, nowMs), calendars: [] },
            nowMs,
          );
          expect(min.replicas).toBeGreaterThanOrEqual(1);
          expect(max.replicas).toBeGreaterThanOrEqual(min.replicas);
          expect(Number.isInteger(min.replicas) && Number.isInteger(max.replicas)).toBe(true);
        },
      ),
    );
  });

  it("always holds until the end that it names: within it the source of a bound stays, unless another one begins", () => {
    fc.assert(
      fc.property(
        anyEntry,
        instant,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (one, nowMs, share) => {
          const of = (ms: number) =>
            effectiveBounds(
              { ...spec, schedule: [{ ...one, paused: true, rampInMs: 0, rampOutMs: 0 }] },
              { overrides: [], calendars: [] },
              ms,
            );
          const { paused } = of(nowMs);
          if (!paused) return;
          expect(of(nowMs + Math.floor((paused.untilMs - nowMs) * share)).paused).toBeDefined();
          expect(paused.untilMs).toBeGreaterThan(nowMs);
        },
      ),
    );
  });
});

describe("the table of docs/pod-autoscaler.md, Which bound holds?", () => {
  const [, table = ""] =
    /\n### Which bound holds\?\n(.*?)\n## /s.exec(readFileSync("docs/pod-autoscaler.md", "utf8")) ??
    [];
  const rows = [
    ...table.matchAll(/^\| (\d+) to (\d+) \| ?(.*?) ?\| ?(.*?) ?\| (\d+) \| (\d+) \| (.+) \|$/gm),
  ];
  const numberOf = (text: string, word: string): number | undefined => {
    const [, found] = new RegExp(`(?:^| )${word} ([\\d.]+)`).exec(text) ?? [];
    return found === undefined ? undefined : Number(found);
  };
  const parts = (text: string): readonly string[] => text.split(", ").filter((part) => part !== "");
  const entryOf = (text: string, startMs: number): ScheduleEntry =>
    entry({
      name: `entry-${startMs}`,
      minReplicas: numberOf(text, "min") ?? 0,
      priority: numberOf(text, "priority") ?? 0,
    });
  const overrideOf = (text: string, startMs: number): ScopedOverride => {
    const [scope = ""] = text.split(" ");
    const factor = numberOf(text, "min-factor");
    const [min, max] = [numberOf(text, "min"), numberOf(text, "max")];
    const set = {
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(factor !== undefined && { minFactorMilli: factor * 1_000 }),
    };
    return override(scope as ScopedOverride["scope"], set, {
      id: `o-${startMs}`,
      ...(text.endsWith("force") && { force: true }),
    });
  };

  it("has a row for each rule", () => {
    expect(rows.length).toBe(12);
  });

  it.each(
    rows.map(
      ([, least, most, schedule = "", overrides = "", min, max, why]) =>
        [why, { least, most, schedule, overrides, min, max }] as const,
    ),
  )("holds: %s", (_why, { least, most, schedule, overrides, min, max }) => {
    const spec = {
      minReplicas: Number(least),
      maxReplicas: Number(most),
      schedule: parts(schedule).map(entryOf),
    };
    const bounds = effectiveBounds(
      spec,
      { overrides: parts(overrides).map(overrideOf), calendars: [] },
      at("12:00"),
    );
    expect([bounds.min.replicas, bounds.max.replicas]).toEqual([Number(min), Number(max)]);
  });
});
