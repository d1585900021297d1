import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { isTidemarkError } from "../../model/errors.ts";
import { readSchedule } from "../engine/schedule-activity.ts";
import { readQueueJournal } from "../queue/journal.ts";
import type { FolderIdentity } from "./identity.ts";
import type { FolderLayout } from "./layout.ts";
import { neededFiles } from "./own-files.ts";
import { damaged } from "./refused-folder.ts";
import { readSavedClock } from "./saved-clock.ts";
import { brokenFiles, hasSealedTables, type Sealed } from "./seal.ts";

/**
 * Throws `local.damaged` when a part of a ready folder is missing or was changed: a run would lose history, time or autoscalers without a message. A command needs
 * clock and tables only, so that what is left of a damaged folder can still be looked at. Changes nothing. The caller holds the folder.
 */
export const refuseDamaged = (layout: FolderLayout, identity: FolderIdentity, use: Sealed): void => {
  refuseBrokenSeal(layout);
  const problems = [...new Set([...missingFiles(layout, identity, use), ...tablesProblems(layout), ...brokenFiles(layout, use)])];
  if (problems.length > 0) throw damaged(layout, problems);
  // Each throws where its text is not what we write.
  readSavedClock(layout);
  if (use === "command") return;
  readSchedule(layout.schedule);
  readQueueJournal(layout.queue);
};

const refuseBrokenSeal = (layout: FolderLayout): void => {
  try {
    hasSealedTables(layout);
  } catch (error) {
    if (!isTidemarkError(error, "local.unreadable")) throw error;
    throw damaged(layout, ["seal.json does not hold what was written there"]);
  }
};

const missingFiles = (layout: FolderLayout, identity: FolderIdentity, use: Sealed): readonly string[] =>
  neededFiles(layout, use === "command" ? "command" : identity)
    // Folders of earlier versions may have no schedule yet.
    .filter((path) => identity.format !== undefined || path !== layout.schedule)
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    .map((path) => `${relative(layout.dir, path)} is missing`);

/**
 * The seal names each file of the tables. After a `kill -9` there is no seal: the engine itself then refuses files that it cannot read. It would begin an empty database where CURRENT is
 * missing, so that is looked at here.
 */
const tablesProblems = (layout: FolderLayout): readonly string[] => {
  if (statSync(layout.tables, { throwIfNoEntry: false })?.isDirectory() !== true) return ["tables is missing"];
  return hasSealedTables(layout) || existsSync(join(layout.tables, "CURRENT")) ? [] : ["tables/CURRENT is missing"];
};
