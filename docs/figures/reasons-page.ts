import { REASON_GROUPS } from "../../lib/stack/report/reasons/reasons.ts";

/** docs/reasons.md. */
export const reasonsPage = (): string =>
  [
    "# Reasons",
    "",
    "Every reason that Tidemark gives in events, decisions, conditions and steps, with what it means and what to do. `npm run docs -- reasons` writes this page from the code; `tidemark explain-reason NAME` prints one of them.",
    ...REASON_GROUPS.flatMap(({ title, about, texts }) => [
      "",
      `## ${title}`,
      "",
      about,
      "",
      "| reason | means | what to do |",
      "|---|---|---|",
      ...Object.entries(texts).map(
        ([name, [means, todo]]) => `| \`${name}\` | ${means} | ${todo} |`,
      ),
    ]),
    "",
  ].join("\n");
