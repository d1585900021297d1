import { REPORTS } from "./all.ts";
import type { ReportGroup } from "./report.ts";

const TRACKER = /^([\w.-]+\/[\w.-]+)#(\d+)$/;

/** A report as a link to where it was made. */
const linkOf = (report: string): string => {
  const [, repository, number] = TRACKER.exec(report) ?? [];
  return repository === undefined
    ? report
    : `[${repository}#${number}](https://github.com/${repository}/issues/${number})`;
};

const shownBy = ({ play, test }: ReportGroup): string => {
  if (test !== undefined) return `\`${test}\``;
  return play ? "played" : "–";
};

const rowOf = (group: ReportGroup): string =>
  `| ${group.reports.map(linkOf).join(", ")} | ${group.fault} | ${group.verdict} | ${group.does} | ${shownBy(group)} |`;

/** The table of docs/compared.md. */
export const comparedTable = (): string =>
  [
    "| reports | the fault | Tidemark is | what it does | shown by |",
    "|---|---|---|---|---|",
    ...REPORTS.map(rowOf),
  ].join("\n");

export interface Result {
  readonly group: ReportGroup;
  readonly expected: string;
  readonly got: string;
}

/** Every report that can be played, played. */
export const played = (): readonly Result[] =>
  REPORTS.flatMap((group) => (group.play ? [{ group, ...group.play() }] : []));
