import { type Command, Option } from "commander";
import { validateOption } from "../../local/run/options.ts";
import { example } from "../command-examples.ts";
import { dryRun, withFiles } from "../options/command-options.ts";
import type { AutoscaleOptions } from "../commands/autoscale.ts";
import type { DiffOptions } from "../commands/diff.ts";
import type { CommandIo, Printer } from "../io.ts";
import { output } from "../options/output-option.ts";
import type { Run } from "../options/run-command.ts";
import { filterOf, ONE_NAME, type ScopeOptions, withScope } from "../options/scope-options.ts";
import { oneResource } from "../select/selected-names.ts";

/** Commands that make, compare or edit one manifest: diff, edit and autoscale, as kubectl has them. */
export const manifestEdits = (root: Command, run: Run, io: CommandIo, printer: Printer): void => {
  withFiles(withScope(root.command("diff")))
    .description("show what an apply would change; exit code 0 without a difference, 1 with one, 2 when it is not known")
    .addOption(validateOption())
    .addHelpText("after", example("tidemark diff -f manifests/ -R --cluster eu-1", "kustomize build | tidemark diff -f - --cluster eu-1"))
    .action(async (options: DiffOptions & ScopeOptions) => {
      const { readSources } = await import("../select/read-sources.ts");
      const sources = await readSources(options, io.stdin);
      await run(options, "table", async (session, out) => (await import("../commands/diff.ts")).diff(session, out, sources, options));
    });
  withScope(root.command("edit"))
    .description("edit the manifest of an autoscaler in the editor of KUBE_EDITOR or EDITOR")
    .argument("<name...>", ONE_NAME)
    .addHelpText("after", example("tidemark edit hpa/web -n shop", 'KUBE_EDITOR="code --wait" tidemark edit shop/web'))
    .action((names: readonly string[], options: ScopeOptions) => {
      const resource = oneResource("edit", names, filterOf(options));
      return run(options, "edit", async (session, out) =>
        (await import("../commands/edit-in-editor.ts")).editInEditor(session, { printer: out, io }, resource),
      );
    });
  withScope(root.command("autoscale"))
    .description("create a HorizontalPodAutoscaler for a workload")
    .argument("<workload...>", "TYPE/NAME or TYPE NAME of the workload, such as deployment/web")
    .option("--min <replicas>", "fewest replicas (default: 1)")
    .requiredOption("--max <replicas>", "most replicas")
    .option("--cpu <target>", "CPU target: 80% of the requests, or an amount per pod such as 500m (default: 80%)")
    .addOption(new Option("--cpu-percent <percent>", "older form of --cpu").conflicts("cpu"))
    .option("--memory <target>", "memory target: 80% of the requests, or an amount per pod such as 500Mi")
    .option("--name <name>", "name of the autoscaler (default: that of the workload)")
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
        import("../output/document-text.ts"),
      ]);
      const manifest = autoscaleManifest(words, options);
      // A manifest that is only printed is checked when it is applied, so that no data folder and no stack is needed.
      if (options.dryRun && options.output !== undefined) await printer.print(documentText(manifest, options.output));
      else await run(options, options.output === undefined ? "edit" : "document", (session, out) => autoscale(session, out, manifest, options));
    });
};
