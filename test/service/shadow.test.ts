import { describe, expect, it } from "vitest";
import { shadowSheet } from "../../lib/command/commands/shadow.ts";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import {
  compareShadow,
  type ShadowSample,
  shadowSample,
} from "../../lib/answers/service/shadow/shadow.ts";
import { verdictOf } from "../../lib/answers/service/shadow/join-shadow.ts";
import { NOON } from "../noon.ts";
import type { Evaluation } from "../../lib/rules/model/scale-records.ts";

const PERIOD_MS = 15_000;
const MINUTE_MS = 60_000;
/** Its windows are full from the third minute on. */
const PACE = { periodMs: PERIOD_MS, fullMs: NOON + 2 * MINUTE_MS };
const HPA = { kind: "HorizontalPodAutoscaler", name: "web", uid: "u-1" };

/** One sync each 15 s: what both want, and when the other one scaled. */
type Sync = readonly [own: number | undefined, rival: number | undefined, scaledMs?: number];
const play = (...syncs: readonly Sync[]): readonly ShadowSample[] =>
  syncs.map(([own, rival, scaledMs], at) => ({
    atMs: NOON + at * PERIOD_MS,
    rivals: [HPA],
    because: { reason: own === 4 ? "WithinTolerance" : "ScaleUp", message: "own words" },
    rivalBecause: { reason: "ValidMetricFound", message: "other words" },
    ...(own !== undefined && { own }),
    ...(rival !== undefined && { rival, current: rival }),
    ...(scaledMs !== undefined && { rivalScaledMs: NOON + scaledMs }),
  }));
const compared = (...syncs: readonly Sync[]) =>
  compareShadow(play(...syncs), NOON + syncs.length * PERIOD_MS, PACE);

describe("compareShadow()", () => {
  it("counts the syncs in which both want the same, and leaves those out in which one did not decide", () => {
    expect(compared([4, 4], [6, 4], [6, 6], [undefined, 6], [6, undefined])).toMatchObject({
      syncs: 3,
      agreed: 2,
      undecided: 2,
    });
  });

  it("sums the replica hours of both over the syncs in which both decided", () => {
    // Three syncs of 15 s: 16 and 14 replicas times 15 s.
    expect(compared([4, 4], [6, 4], [6, 6]).replicaHours).toEqual({ own: 0.067, rival: 0.058 });
  });

  it("joins equal syncs, with both reasons", () => {
    const { stretches } = compared([4, 4], [4, 4], [6, 4], [6, 6]);
    expect(stretches.map(({ own, rival, syncs }) => [own, rival, syncs])).toEqual([
      [4, 4, 2],
      [6, 4, 1],
      [6, 6, 1],
    ]);
    expect(stretches[1]).toMatchObject({
      reason: "ScaleUp",
      message: "own words",
      rivalReason: "ValidMetricFound",
      rivalMessage: "other words",
    });
  });

  it("measures how long each took to react from the last sync in which both agreed, and takes the other's own time of its last scale", () => {
    expect(compared([4, 4], [6, 4], [6, 6, 20_000], [6, 6]).reactions).toEqual([
      { at: "2026-03-01T12:00:00.000Z", from: 4, to: 6, ownSeconds: 15, rivalSeconds: 20 },
    ]);
  });

  it("says that one did not react where both agree on the old count again, and leaves the end open where they do not agree yet", () => {
    expect(compared([4, 4], [6, 4], [4, 4], [4, 5]).reactions).toEqual([
      { at: "2026-03-01T12:00:00.000Z", from: 4, to: 4, ownSeconds: 15 },
      { at: "2026-03-01T12:00:30.000Z", from: 4, rivalSeconds: 15 },
    ]);
  });

  it("measures no reaction of one that went the other way", () => {
    expect(compared([4, 4], [6, 3], [6, 6]).reactions).toMatchObject([
      { from: 4, to: 6, ownSeconds: 15, rivalSeconds: 30 },
    ]);
    expect(compared([4, 4], [6, 3], [4, 4]).reactions).toEqual([
      { at: "2026-03-01T12:00:00.000Z", from: 4, to: 4, ownSeconds: 15 },
    ]);
  });

  it("classes each difference: of one sync earlier or later, of young windows, and of a rule", () => {
    const even: readonly Sync[] = Array.from({ length: 12 }, () => [4, 4]);
    const { stretches, agreedWithinPeriod, agreed } = compared(
      [4, 4],
      [6, 4],
      [6, 6],
      [8, 6],
      [9, 6],
      [8, 6],
      [6, 6],
      ...even,
      [9, 6],
      [7, 7],
    );
    expect(
      stretches
        .map(({ own, rival, difference }) => [own, rival, difference])
        .filter(([own, rival]) => own !== rival),
    ).toEqual([
      [6, 4, "phase"],
      [8, 6, "phase"],
      [9, 6, "young"],
      [8, 6, "phase"],
      [9, 6, "rule"],
    ]);
    expect([agreed, agreedWithinPeriod]).toEqual([16, 19]);
  });

  it("takes the windows of an object that was made anew for young, for an hour from its first sync", () => {
    const until = (uid: string) => [{ ...HPA, uid, desiredReplicas: 6 }];
    const hour = 240;
    const samples = play(
      ...Array.from({ length: 10 }, (): Sync => [9, 6]),
      ...Array.from({ length: hour + 10 }, (): Sync => [9, 6]),
    ).map((sample, at) => ({
      ...sample,
      rivals: until(at < 10 ? "u-1" : "u-2"),
    }));
    const { stretches } = compareShadow(samples, NOON + (hour + 20) * PERIOD_MS, {
      periodMs: PERIOD_MS,
      fullMs: 0,
    });
    expect(stretches.map(({ syncs, difference }) => [syncs, difference])).toEqual([
      [10, "rule"],
      [hour, "young"],
      [10, "rule"],
    ]);
  });

  it("calls no sync a neighbour that is further away than a period and a half", () => {
    const [first, second] = play([4, 4], [6, 4], [6, 6])
      .map((sample, at) => ({ ...sample, atMs: NOON + at * 3 * MINUTE_MS }))
      .slice(1);
    expect(
      compareShadow(
        [first, second].flatMap((sample) => sample ?? []),
        NOON + 10 * MINUTE_MS,
        PACE,
      ).stretches[0]?.difference,
    ).toBe("rule");
  });

  it("knows nothing where no sync found another controller", () => {
    expect(compareShadow([], NOON, PACE)).toMatchObject({
      syncs: 0,
      agreed: 0,
      stretches: [],
      reactions: [],
      rivals: [],
    });
  });
});

