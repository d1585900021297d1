import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of more than 15 s on a machine with nothing else to do, the longest first. A checkout without results of earlier runs would begin the largest files first, and end with these. */
export const LONGEST: readonly string[] = [
  "test/simulation/first-seeds.test.ts",
  "test/simulation/more-seeds.test.ts",
  "test/sync/tenants.process.test.ts",
  "test/real-server/parity.test.ts",
  "test/e2e/week.test.ts",
  "test/e2e/start.test.ts",
  "test/infra/alarm-conditions.test.ts",
  "test/real-server/takeover.test.ts",
  "test/e2e/recipes.test.ts",
  "test/service/read-budgets.played.test.ts",
  "test/local/beside.process.test.ts",
  "test/infra/alarm-day.test.ts",
  "test/sync/hostile-server.process.test.ts",
  "test/cluster/small-heap.process.test.ts",
  "test/e2e/package.test.ts",
  "test/real-server/outage.test.ts",
  "test/protocol/exactly-once.test.ts",
  "test/aws/silent-servers.process.test.ts",
  "test/e2e/full-disk.test.ts",
  "test/infra/stack.test.ts",
  "test/e2e/default-folder.test.ts",
  "test/infra/functions.test.ts",
  "test/local/made-workloads.process.test.ts",
  "test/real-server/rivals.test.ts",
  "test/real-server/crd.test.ts",
  "test/sync/history-cost.played.test.ts",
  "test/simulation/planted.test.ts",
];

const rankOf = ({ moduleId }: Pick<TestSpecification, "moduleId">): number => {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
  return rank === -1 ? LONGEST.length : rank;
};

/** The items of both lists in their order, the shorter list spread over the whole. */
export const spread = <Item>(some: readonly Item[], others: readonly Item[]): readonly Item[] =>
  [some, others]
    .flatMap((list) => list.map((item, index) => ({ item, at: index / list.length })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);

/**
 * Files that play seeds keep a core busy, and tests beside servers and processes mostly wait for them. So the two are played side by side, the longest of both first. Vitest would play project after
 * project: all that wait, then all that keep the cores busy. Files that share a process stay in their order.
 */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (files.some(({ project }) => !project.config.isolate)) return sorted;
    const longestFirst = sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
    const { busy = [], waiting = [] } = Object.groupBy(longestFirst, ({ project }) => (project.name === "simulation" ? "busy" : "waiting"));
    return [...spread(busy, waiting)];
  }
}
