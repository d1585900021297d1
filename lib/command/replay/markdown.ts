import { type Printed, text } from "../../stack/report/printed.ts";
import type { ReplayReport } from "./report.ts";
import { dayHeader, dayRows, figureRows, headLines } from "./sheet.ts";

/** A bar or a backquote of a foreign name must not end its cell. */
const cell = (words: string): string => words.replaceAll(/[|\\`<>*_[\]]/g, (sign) => `\\${sign}`);
const row = (cells: readonly string[]): Printed => text`| ${cells.map(cell).join(" | ")} |`;
const rule = (columns: number): Printed => text`|${" --- |".repeat(columns)}`;

/** A table: its first row is the header. */
export const markdownRows = ([
  header = [],
  ...rows
]: readonly (readonly string[])[]): readonly Printed[] => [
  row(header),
  rule(header.length),
  ...rows.map(row),
];

/** The comparison as a comment of a review: GitHub and GitLab fold the days away. */
export const markdownLines = (report: ReplayReport): readonly Printed[] => {
  const names = report.policies.map(({ name }) => name);
  const days = dayRows(report);
  const header = dayHeader(report);
  return [
    text`### What these policies would have done`,
    text``,
    ...headLines(report).map((line) => text`${cell(line)}.  `),
    text``,
    ...markdownRows([
      ["", ...names],
      ...figureRows(report).map(({ name, cells }) => [name.trim(), ...cells]),
    ]),
    ...(days.length < 2
      ? []
      : [
          text``,
          text`<details><summary>Day by day</summary>`,
          text``,
          ...markdownRows([header, ...days]),
          text``,
          text`</details>`,
        ]),
  ];
};