describe("verdictOf()", () => {
  const HOUR = 240;
  const same = (count: number): readonly Sync[] => Array.from({ length: count }, () => [4, 4]);
  const verdict = (...syncs: readonly Sync[]) => verdictOf(compared(...syncs));

  it("is ready after an hour in which at most one sync of a hundred differs by a rule", () => {
    expect(verdict(...same(HOUR))).toEqual({ verdict: "ready" });
    expect(verdict(...same(HOUR), [9, 6], [9, 6], ...same(HOUR))).toEqual({ verdict: "ready" });
    expect(verdict(...same(HOUR - 1))).toMatchObject({ verdict: "too early" });
  });

  it("asks a person to look where more differ, and where one of them often did not decide", () => {
    expect(verdict(...same(HOUR), [9, 6], [9, 6], [9, 6])).toEqual({
      verdict: "look at",
      why: "3 of 243 syncs differ by a rule",
    });
    expect(
      verdict(...same(HOUR), ...Array.from({ length: 13 }, (): Sync => [undefined, 4])),
    ).toEqual({
      verdict: "look at",
      why: "in 13 of 253 syncs one of them did not decide",
    });
  });

  it("waits for an hour before it asks a person to look at syncs in which one of them did not decide", () => {
    const undecided = (count: number): readonly Sync[] =>
      Array.from({ length: count }, () => [undefined, 4]);
    expect(verdict(...undecided(1))).toMatchObject({ verdict: "too early" });
    expect(verdict(...undecided(HOUR - 1))).toMatchObject({ verdict: "too early" });
    expect(verdict(...undecided(HOUR))).toMatchObject({ verdict: "look at" });
  });

  it("counts differences of one sync earlier or later, and of young windows, for nothing", () => {
    expect(
      verdict(
        [9, 6],
        [9, 6],
        ...Array.from(
          { length: HOUR },
          (_, at): Sync => (at % 3 === 0 ? [6, 4] : at % 3 === 1 ? [6, 6] : [4, 4]),
        ),
      ),
    ).toEqual({
      verdict: "ready",
    });
  });
});

