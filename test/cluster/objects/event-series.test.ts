import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type Correlated, EventSeries } from "../../../lib/stack/cluster/objects/event-series.ts";
import type { NewEvent } from "../../../lib/stack/cluster/cluster-client.ts";
import { NOON } from "../../noon.ts";

const WEB = { uid: "object-web" };
const MINUTE_MS = 60_000;

let series: EventSeries;
let events = 0;
beforeEach(() => {
  series = new EventSeries();
});

const event = (note: string, atMs: number, more: Partial<NewEvent> = {}): NewEvent => {
  const id = `e-${++events}`;
  return { id, occurrence: id, type: "Normal", reason: "SuccessfulRescale", note, atMs, ...more };
};

/** Tells it to an API server that takes everything. */
const tell = (told: NewEvent, about = WEB): Correlated => {
  const correlated = series.correlate(about, told);
  if (correlated.kind === "create" || correlated.kind === "repeat") series.wrote(correlated);
  return correlated;
};

describe("the Events of an object", () => {
  it("are one Event with a count where they say the same within an hour, and a new one after it", () => {
    const first = tell(event("Scaled from 2 to 4", NOON));
    expect(first.kind).toBe("create");
    const repeat = tell(event("Scaled from 2 to 4", NOON + 10 * MINUTE_MS));
    expect(repeat).toMatchObject({
      kind: "repeat",
      count: 2,
      event: { id: first.kind === "create" && first.event.id, atMs: NOON + 10 * MINUTE_MS },
    });
    expect(tell(event("Scaled from 2 to 4", NOON + 69 * MINUTE_MS))).toMatchObject({
      kind: "repeat",
      count: 3,
    });
    expect(tell(event("Scaled from 2 to 4", NOON + 129 * MINUTE_MS)).kind).toBe("create");
  });

  it("are not counted twice when one is told again", () => {
    const once = event("Scaled from 2 to 4", NOON);
    tell(once);
    expect(tell(once)).toEqual({ kind: "written" });
  });

  it("are apart for another text, type, reason or object", () => {
    tell(event("a", NOON));
    expect(tell(event("b", NOON)).kind).toBe("create");
    expect(tell(event("a", NOON, { type: "Warning" })).kind).toBe("create");
    expect(tell(event("a", NOON, { reason: "FailedRescale" })).kind).toBe("create");
    expect(tell(event("a", NOON), { uid: "object-api" }).kind).toBe("create");
  });

  it("become one Event with a count from the eleventh different text of a reason within ten minutes on", () => {
    for (let count = 1; count <= 10; count++)
      expect(tell(event(`to ${count}`, NOON)).kind).toBe("create");
    expect(tell(event("to 11", NOON))).toMatchObject({
      kind: "create",
      event: { note: "(combined from similar events): to 11" },
    });
    expect(tell(event("to 12", NOON + MINUTE_MS))).toMatchObject({ kind: "repeat", count: 2 });
    expect(tell(event("to 13", NOON + 10 * MINUTE_MS))).toMatchObject({
      kind: "create",
      event: { note: "to 13" },
    });
  });

  it("are made anew where the API server has forgotten the one that they repeat", () => {
    const first = tell(event("a", NOON));
    if (first.kind === "create") series.forget(first.key);
    expect(tell(event("a", NOON)).kind).toBe("create");
  });

  it("of an object that scales each minute are those of half an hour, and then one each five minutes, as of the HPA controller", () => {
    const written = Array.from({ length: 61 }, (_, minute) =>
      tell(event(`Scaled to ${minute}`, NOON + minute * MINUTE_MS)),
    )
      .map(({ kind }, minute) => (kind === "limited" ? -1 : minute))
      .filter((minute) => minute >= 0);
    expect(written).toEqual([
      ...Array.from({ length: 31 }, (_, minute) => minute),
      35,
      40,
      45,
      50,
      55,
      60,
    ]);
  });

  it("are never more than a burst of 25 and one each five minutes", () => {
    const stepMs = fc.integer({ min: 0, max: 4 * MINUTE_MS });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(stepMs, fc.integer({ min: 1, max: 30 })), {
          minLength: 30,
          maxLength: 120,
        }),
        (steps) => {
          series = new EventSeries();
          let [atMs, allowed] = [NOON, 0];
          for (const [laterMs, to] of steps) {
            atMs += laterMs;
            if (tell(event(`to ${to}`, atMs)).kind !== "limited") allowed += 1;
          }
          expect(allowed).toBeLessThanOrEqual(25 + Math.floor((atMs - NOON) / (5 * MINUTE_MS)));
          // Another object is not limited by this one.
          expect(tell(event("other", atMs), { uid: "object-api" }).kind).toBe("create");
        },
      ),
    );
  });
});
