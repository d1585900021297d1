import { DEFAULT_DATA_FOLDER } from "../../embedded/layout.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import type { Via } from "../../answers/remote/find-stack.ts";
import { present } from "../../rules/model/json.ts";
import { usage } from "../usage-error.ts";

/** What a command works on, and the option or variable that chose it. */
export type CommandTarget =
  | { readonly kind: "folder"; readonly dir: string; readonly from: "--data" | "default" }
  | {
      readonly kind: "stack";
      readonly url: string;
      readonly profile?: string;
      readonly from: StackSource;
    }
  | NamedTarget;

/** A deployed stack by its name in CloudFormation. Its URLs are in its outputs. */
export interface NamedTarget {
  readonly kind: "named stack";
  readonly name: string;
  readonly region?: string;
  readonly profile?: string;
  /** Absent: as the stack was deployed. */
  readonly via?: Via;
  readonly from: "--stack" | "TIDEMARK_STACK";
}

type StackSource = NamedTarget["from"] | "TIDEMARK_URL";

/**
 * What the environment says: the values of TIDEMARK_STACK and TIDEMARK_URL, and the setting that
 * shows that stacks are worked on from here.
 */
export interface TargetSettings {
  readonly stackName?: string;
  readonly stackUrl?: string;
  /** For example "AWS_PROFILE is set". */
  readonly stackSign?: string;
}

/** The options of every command that choose it. */
export interface TargetOptions {
  readonly data?: string;
  readonly stack?: string;
  readonly stage?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly via?: Via;
  /** Times are printed and read in UTC. */
  readonly utc?: true;
}

export const TARGET_OPTIONS = [
  "data",
  "stack",
  "stage",
  "region",
  "profile",
  "via",
] as const satisfies readonly (keyof TargetOptions)[];

/** Names that CloudFormation gives to stacks. A URL has characters that no name has. */
const STACK_NAME = /^[a-z][a-z0-9-]{0,127}$/i;

/**
 * An option wins over TIDEMARK_STACK, that over TIDEMARK_URL, and that over the default folder.
 * Throws a usage error for options that contradict each other.
 */
export const chooseTarget = (
  options: TargetOptions,
  { stackName, stackUrl }: TargetSettings,
): CommandTarget => {
  refuseEmpty(options);
  const { data, stack, profile } = options;
  if (data !== undefined && stack !== undefined)
    throw usage(
      "Cannot use --data and --stack together: one names a folder, the other a deployed stack",
    );
  if (stack !== undefined) return stackTarget(stack, options, "--stack");
  if (data === undefined && stackName) return stackTarget(stackName, options, "TIDEMARK_STACK");
  const stray = (["stage", "region", "via"] as const).find((name) => options[name] !== undefined);
  if (stray)
    throw usage(
      `Cannot use --${stray} alone: it needs --stack with the name of a stack, such as --stack tidemark-prod`,
    );
  if (data === undefined && stackUrl)
    return {
      kind: "stack",
      url: stackUrl,
      from: "TIDEMARK_URL",
      ...(profile !== undefined && { profile }),
    };
  if (profile !== undefined)
    throw usage(
      "Cannot use --profile with a data folder: it chooses the AWS credentials for a deployed stack",
    );
  return data === undefined
    ? { kind: "folder", dir: DEFAULT_DATA_FOLDER, from: "default" }
    : { kind: "folder", dir: data, from: "--data" };
};

const refuseEmpty = (options: TargetOptions): void => {
  const empty = TARGET_OPTIONS.find((name) => options[name] === "");
  if (empty)
    throw usage(
      `Cannot use an empty --${empty}: ${empty === "data" ? "give the path of a data folder" : "give a value, or leave it out"}`,
    );
};

const stackTarget = (
  stack: string,
  { stage, region, profile, via }: TargetOptions,
  from: NamedTarget["from"],
): CommandTarget => {
  if (STACK_NAME.test(stack)) {
    const name = stage === undefined ? stack : `${stack}-${stage}`;
    if (!STACK_NAME.test(name))
      throw usage(
        `Cannot use --stage "${stage}": a stack's name has letters, digits and -, at most 128`,
      );
    return { kind: "named stack", name, ...present({ region, profile, via }), from };
  }
  const stray = [stage && "--stage", region && "--region", via && "--via"].find(Boolean);
  if (stray)
    throw usage(`Cannot use ${stray} with ${from} "${stack}": a URL names its stack and region`);
  return { kind: "stack", url: stack, from, ...present({ profile }) };
};

/** Errors of a request that was not sent, or that the stack has not answered. */
const UNANSWERED = [
  "remote.credentials",
  "remote.stack",
  "remote.too-large",
  "remote.unclear",
  "remote.unreachable",
] as const;

/**
 * The note below an error: which stack answered, or was not asked, or that the default folder was
 * used and does not exist.
 */
export const targetNote = (target: CommandTarget, error: unknown): string | undefined => {
  const answered = !UNANSWERED.some((code) => isTidemarkError(error, code));
  switch (target.kind) {
    case "stack":
      return answered
        ? `the stack at ${target.url} answered (from ${target.from})`
        : `the stack at ${target.url} (from ${target.from}) has not answered`;
    case "named stack":
      // Where the URL was not found, the stack was not asked.
      if (isTidemarkError(error, "remote.stack")) return undefined;
      return answered
        ? `the stack "${target.name}" answered (from ${target.from})`
        : `the stack "${target.name}" (from ${target.from}) has not answered`;
    case "folder":
      return target.from === "default" && isTidemarkError(error, "local.no-data")
        ? "this is the default data folder; choose another with --data, or a deployed stack with --stack or TIDEMARK_STACK"
        : undefined;
  }
};

/**
 * Refuses an edit that names no target, where there is a data folder and stacks are worked on from
 * here too: the emergency stop of a production fleet must not freeze the demonstration beside it. A
 * command that only reads says where it has read.
 */
export const refuseUnnamed = (
  target: CommandTarget,
  { stackSign }: TargetSettings,
  folder: string,
): void => {
  if (target.kind !== "folder" || target.from !== "default" || stackSign === undefined) return;
  throw usage(
    `Cannot choose between the data folder "${folder}" and a deployed stack: ${stackSign}; name one with --data ${folder}, --stack NAME, or the variable TIDEMARK_STACK`,
  );
};
