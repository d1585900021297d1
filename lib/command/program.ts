import { Command, Argument, Option } from "commander";
import { packageVersion } from "../dashboard/serve/version.ts";
import { startCommand, validateOption } from "../embedded/run/options.ts";
import { nearestName } from "../rules/model/nearest-name.ts";
import { lines, block, text } from "../stack/report/printed.ts";
import {
  accessCommands,
  authCommands,
  clusterCommands,
  fleetCommands,
  partitionCommands,
} from "./groups/upkeep-commands.ts";
import {
  example,
  withStack,
  withTarget,
  withFiles,
  type CommandRun,
  type RunAs,
  runBy,
  output,
} from "./options/command-options.ts";
import { chooseTarget, type TargetOptions } from "./select/command-target.ts";
import { connectionCommands } from "./groups/connection-commands.ts";
import { editingCommands, manifestEdits } from "./groups/editing-commands.ts";
import { NOTES } from "./notes.ts";
import { type Io, printerOn, type CommandIo, type Printer } from "./io.ts";
import { migrationCommands } from "./groups/migration-commands.ts";
import { overrideCommands } from "./groups/override-commands.ts";
import { auditCommand, mcpCommand } from "./groups/reader-commands.ts";
import { readingCommands } from "./groups/reading-commands.ts";
import { forecastCommand, replayCommands } from "./groups/replay-commands.ts";
import { sourceCommands } from "./groups/source-commands.ts";
import {
  commandIn,
  commandWords,
  withSubcommands,
  wordsWithoutName,
} from "./options/word-order.ts";
import {
  costCommand,
  dashboardCommand,
  deployCommands,
  statusCommand,
} from "./groups/stack-commands.ts";
import { usage } from "./usage-error.ts";
import { wakeCommands } from "./groups/wake-commands.ts";
import type { DocumentFormat } from "./output/documents.ts";
import type { ScopeOptions } from "./options/scope-options.ts";
import type { Shell } from "./completion/scripts.ts";
import type { ConvertOptions } from "./commands/convert.ts";
import { TRIGGER_SOURCE } from "./select/trigger-sources.ts";

/**
 * Defines the command line, in the order of the help. Each handler turns its options into one call
 * of a command, whose code it loads then: so help, the version and usage errors start fast.
 */
export const program = (runAs: RunAs, io: Io): Command => {
  const printer = printerOn(io);
  const run = runBy(runAs);
  const root = withTarget(new Command("tidemark").enablePositionalOptions())
    .description(
      "Scales Kubernetes workloads in many clusters, with nothing installed in the clusters",
    )
    .version(packageVersion());
  const group = (name: string, about: string): Command =>
    withTarget(root.command(name).enablePositionalOptions()).description(about);
  root.commandsGroup("Look:");
  readingCommands(root, run, { io, printing: printer });
  auditCommand(root, run, printer);
  statusCommand(root, run, io);
  dashboardCommand(root, run, io);
  mcpCommand(root, run, { io, printer });
  replayCommands(root, run, { io, printer });
  forecastCommand(root, run, { io, printer });
  root.commandsGroup("Edit:");
  editingCommands(root, run, io);
  manifestEdits(root, run, io, printer);
  overrideCommands(group("override", "set bounds and holds that end by themselves"), run);
  calendarCommands(
    group("calendar", "keep the dates that schedules leave out, such as holidays"),
    run,
    io,
  );
  root.commandsGroup("Migrate:");
  convertCommand(root, io, printer);
  migrationCommands(root, run, io, printer);
  root.commandsGroup("Clusters and fleet:");
  const cluster = group("cluster", "manage the clusters that Tidemark scales in");
  clusterCommands(cluster, run);
  connectionCommands(cluster, run, printer);
  partitionCommands(
    group("partition", "inspect what a partition stores, and reset what cannot be read"),
    run,
  );
  fleetCommands(group("fleet", "freeze or thaw every cluster (the kill switch)"), run);
  accessCommands(group("access", "give callers rights on clusters and namespaces"), run);
  authCommands(group("auth", "ask what you may do"), run);
  sourceCommands(group("source", "register where metrics come from that no cluster serves"), run, {
    io,
    printer,
  });
  wakeCommands(group("wake", "sync before the next planned time, by hand or by an alarm"), run);
  root.commandsGroup("Deploy and run here:");
  deployCommands(root, io, printer);
  costCommand(root, run, printer);
  const start = example(
    "tidemark start",
    "tidemark start --kubeconfig ~/.kube/config --manifest web.yaml",
    "tidemark start --speed 60 --for 3h",
  );
  root.addCommand(startCommand(runsByItself).name("start").addHelpText("after", start));
  versionCommand(root, printer);
  root.commandsGroup("Reference:");
  referenceCommands(root, printer);
  completionCommands(root, io, printer);
  help(root);
  for (const command of withSubcommands(root)) {
    const note = NOTES[commandWords(command)];
    if (note !== undefined)
      // The summary is its line in the list of commands.
      command
        .summary(command.description())
        .description(`${command.description()}\n\n${note.trim()}`);
  }
  return root;
};

