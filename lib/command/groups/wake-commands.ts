import type { Command } from "commander";
import { present } from "../../rules/model/json.ts";
import {
  type CommandRun,
  example,
  output,
  repeatable,
  type SheetOptions,
  type TableOptions,
  withTarget,
} from "../options/command-options.ts";
import type { DocumentFormat } from "../output/documents.ts";
import type { ScopeOptions } from "../options/scope-options.ts";

const code = () => import("../commands/wake.ts");

interface PlaceOptions extends ScopeOptions {
  readonly cluster: string;
  readonly name?: readonly string[];
}

const placeOf = ({ cluster, namespace, name }: PlaceOptions) => ({
  cluster,
  ...present({ namespace, names: name }),
});

const withPlaceOf = (command: Command): Command =>
  command
    .requiredOption("--cluster <cluster>", "the cluster that is synced")
    .option("-n, --namespace <namespace>", "only the partition of this namespace")
    .option(
      "--name <name>",
      "the autoscaler that it is about, for the journal; repeatable",
      repeatable,
    );

/** `tidemark wake …`: syncs before their time. */
export const wakeCommands = (parent: Command, run: CommandRun): void => {
  withPlaceOf(withTarget(parent.command("send")))
    .description("have a cluster, or one namespace of it, synced now; at most once in five seconds")
    .option("--reason <text>", "why, for the journal and for explain", "tidemark wake send")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark wake send --cluster eu-1",
        'tidemark wake send --cluster eu-1 --namespace shop --name web --reason "deploy 42"',
      ),
    )
    .action((options: PlaceOptions & SheetOptions & { readonly reason: string }) =>
      run(options, options.output === "text" ? "edit" : "document", async (...opened) =>
        (await code()).send(
          ...opened,
          { ...placeOf(options), reason: options.reason },
          options.output,
        ),
      ),
    );
  withPlaceOf(withTarget(parent.command("put")))
    .description("register the wake of an alarm of CloudWatch, or replace the one of this name")
    .argument("<name>")
    .requiredOption("--alarm <arn>", "the alarm; its change to ALARM wakes")
    .addHelpText(
      "after",
      example(
        "tidemark wake put web-queue --alarm arn:aws:cloudwatch:eu-central-1:123456789012:alarm:web-queue --cluster eu-1 --namespace shop --name web",
      ),
    )
    .action((name: string, options: PlaceOptions & { readonly alarm: string }) =>
      run.edit(options, async (...opened) =>
        (await code()).put(...opened, { name, alarm: options.alarm, ...placeOf(options) }),
      ),
    );
  withTarget(parent.command("list"))
    .description("list the registered wakes")
    .addOption(output(["table", "json", "yaml"]))
    .addHelpText("after", example("tidemark wake list"))
    .action((options: TableOptions) =>
      run.show(options, async (...opened) => (await code()).list(...opened, options.output)),
    );
  withTarget(parent.command("export"))
    .description("print the registered wakes as documents that apply finds unchanged")
    .addOption(output(["yaml", "json"]))
    .addHelpText("after", example("tidemark wake export > wakes.yaml"))
    .action((options: ScopeOptions & { readonly output: DocumentFormat }) =>
      run.show(options, async (...opened) =>
        (await import("../commands/wake-documents.ts")).exportWakes(...opened, options.output),
      ),
    );
  withTarget(parent.command("delete"))
    .description("forget a wake: its alarm wakes nothing from then on")
    .argument("<name>")
    .addHelpText("after", example("tidemark wake delete web-queue"))
    .action((name: string, options: ScopeOptions) =>
      run.edit(options, async (...opened) => (await code()).remove(...opened, name)),
    );
};
