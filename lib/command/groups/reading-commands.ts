import { type Command, Option } from "commander";
import type { ChoiceOptions } from "../select/chosen-autoscalers.ts";
import { example, output, type CommandRun, type SheetOptions } from "../options/command-options.ts";
import type { ChangesOptions } from "../commands/changes.ts";
import type { ExplainOptions } from "../commands/explain.ts";
import type { DoctorOptions } from "../commands/doctor.ts";
import type { EventsOptions } from "../commands/events.ts";
import type { ExportOptions, SeriesOptions } from "../commands/export.ts";
import type { GetOptions } from "../commands/get-fields.ts";
import type { ScheduleOptions } from "../commands/schedule.ts";
import type { HistoryOptions, TimelineOptions } from "../commands/timeline.ts";
import { type CommandIo, type Printer, showsOf } from "../io.ts";
import {
  checkListed,
  filterOf,
  NAMES,
  ONE_NAME,
  type PastOptions,
  refuseNamespaceTwice,
  type ScopeOptions,
  withScope,
  withScopes,
  withSelector,
} from "../options/scope-options.ts";
import {
  oneResource,
  type NamedAutoscalerOfKind,
  schemaField,
  selectionOf,
} from "../select/selected-names.ts";

const code = {
  changes: () => import("../commands/changes.ts"),
  choice: () => import("../select/chosen-autoscalers.ts"),
  doctor: () => import("../commands/doctor.ts"),
  describe: () => import("../commands/describe.ts"),
  events: () => import("../commands/events.ts"),
  explain: () => import("../commands/explain.ts"),
  export: () => import("../commands/export.ts"),
  get: () => import("../commands/get.ts"),
  schema: () => import("../commands/reference.ts"),
  schedule: () => import("../commands/schedule.ts"),
  timeline: () => import("../commands/timeline.ts"),
};

/** What a time of the past can look like. */
const PAST = "RFC 3339, a duration ago, or monday, 09:00, 2026-01-05";