const EVALUATION: Evaluation = {
  uid: autoscalerUid("u-2"),
  namespace: "shop" as Evaluation["namespace"],
  name: "web" as Evaluation["name"],
  kind: "hold",
  failed: false,
  from: 4,
  because: { reason: "RivalController", message: "m" },
  metrics: [],
  steps: [],
  events: [],
};

describe("sampleOf()", () => {
  it("takes the count that the rules want without the hold, and the observed one where they want no other", () => {
    const rivals = [{ ...HPA, desiredReplicas: 5 }];
    const to = { reason: "ScaleUp", message: "more" };
    expect(
      shadowSample(NOON, { ...EVALUATION, rivals, withoutHold: { to: 6, because: to } }),
    ).toMatchObject({
      own: 6,
      rival: 5,
      current: 4,
      because: to,
    });
    expect(
      shadowSample(NOON, { ...EVALUATION, rivals, withoutHold: { because: to } }),
    ).toMatchObject({
      own: 4,
      rival: 5,
    });
    expect(shadowSample(NOON, { ...EVALUATION, rivals, failed: true })).not.toHaveProperty("own");
  });

  it("is none of an evaluation without another controller, as in journals of earlier releases", () => {
    expect(shadowSample(NOON, EVALUATION)).toBeUndefined();
  });
});

describe("shadowSheet()", () => {
  it("shows the share, a plot of both with one scale, the differences and the reactions", () => {
    const text = shadowSheet({
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      since: "2026-03-01T12:00:00.000Z",
      until: "2026-03-01T12:01:00.000Z",
      ...compared([4, 4], [8, 4], [8, 8, 20_000], [8, 8]),
    }).written();
    expect(text.split("\n").slice(0, 10)).toEqual([
      "Name:               eu-1/shop/web",
      "Beside:             HorizontalPodAutoscaler/web",
      "From:               2026-03-01T12:00:00.000Z to 2026-03-01T12:01:00.000Z",
      "Syncs that agree:   3 of 4 (75%), 4 within one sync",
      "Verdict:            too early: less than an hour was compared",
      "Replica hours:      Tidemark 0.117, the other 0.1",
      "Wanted replicas, 0 to 8:",
      `  Tidemark    ${"▅".repeat(16)}${"█".repeat(48)}`,
      `  the other   ${"▅".repeat(32)}${"█".repeat(32)}`,
      `              2026-03-01T12:00:00Z${" ".repeat(24)}2026-03-01T12:01:00Z`,
    ]);
    expect(text).toContain(
      "   1 sync   phase: one is a sync earlier\n    Tidemark 8: ScaleUp: own words\n    the other 4: ValidMetricFound: other words\n",
    );
    expect(text).toContain("4 -> 8   Tidemark after 15 s   the other after 20 s");
  });

  it("leaves the plot empty where no sync compared the two, from the first comparison on, and fits 80 columns", () => {
    const [first, second] = [
      play([4, 4]),
      play([4, 4]).map((sample) => ({ ...sample, atMs: sample.atMs + 40 * MINUTE_MS })),
    ];
    const view = {
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      since: "2026-02-28T12:00:00.000Z",
      until: "2026-03-01T13:00:00.000Z",
    };
    const lines = shadowSheet({
      ...view,
      ...compareShadow([...first, ...second], NOON + 50 * MINUTE_MS, PACE),
    })
      .written()
      .split("\n");
    const [title = "", own = "", , times = ""] = lines.slice(
      lines.findIndex((line) => line.startsWith("Wanted")),
    );
    expect(title).toBe("Wanted replicas, 0 to 4; empty where a count is not known:");
    // Five minutes of 45, then none for 35 minutes, then five again.
    expect(own).toMatch(/^ {2}Tidemark {4}█{7} {50}█{7}$/);
    expect(times.trim()).toBe(`2026-03-01T12:00:00Z${" ".repeat(24)}2026-03-01T12:45:00Z`);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});
