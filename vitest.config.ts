import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { Order } from "./test/order.ts";

const below = (...rooms: readonly string[]): string[] =>
  rooms.map((room) => `test/${room}/**/*.test.ts`);

/** Tests that play hundreds of syncs or fill a partition to its limits. */
const PLAYED = ["test/**/*.played.test.ts"];

/**
 * Tests that start processes or whole runs one after the other, wait for limits of seconds, send
 * answers of many megabytes, or hold twenty thousand events.
 */
const PROCESSES = ["test/**/*.process.test.ts"];

/**
 * Projects by how long a person waits for them. `npm test` runs unit, contracts and conformance; CI
 * runs the others, too.
 */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  contracts: below("contracts"),
  conformance: below("conformance"),
  simulation: [...below("simulation", "protocol"), ...PLAYED],
  e2e: [...below("e2e"), ...PROCESSES],
  infra: below("infra"),
};

/** What runs before the first file of a project. */
const SETUPS: Readonly<Record<string, readonly string[]>> = { infra: ["./test/infra/setup.ts"] };

/**
 * Projects beside real servers and processes. Their timing is the machine's: a test that fails is
 * run once more, and the log names it.
 */
const REAL: readonly string[] = ["e2e", "infra"];

/**
 * Two workers that play seeds keep both cores busy. So V8 collects little garbage, and each worker
 * its own: seeds take four fifths of the time.
 */
const LITTLE_GARBAGE = [
  "--max-semi-space-size=64",
  "--min-semi-space-size=64",
  "--single-threaded-gc",
];

/**
 * Each file of tests has a process of its own, and many start others: Node keeps the code that it
 * compiled for them, as `tidemark` does for itself.
 */
const COMPILED =
  process.env["NODE_COMPILE_CACHE"] ?? join(import.meta.dirname, "node_modules/.cache/node");

/**
 * Projects whose tests change nothing of their process: their files share it, and load the same
 * modules once.
 */
const SHARED: readonly string[] = ["conformance", "simulation"];

const project = (name: string, include: readonly string[]) => ({
  extends: true as const,
  test: {
    name,
    isolate: !SHARED.includes(name),
    include: [...include],
    globalSetup: [...(SETUPS[name] ?? [])],
    retry: REAL.includes(name) ? 1 : 0,
    execArgv: name === "simulation" ? LITTLE_GARBAGE : [],
  },
});

/**
 * Everything else. Half of the time of so many small files goes into loading the same modules anew,
 * so the files share three workers. A test undoes what it changes of its process.
 */
const UNIT = {
  extends: true as const,
  test: {
    name: "unit",
    isolate: false,
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...Object.values(PROJECTS).flat(), ...below("real-server")],
  },
};

/**
 * On a real API server, which is started once for all files. A test that fails is run once more, as
 * those of REAL.
 */
const REAL_SERVER = {
  extends: true as const,
  test: {
    name: "real-server",
    include: below("real-server"),
    globalSetup: ["./test/real-server/setup.ts"],
    retry: 1,
  },
};

export default defineConfig({
  test: {
    projects: [
      UNIT,
      REAL_SERVER,
      ...Object.entries(PROJECTS).map(([name, include]) => project(name, include)),
    ],
    reporters: ["default", "./test/total-line.ts"],
    // Times in texts are those of the machine: here every machine has the same.
    env: { TZ: "UTC", NODE_COMPILE_CACHE: COMPILED },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Many tests wait for other processes or for a limit, so that two workers leave a part of two
    // cores idle.
    maxWorkers: 3,
    sequence: { sequencer: Order },
    coverage: { provider: "v8", include: ["lib/**", "functions/**"] },
  },
});
