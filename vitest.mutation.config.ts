import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files by what they cost: examples first, then properties, then the recorded decisions. The first failure ends the run of a mutant. */
const COSTLY = ["properties.test.ts", "quantity.test.ts", "conformance/watermark.test.ts", "conformance/hpa.test.ts"];
const cost = ({ moduleId }: TestSpecification): number => COSTLY.findIndex((name) => moduleId.endsWith(name));

class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => cost(one) - cost(other) || one.moduleId.localeCompare(other.moduleId));
  }
}

/** The tests that a mutation test repeats for every mutant: those of the pure rooms, and the recorded decisions. */
export default defineConfig({
  test: {
    include: ["test/policy/**/*.test.ts", "test/model/**/*.test.ts", "test/conformance/hpa.test.ts", "test/conformance/watermark.test.ts"],
    testTimeout: 30_000,
    // One worker loads the rooms once for all files of a mutant: most of a mutant's time would be loading.
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: CheapestFirst },
  },
});
