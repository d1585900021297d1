import { readFileSync } from "node:fs";
import { Command, Help } from "commander";
import { startCommand } from "../local/run/options.ts";
import { nearestName } from "../model/nearest-name.ts";
import { lines } from "../report/printed.ts";
import { accessCommands, authCommands } from "./access-commands.ts";
import { calendarCommands } from "./calendar-commands.ts";
import { addExamples } from "./command-examples.ts";
import { withStack, withTarget } from "./command-options.ts";
import { chooseTarget, type TargetOptions } from "./command-target.ts";
import { completionCommands } from "./completion-commands.ts";
import { connectionCommands } from "./connection-commands.ts";
import { editingCommands } from "./editing-commands.ts";
import { type Io, printerOn } from "./io.ts";
import { manifestCommands } from "./manifest-commands.ts";
import { manifestEdits } from "./manifest-edits.ts";
import { migrationCommands } from "./migration-commands.ts";
import { overrideCommands } from "./override-commands.ts";
import { readingCommands } from "./reading-commands.ts";
import type { Run } from "./run-command.ts";
import { sourceCommands } from "./source-commands.ts";
import { deployCommands, stackCommands } from "./stack-commands.ts";
import { clusterCommands, fleetCommands, partitionCommands } from "./upkeep-commands.ts";
import { usage } from "./usage-error.ts";

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
  "Migrate:": ["convert", "import", "shadow", "takeover", "handback"],
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
