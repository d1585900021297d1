import { defineConfig } from "vitest/config";

const below = (...rooms: readonly string[]): string[] => rooms.map((room) => `test/${room}/**/*.test.ts`);

/** Tests that play hundreds of syncs or fill a partition to its limits. */
const PLAYED = ["test/sync/crash.test.ts", "test/sync/fleet-plan.test.ts", "test/sync/limits.test.ts", "test/service/partitions-story.test.ts"];

/** Projects by how long a person waits for them. `npm test` runs unit, contracts and conformance; CI runs the others, too. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  contracts: below("contracts"),
  conformance: below("conformance"),
  simulation: [...below("simulation", "protocol"), ...PLAYED],
  e2e: below("e2e"),
  infra: below("infra"),
};

const project = (name: string, include: readonly string[]) => ({ extends: true as const, test: { name, include: [...include] } });

/**
 * Everything else. Half of the time of so many small files goes into loading the same modules anew, so the files share two workers. A test undoes what it changes of its process.
 */
const UNIT = {
  extends: true as const,
  test: { name: "unit", isolate: false, include: ["test/**/*.test.ts"], exclude: ["**/node_modules/**", ...Object.values(PROJECTS).flat()] },
};

export default defineConfig({
  test: {
    projects: [UNIT, ...Object.entries(PROJECTS).map(([name, include]) => project(name, include))],
    reporters: ["default", "./test/total-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    coverage: { provider: "v8", include: ["lib/**", "functions/**"] },
  },
});
