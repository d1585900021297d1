import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Table from "cli-table3";
import type { Measured } from "./function-process.ts";
import type { HpaFigures, Reaction } from "./hpa-controller.ts";
import { type KeptTable, withRows } from "./kept-rows.ts";

/** What one size took. */
export interface Figures {
  readonly workloads: number;
  /** Medians of steady syncs. */
  readonly sync: Measured;
  readonly serverMs: number;
  /** What it takes to scale all of them up. */
  readonly burst: Measured & { readonly syncs: number };
  readonly reaction: Reaction;
  readonly lists: string;
  /** Share of the machine that other programs took. */
  readonly others: number;
  readonly hpa: Readonly<Record<string, HpaFigures>>;
}

const PAGE = join(import.meta.dirname, "../../docs/speed.md");

const OWN: KeptTable = {
  name: "syncs",
  head: [
    "N",
    "sync s",
    "own CPU s",
    "API server CPU s",
    "calls",
    "KiB",
    "peak MiB",
    "blocked ms",
    "all scaled s (syncs)",
    "own CPU s of it",
    "peak MiB of it",
    "blocked ms of it",
    "median, last scale s",
    "other work",
  ],
  keyCells: 1,
};

const HPA: KeptTable = {
  name: "controller",
  head: [
    "N",
    "controller",
    "round s",
    "own CPU s",
    "API server CPU s",
    "median, last scale s",
    "own CPU, API server CPU: times Tidemark's",
    "other work",
  ],
  keyCells: 2,
};

const seconds = (ms: number, digits = 3): string => (ms / 1_000).toFixed(digits);
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const count = (number: number): string => number.toLocaleString("en");

const ownRow = ({
  workloads,
  sync,
  serverMs,
  burst,
  reaction,
  others,
}: Figures): readonly string[] => [
  count(workloads),
  seconds(sync.wallMs),
  seconds(sync.ownMs),
  seconds(serverMs),
  String(sync.calls),
  count(Math.round(sync.bytes / 1_024)),
  sync.peakMiB.toFixed(0),
  sync.blockedMs.toFixed(0),
  `${seconds(burst.wallMs, 2)} (${burst.syncs})`,
  seconds(burst.ownMs, 2),
  burst.peakMiB.toFixed(0),
  burst.blockedMs.toFixed(0),
  reactionText(reaction),
  percent(others),
];

const reactionText = ({ medianS, lastS }: Reaction): string =>
  `${medianS.toFixed(1)}, ${lastS.toFixed(1)}`;

const hpaRows = ({ workloads, sync, serverMs, hpa }: Figures): readonly (readonly string[])[] =>
  Object.entries(hpa).map(([name, figures]) => {
    const times = [(figures.ownS * 1_000) / sync.ownMs, (figures.serverS * 1_000) / serverMs].map(
      (ratio) => ratio.toFixed(0),
    );
    const took = [figures.roundS.toFixed(1), figures.ownS.toFixed(2), figures.serverS.toFixed(2)];
    return [
      count(workloads),
      name,
      ...took,
      reactionText(figures),
      times.join(", "),
      percent(figures.others),
    ];
  });

/** Writes the rows into docs/speed.md, in the place of earlier ones of the same sizes. */
export const keepFigures = (all: readonly Figures[]): void => {
  const page = withRows(readFileSync(PAGE, "utf8"), OWN, all.map(ownRow));
  writeFileSync(PAGE, withRows(page, HPA, all.flatMap(hpaRows)));
};

export const printFigures = (all: readonly Figures[]): void => {
  printTable(OWN.head, all.map(ownRow));
  for (const { workloads, sync, lists } of all) {
    const phases = Object.entries(sync.phasesMs).map(([phase, ms]) => `${phase} ${ms.toFixed(0)}`);
    process.stdout.write(
      `N = ${count(workloads)}: phases in ms: ${phases.join(", ")}; bare LISTs: ${lists}\n`,
    );
  }
  const rows = all.flatMap(hpaRows);
  if (rows.length > 0) printTable(HPA.head, rows);
};

const printTable = (head: readonly string[], rows: readonly (readonly string[])[]): void => {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colAligns: head.map(() => "right"),
    wordWrap: true,
  });
  for (const row of rows) table.push([...row]);
  process.stdout.write(`${table.toString()}\n`);
};

/** The last line of the bench, for 1,000 workloads. */
export const lastLine = ({ sync, serverMs, hpa }: Figures): string => {
  const ratios = Object.entries(hpa).map(([name, { serverS, ownS }]) => {
    const [server, own] = [(serverS * 1_000) / serverMs, (ownS * 1_000) / sync.ownMs];
    return `; the HPA (${name}) takes ${server.toFixed(0)} times the API server CPU and ${own.toFixed(0)} times the own CPU`;
  });
  return `N = 1,000: sync ${seconds(sync.wallMs)} s, API server CPU ${seconds(serverMs)} s, own CPU ${seconds(sync.ownMs)} s${ratios.join("")}`;
};
