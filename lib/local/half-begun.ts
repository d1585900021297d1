import { rmSync } from "node:fs";
import { readAbout } from "./about.ts";
import type { FolderLayout } from "./folder-layout.ts";
import { readSavedClock } from "./saved-clock.ts";

/**
 * Removes what a first run left that died before the folder was ready: nothing had happened in it yet, and a table that was being made when its engine died stays so for
 * ever. Only in a folder with a clock of ours, so that nobody's own files are ever touched. The caller holds the folder.
 */
export const clearHalfBegun = (layout: FolderLayout): void => {
  if (readAbout(layout) || !readSavedClock(layout)) return;
  for (const path of [layout.tables, layout.cluster, layout.queue, layout.schedule, layout.clock]) rmSync(path, { recursive: true, force: true });
};
