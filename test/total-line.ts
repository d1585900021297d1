import type { Reporter, TestCase, TestModule } from "vitest/node";

/**
 * Prints one plain line, last of all: "N passed, N failed". A file that cannot be loaded and an
 * unhandled error count as failures. Lines before it name each test that passed only at its second
 * attempt.
 */
export default class TotalLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const all = modules.map((module) => ({ module, tests: [...module.children.allTests()] }));
    const tests = all.flatMap((file) => file.tests);
    const broken = all.filter(
      ({ module, tests: own }) => module.state() === "failed" && !own.some(isIn("failed")),
    );
    const passed = tests.filter(isIn("passed")).length;
    const failed = tests.filter(isIn("failed")).length + broken.length + unhandled.length;
    const unsteady = tests
      .filter((test) => test.diagnostic()?.flaky)
      .map(
        ({ module, fullName }) =>
          `passed at the second attempt: ${module.relativeModuleId} > ${fullName}`,
      );
    process.once("exit", () =>
      process.stdout.write([...unsteady, `${passed} passed, ${failed} failed`, ""].join("\n")),
    );
  }
}

const isIn =
  (state: "passed" | "failed") =>
  (test: TestCase): boolean =>
    test.result().state === state;
