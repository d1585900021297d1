import { readFileSync } from "node:fs";
import { Command, Help, Argument } from "commander";
import { startCommand, validateOption } from "../local/run/options.ts";
import { nearestName } from "../model/nearest-name.ts";
import { lines, block, text } from "../report/printed.ts";
import { accessCommands, authCommands, clusterCommands, fleetCommands, partitionCommands } from "./groups/upkeep-commands.ts";
import { addExamples, example, withStack, withTarget, withFiles, type Run, output } from "./options/command-options.ts";
import { chooseTarget, type TargetOptions } from "./select/command-target.ts";
import { connectionCommands } from "./groups/connection-commands.ts";
import { editingCommands, manifestEdits } from "./groups/editing-commands.ts";
import { type Io, printerOn, type CommandIo, showsOf, type Printer } from "./io.ts";
import { migrationCommands } from "./groups/migration-commands.ts";
import { overrideCommands } from "./groups/override-commands.ts";
import { readingCommands } from "./groups/reading-commands.ts";
import { sourceCommands } from "./groups/source-commands.ts";
import { deployCommands, stackCommands } from "./groups/stack-commands.ts";
import { usage } from "./usage-error.ts";
import type { DocumentFormat } from "./output/documents.ts";
import type { ScopeOptions } from "./options/scope-options.ts";
import type { Shell } from "./completion/scripts.ts";
import type { ConvertOptions } from "./commands/convert.ts";
import { TRIGGER_SOURCE } from "./select/trigger-sources.ts";

/** Defines the command line. Each handler turns its options into one call of a command. */
export const program = (run: Run, io: Io): Command => {
  const printer = printerOn(io);
  const root = withTarget(new Command("tidemark").enablePositionalOptions())
    .description("Scales Kubernetes workloads in many clusters, with nothing installed in the clusters")
    .version(version());
  readingCommands(root, run, { io, printing: printer });
  stackCommands(root, run, io, printer);
  deployCommands(root, io, printer);
  editingCommands(root, run, io);
  manifestEdits(root, run, io, printer);
  manifestCommands(root, io, printer);
  completionCommands(root, io, printer);
  migrationCommands(root, run, io, printer);
  const cluster = withTarget(root.command("cluster").enablePositionalOptions()).description("manage the clusters that Tidemark scales in");
  clusterCommands(cluster, run);
  connectionCommands(cluster, run, printer);
  partitionCommands(
    withTarget(root.command("partition").enablePositionalOptions()).description("inspect what a partition stores, and reset what cannot be read"),
    run,
  );
  fleetCommands(withTarget(root.command("fleet").enablePositionalOptions()).description("freeze or thaw every cluster (the kill switch)"), run);
  overrideCommands(withTarget(root.command("override").enablePositionalOptions()).description("set bounds and holds that end by themselves"), run);
  accessCommands(withTarget(root.command("access").enablePositionalOptions()).description("give callers rights on clusters and namespaces"), run);
  calendarCommands(
    withTarget(root.command("calendar").enablePositionalOptions()).description("keep the dates that schedules leave out, such as holidays"),
    run,
    io,
  );
  sourceCommands(
    withTarget(root.command("source").enablePositionalOptions()).description("register where metrics come from that no cluster serves"),
    run,
  );
  authCommands(withTarget(root.command("auth").enablePositionalOptions()).description("ask what you may do"), run);
  root.addCommand(startCommand(runsByItself).name("start"));
  withStack(root.command("version"))
    .option("--region <region>", "AWS region of the stack (default: from the AWS settings)")
    .description("print the version, and with --stack the one that is deployed")
    .action(async (options: TargetOptions) => {
      await printer.print(lines([version()]));
      const target = chooseTarget({ ...root.opts(), ...options }, {});
      if (target.kind === "stack")
        throw usage(`Cannot read the version of "${target.url}": give the name of its stack, such as --stack tidemark-prod`);
      if (target.kind === "named stack") await printer.print(await (await import("./commands/stack.ts")).deployedVersion(target));
    });
  help(root);
  grouped(root);
  addExamples(root);
  return root;
};

/** The groups of the help, in the order in which they are printed. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Look:": ["get", "describe", "explain", "schedule", "timeline", "history", "events", "changes", "export", "series", "status"],
  "Edit:": ["apply", "create", "replace", "delete", "pause", "resume", "diff", "edit", "autoscale", "override", "calendar"],
  "Migrate:": ["convert", "import", "shadow", "takeover", "handback", "writers"],
  "Clusters and fleet:": ["cluster", "partition", "fleet", "access", "auth", "source"],
  "Deploy and run here:": ["stack", "cost", "start", "version"],
  "Reference:": ["crd", "explain-schema", "explain-reason", "completion", "help"],
};

const grouped = (root: Command): void => {
  for (const [heading, names] of Object.entries(GROUPS))
    for (const command of root.commands) if (names.includes(command.name())) command.helpGroup(heading);
  const order = Object.values(GROUPS).flat();
  const plain = new Help();
  const placeOf = (command: Command): number => order.indexOf(command.name());
  root.configureHelp({
    groupItems: (_unsorted, visible, headingOf) => plain.groupItems(visible, visible, headingOf),
    visibleCommands: (command) => plain.visibleCommands(command).toSorted((one, other) => placeOf(one) - placeOf(other)),
  });
};

/** bin/tidemark.js gives the words of `start` to the run, which has a process to itself. They only come here where another program calls the command line. */
const runsByItself = async (): Promise<void> => {
  throw usage("Cannot start a run from here: call tidemark start");
};

