import { defineConfig } from "vitest/config";

/** The tests that a mutation test repeats for every mutant: those of the pure rooms, and the recorded decisions. */
export default defineConfig({
  test: {
    include: ["test/policy/**/*.test.ts", "test/model/**/*.test.ts", "test/conformance/hpa.test.ts", "test/conformance/watermark.test.ts"],
    testTimeout: 30_000,
  },
});
