import { Command, Option } from "commander";
import { startCommand } from "../local/run/options.ts";
import { validateOption } from "../local/run/validate-option.ts";
import { passedOverText } from "../manifest/passed-over.ts";
import type { ChangesOptions } from "./commands/changes.ts";
import type { ExplainOptions, SheetOptions } from "./commands/describe.ts";
import type { ApplyCommandOptions, DeleteOptions } from "./commands/edit.ts";
import type { EventsOptions } from "./commands/events.ts";
import type { FreezeOptions } from "./commands/fleet.ts";
import type { GetOptions } from "./commands/get.ts";
import type { ResetOptions } from "./commands/partition-commands.ts";
import type { SeriesOptions } from "./commands/series.ts";
import { connectionCommands } from "./connection-commands.ts";
import { withFiles, withOptionalFiles } from "./file-options.ts";
import { help } from "./help-command.ts";
import type { Io } from "./io.ts";
import { manifestCommands } from "./manifest-commands.ts";
import type { Run } from "./run-command.ts";
import { filterOf, NAMES, type ScopeOptions, withScope } from "./scope-options.ts";
import { namedResources, selectionOf } from "./selected-names.ts";
import { stackCommands } from "./stack-commands.ts";
import { withTarget } from "./target-options.ts";
import { usage } from "./usage-error.ts";
import { version } from "./version.ts";

/** Loads the code of a command when the command runs, so that help, the version and usage errors start fast. */
const code = {
  changes: () => import("./commands/changes.ts"),
  cluster: () => import("./commands/cluster-commands.ts"),
  describe: () => import("./commands/describe.ts"),
  edit: () => import("./commands/edit.ts"),
  events: () => import("./commands/events.ts"),
  fleet: () => import("./commands/fleet.ts"),
  get: () => import("./commands/get.ts"),
  partition: () => import("./commands/partition-commands.ts"),
  series: () => import("./commands/series.ts"),
  sources: () => import("./read-sources.ts"),
};

const output = (choices: readonly string[]): Option => new Option("-o, --output <format>", "output format").choices(choices).default(choices[0]);

/** The examples below the help of a command. */
const example = (...calls: readonly string[]): string => `\nExample${calls.length > 1 ? "s" : ""}:\n${calls.map((call) => `  ${call}`).join("\n")}`;

/** Defines the command line. Each handler turns its options into one call of a command. */
export const program = (run: Run, io: Io): Command => {
  const root = withTarget(new Command("tidemark").enablePositionalOptions())
    .description("Scales Kubernetes workloads in many clusters, with nothing installed in the clusters")
    .version(version());
  queryCommands(root, run);
  stackCommands(root, run, io);
  editCommands(root, run, io);
  manifestCommands(root, io);
  const cluster = withTarget(root.command("cluster").enablePositionalOptions()).description("manage the clusters that Tidemark scales in");
  clusterCommands(cluster, run);
  connectionCommands(cluster, run, io);
  partitionCommands(
    withTarget(root.command("partition").enablePositionalOptions()).description("inspect what a partition stores, and reset what cannot be read"),
    run,
  );
  fleetCommands(withTarget(root.command("fleet").enablePositionalOptions()).description("freeze or thaw every cluster (the kill switch)"), run);
  root.addCommand(startCommand(startIsFirst).name("start"));
  help(root);
  return root;
};

/** bin/tidemark.js runs `tidemark start` itself, so this only runs when other words stand before it. */
const startIsFirst = async (): Promise<void> => {
  throw usage('Cannot start a run from here: "start" must be the first word after tidemark');
};

