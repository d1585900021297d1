import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { type Word, text } from "../../stack/report/printed.ts";
import { ageText } from "../../stack/report/duration-text.ts";
import { aligned } from "../output/text-table.ts";
import { SECOND_MS } from "../../rules/model/time-text.ts";
import type { FiguresReport, PolicyReport, ReplayReport } from "./report.ts";

/** Rows of a table: a name, and a cell for each policy. */
export interface FigureRow {
  readonly name: string;
  readonly cells: readonly string[];
}

const PERCENT = 100;

export const percentText = (share: number | undefined): string =>
  share === undefined ? "unknown" : `${Number((share * PERCENT).toFixed(share < 0.01 ? 2 : 1))} %`;

/** "-24.3 %": by how much it differs from the first policy; nothing for the first one. */
const byPercent = (value: number | undefined, first: number | undefined): string => {
  if (value === undefined || first === undefined || first === 0 || value === first) return "";
  const percent = ((value - first) / first) * PERCENT;
  return ` (${percent > 0 ? "+" : ""}${Number(percent.toFixed(1))} %)`;
};

const byPoints = (value: number | undefined, first: number | undefined): string => {
  if (value === undefined || first === undefined || value === first) return "";
  const points = Number(((value - first) * PERCENT).toFixed(2));
  return points === 0 ? "" : ` (${points > 0 ? "+" : ""}${points} points)`;
};

type CellOf = (figures: FiguresReport, first: FiguresReport) => string;

const seconds = (value: number): string => ageText(value * SECOND_MS);

/** Every figure, in the order of the table. */
const FIGURES: readonly (readonly [
  name: string,
  cell: CellOf,
  isShown?: (all: readonly FiguresReport[]) => boolean,
])[] = [
  [
    "replica-hours",
    (one, first) => `${one.replicaHours}${byPercent(one.replicaHours, first.replicaHours)}`,
  ],
  [
    "dollars",
    ({ dollars }, first) => `${dollars?.toFixed(2) ?? ""}${byPercent(dollars, first.dollars)}`,
    (all) => all.some(({ dollars }) => dollars !== undefined),
  ],
  [
    "time above target",
    ({ aboveTarget }, first) =>
      `${percentText(aboveTarget)}${byPoints(aboveTarget, first.aboveTarget)}`,
  ],
  [
    "load in the worst minute of 20",
    ({ loadP95 }) => (loadP95 === undefined ? "no pod served" : `${loadP95.toFixed(2)} x target`),
  ],
  [
    "load not served",
    ({ unserved }, first) => `${percentText(unserved)}${byPoints(unserved, first.unserved)}`,
    (all) => all.some(({ unserved }) => unserved !== undefined),
  ],
  ["scales", (one, first) => `${one.scales}${byPercent(one.scales, first.scales)}`],
  ["reversals", ({ reversals }) => String(reversals)],
  ["largest step", ({ largestStep }) => String(largestStep)],
  [
    "time to react: median",
    ({ reactionSeconds, minutesAtMax }) => {
      if (reactionSeconds) return seconds(reactionSeconds.median);
      return minutesAtMax > 0 ? "none below the maximum" : "never a tenth too few";
    },
  ],
  [
    "  a slow one in 20",
    ({ reactionSeconds }) => (reactionSeconds ? seconds(reactionSeconds.p95) : ""),
  ],
  [
    "  the slowest",
    ({ reactionSeconds }) => (reactionSeconds ? seconds(reactionSeconds.worst) : ""),
  ],
  ["minutes at max", ({ minutesAtMax }) => String(minutesAtMax)],
  ["known", ({ coverage }) => percentText(coverage)],
  [
    "of it demand cut off",
    ({ cutOff }) => percentText(cutOff),
    (all) => all.some(({ cutOff = 0 }) => cutOff > 0),
  ],
];

/** All figures of all policies, and on how many days each was better than the first one. */
export const figureRows = ({ policies }: Pick<ReplayReport, "policies">): readonly FigureRow[] => {
  const [first] = policies;
  if (!first) return [];
  const rows = FIGURES.filter(([, , isShown]) => isShown?.(policies) ?? true).map(
    ([name, cell]) => ({ name, cells: policies.map((policy) => cell(policy, first)) }),
  );
  const all = [...rows, ...raisedRows(policies)];
  return policies.length === 1 ? all : [...all, ...winRows(policies)];
};

/** What it comes to if more was asked for where demand was cut off. */
const raisedRows = (policies: readonly PolicyReport[]): readonly FigureRow[] =>
  (policies[0]?.raised ?? []).flatMap(({ factor }, at) => {
    const cells = (of: (figures: FiguresReport) => string): readonly string[] =>
      policies.map(({ raised }) => {
        const figures = raised?.[at];
        return figures ? of(figures) : "";
      });
    const words = `with ${factor} times the demand there`;
    return [
      { name: `${words}: replica-hours`, cells: cells(({ replicaHours }) => String(replicaHours)) },
      {
        name: `${words}: above target`,
        cells: cells(({ aboveTarget }) => percentText(aboveTarget)),
      },
    ];
  });

const winRows = (policies: readonly PolicyReport[]): readonly FigureRow[] =>
  (["cheaper", "safer", "calmer"] as const).map((what) => ({
    name: WINS[what],
    cells: policies.map(({ wins }) => (wins ? `${wins[what]} of ${wins.days}` : "")),
  }));

const WINS = {
  cheaper: "days with fewer replica-hours",
  safer: "days with less above target",
  calmer: "days with fewer scales",
} as const;

/** Replica-hours and time above target, day by day. */
export const dayRows = ({
  policies,
}: Pick<ReplayReport, "policies">): readonly (readonly string[])[] => {
  const days = policies[0]?.days ?? [];
  return days.map(({ since }, at) => [
    withLocalTimes(since).slice(0, 10),
    ...policies.flatMap(({ days: own }) => {
      const day = own[at];
      const hours = day?.coverage === 0 ? "unknown" : String(day?.replicaHours ?? "");
      return [hours, percentText(day?.aboveTarget)];
    }),
  ]);
};

export const dayHeader = ({ policies }: Pick<ReplayReport, "policies">): readonly string[] => [
  "DAY",
  ...policies.flatMap(({ name }) => [`${name}: HOURS`, "ABOVE"]),
];

/** The words before the tables. */
export const headLines = (report: ReplayReport): readonly string[] => [
  `${report.of}, ${withLocalTimes(report.since)} to ${withLocalTimes(report.until)}, a sync every ${report.syncPeriodSeconds} s`,
  ...report.assumptions,
];

/** The whole comparison as text. */
export const sheetLines = (report: ReplayReport): readonly Word[] => {
  const [header, ...rows] = [
    ["", ...report.policies.map(({ name }) => name)],
    ...figureRows(report).map(({ name, cells }) => [name, ...cells]),
  ];
  const days = dayRows(report);
  return [
    ...headLines(report),
    "",
    ...aligned([header ?? [], ...rows]),
    ...(days.length < 2 ? [] : ["", ...aligned([dayHeader(report), ...days])]),
  ].map((each) => text`${each}`);
};