/** Commands that read autoscalers, their events and their edits. */
export const readingCommands = (
  root: Command,
  run: CommandRun,
  { io, printing }: { readonly io: CommandIo; readonly printing: Printer },
): void => {
  withScopes(root.command("get"))
    .description("list autoscalers, or those with these names")
    .argument("[names...]", NAMES)
    .option("-A, --all-namespaces", "in every namespace, which is the default")
    .option(
      "-l, --selector <selector>",
      "only those whose manifests have these labels: app=web,tier!=db",
    )
    .option("--sort-by <field>", "order of a field of the document: .status.currentReplicas")
    .option(
      "--fields <names>",
      "only these fields, without manifests: state,currentReplicas,targets",
    )
    .option("--no-headers", "print a table without its header")
    .addOption(output(["table", "wide", "name", "json", "yaml"]))
    .option("--show-labels", "a last column with the labels")
    .option(
      "-w, --watch",
      "then print each that changes, and once more each that is deleted, until Ctrl-C",
    )
    .option("--watch-only", "the same without the list at the beginning")
    .option(
      "--output-watch-events",
      "with --watch: say of each whether it was ADDED, MODIFIED or DELETED",
    )
    .addHelpText("after", example("tidemark get hpa -n shop -l app=web -o wide"))
    .action(async (names: readonly string[], options: GetOptions & ScopeOptions) => {
      const { get, checkOptions } = await code.get();
      const selection = selectionOf(names, filterOf(options));
      checkOptions(selection, options);
      return run(
        options,
        options.headers === false ? "document" : showsOf(options.output),
        async (session, printer) => get(session, { printer, io }, selection, options),
      );
    });
  withSelector(withScopes(root.command("describe")))
    .description("describe autoscalers: metrics, windows, conditions, last decision, events")
    .argument("[names...]", NAMES)
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark describe shop/web",
        "tidemark describe hpa/web wpa/api -n shop",
        "tidemark describe -l app=web -n shop",
      ),
    )
    .action(async (names: readonly string[], options: SheetOptions & ChoiceOptions) => {
      const { choiceOfQuery } = await code.choice();
      const choice = choiceOfQuery("describe", names, options);
      return run.show(options, async (session, printer) =>
        (await code.describe()).describe(session, { printer, io }, choice, options),
      );
    });
  withScope(root.command("explain"))
    .description("explain why an autoscaler is at its count, and what would change it")
    .argument("<name...>", ONE_NAME)
    .option("--at <time>", `explain the evaluation at this time: ${PAST}`)
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark explain shop/web",
        "tidemark explain shop/web --at 2h",
        "tidemark explain shop/web --at 'yesterday 18:30'",
      ),
    )
    .action(async (names: readonly string[], options: ExplainOptions & ScopeOptions) => {
      const [field] = names.flatMap((name) => schemaField(name) ?? []);
      if (field !== undefined)
        return (await code.schema()).explainSchema(printing, field, options.output);
      const resource = oneResource("explain", names, filterOf(options));
      return run.show(options, async (...opened) =>
        (await code.explain()).explain(...opened, resource, options),
      );
    });
  withScope(root.command("doctor"))
    .description(
      "find what is wrong with an autoscaler, or with all, what it costs and what to change; exit code 1 for a problem",
    )
    .argument("[name...]", ONE_NAME)
    .option("-A, --all-namespaces", "all in every namespace, which is the default")
    .option(
      "--ask-cluster",
      "of one autoscaler, also ask its cluster for VerticalPodAutoscalers, PodDisruptionBudgets and ResourceQuotas beside its workload",
    )
    .addOption(output(["text", "table", "json", "yaml"]))
    .addHelpText("after", example("tidemark doctor shop/web", "tidemark doctor -A -o table"))
    .action((names: readonly string[], options: DoctorOptions & PastOptions) => {
      const what = oneOrAll("examine", names, options) ?? filterOf(options);
      refuseNamespaceTwice(options);
      return run.show(options, async (...opened) =>
        (await code.doctor()).doctor(...opened, what, options),
      );
    });
  withScope(root.command("schedule"))
    .description("print the bounds of an autoscaler, and the coming changes of its schedule")
    .argument("<name...>", ONE_NAME)
    .option("--next <number>", "how many changes", "10")
    .option(
      "--at <time>",
      "from this time on: RFC 3339, a duration from now, or monday, 09:00, 2026-01-05",
    )
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText(
      "after",
      example("tidemark schedule shop/web", "tidemark schedule shop/web --next 30 --at 2026-12-24"),
    )
    .action(async (names: readonly string[], options: ScheduleOptions & ScopeOptions) => {
      const { printSchedule, changesWanted } = await code.schedule();
      const resource = oneResource("print the schedule of", names, filterOf(options));
      changesWanted(options);
      return run.show(options, async (session, printer) =>
        printSchedule(session, printer, resource, options),
      );
    });
  withScope(root.command("timeline"))
    .description("draw the load, the counts, what held them and what happened, on one axis")
    .argument("<name...>", ONE_NAME)
    .option("--since <time>", `from this time on (default: two hours): ${PAST}`)
    .option("--until <time>", "up to this time (default: now)")
    .option("--at <time>", "around this time instead")
    .option("--around <duration>", "with --at: so long before and after it", "15m")
    .addOption(output(["text", "svg", "json", "csv"]))
    .addHelpText(
      "after",
      example(
        "tidemark timeline shop/web",
        "tidemark timeline shop/web --at 14:03",
        "tidemark timeline shop/web --since 6h -o svg > web.svg",
      ),
    )
    .action((names: readonly string[], options: TimelineOptions & ScopeOptions) => {
      const resource = oneResource("draw", names, filterOf(options));
      return run.show(options, async (session, printer) =>
        (await code.timeline()).timeline(session, { printer, io }, resource, options),
      );
    });
  withScope(root.command("history"))
    .description("print what an autoscaler measured and decided over time, one line a step")
    .argument("<name...>", ONE_NAME)
    .option("--since <time>", `from this time on (default: two hours): ${PAST}`)
    .option("--until <time>", "up to this time (default: now)")
    .option("--step <duration>", "one line for each (default: some hundred lines in all)")
    .option(
      "--why",
      "of each metric also the pods behind its value, the value with what is assumed for the others, and where the count turns (the last 14 days)",
    )
    .addOption(output(["csv", "json"]))
    .addHelpText("after", example("tidemark history shop/web --since 24h --step 5m > web.csv"))
    .action((names: readonly string[], options: HistoryOptions & ScopeOptions) => {
      const resource = oneResource("print the history of", names, filterOf(options));
      return run(options, "document", async (...opened) =>
        (await code.timeline()).history(...opened, resource, options),
      );
    });
  withScopes(root.command("events"))
    .description("list scale events, oldest first")
    .argument("[name...]", ONE_NAME)
    .option("--all", "list the events of every autoscaler")
    .option("-A, --all-namespaces", "the same as --all")
    .option("--since <time>", `only since this time: ${PAST}`)
    .option("--until <time>", `only until this time: ${PAST}`)
    .option("--for <name>", "the same as the name of an autoscaler: shop/web, hpa/web")
    .addOption(
      new Option(
        "--by <time>",
        "in place of events their number: of each autoscaler in each month (UTC)",
      ).choices(["month"]),
    )
    .option("--why", "below each event its metrics, its steps and what limited its size")
    .option("-w, --watch", "then print those that come, until Ctrl-C")
    .option("--no-headers", "print a table without its header")
    .addOption(output(["table", "wide", "jsonl", "json", "yaml", "csv", "cloudevents"]))
    .addHelpText(
      "after",
      example(
        "tidemark events -n shop --since monday --until 09:00",
        "tidemark events --for hpa/web --why",
        "tidemark events shop/web -w",
        "tidemark events --all -w -o cloudevents",
        "tidemark events --all --by month -o csv",
      ),
    )
    .action(
      async (names: readonly string[], options: EventsOptions & { readonly for?: string }) => {
        const { events, checkOptions } = await code.events();
        const resource = oneOrAll(
          "list the events of",
          options.for === undefined ? names : [...names, options.for],
          options,
        );
        checkOptions(resource, options);
        return run(
          options,
          options.headers === false ? "document" : showsOf(options.output),
          async (session, printer) => events(session, { printer, io }, resource, options),
        );
      },
    );
  withScopes(root.command("changes"))
    .description("list edits, oldest first, with their time, editor and changed fields")
    .argument("[name...]", ONE_NAME)
    .option(
      "--all",
      "list the changes of every autoscaler, cluster and partition, and of the fleet",
    )
    .option("-A, --all-namespaces", "the same as --all")
    .option("--since <time>", `only since this time: ${PAST}`)
    .option("--until <time>", `only until this time: ${PAST}`)
    .addOption(output(["text", "jsonl", "json", "yaml"]))
    .addHelpText(
      "after",
      example("tidemark changes shop/web", "tidemark changes --all --since yesterday"),
    )
    .action((names: readonly string[], options: ChangesOptions) => {
      const resource = oneOrAll("list the changes of", names, options);
      checkListed("changes", resource?.name, options);
      return run(options, options.output === "text" ? "table" : "document", async (...opened) =>
        (await code.changes()).changes(...opened, resource, options),
      );
    });
  withScope(root.command("export"))
    .description("write events, edits and history into files of a folder")
    .requiredOption("--since <time>", `from this time on: ${PAST}`)
    .option("--until <time>", "up to this time (default: now)")
    .option("--step <duration>", "one point of the history for each", "5m")
    .option("--only <names>", "some of events,changes,history")
    .addOption(
      new Option("--format <format>", "of the files").choices(["csv", "jsonl"]).default("csv"),
    )
    .requiredOption("-o, --output <dir>", "the folder; files that exist are refused")
    .addHelpText(
      "after",
      example(
        "tidemark export --since 7d -o audit",
        "tidemark export -n shop --since monday --only events --format jsonl -o audit",
      ),
    )
    .action(async (options: ExportOptions) => {
      const { exportAll, exportedOf } = await code.export();
      exportedOf(options);
      return run(options, "sheet", async (session, printer) =>
        exportAll(session, printer, filterOf(options), options),
      );
    });
  withScope(root.command("series"))
    .description("print the metrics and decisions of every autoscaler as OpenMetrics text")
    .option("--labels <names>", "labels for wpa_controller_labels_info")
    .addHelpText("after", example("tidemark series --labels team,tier"))
    .action((options: SeriesOptions) =>
      run(options, "document", async (...opened) =>
        (await code.export()).series(...opened, options),
      ),
    );
};

/** The autoscaler of a list of events or changes; none for the list of all. */
const oneOrAll = (
  command: string,
  names: readonly string[],
  options: ScopeOptions,
): NamedAutoscalerOfKind | undefined => {
  const filter = filterOf(options);
  return names.length === 0 ? undefined : oneResource(command, names, filter);
};
