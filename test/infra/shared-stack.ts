import { cp, mkdir, mkdtemp, readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { inject } from "vitest";
import { isMissing } from "../../lib/embedded/host/whole-file.ts";
import { type Packaged, packageStack, type Stack, stackIn } from "./packaged.ts";

/** How often a file looks whether another one has packaged the stack, and for how long. */
const LOOK_MS = 100;
const PATIENCE_MS = 100_000;

/**
 * What the first file packaged, once it is whole. Throws where the first file could not package the
 * stack, or took too long.
 */
const packagedIn = async (shared: string): Promise<Packaged> => {
  for (
    const untilMs = performance.now() + PATIENCE_MS;
    performance.now() < untilMs;
    await wait(LOOK_MS)
  ) {
    try {
      const { failed, ...packaged }: Packaged & { readonly failed?: string } = JSON.parse(
        await readFile(join(shared, "packaged.json"), "utf8"),
      );
      if (failed !== undefined)
        throw new Error(`Cannot package the stack, as another test file found: ${failed}`);
      return packaged;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  throw new Error(
    `Cannot use the packaged stack in "${shared}": another test file did not package it within ${PATIENCE_MS / 1_000} s`,
  );
};

/** A file is whole as soon as it is there. */
const leave = async (shared: string, answer: object): Promise<void> => {
  const part = join(shared, "packaged.part");
  await writeFile(part, JSON.stringify(answer));
  await rename(part, join(shared, "packaged.json"));
};

/**
 * The packaged stack in a folder of its own, which the caller may change. Packaging takes seven
 * seconds of CPU and gives the same bytes for the same sources (stack.test.ts), so the first file
 * of a run packages it and all take copies.
 */
export const sharedStack = async (): Promise<Stack> => {
  const shared = join(inject("stackFolder"), "stack");
  // Only the call that makes the folder gets its path.
  const isFirst = (await mkdir(shared, { recursive: true })) !== undefined;
  if (isFirst) {
    try {
      const { folder, packaged, done } = await packageStack();
      await cp(folder, join(shared, "files"), { recursive: true });
      await done();
      await leave(shared, packaged);
    } catch (error) {
      await leave(shared, { failed: String(error) });
      throw error;
    }
  }
  const packaged = await packagedIn(shared);
  const folder = await mkdtemp(join(tmpdir(), "tidemark-stack-"));
  await cp(join(shared, "files"), folder, { recursive: true });
  return stackIn(folder, packaged);
};
