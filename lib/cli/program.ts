import { Command, Option } from "commander";
import { startCommand } from "../local/run/options.ts";
import { validateOption } from "../local/run/validate-option.ts";
import { type AddOptions, clusterChange, newCluster } from "./cluster-options.ts";
import type { ChangesOptions } from "./commands/changes.ts";
import type { ExplainOptions, SheetOptions } from "./commands/describe.ts";
import type { ApplyCommandOptions } from "./commands/edit.ts";
import type { EventsOptions } from "./commands/events.ts";
import type { FreezeOptions } from "./commands/fleet.ts";
import type { GetOptions } from "./commands/get.ts";
import type { ResetOptions } from "./commands/partition.ts";
import type { SeriesOptions } from "./commands/series.ts";
import { help } from "./help.ts";
import type { Io, Printer, Session } from "./io.ts";
import { manifests } from "./manifest-commands.ts";
import type { PlaceOptions } from "./place.ts";
import { usage } from "./usage.ts";
import { version } from "./version.ts";

/** The code of a command is loaded when the command runs. Help, the version and misuse then start in a fraction of the time. */
const code = {
  changes: () => import("./commands/changes.ts"),
  cluster: () => import("./commands/cluster.ts"),
  describe: () => import("./commands/describe.ts"),
  edit: () => import("./commands/edit.ts"),
  events: () => import("./commands/events.ts"),
  fleet: () => import("./commands/fleet.ts"),
  get: () => import("./commands/get.ts"),
  partition: () => import("./commands/partition.ts"),
  series: () => import("./commands/series.ts"),
  sources: () => import("./sources.ts"),
};

/** Runs a command's work in the session of its data folder or stack, which is closed whatever happens. */
export type Run = (place: PlaceOptions, work: (session: Session, printer: Printer) => Promise<void>) => Promise<void>;

interface Where extends PlaceOptions {
  readonly namespace?: string;
  readonly cluster?: string;
}

const output = (choices: readonly string[]): Option => new Option("-o, --output <format>", "how to print it").choices(choices).default(choices[0]);

/** An autoscaler by name, and where to look for it. */
const asked = (name: string, { namespace, cluster: inCluster }: Where) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  ...(inCluster === undefined ? {} : { cluster: inCluster }),
});

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];

const on = (command: Command): Command =>
  command
    .option("--data <dir>", "data folder of the embedded run (default: .tidemark)")
    .option("--stack <url>", "function URL of a deployed stack (default: TIDEMARK_URL)");

const inNamespace = (command: Command): Command =>
  on(command).option("-n, --namespace <namespace>", "only in this namespace").option("--cluster <cluster>", "only in this cluster");

/** The whole command line. Handlers hold no rule: they turn options into one call of a command. */
export const program = (run: Run, io: Io): Command => {
  const root = new Command("tidemark")
    .description("Scales Kubernetes workloads in many clusters, with nothing installed in the clusters")
    .version(version());
  reading(root, run);
  editing(root, run, io);
  manifests(root, io);
  clusters(root.command("cluster").description("the clusters that Tidemark scales in"), run);
  partitions(root.command("partition").description("what a partition of a cluster stores, and what to do when it cannot be read"), run);
  fleets(root.command("fleet").description("the kill switch over every cluster"), run);
  root.addCommand(startCommand(startIsFirst).name("start"));
  help(root);
  return root;
};

/** `tidemark start` never comes here, because bin/tidemark.js hands it over to the embedded run. Any other way of writing it is a mistake. */
const startIsFirst = async (): Promise<void> => {
  throw usage('Cannot start a run from here: "start" must be the first word after tidemark');
};

