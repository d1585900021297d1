import { type Command, Option } from "commander";
import { isTidemarkError } from "../../rules/model/errors.ts";
import { example, output, repeatable, type CommandRun } from "../options/command-options.ts";
import type { ImportOptions } from "../commands/import.ts";
import type { ShadowOptions } from "../commands/shadow.ts";
import type { TakeoverOptions } from "../commands/takeover.ts";
import type { WritersOptions } from "../commands/writers.ts";
import { type CommandIo, type Printer, showsOf } from "../io.ts";
import {
  filterOf,
  NAMES,
  ONE_NAME,
  type ScopeOptions,
  withScope,
} from "../options/scope-options.ts";
import { TRIGGER_SOURCE } from "../select/trigger-sources.ts";
import { namedResources, oneResource } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";

/** Commands that move autoscalers from the controllers of a cluster to Tidemark. */
export const migrationCommands = (
  root: Command,
  run: CommandRun,
  io: CommandIo,
  printer: Printer,
): void => {
  const place: Place = { run, io, printer };
  withScope(root.command("import"))
    .description(
      "print the HPAs, WatermarkPodAutoscalers, ScaledObjects and DatadogPodAutoscalers of a cluster as manifests, with your own rights; or store them",
    )
    .option(
      "--kubeconfig <file>",
      "your kubeconfig for the cluster (default: the kubeconfig of --cluster, where it is connected by one)",
    )
    .option("--context <context>", "context of the kubeconfig")
    .option("-A, --all-namespaces", "of every namespace, which is the default")
    .option("-l, --selector <selector>", "only those with these labels: app=web,tier!=db")
    .addOption(
      new Option("--as <form>", "the kind of each object, or PodAutoscalers that decide the same")
        .choices(["same", "native"])
        .default("same"),
    )
    .option(...TRIGGER_SOURCE)
    .option("--apply", "store them for --cluster, as apply does")
    .addOption(output(["yaml", "json"]))
    .addHelpText(
      "after",
      example(
        "tidemark import --kubeconfig ~/.kube/config -n shop",
        "tidemark import --kubeconfig ~/.kube/config --cluster eu-1 --apply",
      ),
    )
    .action((options: ImportOptions & ScopeOptions) => importCommand(options, place));
  withScope(root.command("shadow"))
    .description(
      "compare what autoscalers decide beside another controller with what that one does",
    )
    .argument("[name...]", `${ONE_NAME} (default: a line for each in the state shadow)`)
    .option("-A, --all-namespaces", "in every namespace, which is the default")
    .option("--since <time>", "from this time on: RFC 3339, or a duration ago", "24h")
    .option("--until <time>", "up to this time (default: now)")
    .addOption(output(["text", "json", "csv"]))
    .addHelpText(
      "after",
      example(
        "tidemark shadow",
        "tidemark shadow shop/web --since 2h",
        "tidemark shadow shop/web -o csv > web.csv",
      ),
    )
    .action(
      (
        names: readonly string[],
        options: ShadowOptions & ScopeOptions & { readonly allNamespaces?: true },
      ) => {
        const filter = filterOf(options);
        if (options.allNamespaces && (names.length > 0 || options.namespace !== undefined))
          throw usage(
            `Cannot use -A together with ${names.length > 0 ? `"${names.join(" ")}"` : `-n "${options.namespace}"`}: give one of them`,
          );
        const of = names.length === 0 ? filter : oneResource("compare", names, filter);
        const shows = showsOf(
          names.length === 0 && options.output === "text" ? "table" : options.output,
        );
        return run(options, shows, async (...opened) =>
          (await import("../commands/shadow.ts")).shadow(...opened, of, options),
        );
      },
    );
  takeoverCommand(root, place, "takeover")
    .description(
      "bring the other controller of autoscalers in the state shadow to rest, with your own rights; it goes on again where the first syncs cannot read or scale",
    )
    .addHelpText(
      "after",
      example(
        "tidemark takeover shop/web --kubeconfig ~/.kube/config",
        "tidemark takeover -A -l team=shop --wait 30m --pause-between 1m --kubeconfig ~/.kube/config",
      ),
    );
  takeoverCommand(root, place, "handback")
    .description(
      "undo a takeover: pause the autoscaler, let the other controller go on, and stay in its shadow",
    )
    .addHelpText(
      "after",
      example(
        "tidemark handback shop/web --kubeconfig ~/.kube/config",
        "tidemark handback -A -l team=shop --kubeconfig ~/.kube/config",
      ),
    );
  withScope(root.command("writers"))
    .description(
      "say from audit logs of an API server who wrote each count, and whether a workload ever had two writers; exit code 1 when one had",
    )
    .requiredOption(
      "--audit-log <file>",
      "an audit log, one event a line (repeatable, the oldest first)",
      repeatable,
    )
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark writers --audit-log audit.log --cluster eu-1",
        "tidemark writers --audit-log audit.log -n shop -o json > evidence.json",
      ),
    )
    .action((options: WritersOptions & ScopeOptions) =>
      run.show(options, async (...opened) =>
        (await import("../commands/writers.ts")).writers(...opened, options),
      ),
    );
};

