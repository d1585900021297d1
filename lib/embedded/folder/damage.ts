import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { TidemarkError, isTidemarkError } from "../../rules/model/errors.ts";
import { shellWord } from "../../stack/report/shell-word.ts";
import type { FolderLayout } from "../layout.ts";
import { readSchedule } from "../engine/schedule-activity.ts";
import { readQueueJournal } from "../queue/queue.ts";
import type { FolderIdentity } from "./identity.ts";
import { neededFiles, brokenFiles, hasSealedTables, type Sealed } from "./seal.ts";
import { readSavedClock } from "../engine/clock.ts";

/** Further problems are only counted. A few are enough to show that the folder needs a look. */
const MAX_NAMED = 3;

/**
 * A part of a data folder is missing or was changed. No run and no command continues there, because
 * history, time or autoscalers would be lost without a message.
 */
export const damaged = ({ dir }: FolderLayout, problems: readonly string[]): TidemarkError =>
  new TidemarkError(
    "local.damaged",
    `Cannot continue in "${dir}": ${named(problems)}; nothing was changed; put it back from a copy, or begin anew with --data ${shellWord(newFolderBeside(dir))} and keep this folder`,
    { dir, problems },
  );

const named = (problems: readonly string[]): string => {
  const more = problems.length - MAX_NAMED;
  return `${problems.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
};

/**
 * A name for another folder beside this one that is not there yet, as short as it can be said from
 * here.
 */
export const newFolderBeside = (dir: string): string => {
  for (let number = 2; ; number++) {
    const path = join(dirname(dir), `${basename(dir)}-${number}`);
    if (!existsSync(path)) return shortPath(path);
  }
};

const shortPath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
};

/**
 * Throws `local.damaged` when a part of a ready folder is missing or was changed: a run would lose
 * history, time or autoscalers without a message. A command needs clock and tables only, so that
 * what is left of a damaged folder can still be looked at. Changes nothing. The caller holds the
 * folder.
 */
export const refuseDamaged = (
  layout: FolderLayout,
  identity: FolderIdentity,
  use: Sealed,
): void => {
  refuseBrokenSeal(layout);
  const problems = [
    ...new Set([
      ...missingFiles(layout, identity, use),
      ...tablesProblems(layout),
      ...brokenFiles(layout, use),
    ]),
  ];
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

const missingFiles = (
  layout: FolderLayout,
  identity: FolderIdentity,
  use: Sealed,
): readonly string[] =>
  neededFiles(layout, use === "command" ? "command" : identity)
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    .map((path) => `${relative(layout.dir, path)} is missing`);

/**
 * The seal names each file of the tables. After a `kill -9` there is no seal: the engine itself
 * then refuses files that it cannot read. It would begin an empty database where CURRENT is
 * missing, so that is looked at here.
 */
const tablesProblems = (layout: FolderLayout): readonly string[] => {
  if (statSync(layout.tables, { throwIfNoEntry: false })?.isDirectory() !== true)
    return ["tables is missing"];
  return hasSealedTables(layout) || existsSync(join(layout.tables, "CURRENT"))
    ? []
    : ["tables/CURRENT is missing"];
};
