import type { Reporter, TestModule } from "vitest/node";

/** Prints one plain line, last of all: "N passed, N failed". A file that cannot be loaded and an unhandled error count as failures. */
export default class TotalLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      const before = failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failed++;
      }
      if (module.state() === "failed" && failed === before) failed++;
    }
    process.once("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
