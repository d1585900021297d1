import { Option } from "commander";
import { usage } from "./usage-error.ts";

const MODES: ReadonlyMap<string, boolean> = new Map([
  ["none", false],
  ["client", true],
  ["server", true],
]);

/** `--dry-run`, with the values of kubectl. The value of the option is true where nothing is to be stored. */
export const dryRun = (): Option =>
  new Option(
    "--dry-run [mode]",
    "check everything, store nothing; as with kubectl, =server and =client mean the same here, and =none that it is no dry run",
  ).argParser((mode: string) => {
    const isDry = MODES.get(mode);
    if (isDry === undefined) throw usage(`Cannot use --dry-run "${mode}": give none, client or server`);
    return isDry;
  });