const queryCommands = (root: Command, run: Run): void => {
  withScope(root.command("get"))
    .description("list autoscalers, or those with these names")
    .argument("[names...]", NAMES)
    .option("-A, --all-namespaces", "in every namespace, which is the default")
    .option("-l, --selector <selector>", "only those whose manifests have these labels: app=web,tier!=db")
    .option("--sort-by <field>", "order of a field of the document: .status.currentReplicas")
    .option("--no-headers", "print a table without its header")
    .addOption(output(["table", "wide", "name", "json", "yaml"]))
    .addHelpText("after", example("tidemark get hpa -n shop -l app=web -o wide"))
    .action(async (names: readonly string[], options: GetOptions & ScopeOptions) => {
      const { get, checkOptions } = await code.get();
      const selection = selectionOf(names, filterOf(options));
      checkOptions(selection, options);
      return run(options, async (session, printer) => get(session, printer, selection, options));
    });
  withScope(root.command("describe"))
    .description("describe autoscalers: metrics, windows, conditions, last decision, events")
    .argument("<names...>", NAMES)
    .addOption(output(["text", "json", "yaml"]))
    .action((names: readonly string[], options: SheetOptions & ScopeOptions) => {
      const resources = namedResources(names, filterOf(options));
      return run(options, async (session, printer) => (await code.describe()).describe(session, printer, resources, options));
    });
  withScope(root.command("explain"))
    .description("explain why an autoscaler is at its count, and what would change it")
    .argument("<name>")
    .option("--at <time>", "explain the evaluation at this time: RFC 3339, or a duration ago")
    .addOption(output(["text", "json", "yaml"]))
    .action((name: string, options: ExplainOptions & ScopeOptions) =>
      run(options, async (session, printer) => (await code.describe()).explain(session, printer, { name, ...filterOf(options) }, options)),
    );
  withScope(root.command("events"))
    .description("list scale events, oldest first")
    .argument("[name]")
    .option("--all", "list those of every autoscaler")
    .option("--since <time>", "only since this time: RFC 3339, or a duration ago")
    .addOption(output(["table", "jsonl", "json", "yaml", "csv"]))
    .action((name: string | undefined, options: EventsOptions & ScopeOptions) =>
      run(options, async (session, printer) => (await code.events()).events(session, printer, name, options)),
    );
  withScope(root.command("changes"))
    .description("list edits, oldest first, with their time, editor and changed fields")
    .argument("[name]")
    .option("--all", "list those of every autoscaler, cluster and partition, and of the fleet")
    .option("--since <time>", "only since this time: RFC 3339, or a duration ago")
    .addOption(output(["text", "jsonl", "json", "yaml"]))
    .action((name: string | undefined, options: ChangesOptions & ScopeOptions) =>
      run(options, async (session, printer) => (await code.changes()).changes(session, printer, name, options)),
    );
  withTarget(root.command("series"))
    .description("print the metrics and decisions of every autoscaler as OpenMetrics text")
    .option("--labels <names>", "labels for wpa_controller_labels_info")
    .action((options: SeriesOptions & ScopeOptions) =>
      run(options, async (session, printer) => (await code.series()).series(session, printer, options)),
    );
};

const editCommands = (root: Command, run: Run, io: Io): void => {
  withFiles(withScope(root.command("apply")))
    .description("create or update autoscalers; nothing is stored unless all documents are valid, and objects of other kinds are passed over")
    .addHelpText("after", example("tidemark apply -R -f manifests/ --cluster eu-1", "kustomize build | tidemark apply -f - --cluster eu-1"))
    .option("--dry-run", "check everything, store nothing")
    .addOption(validateOption())
    .action(async (options: ApplyCommandOptions & ScopeOptions) => {
      const { readSources } = await code.sources();
      const sources = await readSources(options, io.stdin);
      await run(options, async (session, printer) => (await code.edit()).apply(session, { printer, io }, sources, options));
    });
  withOptionalFiles(withScope(root.command("delete")))
    .description("delete autoscalers by name, or those that manifests name; a workload keeps its count, and the history stays")
    .argument("[names...]", NAMES)
    .option("--ignore-not-found", "what does not exist is no error")
    .addHelpText("after", example("tidemark delete shop/web", "tidemark delete -f manifests/ --ignore-not-found"))
    .action((names: readonly string[], options: ScopeOptions & DeleteOptions) => deleteCommand(names, options, { run, io }));
  withScope(root.command("pause"))
    .description("pause autoscalers; their workloads keep their counts")
    .argument("<names...>", NAMES)
    .option("--until <time>", "end of the pause: RFC 3339, or a duration from now")
    .action((names: readonly string[], options: ScopeOptions & { readonly until?: string }) => {
      const resources = namedResources(names, filterOf(options));
      return run(options, async (session, printer) => (await code.edit()).pause(session, printer, resources, options.until));
    });
  withScope(root.command("resume"))
    .description("resume paused autoscalers")
    .argument("<names...>", NAMES)
    .action((names: readonly string[], options: ScopeOptions) => {
      const resources = namedResources(names, filterOf(options));
      return run(options, async (session, printer) => (await code.edit()).resume(session, printer, resources));
    });
};

/** The names are read before anything is opened, and all manifests before anything is deleted. */
const deleteCommand = async (
  names: readonly string[],
  options: ScopeOptions & DeleteOptions,
  { run, io }: { readonly run: Run; readonly io: Io },
): Promise<void> => {
  const filter = filterOf(options);
  if (options.filename === undefined) {
    const resources = namedResources(names, filter);
    return run(options, async (session, printer) => (await code.edit()).remove(session, printer, resources, options));
  }
  if (names.length > 0) throw usage(`Cannot delete "${names[0]}" and the manifests of -f together: give one of them`);
  const [{ readSources }, { resourcesIn }] = await Promise.all([code.sources(), import("./manifest-names.ts")]);
  const { resources, passedOver } = resourcesIn(await readSources({ ...options, filename: options.filename }, io.stdin), filter);
  if (passedOver.length > 0) io.stderr.write(`${passedOverText(passedOver)}\n`);
  return run(options, async (session, printer) => (await code.edit()).remove(session, printer, resources, options));
};

