import { describe, expect, it } from "vitest";
import type { Figures } from "../../lib/replay/figures.ts";
import {
  amountsOf,
  frontOf,
  keepsPromise,
  namedPoints,
  type TunedPoint,
} from "../../lib/replay/tune/points.ts";
import {
  genesNow,
  searchedOf,
  type SettingRanges,
  settingsAt,
} from "../../lib/replay/tune/settings.ts";

const figures = (replicaHours: number, aboveTarget: number, scales = 10): Figures => ({
  ...{ replicaHours, aboveTarget, scales, reversals: scales, loadP95: 1, largestStep: 1 },
  ...{ minutesAtMax: 0, coverage: 1, cutOff: 0 },
});
const NOW = figures(100, 0.1);
const point = (own: Figures): TunedPoint => ({
  ...{ genes: [], settings: {} as TunedPoint["settings"], figures: own },
  amounts: amountsOf(own, NOW),
});

describe("namedPoints()", () => {
  it("takes the cheapest that is not worse, the safest that is not dearer, and the fewest scales", () => {
    const cheaper = point(figures(80, 0.1));
    const safer = point(figures(99, 0.02));
    const calmer = point(figures(104, 0.1, 2));
    const worse = point(figures(60, 0.11));
    const dearer = point(figures(106, 0.01, 1));
    const named = namedPoints([worse, cheaper, safer, calmer, dearer], NOW);
    expect(named).toMatchObject({ cheapest: cheaper, safest: safer, fewest: calmer });
  });

  it("names nothing where the policy of now is the best of its kind", () => {
    const { cheapest, safest, fewest } = namedPoints([point(figures(101, 0.11, 9))], NOW);
    expect([cheapest, safest, fewest]).toEqual([undefined, undefined, undefined]);
  });

  it("counts load that is not served as worse, though the time above the target is less", () => {
    const unserved = point({ ...figures(80, 0.05), unserved: 0.01 });
    expect(namedPoints([unserved], { ...NOW, unserved: 0 }).cheapest).toBeUndefined();
    expect(keepsPromise("cheapest", unserved.figures, { ...NOW, unserved: 0.01 })).toBe(true);
  });

  it("has the knee where the front bends most", () => {
    const bend = point(figures(90, 0.03));
    const front = [point(figures(80, 0.15)), bend, point(figures(140, 0.01))];
    expect(namedPoints(front, NOW).knee).toBe(bend);
  });
});

describe("amountsOf()", () => {
  it("puts what nobody would want behind everything else, and never takes the unknown for good", () => {
    const far = point(figures(20, 0.9));
    const near = point(figures(120, 0.09));
    expect(frontOf([far, near])).toEqual([near]);
    expect(frontOf([point(figures(20, Number.NaN))])).toEqual([]);
  });
});

describe("settingsAt()", () => {
  const same = { now: 1, least: 1, most: 1, step: 1 };
  const ranges: SettingRanges = {
    targetPercent: { now: 100, least: 50, most: 150, step: 1 },
    toleranceUp: { now: 0.1, least: 0, most: 0.3, step: 0.05 },
    toleranceDown: same,
    ...{ upWindowSeconds: same, downWindowSeconds: same, upPercent: same, downPercent: same },
    ...{ minReplicas: { now: 3, least: 2, most: 9, step: 1 }, maxReplicas: same },
  };

  it("searches what has several values and is not kept, and the point of now is the settings of now", () => {
    const searched = searchedOf(ranges, new Set(["minReplicas"]));
    expect(searched).toEqual(["targetPercent", "toleranceUp"]);
    expect(settingsAt(ranges, searched, genesNow(ranges, searched))).toMatchObject({
      ...{ targetPercent: 100, toleranceUp: 0.1, minReplicas: 3 },
    });
    expect(settingsAt(ranges, searched, [1, 0.99])).toMatchObject({
      ...{ targetPercent: 150, toleranceUp: 0.3, minReplicas: 3 },
    });
  });
});
