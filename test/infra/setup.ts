import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A folder of this run, where its first file leaves the packaged stack for all others
     * (shared-stack.ts).
     */
    stackFolder: string;
  }
}

/**
 * Makes the folder that the files of this project share, and removes it at the end. In watch mode
 * changed sources are packaged anew.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-stacks-"));
  const empty = (): Promise<void> => rm(join(folder, "stack"), { recursive: true, force: true });
  project.provide("stackFolder", folder);
  project.onTestsRerun(empty);
  return () => rm(folder, { recursive: true, force: true });
};