const takeoverCommand = (
  root: Command,
  { run, io }: Place,
  name: "takeover" | "handback",
): Command => {
  const command = withScope(root.command(name))
    .argument("[names...]", NAMES)
    .requiredOption("--kubeconfig <file>", "your kubeconfig for the cluster")
    .option("--context <context>", "context of the kubeconfig")
    .option(
      "--batch <n>",
      "how many at once; the first one by itself, then twice as many each time",
      "10",
    )
    .option("--pause-between <duration>", "wait between two batches")
    .option("--max-failures <n>", "begin no other after more failed switches than this", "0")
    .option(
      "-A, --all-namespaces",
      name === "takeover" ? "all that are in the state shadow" : "all that were taken over",
    )
    .option("-l, --selector <selector>", "only autoscalers with these labels: app=web,tier!=db");
  if (name === "takeover")
    command
      .option(
        "--wait <duration>",
        "how long each may wait until both want the count that there is, and all its metrics are read",
        "10m",
      )
      .option(
        "--force",
        "also where a metric is missing, the count would move at the switch, or KEDA has scaled to zero",
      );
  return command
    .addOption(output(["text", "json"]))
    .action(async (names: readonly string[], options: TakeoverOptions & ScopeOptions) => {
      const code = await import("../commands/takeover.ts");
      code.batchesOf(names, options);
      const filter = filterOf(options);
      const task = {
        filter,
        resources: names.length === 0 ? [] : namedResources(names, filter),
        options,
      };
      return run(options, options.output === "text" ? "edit" : "document", (session, printer) =>
        code[name](session, { printer, io }, task),
      );
    });
};

interface Place {
  readonly run: CommandRun;
  readonly io: CommandIo;
  readonly printer: Printer;
}

const importCommand = async (
  options: ImportOptions & ScopeOptions,
  { run, io, printer: own }: Place,
): Promise<void> => {
  const {
    checkImport,
    kubeconfigOf,
    printImport,
    readImport,
    refuseIncomplete,
    importedSource: sourceOf,
    tellFindings,
  } = await import("../commands/import.ts");
  checkImport(options);
  const printOnly = async (): Promise<void> => {
    const result = await readImport(await kubeconfigOf(options, undefined), options);
    await printImport(own, result, options.output);
    return refuseIncomplete(result);
  };
  // Without a cluster nothing of Tidemark is read, so that no data folder and no stack is needed.
  const isAlone = options.kubeconfig !== undefined && !options.apply;
  if (isAlone && options.source === undefined) return printOnly();
  const work = run(options, options.apply ? "edit" : "document", async (session, printer) => {
    const result = await readImport(await kubeconfigOf(options, session), options, session);
    if (!options.apply) await printImport(printer, result, options.output);
    else {
      tellFindings(printer, result);
      const { apply } = await import("../commands/apply.ts");
      const { cluster = "" } = options;
      if (result.manifests.length > 0)
        await apply(session, { printer, io }, [sourceOf(result)], {
          filename: [],
          cluster,
          validate: "strict",
        });
      else printer.report("No autoscalers to store");
    }
    refuseIncomplete(result);
  });
  return work.catch((error: unknown) => {
    if (!isAlone || !isTidemarkError(error, "local.no-data")) throw error;
    own.report(NOT_COMPARED);
    return printOnly();
  });
};

const NOT_COMPARED =
  "note: no source is compared with its record, because there is no data folder here: name the stack that has the sources with --stack";
