import { type Command, Option } from "commander";
import { validateOption } from "../../embedded/run/options.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import type { ChoiceOptions, Chosen } from "../select/chosen-autoscalers.ts";
import {
  example,
  dryRun,
  withFiles,
  withOptionalFiles,
  type CommandRun,
  output,
} from "../options/command-options.ts";
import { withoutFleetKinds } from "../../rules/manifest/fleet-kinds.ts";
import type { ApplyCommandOptions } from "../commands/apply.ts";
import type { DeleteOptions } from "../commands/delete.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import {
  filterOf,
  NAMES,
  type ScopeOptions,
  withEditScopes,
  withScope,
  withSelector,
  ONE_NAME,
} from "../options/scope-options.ts";
import { usage } from "../usage-error.ts";
import type { AutoscaleOptions } from "../commands/autoscale.ts";
import type { DiffOptions } from "../commands/diff.ts";
import { oneResource } from "../select/selected-names.ts";

const code = {
  choice: () => import("../select/chosen-autoscalers.ts"),
  apply: () => import("../commands/apply.ts"),
  delete: () => import("../commands/delete.ts"),
  pause: () => import("../commands/pause.ts"),
  clusters: () => import("../commands/cluster-documents.ts"),
  documents: () => import("../commands/apply-documents.ts"),
  source: () => import("../commands/source.ts"),
  sources: () => import("../select/read-sources.ts"),
};

/** Commands that edit autoscalers. */
export const editingCommands = (root: Command, run: CommandRun, io: CommandIo): void => {
  withFiles(withScope(root.command("apply")))
    .description(
      "create or update autoscalers, clusters and metric sources; nothing is stored unless all documents are valid, and objects of other kinds are passed over",
    )
    .addHelpText(
      "after",
      example(
        "tidemark apply -R -f manifests/ --cluster eu-1",
        "kustomize build | tidemark apply -f - --cluster eu-1",
        "tidemark apply -f clusters/ --prune -l fleet=prod --dry-run",
      ),
    )
    .addOption(dryRun())
    .addOption(validateOption())
    .option(
      "--prune",
      "then delete what has the labels of -l and is in no document, in the namespaces of the documents",
    )
    .option(
      "-l, --selector <selector>",
      "with --prune: the labels of what these documents own, which each of them must have",
    )
    .option("--force", "store the connections of clusters without a look at the clusters")
    .action(async (options: ApplyCommandOptions & ScopeOptions) => {
      const { readSources } = await code.sources();
      const sources = await readSources(options, io.stdin);
      const { documentsIn, applyDocuments } = await code.documents();
      const documents = documentsIn(sources);
      const plan =
        options.prune || options.selector !== undefined
          ? (await code.apply()).prunePlan(options, sources, documents)
          : undefined;
      await run.edit(options, (session, printer) =>
        applyDocuments(session, { printer, io }, sources, { ...options, documents, plan }),
      );
    });
  for (const [verb, about] of STRICT)
    withFiles(withScope(root.command(verb)))
      .description(about)
      .addHelpText("after", example(`tidemark ${verb} -f web.yaml --cluster eu-1`))
      .addOption(dryRun())
      .addOption(validateOption())
      .action(async (options: ApplyCommandOptions & ScopeOptions) => {
        const sources = await (await code.sources()).readSources(options, io.stdin);
        await run.edit(
          options,
          async (session, printer) =>
            void (await (
              await code.apply()
            ).apply(session, { printer, io }, sources, { ...options, only: verb })),
        );
      });
  withOptionalFiles(withLabels(root.command("delete")))
    .description(
      "delete autoscalers by name, by labels, or those that manifests name; a workload keeps its count, and the history stays",
    )
    .argument("[names...]", NAMES)
    .addOption(dryRun())
    .option("--ignore-not-found", "what does not exist is no error")
    .addHelpText(
      "after",
      example(
        "tidemark delete shop/web",
        "tidemark delete -l app=old -n shop --dry-run",
        "tidemark delete -f manifests/ --ignore-not-found",
      ),
    )
    .action((names: readonly string[], options: ChoiceOptions & DeleteOptions) =>
      deleteCommand(names, options, run, io),
    );
  withLabels(root.command("pause"))
    .description("pause autoscalers; their workloads keep their counts")
    .argument("[names...]", NAMES)
    .option("--until <time>", "end of the pause: RFC 3339, or a duration from now")
    .addHelpText(
      "after",
      example(
        "tidemark pause shop/web --until 2h",
        "tidemark pause hpa/web hpa/api -n shop --until 'monday 09:00'",
        "tidemark pause -A -l team=shop --clusters '*'",
      ),
    )
    .action((names: readonly string[], options: ChoiceOptions & { readonly until?: string }) =>
      onChosen(run, "pause", { names, options }, async (session, printer, chosen) =>
        (await code.pause()).pause(session, printer, chosen, options.until),
      ),
    );
  withLabels(root.command("resume"))
    .description("resume paused autoscalers")
    .argument("[names...]", NAMES)
    .addHelpText("after", example("tidemark resume shop/web"))
    .action((names: readonly string[], options: ChoiceOptions) =>
      onChosen(run, "resume", { names, options }, async (session, printer, chosen) =>
        (await code.pause()).resume(session, printer, chosen),
      ),
    );
};

/** As kubectl has them beside `apply`, for scripts that must not meet an autoscaler, or none. */
const STRICT = [
  ["create", "create autoscalers; nothing is stored where one of them exists"],
  ["replace", "replace autoscalers; nothing is stored where one of them does not exist"],
] as const;

const withLabels = (command: Command): Command =>
  withSelector(withEditScopes(command)).option(
    "--all",
    "all autoscalers of the namespace, or with -A of every namespace",
  );

