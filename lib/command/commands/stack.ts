import { accessSync, constants, writeFileSync } from "node:fs";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { type NamedStack, readStack, type StackFacts } from "../../answers/remote/find-stack.ts";
import { instantText } from "../../stack/report/instant-text.ts";
import { lines, type Printed, text } from "../../stack/report/printed.ts";
import {
  type Params,
  readParams,
  type ParameterRow,
  parameterRows,
  readSettings,
} from "../deploy/settings.ts";
import type { CommandIo, Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { unlessFailed, usage } from "../usage-error.ts";

export interface StackCommandOptions {
  readonly params: string;
  readonly profile?: string;
}
export interface DeployOptions extends StackCommandOptions {
  readonly set?: readonly string[];
  readonly drop?: readonly string[];
}
export interface ShowOptions extends StackCommandOptions {
  readonly output: "text" | DocumentFormat;
}

/** A file of parameters beside the stack that it names. */
interface Aim {
  readonly name: string;
  readonly params: Params;
  /** Absent before the first deployment. */
  readonly facts?: StackFacts;
  readonly rows: readonly ParameterRow[];
}

const FOLDER = ".";

/**
 * Reads the file, and then the stack. Nothing is sent where the file is refused, or where the
 * variable TIDEMARK_STACK names another stack than the file.
 */
const aimOf = async (
  { params: file, profile }: StackCommandOptions,
  io: Pick<CommandIo, "stackName">,
  given: Readonly<Record<string, string>> = {},
): Promise<Aim> => {
  const settings = readSettings(FOLDER);
  const params = readParams(file, given, settings);
  const name = `tidemark-${params.stage}`;
  if (io.stackName !== undefined && io.stackName !== "" && io.stackName !== name)
    throw usage(
      `Cannot choose a stack: "${file}" is for ${name}, and TIDEMARK_STACK names ${io.stackName}; set TIDEMARK_STACK to the stack that you mean`,
    );
  const facts = await unlessFailed(
    readStack({ name, region: params.region, ...present({ profile }) }),
    "remote.stack.unknown",
  );
  return {
    name,
    params,
    rows: parameterRows(settings, params.values, facts?.parameters),
    ...present({ facts }),
  };
};

const placeOf = ({ name, params, facts }: Aim): string =>
  `stack ${name} in ${params.region}${facts ? "" : ", which does not exist yet"}`;

/**
 * Deploys, and writes what is given into the file then: the file has only what was deployed. Where
 * the deployment fails, the file is as it was, and the values must be given again; where it went
 * through after all, the next one would drop them, and so asks. On doubt, sends nothing: a value
 * that would be dropped needs an answer on a terminal, or its name after --drop.
 */
export const deploy = async (
  printer: Printer,
  options: DeployOptions,
  io: CommandIo,
): Promise<void> => {
  const { set = [], params: file } = options;
  const aim = await aimOf(options, io, givenValues(set));
  await printer.head(placeOf(aim), "edit");
  mustTakeDeployments(aim);
  await printer.print(lines(changeLines(aim)));
  await confirmDropped(aim, options, io);
  const { rewritten } = aim.params;
  if (rewritten === undefined) return osls(io, "deploy", aim, options);
  mustBeWritable(file);
  await osls(
    io,
    "deploy",
    aim,
    options,
    `; "${file}" is as it was: give ${set.map((words) => `--set ${words}`).join(" ")} again`,
  );
  writeFileSync(file, rewritten);
  await printer.print(
    text`${file} has ${set.join(", ")} now: keep this file under version control\n`,
  );
};

/** Before anything is sent, because the file is written at the end. */
const mustBeWritable = (file: string): void => {
  try {
    accessSync(file, constants.W_OK);
  } catch (cause) {
    throw new TidemarkError(
      "stack.params",
      `Cannot deploy with "${file}": it cannot be written, and --set writes into it`,
      { file },
      { cause },
    );
  }
};

const givenValues = (set: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    set.map((words) => {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(words) ?? [];
      if (name === undefined || value === undefined)
        throw usage(`Cannot use --set "${words}": write NAME=VALUE`);
      return [name, value];
    }),
  );

/**
 * CloudFormation would refuse these states too, after minutes of packaging and with fewer words.
 */
const mustTakeDeployments = ({ name, facts }: Aim): void => {
  const state = facts?.state ?? "";
  const next =
    state === "ROLLBACK_COMPLETE"
      ? "its first deployment failed: remove the stack, then deploy"
      : undefined;
  const waits =
    /_IN_PROGRESS$/.test(state) && state !== "REVIEW_IN_PROGRESS"
      ? "wait until it ends"
      : undefined;
  const words = next ?? waits;
  if (words !== undefined)
    throw new TidemarkError(
      "stack.state",
      `Cannot deploy stack "${name}": its state is ${state}; ${words}`,
      { name, state },
    );
};

const shown = (value: string | undefined): string =>
  value === undefined ? "?" : value === "" ? "-" : value;

const EFFECTS: Readonly<Record<ParameterRow["effect"], string>> = {
  same: "",
  sets: "changes",
  drops: "goes back to its default: the file does not name it",
  unknown: "the stack does not say its value, and the file names none: the default",
};

const changeLines = ({ rows, facts, params }: Aim): readonly Printed[] => {
  if (facts === undefined) return firstLines(rows, params);
  const changed = rows.filter(
    ({ effect, deployed, wanted }) =>
      effect !== "same" && !(deployed === undefined && wanted === ""),
  );
  if (changed.length === 0) return [text`No parameter changes`];
  return aligned([
    ["PARAMETER", "STACK", "FILE", ""],
    ...changed.map(({ name, deployed, wanted, effect }) => [
      name,
      shown(deployed),
      shown(wanted),
      EFFECTS[effect],
    ]),
  ]);
};

/**
 * Of a stack that is not there yet: everything is new, so only what the file says is worth reading.
 */
const firstLines = (rows: readonly ParameterRow[], { values }: Params): readonly Printed[] => {
  const named = rows.filter(({ name }) => Object.hasOwn(values, name));
  const others = text`The other ${rows.length - named.length} parameters have their defaults`;
  return named.length === 0
    ? [others]
    : [
        ...aligned([
          ["PARAMETER", "FILE"],
          ...named.map(({ name, wanted }) => [name, shown(wanted)]),
        ]),
        others,
      ];
};

const confirmDropped = async (
  { name, rows }: Aim,
  { drop = [], params }: DeployOptions,
  io: CommandIo,
): Promise<void> => {
  const dropped = rows.filter(({ effect }) => effect === "drops");
  const stray = drop.find((each) => !dropped.some((row) => row.name === each));
  if (stray !== undefined)
    throw usage(
      `Cannot drop "${stray}": the stack "${name}" has no value of it that "${params}" does not name`,
    );
  const open = dropped.filter((row) => !drop.includes(row.name));
  if (open.length === 0) return;
  const words = open.map((row) => `${row.name} (${row.deployed})`).join(", ");
  if (io.ask !== undefined) {
    if (
      (await io.ask(
        `Stack ${name} has values that ${params} does not name: ${words}. Drop them? Write yes: `,
      )) === "yes"
    )
      return;
    throw new TidemarkError(
      "stack.dropped",
      `Cannot deploy stack "${name}": you did not confirm; write ${words} into "${params}"`,
      { name },
    );
  }
  throw new TidemarkError(
    "stack.dropped",
    `Cannot deploy stack "${name}": it would lose ${words}, which "${params}" does not name; write them into the file, or give ${open.map((row) => `--drop ${row.name}`).join(" ")}`,
    { name, dropped: open.map((row) => row.name) },
  );
};

const osls = async (
  { runOsls }: CommandIo,
  verb: "deploy" | "remove",
  { params }: Aim,
  { profile }: StackCommandOptions,
  afterFailure = "",
): Promise<void> => {
  if (runOsls === undefined)
    throw new RangeError("Cannot run osls: this program was started without it");
  const values =
    verb === "deploy"
      ? Object.entries(params.values).map(([name, value]) => `--param=${name}=${value}`)
      : [];
  const code = await runOsls(
    [verb, "--stage", params.stage, "--region", params.region, ...values],
    profile,
  );
  if (code !== 0)
    throw new TidemarkError(
      "stack.osls",
      `Cannot ${verb} the stack: osls ended with ${code}; its message is above${afterFailure}`,
      { code },
    );
};

/**
 * Prints what a deployment with the file would change, and ends with 1 where something differs. It
 * changes nothing.
 */
export const diff = async (
  printer: Printer,
  options: ShowOptions,
  io: CommandIo,
): Promise<void> => {
  const aim = await aimOf(options, io);
  if (options.output === "text") {
    await printer.head(placeOf(aim), "sheet");
    await printer.print(lines(changeLines(aim)));
  } else
    await printer.print(
      documentText({ ...stackDocument(aim), parameters: aim.rows }, options.output),
    );
  if (aim.facts === undefined || aim.rows.some(({ effect }) => effect !== "same"))
    throw new TidemarkError("cli.differs", "The stack differs from the file", {});
};

const stackDocument = ({ name, params, facts }: Aim) => ({
  name,
  region: params.region,
  exists: facts !== undefined,
  ...(facts && {
    state: facts.state,
    stateReason: facts.stateReason,
    version: facts.outputs["Version"],
    changedAt: facts.changedAt?.toISOString(),
  }),
});

/**
 * Prints the state, the version and all parameters of the stack. Ends with 1 where its last
 * deployment failed or there is none.
 */
export const status = async (
  printer: Printer,
  options: ShowOptions,
  io: CommandIo,
): Promise<void> => {
  const aim = await aimOf(options, io);
  const { facts, rows } = aim;
  const values = rows.filter(({ deployed }) => deployed !== undefined);
  if (options.output === "text") {
    await printer.head(placeOf(aim), "sheet");
    if (facts) await printer.print(lines(stateLines(facts, values)));
  } else
    await printer.print(
      documentText(
        {
          ...stackDocument(aim),
          parameters: Object.fromEntries(values.map(({ name, deployed }) => [name, deployed])),
          outputs: facts?.outputs,
        },
        options.output,
      ),
    );
  if (facts === undefined || !/^(CREATE|UPDATE)_COMPLETE/.test(facts.state))
    throw new TidemarkError("cli.unhealthy", "The stack is not deployed", {});
};

const stateLines = (facts: StackFacts, rows: readonly ParameterRow[]): readonly Printed[] => {
  const since =
    facts.changedAt === undefined ? "" : ` since ${instantText(facts.changedAt.getTime())}`;
  return [
    text`State: ${facts.state}${since}`,
    ...(facts.stateReason === undefined ? [] : [text`Reason: ${facts.stateReason}`]),
    text`Version: ${versionOf(facts)}`,
    ...aligned([
      ["PARAMETER", "STACK", "FILE"],
      ...rows.map(({ name, deployed, wanted }) => [name, shown(deployed), shown(wanted)]),
    ]),
  ];
};

/** A stack whose first deployment failed has no outputs. */
const versionOf = ({ outputs }: StackFacts): string => outputs["Version"] ?? "unknown";

export const deployedVersion = async (stack: NamedStack): Promise<Printed> => {
  const facts = await readStack(stack);
  return text`stack ${stack.name} in ${facts.region}: ${versionOf(facts)}\n`;
};

const TABLE_OUTPUTS = ["StateTableName", "HistoryTableName"] as const;

/**
 * Removes the stack. Its tables stay, and their names are printed first. Asks on a terminal for the
 * name of the stack; anywhere else the option --yes is needed.
 */
export const remove = async (
  printer: Printer,
  options: StackCommandOptions & { readonly yes?: boolean },
  io: CommandIo,
): Promise<void> => {
  const aim = await aimOf(options, io);
  const { name, facts } = aim;
  if (facts === undefined)
    throw new TidemarkError(
      "stack.unknown",
      `Cannot remove stack "${name}": there is none in ${aim.params.region}`,
      { name },
    );
  await printer.head(placeOf(aim), "edit");
  const tables = TABLE_OUTPUTS.flatMap((output) => facts.outputs[output] ?? []);
  await printer.print(
    text`Nothing is scaled afterwards. These tables stay, with all data: ${tables.join(", ")}\n`,
  );
  const confirmed =
    options.yes === true ||
    (await io.ask?.(`Remove stack ${name} in ${aim.params.region}? Write its name: `)) === name;
  if (!confirmed)
    throw new TidemarkError(
      "stack.unconfirmed",
      `Cannot remove stack "${name}": it was not confirmed; write its name, or give --yes`,
      { name },
    );
  await osls(io, "remove", aim, options);
};
