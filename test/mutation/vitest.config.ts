import { defineConfig } from "vitest/config";
import {
  BaseSequencer,
  type TestSpecification,
  type Vite,
  type VitestPluginContext,
} from "vitest/node";
import { keptThread } from "./kept-thread.ts";

const RECORDED = [
  "test/conformance/counts.test.ts",
  "test/conformance/hpa.test.ts",
  "test/conformance/watermark.test.ts",
];
const room = process.env["MUTATION_ROOM"];
const tests = process.env["MUTATION_TESTS"]?.split(",");
/** They start processes, or play hundreds of syncs. */
const LONG = ["**/*.process.test.ts", "**/*.played.test.ts"];

/**
 * Files by what they cost: examples first, then properties, then the recorded decisions. The first
 * failure ends the run of a mutant.
 */
const COSTLY = [
  "properties.test.ts",
  "quantity.test.ts",
  "conformance/counts.test.ts",
  "conformance/watermark.test.ts",
  "conformance/hpa.test.ts",
];
const cost = ({ moduleId }: TestSpecification): number =>
  COSTLY.findIndex((name) => moduleId.endsWith(name));

class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted(
      (one, other) => cost(one) - cost(other) || one.moduleId.localeCompare(other.moduleId),
    );
  }
}

/** Stryker asks for plain threads; each mutant would then load everything anew. */
const keepThreads: Vite.Plugin = {
  name: "keep-threads",
  configureVitest: ({ project }: VitestPluginContext) => {
    project.config.pool = "kept";
    project.config.poolRunner = { name: "kept", createPoolWorker: keptThread };
  },
};

/**
 * The tests that a mutation test repeats for every mutant: those of the pure rooms, and the
 * recorded decisions.
 */
export default defineConfig({
  plugins: [keepThreads],
  test: {
    ...(tests && { exclude: LONG }),
    include: tests ?? [
      ...(room === undefined ? ["policy", "model"] : [room]).map(
        (name) => `test/${name}/**/*.test.ts`,
      ),
      ...RECORDED,
    ],
    setupFiles: ["test/mutation/after-file.ts"],
    testTimeout: 30_000,
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: CheapestFirst },
  },
});