/** The names and options are read before anything is opened. */
const onChosen = async (
  run: CommandRun,
  command: string,
  { names, options }: { readonly names: readonly string[]; readonly options: ChoiceOptions },
  work: (session: Session, printer: Printer, chosen: readonly Chosen[]) => Promise<void>,
): Promise<void> => {
  const { choiceOfEdit, chosenForEdit } = await code.choice();
  const choice = choiceOfEdit(command, names, options);
  return run.edit(options, async (session, printer) => {
    const chosen = await chosenForEdit(session.service, choice);
    if (chosen.length === 0)
      printer.report((await import("../select/listed-autoscalers.ts")).nothingListed(options));
    await work(session, printer, chosen);
  });
};

/** The names are read before anything is opened, and all manifests before anything is deleted. */
const deleteCommand = async (
  names: readonly string[],
  options: ChoiceOptions & DeleteOptions,
  run: CommandRun,
  io: CommandIo,
): Promise<void> => {
  if (options.filename === undefined)
    return onChosen(run, "delete", { names, options }, async (session, printer, chosen) =>
      (await code.delete()).remove(session, printer, chosen, options),
    );
  const filter = filterOf(options);
  const other =
    names[0] ??
    (["selector", "all", "clusters"] as const).find((name) => options[name] !== undefined);
  if (other !== undefined)
    throw usage(
      `Cannot delete ${names[0] === undefined ? `by --${other}` : `"${other}"`} and the manifests of -f together: give one of them`,
    );
  const { readSources, resourcesIn } = await code.sources();
  const files = await readSources({ ...options, filename: options.filename }, io.stdin);
  const { clusters, sources, wakes, others } = (await code.documents()).documentsIn(files);
  const { resources, passedOver } = others
    ? resourcesIn(files, filter)
    : { resources: [], passedOver: [] };
  return run.edit(options, async (session, printer) => {
    await (await code.source()).removeSources(session, printer, sources, options);
    if (wakes.length > 0)
      await (await import("../commands/wake-documents.ts")).removeWakes(
        session,
        printer,
        wakes,
        options,
      );
    const unread = withoutFleetKinds(passedOver);
    if (unread.length > 0) printer.report(passedOverText(unread));
    await (await code.delete()).remove(session, printer, resources, options);
    // A cluster goes last: it can only be removed without autoscalers.
    if (clusters.length > 0)
      await (await code.clusters()).removeClusters(session, printer, clusters, options);
  });
};

/**
 * Commands that make, compare or edit one manifest: diff, edit and autoscale, as kubectl has them.
 */
export const manifestEdits = (
  root: Command,
  run: CommandRun,
  io: CommandIo,
  printer: Printer,
): void => {
  withFiles(withScope(root.command("diff")))
    .description(
      "show what an apply would change; exit code 0 without a difference, 1 with one, 2 when it is not known",
    )
    .addOption(validateOption())
    .addHelpText(
      "after",
      example(
        "tidemark diff -f manifests/ -R --cluster eu-1",
        "kustomize build | tidemark diff -f - --cluster eu-1",
      ),
    )
    .action(async (options: DiffOptions & ScopeOptions) => {
      const { readSources } = await code.sources();
      const sources = await readSources(options, io.stdin);
      await run(options, "table", async (...opened) =>
        (await import("../commands/diff.ts")).diff(...opened, sources, options),
      );
    });
  withScope(root.command("edit"))
    .description("edit the manifest of an autoscaler in the editor of KUBE_EDITOR or EDITOR")
    .argument("<name...>", ONE_NAME)
    .addHelpText(
      "after",
      example("tidemark edit hpa/web -n shop", 'KUBE_EDITOR="code --wait" tidemark edit shop/web'),
    )
    .action((names: readonly string[], options: ScopeOptions) => {
      const resource = oneResource("edit", names, filterOf(options));
      return run.edit(options, async (session, out) =>
        (await import("../commands/edit.ts")).editInEditor(session, { printer: out, io }, resource),
      );
    });
  withScope(root.command("autoscale"))
    .description("create a HorizontalPodAutoscaler for a workload")
    .argument("<workload...>", "TYPE/NAME or TYPE NAME of the workload, such as deployment/web")
    .option("--min <replicas>", "fewest replicas (default: 1)")
    .requiredOption("--max <replicas>", "most replicas")
    .option(
      "--cpu <target>",
      "CPU target: 80% of the requests, or an amount per pod such as 500m (default: 80%)",
    )
    .addOption(new Option("--cpu-percent <percent>", "older form of --cpu").conflicts("cpu"))
    .option(
      "--memory <target>",
      "memory target: 80% of the requests, or an amount per pod such as 500Mi",
    )
    .option("--name <name>", "name of the autoscaler (default: the name of the workload)")
    .addOption(dryRun())
    .addOption(output(["yaml", "json"]).default(undefined))
    .addHelpText(
      "after",
      example(
        "tidemark autoscale deployment/web -n shop --min 2 --max 10 --cpu 80%",
        "tidemark autoscale deploy web --max 5 --dry-run -o yaml > web.yaml",
      ),
    )
    .action(async (words: readonly string[], options: AutoscaleOptions & ScopeOptions) => {
      const [{ autoscale, autoscaleManifest }, { documentText }] = await Promise.all([
        import("../commands/autoscale.ts"),
        import("../output/documents.ts"),
      ]);
      const manifest = autoscaleManifest(words, options);
      // A manifest that is only printed is checked when it is applied, so that no data folder and
      // no stack is needed.
      if (options.dryRun && options.output !== undefined)
        await printer.print(documentText(manifest, options.output));
      else
        await run(options, options.output === undefined ? "edit" : "document", (session, out) =>
          autoscale(session, out, manifest, options),
        );
    });
};