const reading = (root: Command, run: Run): void => {
  inNamespace(root.command("get"))
    .description("list autoscalers, or one of them")
    .argument("[name]")
    .addOption(output(["table", "json", "yaml"]))
    .action((name: string | undefined, options: GetOptions & Where) =>
      run(options, async (session, printer) => (await code.get()).get(session, printer, name, options)),
    );
  inNamespace(root.command("describe"))
    .description("everything about one autoscaler: metrics, windows, conditions, last decision, events")
    .argument("<name>")
    .addOption(output(["text", "json", "yaml"]))
    .action((name: string, options: SheetOptions & Where) =>
      run(options, async (session, printer) => (await code.describe()).describe(session, printer, asked(name, options), options)),
    );
  inNamespace(root.command("explain"))
    .description("why an autoscaler is at its count, and what would have to change for another")
    .argument("<name>")
    .option("--at <time>", "the evaluation of that time: RFC 3339, or a duration ago")
    .addOption(output(["text", "json", "yaml"]))
    .action((name: string, options: ExplainOptions & Where) =>
      run(options, async (session, printer) => (await code.describe()).explain(session, printer, asked(name, options), options)),
    );
  inNamespace(root.command("events"))
    .description("scale events, oldest first")
    .argument("[name]")
    .option("--all", "of every autoscaler")
    .option("--since <time>", "not older than: a duration, or RFC 3339")
    .addOption(output(["table", "jsonl", "json", "yaml", "csv"]))
    .action((name: string | undefined, options: EventsOptions & Where) =>
      run(options, async (session, printer) => (await code.events()).events(session, printer, name, options)),
    );
  inNamespace(root.command("changes"))
    .description("edits by people, oldest first: who, when, and what they changed")
    .argument("[name]")
    .option("--all", "of every autoscaler, cluster and partition, and of the fleet")
    .option("--since <time>", "not older than: a duration, or RFC 3339")
    .addOption(output(["text", "jsonl", "json", "yaml"]))
    .action((name: string | undefined, options: ChangesOptions & Where) =>
      run(options, async (session, printer) => (await code.changes()).changes(session, printer, name, options)),
    );
  on(root.command("series"))
    .description("what every autoscaler measures and decides, as OpenMetrics text")
    .option("--labels <names>", "labels that wpa_controller_labels_info carries")
    .action((options: SeriesOptions & Where) => run(options, async (session, printer) => (await code.series()).series(session, printer, options)));
};

const editing = (root: Command, run: Run, io: Io): void => {
  inNamespace(root.command("apply"))
    .description("create or update autoscalers; all documents of all files are checked before any is stored")
    .requiredOption("-f, --filename <file>", "manifests in YAML or JSON, - for standard input; repeatable", collect)
    .option("--dry-run", "check everything, store nothing")
    .addOption(validateOption())
    .action(async (options: ApplyCommandOptions & Where) => {
      const { readSources } = await code.sources();
      const sources = await readSources(options.filename, io.stdin);
      await run(options, async (session, printer) => (await code.edit()).apply(session, printer, sources, options, io));
    });
  inNamespace(root.command("delete"))
    .description("forget an autoscaler; its workload keeps its count, its history stays")
    .argument("<name>")
    .action((name: string, options: Where) =>
      run(options, async (session, printer) => (await code.edit()).remove(session, printer, asked(name, options))),
    );
  inNamespace(root.command("pause"))
    .description("hold an autoscaler's workload where it is")
    .argument("<name>")
    .option("--until <time>", "resume by itself then: a duration, or RFC 3339")
    .action((name: string, options: Where & { readonly until?: string }) =>
      run(options, async (session, printer) => (await code.edit()).pause(session, printer, asked(name, options), options.until)),
    );
  inNamespace(root.command("resume"))
    .description("end a pause")
    .argument("<name>")
    .action((name: string, options: Where) =>
      run(options, async (session, printer) => (await code.edit()).resume(session, printer, asked(name, options))),
    );
};

const clusters = (parent: Command, run: Run): void => {
  on(parent.command("add"))
    .description("connect a cluster")
    .argument("<name>")
    .option("--kubeconfig <file>", "connect by a kubeconfig file")
    .option("--secret <id>", "connect by a kubeconfig or token in Secrets Manager")
    .option("--context <context>", "context of the kubeconfig")
    .option("--eks <cluster-id>", "connect to an EKS cluster by IAM")
    .option("--endpoint <url>", "its API endpoint")
    .option("--ca-data <base64>", "its certificate authority")
    .option("--region <region>", "its region")
    .option("--role-arn <arn>", "role to assume for it")
    .option("--period <duration>", "sync period, 5s to 15m (default: 15s)")
    .option("--partition <name=namespaces>", "a partition and its namespaces, or NAME alone for all others; repeatable", collect)
    .option("--tolerance <ratio>", "controller setting (default: 0.1)")
    .option("--downscale-stabilization <duration>", "controller setting (default: 5m)")
    .option("--cpu-initialization-period <duration>", "controller setting (default: 5m)")
    .option("--initial-readiness-delay <duration>", "controller setting (default: 30s)")
    .option("--replace", "give a cluster that is there another connection, period, settings or partitions; what is not given stays")
    .action((name: string, options: AddOptions & Where & { readonly replace?: true }) => {
      if (options.replace) {
        const change = clusterChange(name, options);
        return run(options, async (session, printer) => (await code.cluster()).replace(session, printer, change));
      }
      const added = newCluster(name, options);
      return run(options, async (session, printer) => (await code.cluster()).add(session, printer, added));
    });
  on(parent.command("list"))
    .description("list clusters")
    .addOption(output(["table", "json", "yaml"]))
    .action((options: Where & { readonly output: "table" | "json" | "yaml" }) =>
      run(options, async (session, printer) => (await code.cluster()).list(session, printer, options.output)),
    );
  on(parent.command("describe"))
    .description("everything about one cluster")
    .argument("<name>")
    .addOption(output(["text", "json", "yaml"]))
    .action((name: string, options: Where & SheetOptions) =>
      run(options, async (session, printer) => (await code.cluster()).describe(session, printer, name, options.output)),
    );
  on(parent.command("pause"))
    .description("hold every workload of a cluster where it is")
    .argument("<name>")
    .option("--until <time>", "resume by itself then: a duration, or RFC 3339")
    .action((name: string, options: Where & { readonly until?: string }) =>
      run(options, async (session, printer) => (await code.cluster()).pause(session, printer, name, options.until)),
    );
  on(parent.command("resume"))
    .description("end a cluster's pause")
    .argument("<name>")
    .action((name: string, options: Where) => run(options, async (session, printer) => (await code.cluster()).resume(session, printer, name)));
  on(parent.command("remove"))
    .description("forget a cluster that has no autoscalers")
    .argument("<name>")
    .action((name: string, options: Where) => run(options, async (session, printer) => (await code.cluster()).remove(session, printer, name)));
};