const clusterCommands = (parent: Command, run: Run): void => {
  withTarget(parent.command("list"))
    .description("list clusters")
    .addOption(output(["table", "json", "yaml"]))
    .action((options: ScopeOptions & { readonly output: "table" | "json" | "yaml" }) =>
      run(options, async (session, printer) => (await code.cluster()).list(session, printer, options.output)),
    );
  withTarget(parent.command("describe"))
    .description("describe one cluster")
    .argument("<name>")
    .addOption(output(["text", "json", "yaml"]))
    .action((name: string, options: ScopeOptions & SheetOptions) =>
      run(options, async (session, printer) => (await code.cluster()).describe(session, printer, name, options.output)),
    );
  withTarget(parent.command("pause"))
    .description("pause a cluster; its workloads keep their counts")
    .argument("<name>")
    .option("--until <time>", "end of the pause: RFC 3339, or a duration from now")
    .action((name: string, options: ScopeOptions & { readonly until?: string }) =>
      run(options, async (session, printer) => (await code.cluster()).pause(session, printer, name, options.until)),
    );
  withTarget(parent.command("resume"))
    .description("resume a paused cluster")
    .argument("<name>")
    .action((name: string, options: ScopeOptions) => run(options, async (session, printer) => (await code.cluster()).resume(session, printer, name)));
  withTarget(parent.command("remove"))
    .description("remove a cluster that has no autoscalers")
    .argument("<name>")
    .action((name: string, options: ScopeOptions) => run(options, async (session, printer) => (await code.cluster()).remove(session, printer, name)));
};

const partitionCommands = (parent: Command, run: Run): void => {
  withTarget(parent.command("describe"))
    .description("describe windows pages and open intents, and the autoscalers that hold because one cannot be read")
    .argument("<cluster/partition>")
    .addOption(output(["text", "json", "yaml"]))
    .action((path: string, options: ScopeOptions & SheetOptions) =>
      run(options, async (session, printer) => (await code.partition()).describe(session, printer, path, options.output)),
    );
  withTarget(parent.command("reset-windows"))
    .description("replace a page that cannot be read; its autoscalers go on as if each had just been scaled as far as its rules allow")
    .argument("<cluster/partition>")
    .requiredOption("--page <number>", "number of the page")
    .option("--yes", "confirm that the content of the page is lost")
    .action(async (path: string, options: ScopeOptions & ResetOptions & { readonly page: string }) => {
      const partition = await code.partition();
      const page = partition.pageNumber(options.page);
      partition.requireYes(options, `windows page ${page} of "${path}"`, "the history of its windows is lost");
      return run(options, async (session, printer) => partition.resetWindows(session, printer, path, page));
    });
  withTarget(parent.command("reset-intent"))
    .description("settle an open intent that cannot be read as unknown, so that its autoscaler goes on; takes 40 s")
    .argument("<cluster/partition>")
    .requiredOption("--intent <id>", "id of the intent")
    .option("--yes", "confirm that the content of the intent is lost")
    .action(async (path: string, options: ScopeOptions & ResetOptions & { readonly intent: string }) => {
      const partition = await code.partition();
      partition.requireYes(options, `intent "${options.intent}" of "${path}"`, "its content is lost");
      return run(options, async (session, printer) => partition.resetIntent(session, printer, path, options.intent));
    });
  withTarget(parent.command("reset-time"))
    .description(
      "for times that are ahead of the clock: autoscalers that stand still for one go on as if each had just been scaled as far as its rules allow",
    )
    .argument("<cluster/partition>")
    .option("--yes", "what such autoscalers did is forgotten")
    .action(async (path: string, options: ScopeOptions & ResetOptions) => {
      const partition = await code.partition();
      partition.requireYes(options, `the time of "${path}"`, "what autoscalers did whose windows have a time ahead of the clock is forgotten");
      return run(options, async (session, printer) => partition.resetTime(session, printer, path));
    });
};

const fleetCommands = (parent: Command, run: Run): void => {
  withTarget(parent.command("freeze"))
    .description("freeze the fleet; every workload keeps its count")
    .requiredOption("--reason <text>", "reason that describe and the log show")
    .option("--replace", "replace the reason of a fleet that is already frozen")
    .action(async (options: ScopeOptions & FreezeOptions) => {
      const fleet = await code.fleet();
      const reason = fleet.reasonOf(options);
      return run(options, async (session, printer) => fleet.freeze(session, printer, reason, options.replace === true));
    });
  withTarget(parent.command("thaw"))
    .description("thaw the fleet")
    .action((options: ScopeOptions) => run(options, async (session, printer) => (await code.fleet()).thaw(session, printer)));
  withTarget(parent.command("describe"))
    .description("show whether the fleet is frozen, since when, by which user and why")
    .addOption(output(["text", "json", "yaml"]))
    .action((options: ScopeOptions & SheetOptions) =>
      run(options, async (session, printer) => (await code.fleet()).describe(session, printer, options)),
    );
};