/**
 * bin/tidemark.js gives the words of `start` to the run, which has a process to itself. They only
 * come here where another program calls the command line.
 */
const runsByItself = async (): Promise<void> => {
  throw usage("Cannot start a run from here: call tidemark start");
};

/**
 * The options of a run in "--data DIR start --speed 10"; undefined where the words name another
 * command.
 */
export const startArgs = (args: readonly string[]): readonly string[] | undefined => {
  // Only the names of the commands and the forms of their options are read here.
  const root = program(async () => {}, {
    ...{
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      colours: false,
      by: "",
    },
    open: () =>
      Promise.reject(new RangeError("nothing is opened to read the words of a command line")),
  });
  return commandIn(root, args).name() === "start" ? wordsWithoutName(root, args) : undefined;
};

const versionCommand = (root: Command, printer: Printer): void => {
  withStack(root.command("version"))
    .option("--region <region>", "AWS region of the stack (default: from the AWS settings)")
    .description("print the version, and with --stack the one that is deployed")
    .addHelpText("after", example("tidemark version", "tidemark version --stack tidemark-prod"))
    .action(async (options: TargetOptions) => {
      await printer.print(lines([packageVersion()]));
      const target = chooseTarget({ ...root.opts(), ...options }, {});
      if (target.kind === "stack")
        throw usage(
          `Cannot read the version of "${target.url}": give the name of its stack, such as --stack tidemark-prod`,
        );
      if (target.kind === "named stack")
        await printer.print(await (await import("./commands/stack.ts")).deployedVersion(target));
    });
};

/**
 * Adds `help` and `help COMMAND`, which print help and exit with 0. Throws a usage error for an
 * unknown command.
 */
const help = (root: Command): void => {
  root.helpCommand(false);
  root
    .command("help")
    .description("show the help of a command")
    .argument("[command...]")
    .addHelpText("after", example("tidemark help cluster add"))
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
    throw usage(
      `Unknown command "${names.join(" ")}"${near === undefined ? "" : `, did you mean "${near}"?`}`,
    );
  }, root);

const code = () => import("./commands/calendar.ts");

/** `tidemark calendar …`: dates that schedules leave out by name. */
const calendarCommands = (parent: Command, run: CommandRun, io: Pick<CommandIo, "stdin">): void => {
  withTarget(parent.command("put"))
    .description(
      "store a calendar of dates, or replace the one of this name; entries of schedules name it with exceptFrom",
    )
    .argument("<name>")
    .requiredOption(
      "-f, --filename <file>",
      "dates or ranges, one a line (2026-12-25, 2026-12-24/2026-12-31), or an iCalendar file of whole days; - for standard input",
    )
    .addHelpText(
      "after",
      example(
        "tidemark calendar put de -f holidays-de.ics",
        "tidemark calendar put closed -f closed.txt",
      ),
    )
    .action(async (name: string, options: ScopeOptions & { readonly filename: string }) => {
      const { put, readCalendarFile } = await code();
      const written = await readCalendarFile(options.filename, io.stdin);
      return run.edit(options, (session, printer) =>
        put(session, printer, name, { file: options.filename, written }),
      );
    });
  withTarget(parent.command("list"))
    .description("list the calendars, with the next and the last date of each")
    .addOption(output(["table", "dates", "json", "yaml"]))
    .addHelpText("after", example("tidemark calendar list", "tidemark calendar list -o dates"))
    .action((options: ScopeOptions & { readonly output: "table" | "dates" | DocumentFormat }) =>
      run.show(options, async (...opened) => (await code()).list(...opened, options.output)),
    );
  withTarget(parent.command("delete"))
    .description("delete a calendar that no schedule names")
    .argument("<name>")
    .option("--force", "also where a schedule names it; its windows then start on these dates too")
    .addHelpText("after", example("tidemark calendar delete closed"))
    .action((name: string, options: ScopeOptions & { readonly force?: true }) =>
      run.edit(options, async (...opened) => (await code()).remove(...opened, name, options)),
    );
};

