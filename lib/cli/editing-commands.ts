import type { Command } from "commander";
import { validateOption } from "../local/run/validate-option.ts";
import { passedOverText } from "../manifest/passed-over.ts";
import type { ApplyCommandOptions, DeleteOptions } from "./commands/edit.ts";
import { dryRun } from "./dry-run-option.ts";
import { example } from "./example.ts";
import { withFiles, withOptionalFiles } from "./file-options.ts";
import type { Io } from "./io.ts";
import type { Run } from "./run-command.ts";
import { filterOf, NAMES, type ScopeOptions, withScope } from "./scope-options.ts";
import { namedResources } from "./selected-names.ts";
import { usage } from "./usage-error.ts";

/** Loads the code of a command when the command runs, so that help, the version and usage errors start fast. */
const code = {
  edit: () => import("./commands/edit.ts"),
  prune: () => import("./commands/prune.ts"),
  sources: () => import("./read-sources.ts"),
};

/** Commands that edit autoscalers. */
export const editingCommands = (root: Command, run: Run, io: Io): void => {
  withFiles(withScope(root.command("apply")))
    .description("create or update autoscalers; nothing is stored unless all documents are valid, and objects of other kinds are passed over")
    .addHelpText("after", example("tidemark apply -R -f manifests/ --cluster eu-1", "kustomize build | tidemark apply -f - --cluster eu-1"))
    .addOption(dryRun())
    .addOption(validateOption())
    .option("--prune", "then delete what has the labels of -l and is in no document, in the namespaces of the documents")
    .option("-l, --selector <selector>", "with --prune: the labels of what these documents own, which each of them must have")
    .action(async (options: ApplyCommandOptions & ScopeOptions) => {
      const { readSources } = await code.sources();
      const sources = await readSources(options, io.stdin);
      const plan = options.prune || options.selector !== undefined ? (await code.prune()).prunePlan(options, sources) : undefined;
      await run(options, async (session, printer) => {
        const applied = await (await code.edit()).apply(session, { printer, io }, sources, options);
        if (plan) await (await code.prune()).prune(session.service, printer, applied, { ...plan, dryRun: options.dryRun === true });
      });
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
