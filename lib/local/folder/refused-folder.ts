import { existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { TidemarkError } from "../../model/errors.ts";
import { shellWord } from "../run/names.ts";
import type { FolderLayout } from "./layout.ts";

/** Further problems are only counted. A few are enough to show that the folder needs a look. */
const MAX_NAMED = 3;

/** A part of a data folder is missing or was changed. No run and no command continues there, because history, time or autoscalers would be lost without a message. */
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

/** A name for another folder beside this one that is not there yet, as short as it can be said from here. */
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
