import { describe, expect, it } from "vitest";
import { clusterName, partitionName } from "../../lib/rules/model/ids.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import {
  kindSentence,
  type FleetProblem,
  problemMetrics,
} from "../../lib/stack/report/problems.ts";
import { NO_TROUBLES, type Trouble, type Troubles } from "../../lib/stack/store/head/troubles.ts";
import { risenProblems, type KindsReported } from "../../lib/stack/plan/risen-problems.ts";
import { ownerNews, problemsOf } from "../../lib/stack/plan/count-problems.ts";
import { NOON } from "../noon.ts";

const MINUTE_MS = 60_000;
const cluster = (name: string, more: Partial<ClusterRecord> = {}): ClusterRecord => ({
  name: clusterName(name),
  uid: `uid-of-${name}`,
  syncPeriodMs: 15_000,
  partitions: [{ name: partitionName("default") }],
  settings: DEFAULT_SETTINGS,
  version: 1,
  ...more,
});
interface Play {
  readonly more?: Partial<ClusterRecord>;
  readonly agoMs?: number;
  readonly troubles?: Troubles;
  readonly frozen?: boolean;
}
const found = ({
  more,
  agoMs = 10_000,
  troubles = NO_TROUBLES,
  frozen = false,
}: Play): readonly FleetProblem[] =>
  problemsOf({
    fleet: frozen ? { frozen: { by: "ada", atMs: 0, reason: "drill" } } : {},
    clusters: [{ kind: "read", record: cluster("eu-1", more) }],
    heads: new Map([
      ["eu-1/default", { evaluatedMs: NOON - agoMs, dueDoneMs: NOON - agoMs, troubles }],
    ]),
    nowMs: NOON,
  });
const kinds = (play: Play): readonly string[] => found(play).map(({ kind }) => kind);
const unreachable = (agoMs: number): Troubles => ({ unreachableMs: NOON - agoMs, of: {} });
const trouble = (...agoMs: readonly number[]): Trouble => ({
  since: new Map(agoMs.map((ms, at) => [`k${at}`, NOON - ms])),
  first: "shop/web",
});

describe("what is a problem", () => {
  it.each<[string, Play, readonly string[]]>([
    ["nothing, on a healthy day", {}, []],
    ["nothing, three periods after the last sync", { agoMs: 45_000 }, []],
    ["a partition that was not synced for longer than three periods", { agoMs: 45_001 }, ["late"]],
    [
      "nothing, 14 minutes after the last sync of a cluster with a period of 5 minutes",
      { more: { syncPeriodMs: 300_000 }, agoMs: 840_000 },
      [],
    ],
    [
      "a slow cluster after three of its periods",
      { more: { syncPeriodMs: 300_000 }, agoMs: 900_001 },
      ["late"],
    ],
    [
      "nothing, three minutes after a partition was added",
      { more: { plannedFromMs: NOON - 180_000 }, agoMs: NOON },
      [],
    ],
    [
      "a partition that has had no first sync",
      { more: { plannedFromMs: NOON - 226_000 }, agoMs: NOON },
      ["late"],
    ],
    ["nothing, before a cluster is down for 5 minutes", { troubles: unreachable(299_000) }, []],
    ["a cluster that is down for 5 minutes", { troubles: unreachable(300_000) }, ["unreachable"]],
    [
      "nothing, where one sync of a slow cluster failed 5 minutes ago and no second one has come",
      { more: { syncPeriodMs: 300_000 }, agoMs: 301_000, troubles: unreachable(301_000) },
      [],
    ],
    [
      "a cluster in which nothing can be evaluated",
      { troubles: { failingMs: NOON - 300_000, of: {} } },
      ["failing"],
    ],
    [
      "nothing, before a scale was refused for 15 minutes",
      { troubles: { of: { refused: trouble(899_000) } } },
      [],
    ],
    [
      "autoscalers that are refused, miss a metric or want more than their maximum for 15 minutes",
      {
        troubles: {
          of: { refused: trouble(900_000), unmeasured: trouble(900_000), atMax: trouble(900_000) },
        },
      },
      ["refused", "unmeasured", "atMax"],
    ],
    [
      "a namespace over its share for 5 minutes",
      { troubles: { of: { overShare: trouble(300_000) } } },
      ["overShare"],
    ],
    [
      "nothing of a paused cluster",
      { more: { paused: { by: "ada", atMs: 0 } }, troubles: unreachable(600_000) },
      [],
    ],
    ["nothing while the fleet is frozen", { frozen: true, troubles: unreachable(600_000) }, []],
    [
      "also while the fleet is frozen, that syncs stopped",
      { frozen: true, agoMs: 60_000 },
      ["late"],
    ],
  ])("%s", (_what, play, wanted) => {
    expect(kinds(play)).toEqual(wanted);
  });

  it("counts what lasts, and names the oldest", () => {
    const [problem] = found({ troubles: { of: { refused: trouble(960_000, 1_000_000, 10_000) } } });
    expect(problem).toEqual({ kind: "refused", key: "eu-1/default", count: 2, first: "shop/web" });
    expect(kindSentence("refused", problem ? [problem] : [])).toBe(
      "2 autoscalers could not scale for 15 minutes: eu-1/default (2, first shop/web)",
    );
  });

  it.each([
    ["goes on while it comes and goes", 0, undefined],
    ["has ended for now, and is no news, ten minutes later", 2, "just now"],
  ] as const)("of many spells %s", (_, slots, past) => {
    const slot = Math.floor(NOON / (5 * MINUTE_MS)) - slots;
    const refused: Trouble = {
      since: new Map(),
      spells: new Map([["k0", new Map([0, 1, 2, 3].map((at) => [slot - at, 300_000]))]]),
      first: "shop/web",
    };
    const [problem] = found({ troubles: { of: { refused } } });
    expect(problem?.past).toBe(past);
    const all = problem ? [problem] : [];
    const { report } = risenProblems({}, all, NOON);
    expect(report.risen.length).toBe(past ? 0 : 1);
    expect(
      ownerNews(
        {},
        all.map((one) => ({ ...one, owners: { shop: 1 } })),
        ["shop"],
        NOON,
      ),
    ).toMatchObject([
      {
        news: past ? [] : [{ count: 1 }],
        after: { counts: past ? {} : { "refused eu-1/default": 1 } },
      },
    ]);
  });

  it("is a record that cannot be read", () => {
    const clusters = [
      { kind: "unreadable", name: "bad", message: "syncPeriodMs: no number" },
    ] as const;
    expect(problemsOf({ fleet: {}, clusters, heads: new Map(), nowMs: NOON })).toEqual([
      { kind: "unreadable", key: "bad", count: 1 },
    ]);
  });
});

