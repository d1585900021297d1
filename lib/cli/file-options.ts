import { type Command, Option } from "commander";
import { repeatable } from "./repeatable.ts";
import { usage } from "./usage-error.ts";

const FILES = "manifests in YAML or JSON: a file, a folder, or - for standard input; repeatable";

/** The options that name files and folders of manifests. */
export const withFiles = (command: Command): Command => withRecursive(command.requiredOption("-f, --filename <file>", FILES, repeatable));

/** The same for a command that can do without files. */
export const withOptionalFiles = (command: Command): Command => withRecursive(command.option("-f, --filename <file>", FILES, repeatable));

const withRecursive = (command: Command): Command =>
  command.option("-R, --recursive", "read the folders inside a folder too").addOption(
    new Option("-k, --kustomize <folder>", "kustomize is a program of its own").hideHelp().argParser((folder: string) => {
      throw usage(`Cannot read a kustomization: run kustomize build ${folder} | tidemark ${command.name()} -f -`);
    }),
  );
