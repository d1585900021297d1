import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Compiled, requireIn } from "./bundled-files.ts";
import { CODE_FILE, codeFileOf, MAIN_FILE, NODE_HERE } from "./code-file.ts";

/**
 * Run as a program by the Node of a function: loads the bundles of the folders that it is given,
 * and leaves in each what V8 compiled for this, also of functions that were only called.
 *
 * A hash seed of its own makes every process compile other bytes. So this process has a fixed one
 * (`--hash-seed`), and its code is given the hash of flags of a process without it, by `flags`.
 * V8 hashes the strings of such code anew in any case.
 */
const FLAGS_AT = 12;

const [, , flags = "", ...folders] = process.argv;
const flagsHash = Number(flags);
if (!Number.isInteger(flagsHash)) throw new RangeError(`Cannot compile: "${flags}" is no hash`);

const compile = (folder: string): void => {
  const all: Compiled[] = [];
  requireIn(
    folder,
    () => undefined,
    (compiled) => all.push(compiled),
    // Where Lambda has it: no path of this machine is in the packages.
    (path) => join("/var/task/dist", basename(folder), basename(path)),
  )(MAIN_FILE);
  const codes = all.map(({ file, source, script }) => {
    const data = script.createCachedData();
    data.writeUInt32LE(flagsHash, FLAGS_AT);
    return { file, source, data };
  });
  writeFileSync(join(folder, CODE_FILE), codeFileOf(NODE_HERE, codes));
};

for (const folder of folders) compile(folder);
process.exit(0);
