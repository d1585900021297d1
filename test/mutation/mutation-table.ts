import { type PartSummary, scoreOf, totalOf } from "./summary.ts";

const HEAD =
  "| part | mutants | killed | endless | timed out | survived | not reached | broken | score |\n|---|---|---|---|---|---|---|---|---|";

/** The table of docs/proofs-report.md, in Markdown: a row for each part, and their sum. */
export const mutationTable = (
  parts: readonly { readonly part: string; readonly summary: PartSummary }[],
): string =>
  [
    HEAD,
    ...parts.map(({ part, summary }) => row(`\`${part}\``, summary)),
    row("all", totalOf(parts.map(({ summary }) => summary))),
  ].join("\n");

const row = (name: string, summary: PartSummary): string => {
  const { mutants, killed, endless, slow, survived, uncovered, broken } = summary;
  const counts = [mutants, killed, endless, slow, survived, uncovered, broken].map((count) =>
    count.toLocaleString("en-US"),
  );
  return `| ${name} | ${counts.join(" | ")} | ${scoreOf(summary)?.toFixed(1) ?? "none"} % |`;
};
