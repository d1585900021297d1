import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What begins first, as files and folders: the seeds, which keep both cores busy for minutes, and
 * beside them what waits longest for a real API server or for limits; then files of more than 15 s
 * on a machine with nothing else to do, with those that wait between those that never do. A
 * checkout without results of earlier runs would begin the largest files first, and end with these.
 */
export const FIRST: readonly string[] = [
  "test/simulation/first-seeds.test.ts",
  "test/simulation/more-seeds.test.ts",
  "test/real-server/parity.test.ts",
  "test/infra/alarm-conditions.test.ts",
  "test/real-server/takeover.test.ts",
  "test/real-server/outage.test.ts",
  "test/sync/hostile-server.process.test.ts",
  "test/e2e/clock-change.test.ts",
  "test/e2e/start.test.ts",
  "test/real-server/",
  "test/service/read-budgets.played.test.ts",
  "test/aws/silent-servers.process.test.ts",
  "test/e2e/recipes.test.ts",
  "test/cluster/check/hostile.process.test.ts",
  "test/local/beside.process.test.ts",
  "test/infra/alarm-day.test.ts",
  "test/cluster/small-heap.process.test.ts",
  "test/e2e/package.test.ts",
  "test/protocol/exactly-once.test.ts",
  "test/e2e/full-disk.test.ts",
  "test/e2e/kill.test.ts",
  "test/e2e/real-cluster.test.ts",
  "test/infra/stack.test.ts",
  "test/e2e/default-folder.test.ts",
  "test/infra/functions.test.ts",
  "test/local/made-workloads.process.test.ts",
  "test/e2e/picture.test.ts",
  "test/sync/tenants.played.test.ts",
  "test/sync/source-tenants.played.test.ts",
  "test/sync/history-cost.played.test.ts",
  "test/simulation/planted.test.ts",
];

/** A file by its path, of a project whose files have processes of their own or share them. */
export interface Placed {
  readonly path: string;
  readonly isShared: boolean;
}

/**
 * The place of a file: as `FIRST` has it, then the files that share processes, one after the other
 * so that a process goes on with the next, and then all others.
 */
export const placeOf = ({ path, isShared }: Placed): number => {
  const at = FIRST.findIndex((first) => path.includes(`/${first}`));
  if (at !== -1) return at;
  return FIRST.length + (isShared ? 0 : 1);
};

const placedOf = ({ moduleId, project }: TestSpecification): Placed => ({
  path: moduleId,
  isShared: !project.config.isolate,
});

/**
 * Vitest would play project after project: all that wait, then all that keep the cores busy. The
 * many small files of `npm test` stay in the order of Vitest.
 */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (files.some(({ project }) => project.name === "unit")) return sorted;
    return sorted.toSorted((one, other) => placeOf(placedOf(one)) - placeOf(placedOf(other)));
  }
}