/**
 * `completion`, and the hidden command that the scripts of the shells call with the words before
 * the cursor.
 */
const completionCommands = (
  root: Command,
  io: Pick<Io, "open" | "by" | "stackName" | "stackUrl">,
  printer: Printer,
): void => {
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
    .description(
      "print the words that can follow, one a line, as the completion of kubectl plugins reads them",
    )
    .argument("[words...]")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (before: readonly string[]) => {
      const [{ completionOf }, { readNames }] = await Promise.all([
        import("./completion/candidates.ts"),
        import("./completion/names.ts"),
      ]);
      const { candidates, files } = await completionOf(root, before, (typed) =>
        readNames(io, typed),
      );
      const words = candidates.map(({ word, about }) =>
        about === undefined || about === "" ? word : text`${word}\t${about}`,
      );
      await printer.print(lines([...words, files ? ":0" : ":4"]));
    });
};

const convertCommand = (root: Command, io: CommandIo, printer: Printer): void => {
  withFiles(root.command("convert"))
    .description("convert manifests of any accepted form to PodAutoscalers with the same decisions")
    .option(...TRIGGER_SOURCE)
    .option(
      "--check",
      "print the minutes of a week in which the source and the result set other bounds or counts, and no manifest; exit code 1 where there are any",
    )
    .addOption(
      new Option(
        "--pods <which>",
        "write an HPA as native rules with the same numbers, which count these pods: of its target only, of these one revision's values, or all as an HPA does",
      ).choices(["owned", "stable", "asHpa"]),
    )
    .addOption(output(["yaml", "json"]))
    .addOption(validateOption())
    .addHelpText(
      "after",
      example(
        "tidemark convert -f hpa.yaml > web.yaml",
        "tidemark convert -f hpa.yaml -f cron-federated-hpa.yaml --check",
        "tidemark convert -f hpa.yaml --pods owned",
        "tidemark convert -R -f manifests/ -o json",
      ),
    )
    .action(async (options: ConvertOptions) =>
      (await import("./commands/convert.ts")).convert(printer, options, io),
    );
};

/** Commands that explain words, and open no data folder. */
const referenceCommands = (root: Command, printer: Printer): void => {
  root
    .command("crd")
    .description(
      "print the CustomResourceDefinition of a PodAutoscaler, for clusters that hold autoscalers themselves",
    )
    .addOption(output(["yaml", "json"]))
    .addHelpText("after", example("tidemark crd | kubectl apply --server-side -f -"))
    .action(async ({ output: format }: { readonly output: DocumentFormat }) =>
      (await import("./commands/reference.ts")).crd(printer, format),
    );
  root
    .command("explain-schema")
    .description(
      "show the meaning, default and bounds of a field of a PodAutoscaler, or of a Cluster with cluster before it",
    )
    .argument(
      "[field]",
      "path of the field, such as spec.scaleUp.sustainSeconds (default: the fields of the spec)",
    )
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark explain-schema scaleUp",
        "tidemark explain-schema -o json > podautoscaler.schema.json",
        "tidemark explain-schema cluster.connection",
        "tidemark explain-schema cluster -o json > cluster.schema.json",
      ),
    )
    .action(
      async (
        field: string | undefined,
        { output: format }: { readonly output: "text" | DocumentFormat },
      ) => (await import("./commands/reference.ts")).explainSchema(printer, field, format),
    );
  root
    .command("schema")
    .description("print the JSON Schema of what other programs get: of an event, as a bus gets it")
    .addArgument(new Argument("<document>", "which schema").choices(["event"]))
    .addOption(output(["json", "yaml"]))
    .addHelpText("after", example("tidemark schema event > event.schema.json"))
    .action(async (_document: "event", { output: format }: { readonly output: DocumentFormat }) =>
      (await import("./commands/schema.ts")).eventSchema(printer, format),
    );
  root
    .command("explain-reason")
    .description("show what a reason of an event, decision or condition means, and what to do")
    .argument("[reason]", "a reason such as ScaleDownStabilized (default: all of them)")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example("tidemark explain-reason ScaleDownStabilized", "tidemark explain-reason"),
    )
    .action(
      async (
        reason: string | undefined,
        { output: format }: { readonly output: "text" | DocumentFormat },
      ) => (await import("./commands/reference.ts")).explainReason(printer, reason, format),
    );
};
