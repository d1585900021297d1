import { describe, expect, it } from "vitest";
import { NOON } from "../noon.ts";
import type { AuditedPut } from "./audit.ts";
import { breaches, type StoredEvent } from "./check.ts";

const RULES = { minReplicas: 1, maxReplicas: 8, pods: 3, periodMs: 30_000, deadlineMs: 39_000 };

const put = (second: number, replicas: number, status = 200): AuditedPut => ({
  namespace: "shop",
  name: "web",
  replicas,
  status,
  fromMs: NOON + second * 1_000,
  untilMs: NOON + second * 1_000 + 20,
});
const event = (
  second: number,
  to: number,
  outcome: StoredEvent["outcome"] = "applied",
): StoredEvent => ({
  id: `uid:${second}`,
  namespace: "shop",
  name: "web",
  atMs: NOON + second * 1_000 - 100,
  from: 1,
  to,
  outcome,
});

describe("the audit log held against the stored events", () => {
  it("finds nothing where every PUT has its event and limits are kept", () => {
    const puts = [put(0, 3), put(1, 3, 409), put(40, 6)];
    expect(
      breaches(puts, [event(0, 3), event(1, 4, "refused"), event(40, 6, "unknown")], RULES),
    ).toEqual([]);
  });

  it.each([
    [
      "a PUT without an event",
      [put(0, 3)],
      [],
      "the PUT of 3 at 2026-03-01T12:00:00.020Z has no event, applied or unknown",
    ],
    [
      "a PUT whose event says refused",
      [put(0, 3)],
      [event(0, 3, "refused")],
      "has no event, applied or unknown",
    ],
    [
      "two PUTs under one event",
      [put(0, 3), put(31, 1), put(62, 3)],
      [event(0, 3), event(31, 1)],
      "has no event",
    ],
    [
      "an applied event without a PUT",
      [],
      [event(0, 3)],
      'the event "uid:0" says that 3 was applied, and no PUT did it',
    ],
    [
      "more pods than a period allows",
      [put(0, 3), put(10, 5)],
      [event(0, 3), event(10, 5)],
      "from 3 to 5, and 3 in 30 s are allowed",
    ],
    ["a count outside the bounds", [put(0, 0)], [event(0, 0)], "0 is outside 1 to 8"],
  ])("finds %s", (_what, puts, events, words) => {
    expect(breaches(puts, events, RULES).join("\n")).toContain(words);
  });
});
