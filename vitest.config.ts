import { defineConfig } from "vitest/config";

const below = (...rooms: readonly string[]): string[] => rooms.map((room) => `test/${room}/**/*.test.ts`);

/** Projects by how long a person waits for them. `npm test` runs unit, contracts and conformance; CI runs the others, too. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  contracts: below("contracts"),
  conformance: below("conformance"),
  simulation: below("simulation", "protocol"),
  e2e: below("e2e"),
  infra: below("infra"),
};

const project = (name: string, include: readonly string[], exclude: readonly string[] = []) => ({
  extends: true as const,
  test: { name, include: [...include], exclude: ["**/node_modules/**", ...exclude] },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", ["test/**/*.test.ts"], Object.values(PROJECTS).flat()),
      ...Object.entries(PROJECTS).map(([name, include]) => project(name, include)),
    ],
    reporters: ["default", "./test/total-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    coverage: { provider: "v8", include: ["lib/**", "functions/**"] },
  },
});