const down = (...names: readonly string[]): readonly FleetProblem[] =>
  names.map((key) => ({ kind: "unreachable", key, count: 1 }));
/** What is reported in each minute, and the metrics. */
const played = (minutes: readonly (readonly FleetProblem[])[]) => {
  let reported: KindsReported = {};
  return minutes.map((all, minute) => {
    const { report, reported: after } = risenProblems(reported, all, NOON + minute * MINUTE_MS);
    reported = after;
    return report;
  });
};
const names = (minutes: readonly (readonly FleetProblem[])[]) =>
  played(minutes).map(({ risen }) => risen.map(({ key }) => key));

describe("what is reported", () => {
  it("is each problem once, while it goes on", () => {
    expect(names([down("a"), down("a"), down("a")])).toEqual([["a"], [], []]);
  });
  it("is a second cluster too, also where the first one recovers in that minute", () => {
    expect(names([down("a"), down("a"), down("a", "b")])).toEqual([["a"], [], ["b"]]);
    expect(names([down("a"), down("a"), down("b")])).toEqual([["a"], [], ["b"]]);
  });
  it("waits a minute after the last, because an alarm that is on does not fire", () => {
    expect(names([down("a"), down("a", "b"), down("a", "b"), down("a", "b")])).toEqual([
      ["a"],
      [],
      ["b"],
      [],
    ]);
  });
  it("is a problem again that had ended", () => {
    expect(names([down("a"), [], [], down("a")])).toEqual([["a"], [], [], ["a"]]);
  });
  it("is how many more autoscalers of a partition have it", () => {
    const refused = (count: number): readonly FleetProblem[] => [
      { kind: "refused", key: "eu-1/default", count },
    ];
    const reports = played([refused(2), refused(2), refused(1), refused(1), refused(3)]);
    expect(reports.map(({ risen }) => risen.map(({ count }) => count))).toEqual([
      [2],
      [],
      [],
      [],
      [2],
    ]);
  });
});

describe("the metrics of problems", () => {
  it("are none while there is no problem", () => {
    expect(played([[]]).map(problemMetrics)).toEqual([[]]);
  });
  it("are the number and the rise of each kind, with zeros after a rise so that its alarm ends", () => {
    const values = played([down("a", "b"), down("a"), []]).map((report) =>
      problemMetrics(report).map(({ name, value }) => [name, value]),
    );
    expect(values).toEqual([
      [
        ["Problems", 2],
        ["ClustersUnreachable", 2],
        ["NewClusterProblems", 2],
      ],
      [
        ["Problems", 1],
        ["ClustersUnreachable", 1],
        ["NewClusterProblems", 0],
      ],
      [
        ["Problems", 0],
        ["ClustersUnreachable", 0],
        ["NewClusterProblems", 0],
      ],
    ]);
  });
});
