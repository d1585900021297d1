import type { Command } from "commander";
import type { ChangesOptions } from "./commands/changes.ts";
import type { ExplainOptions, SheetOptions } from "./commands/describe.ts";
import type { EventsOptions } from "./commands/events.ts";
import type { GetOptions } from "./commands/get.ts";
import type { SeriesOptions } from "./commands/series.ts";
import { example } from "./example.ts";
import { output } from "./output-option.ts";
import type { Run } from "./run-command.ts";
import { filterOf, NAMES, type ScopeOptions, withScope } from "./scope-options.ts";
import { namedResources, selectionOf } from "./selected-names.ts";
import { withTarget } from "./target-options.ts";

/** Loads the code of a command when the command runs, so that help, the version and usage errors start fast. */
const code = {
  changes: () => import("./commands/changes.ts"),
  describe: () => import("./commands/describe.ts"),
  events: () => import("./commands/events.ts"),
  get: () => import("./commands/get.ts"),
  series: () => import("./commands/series.ts"),
};

/** Commands that read autoscalers, their events and their edits. */
export const readingCommands = (root: Command, run: Run): void => {
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
