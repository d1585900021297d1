import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Count, environmentOf, type HttpAnswer } from "./read-counts.ts";
import { ANSWERS } from "./read-questions.ts";
import { fleetOf, playedTemplate, type RealFleet, type Template } from "./real-fleet.ts";

export const SPEED_PAGE = join(import.meta.dirname, "../../../docs/speed.md");

/** Clusters, and autoscalers in each of them. */
export const SIZES = [
  [1, 100],
  [100, 100],
  [500, 20],
] as const;

/** The fleets of these sizes: two of them have the past of one cluster in common. */
export async function* realFleets(
  sizes: readonly (readonly [number, number])[] = SIZES,
): AsyncGenerator<RealFleet> {
  const templates = new Map<number, Template>();
  for (const [clusters, each] of sizes) {
    const template = templates.get(each) ?? (await playedTemplate(each));
    templates.set(each, template);
    yield fleetOf(template, clusters);
  }
}

/** Asks a question of a fleet in a new environment, twice where it is to be warm. */
export const measured = async (
  fleet: RealFleet,
  name: string,
): Promise<{ readonly count: Count; readonly answer: HttpAnswer }> => {
  const asked = ANSWERS[name];
  if (!asked) throw new Error(`there is no answer "${name}"`);
  const measure = environmentOf(fleet);
  const before = asked.isWarm
    ? (await measure(asked.question(fleet, undefined))).answer
    : undefined;
  const { count, answer } = await measure(asked.question(fleet, before));
  asked.check?.(answer, fleet);
  return { count, answer };
};

/** What each answer may take at most at 10,000 autoscalers in 100 clusters. */
interface Goal {
  readonly answer: string;
  readonly http?: number;
  readonly inRow?: number;
  readonly units?: number;
}
const goal = (answer: string, most: Omit<Goal, "answer">): Goal => ({ answer, ...most });
const ONE_AUTOSCALER = { inRow: 4, units: 9 };
export const GOALS: readonly Goal[] = [
  goal("`get CLUSTER/NAMESPACE/NAME`", ONE_AUTOSCALER),
  goal("`describe`", ONE_AUTOSCALER),
  goal("`explain`", ONE_AUTOSCALER),
  goal("`explain --at`, 20 hours ago", { inRow: 5 }),
  goal("`history`, 1 day", { inRow: 4, units: 12 }),
  goal("`get -o json`", { http: 8, units: 2_000 }),
  // A unit for four events.
  goal("`events --all`, the hour in which all scaled", { inRow: 8, units: 3_450 }),
];

/**
 * Answers that take more than their goal, or more than eight requests in a row. An answer leaves
 * this list and never comes into it.
 */
export const NOT_YET: ReadonlySet<string> = new Set(["`changes -A`, 13 months"]);

const GOAL_SIZE = 1;
const counts = (count: Count) => ({ http: count[0], inRow: count[2], units: count[3] });

export const isReached = ({ answer: _answer, ...most }: Goal, count: Count): boolean =>
  Object.entries(most).every(([name, limit]) => counts(count)[name as "http"] <= limit);

export const goalText = ({ http, inRow, units }: Goal): string =>
  [
    ...(http === undefined ? [] : [`${http} HTTP requests`]),
    ...(inRow === undefined ? [] : [`${inRow} in a row`]),
    ...(units === undefined ? [] : [`${units.toLocaleString("en")} units`]),
  ].join(", ");

/** What kubectl asks the API servers of 100 clusters. */
const KUBECTL: Readonly<Record<string, string>> = {
  "`get`, cold": "100 commands of 1 request each",
  "`get`, warm": "the same, nothing is kept",
  "`get -w`, nothing changed": "100 watches, which the servers push",
  "`get --fields state,targets`": "100 requests, for tables without manifests",
  "`get -o name`, completion": "100 requests",
  "`get -l app.kubernetes.io/name=checkout-worker-7`": "100 requests",
  "`get -o json`": "100 requests, one for every 500 objects of a cluster",
  "`/metrics`, warm": "kube-state-metrics, one in each cluster",
  "`get NAME`, unknown, cold": "100 requests",
  "`get CLUSTER/NAMESPACE/NAME`": "1 request",
  "`describe`": "2 requests: the object, and its Events of the last hour",
  "`events NAME`, 13 months": "1 request; Events are kept for an hour",
  "`events --all`, 1 day": "no answer: Events are kept for an hour",
  "`events --by month`, 13 months": "no answer: Events are kept for an hour",
  "`events NAME` of one that was deleted": "no answer: Events are kept for an hour",
  "`events --all`, the hour in which all scaled": "100 requests",
  "`events CLUSTER`, 13 months": "no answer: Events are kept for an hour",
};

type Counts = ReadonlyMap<string, readonly Count[]>;

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const headed = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map(line).join("\n");

const sizeText = ([clusters, each]: readonly [number, number]): string =>
  clusters === 1
    ? `${each} autoscalers in one cluster: by HTTP, requests, in a row, units, KiB`
    : `${(clusters * each).toLocaleString("en")} in ${clusters} clusters`;

/** The table of what readers ask, as the page has it. */
export const readsTable = (all: Counts): string =>
  headed(
    ["answer", ...SIZES.map(sizeText), "kubectl, for 100 clusters"],
    [...all].map(([answer, each]) => [
      answer,
      ...each.map((count) => count.join(", ")),
      KUBECTL[answer] ?? "–",
    ]),
  );

/** The table of the goals, with what is reached. */
export const goalsTable = (all: Counts): string =>
  headed(
    ["answer", "goal", "HTTP requests, in a row, units", "reached"],
    GOALS.map((one) => {
      const count = all.get(one.answer)?.[GOAL_SIZE];
      if (!count) throw new Error(`there is no answer "${one.answer}"`);
      const reached = Object.values(counts(count)).join(", ");
      return [one.answer, goalText(one), reached, isReached(one, count) ? "yes" : "not yet"];
    }),
  );

/** The counts of the page, by answer: for each size the five counts. */
export const countsOfPage = (): ReadonlyMap<string, readonly (readonly number[])[]> => {
  const [, table = ""] =
    /<!-- reads -->\n(.*?)\n<!-- end of reads -->/s.exec(readFileSync(SPEED_PAGE, "utf8")) ?? [];
  const rows = table.split("\n").slice(2);
  return new Map(
    rows.map((row) => {
      const [, answer = "", ...cells] = row.split("|").map((cell) => cell.trim());
      const each = cells.slice(0, SIZES.length);
      return [answer, each.map((cell) => cell.split(", ").map(Number))] as const;
    }),
  );
};
