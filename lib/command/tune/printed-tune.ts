import { isDeepStrictEqual } from "node:util";
import { createTwoFilesPatch } from "diff";
import { lines, type Printed, text, type Word } from "../../stack/report/printed.ts";
import { withLocalTimes } from "../../stack/report/instant-text.ts";
import type { Json } from "../../rules/model/json.ts";
import { AS_IT_IS, type Settings } from "../../replay/tune/settings.ts";
import { type DocumentFormat, documentText, yamlText } from "../output/documents.ts";
import { aligned, csvLine } from "../output/text-table.ts";
import { markdownRows } from "../replay/markdown.ts";
import { dayHeader, dayRows, figureRows, percentText } from "../replay/sheet.ts";
import { frontPlot } from "./front-plot.ts";
import { asReplayReport, type FrontReport, type PointReport, type TuneReport } from "./report.ts";

export type TuneOutput = "text" | "markdown" | "csv" | DocumentFormat;

interface Paper {
  readonly columns: number | undefined;
  readonly periodMs: number;
}

const COLUMNS = 80;

export const printedTune = (report: TuneReport, output: TuneOutput, paper: Paper): Printed => {
  if (output === "text") return lines(textLines(report, paper));
  if (output === "markdown") return lines(markdownLines(report, paper));
  if (output === "csv") return lines(frontCells(report.front).map(csvLine));
  return documentText(report, output);
};

const headLines = ({ of, tunedOn, reportedOn, ...report }: TuneReport): readonly string[] => [
  `${of}: tuned on ${spanText(tunedOn)}, reported on ${spanText(reportedOn)}`,
  ...report.assumptions,
  `Above target, for every policy, is by the one of now: ${report.target}`,
  ...report.guards,
];

const spanText = ({ since, until }: TuneReport["tunedOn"]): string =>
  `${withLocalTimes(since)} to ${withLocalTimes(until)}`;

const textLines = (report: TuneReport, { columns = COLUMNS, periodMs }: Paper): readonly Word[] => {
  const beside = asReplayReport(report, periodMs);
  const [header, ...rows] = figuresTable(report, periodMs);
  return [
    ...headLines(report),
    "",
    "The front, on the days that were tuned on:",
    ...aligned(frontCells(report.front, FRONT_ROWS)),
    "",
    ...frontPlot(report, Math.min(columns, COLUMNS)),
    "",
    "On the days that were not tuned on:",
    ...aligned([header ?? [], ...rows]),
    ...(beside.policies[0]?.days.length === 1
      ? []
      : ["", ...aligned([dayHeader(beside), ...dayRows(beside)])]),
    "",
    ...report.points.flatMap(promiseLines),
    ...report.points.flatMap((point) => {
      const difference = differenceLines(report, point);
      return difference.length === 0 ? [] : ["", ...difference];
    }),
    "",
    "Nothing is applied: --write FOLDER writes the manifests, and tidemark replay compares them.",
  ].map((each) => text`${each}`);
};

const figuresTable = (report: TuneReport, periodMs: number): readonly (readonly string[])[] => {
  const beside = asReplayReport(report, periodMs);
  return [
    ["", ...beside.policies.map(({ name }) => name)],
    ...figureRows(beside).map(({ name, cells }) => [name, ...cells]),
  ];
};

const FRONT_ROWS = 16;

/** A row for each point, thinned to so many; the named ones stay. */
const frontCells = (
  front: readonly FrontReport[],
  most = Number.POSITIVE_INFINITY,
): readonly (readonly string[])[] => {
  const step = Math.max(1, Math.ceil(front.length / most));
  const shown = front.filter(({ names }, at) => names.length > 0 || at % step === 0);
  const hasDollars = shown.some(({ figures: { dollars } }) => dollars !== undefined);
  return [
    [
      ...["POINT", "HOURS", ...(hasDollars ? ["DOLLARS"] : []), "ABOVE", "REVERSALS", "SCALES"],
      ...["TARGET", "TOLERANCE", "WINDOWS", "UP", "DOWN", "MIN", "MAX"],
    ],
    ...shown.map(({ names, settings, figures }) => [
      ...[names.join(" ") || "-", String(figures.replicaHours)],
      ...(hasDollars ? [figures.dollars?.toFixed(2) ?? ""] : []),
      ...[percentText(figures.aboveTarget), String(figures.reversals), String(figures.scales)],
      ...settingCells(settings),
    ]),
  ];
};

const settingCells = (settings: Settings): readonly string[] => [
  `${settings.targetPercent} %`,
  `${settings.toleranceUp} ${settings.toleranceDown}`,
  `${settings.upWindowSeconds}s ${settings.downWindowSeconds}s`,
  policyText(settings.upPercent, "15s"),
  policyText(settings.downPercent, "60s"),
  String(settings.minReplicas),
  String(settings.maxReplicas),
];

const policyText = (percent: number, period: string): string =>
  percent === AS_IT_IS ? "as it is" : `${percent} % in ${period}`;

/** What each name says, and where it does not hold. */
const promiseLines = ({ name, words, policy, differs }: PointReport): readonly string[] => {
  if (name === "current") return [];
  if (!policy) return [`${name}: the policy of now is ${words} of what was found`];
  return [
    differs === undefined
      ? `${name}: ${words}${name === "knee" ? "" : ", on these days too"}`
      : `${name}: ${words} on the days that were tuned on, but not on these days: ${differs}`,
  ];
};

const differenceLines = (
  report: TuneReport,
  { name, manifest, policy }: PointReport,
): readonly string[] => {
  const now = report.points[0]?.manifest;
  if (!policy || !now || name === "current") return [];
  if (isDeepStrictEqual(now, manifest))
    return [`${name} has the numbers of now, with the native rules`];
  return differenceText(now, manifest, name).trimEnd().split("\n");
};

/** What a point changes of the policy of now, both as native manifests. */
const differenceText = (now: Json, manifest: Json, name: string): string =>
  createTwoFilesPatch("current", name, yamlText(now), yamlText(manifest), undefined, undefined, {
    context: 2,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });

const markdownLines = (report: TuneReport, { periodMs }: Paper): readonly Printed[] => [
  text`### What better numbers would have done`,
  text``,
  ...headLines(report).map((line) => text`${line}.  `),
  text``,
  ...markdownRows(figuresTable(report, periodMs)),
  text``,
  ...report.points.flatMap(promiseLines).map((line) => text`${line}.  `),
  ...report.points.flatMap((point) => {
    const difference = differenceLines(report, point);
    return difference.length === 0
      ? []
      : [
          text``,
          text`<details><summary>${point.name}</summary>`,
          text``,
          text`\`\`\`diff`,
          ...difference.map((line) => text`${line}`),
          text`\`\`\``,
          text``,
          text`</details>`,
        ];
  }),
];

/** A manifest as a file has it. */
export const manifestText = (manifest: Json): string => yamlText(manifest);