/** Adds `help` and `help COMMAND`, which print help and exit with 0. Throws a usage error for an unknown command. */
const help = (root: Command): void => {
  root.helpCommand(false);
  root
    .command("help")
    .description("show the help of a command")
    .argument("[command...]")
    .action((names: readonly string[]) => commandOf(root, names).outputHelp());
};

const commandOf = (root: Command, names: readonly string[]): Command =>
  names.reduce((parent, name) => {
    const known = parent.commands.find((command) => command.name() === name);
    if (known) return known;
    const near = nearestName(
      name,
      parent.commands.map((command) => command.name()),
    );
    throw usage(`Unknown command "${names.join(" ")}"${near === undefined ? "" : `, did you mean "${near}"?`}`);
  }, root);

/** The version in the package.json above `lib`, of the clone or of the installed package. */
const version = (): string => {
  const { version: stated }: { readonly version: string } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return stated;
};

/** Loads the code when a command runs, so that help, the version and usage errors start fast. */
const code = () => import("./commands/calendar.ts");

/** `tidemark calendar …`: dates that schedules leave out by name. */
const calendarCommands = (parent: Command, run: Run, io: Pick<CommandIo, "stdin">): void => {
  withTarget(parent.command("put"))
    .description("store a calendar of dates, or replace the one of this name; entries of schedules name it with exceptFrom")
    .argument("<name>")
    .requiredOption(
      "-f, --filename <file>",
      "dates or ranges, one a line (2026-12-25, 2026-12-24/2026-12-31), or an iCalendar file of whole days; - for standard input",
    )
    .action(async (name: string, options: ScopeOptions & { readonly filename: string }) => {
      const { put, readCalendarFile } = await code();
      const written = await readCalendarFile(options.filename, io.stdin);
      return run(options, "edit", (session, printer) => put(session, printer, name, { file: options.filename, written }));
    });
  withTarget(parent.command("list"))
    .description("list the calendars, with the next and the last date of each")
    .addOption(output(["table", "dates", "json", "yaml"]))
    .action((options: ScopeOptions & { readonly output: "table" | "dates" | DocumentFormat }) =>
      run(options, showsOf(options.output), async (session, printer) => (await code()).list(session, printer, options.output)),
    );
  withTarget(parent.command("delete"))
    .description("delete a calendar that no schedule names")
    .argument("<name>")
    .option("--force", "also where a schedule names it; its windows then start on these dates too")
    .action((name: string, options: ScopeOptions & { readonly force?: true }) =>
      run(options, "edit", async (session, printer) => (await code()).remove(session, printer, name, options)),
    );
};

/** `completion`, and the hidden command that the scripts of the shells call with the words before the cursor. */
const completionCommands = (root: Command, io: Pick<Io, "open" | "by" | "stackName" | "stackUrl">, printer: Printer): void => {
  root
    .command("completion")
    .description("print the script that completes commands, options and names in a shell")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      example(
        "source <(tidemark completion bash)",
        "source <(tidemark completion zsh)",
        "tidemark completion fish > ~/.config/fish/completions/tidemark.fish",
      ),
    )
    .action(async (shell: Shell) => {
      await printer.print(block((await import("./completion/scripts.ts")).SCRIPTS[shell]));
    });
  root
    .command("__complete", { hidden: true })
    .description("print the words that can follow, one a line, as the completion of kubectl plugins reads them")
    .argument("[words...]")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (before: readonly string[]) => {
      const [{ completionOf }, { readNames }] = await Promise.all([import("./completion/candidates.ts"), import("./completion/names.ts")]);
      const { candidates, files } = await completionOf(root, before, (typed) => readNames(io, typed));
      const words = candidates.map(({ word, about }) => (about === undefined || about === "" ? word : text`${word}\t${about}`));
      await printer.print(lines([...words, files ? ":0" : ":4"]));
    });
};

/** Commands that only read manifests, or explain words, and open no data folder. */
const manifestCommands = (root: Command, io: CommandIo, printer: Printer): void => {
  withFiles(root.command("convert"))
    .description("convert manifests of any accepted form to PodAutoscalers with the same decisions")
    .option(...TRIGGER_SOURCE)
    .addOption(output(["yaml", "json"]))
    .addOption(validateOption())
    .action(async (options: ConvertOptions) => (await import("./commands/convert.ts")).convert(printer, options, io));
  root
    .command("crd")
    .description("print the CustomResourceDefinition of a PodAutoscaler, for clusters that hold autoscalers themselves")
    .addOption(output(["yaml", "json"]))
    .action(async ({ output: format }: { readonly output: DocumentFormat }) => (await import("./commands/reference.ts")).crd(printer, format));
  root
    .command("explain-schema")
    .description("show the meaning, default and bounds of a field of a PodAutoscaler")
    .argument("[field]", "path of the field, such as spec.scaleUp.sustainSeconds (default: the fields of the spec)")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (field: string | undefined, { output: format }: { readonly output: "text" | DocumentFormat }) =>
      (await import("./commands/reference.ts")).explainSchema(printer, field, format),
    );
  root
    .command("explain-reason")
    .description("show what a reason of an event, decision or condition means, and what to do")
    .argument("[reason]", "a reason such as ScaleDownStabilized (default: all of them)")
    .addOption(output(["text", "json", "yaml"]))
    .action(async (reason: string | undefined, { output: format }: { readonly output: "text" | DocumentFormat }) =>
      (await import("./commands/reference.ts")).explainReason(printer, reason, format),
    );
};