const partitions = (parent: Command, run: Run): void => {
  on(parent.command("describe"))
    .description("its windows pages and open intents, and what stands still because one cannot be read")
    .argument("<cluster/partition>")
    .addOption(output(["text", "json", "yaml"]))
    .action((path: string, options: Where & SheetOptions) =>
      run(options, async (session, printer) => (await code.partition()).describe(session, printer, path, options.output)),
    );
  on(parent.command("reset-windows"))
    .description("for a page that cannot be read: its autoscalers go on as if each had just been scaled as far as its rules allow")
    .argument("<cluster/partition>")
    .requiredOption("--page <number>", "the page")
    .option("--yes", "what the page said is forgotten")
    .action(async (path: string, options: Where & ResetOptions & { readonly page: string }) => {
      const partition = await code.partition();
      const page = partition.pageNumber(options.page);
      partition.mustSayYes(options, `windows page ${page} of "${path}"`, "what its autoscalers did is forgotten");
      return run(options, async (session, printer) => partition.resetWindows(session, printer, path, page));
    });
  on(parent.command("reset-intent"))
    .description("for an open intent that cannot be read: it is settled as unknown, and its autoscaler goes on; takes 40 s")
    .argument("<cluster/partition>")
    .requiredOption("--intent <id>", "the intent")
    .option("--yes", "what was intended is forgotten")
    .action(async (path: string, options: Where & ResetOptions & { readonly intent: string }) => {
      const partition = await code.partition();
      partition.mustSayYes(options, `intent "${options.intent}" of "${path}"`, "what was intended is forgotten");
      return run(options, async (session, printer) => partition.resetIntent(session, printer, path, options.intent));
    });
  on(parent.command("reset-time"))
    .description(
      "for times that are ahead of the clock: autoscalers that stand still for one go on as if each had just been scaled as far as its rules allow",
    )
    .argument("<cluster/partition>")
    .option("--yes", "what such autoscalers did is forgotten")
    .action(async (path: string, options: Where & ResetOptions) => {
      const partition = await code.partition();
      partition.mustSayYes(options, `the time of "${path}"`, "what autoscalers did whose windows have a time ahead of the clock is forgotten");
      return run(options, async (session, printer) => partition.resetTime(session, printer, path));
    });
};

const fleets = (parent: Command, run: Run): void => {
  on(parent.command("freeze"))
    .description("hold every workload of every cluster where it is")
    .requiredOption("--reason <text>", "why, for everyone who looks")
    .option("--replace", "where the fleet is frozen already, put this reason in the place of the first")
    .action(async (options: Where & FreezeOptions) => {
      const fleet = await code.fleet();
      const reason = fleet.reasonOf(options);
      return run(options, async (session, printer) => fleet.freeze(session, printer, reason, options.replace === true));
    });
  on(parent.command("thaw"))
    .description("end the freeze")
    .action((options: Where) => run(options, async (session, printer) => (await code.fleet()).thaw(session, printer)));
  on(parent.command("describe"))
    .description("whether the fleet is frozen, by whom and why")
    .addOption(output(["text", "json", "yaml"]))
    .action((options: Where & SheetOptions) => run(options, async (session, printer) => (await code.fleet()).describe(session, printer, options)));
};
