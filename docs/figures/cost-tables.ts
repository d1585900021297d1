import { type Bill, billOf, type BilledFleet, PARTS } from "../../lib/answers/cost/bill.ts";

/** Dollars with cents below ten, and whole dollars above. */
export const dollars = (amount: number): string =>
  amount < 10 ? amount.toFixed(2) : Math.round(amount).toLocaleString("en");

const FLEETS: readonly (readonly [clusters: number, autoscalers: number])[] = [
  [1, 100],
  [10, 1_000],
  [100, 1_000],
  [100, 10_000],
  [500, 10_000],
];
const PERIODS_SECONDS = [15, 60] as const;
const CHANGING = [0, 0.01, 0.1] as const;
const SCALES_A_DAY = 10;

export const fleetOf = (
  clusters: number,
  autoscalers: number,
  more: Partial<BilledFleet> = {},
): BilledFleet => ({
  clusters,
  autoscalers,
  periodSeconds: 15,
  changing: 0.01,
  scalesADay: SCALES_A_DAY,
  secrets: 0,
  clusterMetrics: "none",
  ...more,
});

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const billRow = (
  { clusters, autoscalers, periodSeconds, changing }: BilledFleet,
  { parts, firstMonth, afterYear }: Bill,
): string =>
  row([
    clusters.toLocaleString("en"),
    autoscalers.toLocaleString("en"),
    `${periodSeconds} s`,
    `${changing * 100} %`,
    ...PARTS.map((part) => dollars(parts[part])),
    `**${dollars(firstMonth)}**`,
    dollars(afterYear),
  ]);

/** The table of docs/cost.md. */
export const costTable = (): string => {
  const head = [
    "clusters",
    "autoscalers",
    "period",
    "changing",
    ...PARTS,
    "first month",
    "with 13 months of history",
  ];
  const fleets = FLEETS.flatMap(([clusters, autoscalers]) =>
    PERIODS_SECONDS.flatMap((periodSeconds) =>
      CHANGING.map((changing) => fleetOf(clusters, autoscalers, { periodSeconds, changing })),
    ),
  );
  return [
    row(head),
    `|${head.map(() => "---:").join("|")}|`,
    ...fleets.map((fleet) => billRow(fleet, billOf(fleet))),
  ].join("\n");
};

/**
 * What a month of a fleet at 15 s may cost with the history of 13 months, alarms, logs and metrics
 * included.
 */
export const TARGETS: readonly {
  readonly clusters: number;
  readonly autoscalers: number;
  readonly dollars: number;
}[] = [
  { clusters: 1, autoscalers: 100, dollars: 5 },
  { clusters: 10, autoscalers: 1_000, dollars: 16 },
  { clusters: 100, autoscalers: 10_000, dollars: 132 },
];

/** What the autoscalers of the demonstration do: they are busier than those of most fleets. */
export const BUSY = { changing: 0.105, scalesADay: 52 } as const;

/** The same fleets, where each autoscaler is as busy as those of the demonstration. */
export const busyTable = (): string =>
  [
    row(["autoscalers", "clusters", "first month", "with 13 months of history"]),
    "|---:|---:|---:|---:|",
    ...TARGETS.map(({ clusters, autoscalers }) => {
      const { firstMonth, afterYear } = billOf(fleetOf(clusters, autoscalers, BUSY));
      return row([
        autoscalers.toLocaleString("en"),
        String(clusters),
        `$${firstMonth.toFixed(2)}`,
        `$${afterYear.toFixed(2)}`,
      ]);
    }),
  ].join("\n");

export const targetTable = (): string =>
  [
    row(["autoscalers", "clusters", "target", "reached", "with 13 months of history"]),
    "|---:|---:|---:|---:|---:|",
    ...TARGETS.map(({ clusters, autoscalers, dollars: target }) => {
      const { firstMonth, afterYear } = billOf(fleetOf(clusters, autoscalers));
      return row([
        autoscalers.toLocaleString("en"),
        String(clusters),
        `$${target}`,
        `$${firstMonth.toFixed(2)}`,
        `$${afterYear.toFixed(2)}`,
      ]);
    }),
  ].join("\n");
