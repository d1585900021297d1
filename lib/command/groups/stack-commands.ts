import { type Command, Option } from "commander";
import {
  example,
  repeatable,
  withTarget,
  type CommandRun,
  output,
} from "../options/command-options.ts";
import type { TargetOptions } from "../select/command-target.ts";
import type { CostOptions } from "../commands/cost.ts";
import type { ServingOptions } from "../commands/dashboard.ts";
import type { DeployOptions, ShowOptions, StackCommandOptions } from "../commands/stack.ts";
import type { StatusOptions } from "../commands/status.ts";
import type { CommandIo, Printer } from "../io.ts";
import { usage } from "../usage-error.ts";

/** Numbers of a fleet that is not there: the questions of one cannot be counted. */
const GIVEN = [
  "clusters",
  "autoscalers",
  "period",
  "changing",
  "scales",
  "secrets",
  "readers",
  "scrape",
] as const;

export const statusCommand = (root: Command, run: CommandRun, io: CommandIo): void => {
  withTarget(root.command("status"))
    .description(
      "show on one screen whether everything works, and what to look at; exit code 1 when something is unhealthy",
    )
    .option("-w, --watch", "print it again every 5 s, until Ctrl-C")
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark status", "tidemark status -w --stack tidemark-prod"))
    .action((options: StatusOptions & TargetOptions) =>
      run(options, "document", async (...opened) =>
        (await import("../commands/status.ts")).status(...opened, options, io),
      ),
    );
};

export const dashboardCommand = (root: Command, run: CommandRun, io: CommandIo): void => {
  withTarget(root.command("dashboard"))
    .description(
      "serve a page on this machine that shows the fleet, and why each count is what it was at any instant, until Ctrl-C",
    )
    .option("--port <port>", "port on 127.0.0.1; 0 takes a free one", "0")
    .option("--open", "open the page in the browser")
    .option("--allow-edits", "let the page pause, resume, override and freeze")
    .addHelpText(
      "after",
      example(
        "tidemark dashboard --open",
        "tidemark dashboard --stack tidemark-prod --allow-edits",
      ),
    )
    .action(async (options: ServingOptions) => {
      const { dashboard, portOf } = await import("../commands/dashboard.ts");
      portOf(options.port);
      return run(options, options.allowEdits ? "edit" : "sheet", async (session, printer) =>
        dashboard(session, { printer, io }, options),
      );
    });
};

export const costCommand = (root: Command, run: CommandRun, printer: Printer): void => {
  withTarget(root.command("cost"))
    .description(
      "show what a month on AWS costs: of the clusters and autoscalers there are, or of those given",
    )
    .addOption(
      new Option(
        "--sources",
        "what AWS takes for the questions to metric sources, in place of the rest",
      ).conflicts([...GIVEN]),
    )
    .option("--clusters <n>", "clusters (default: those there are)")
    .option("--autoscalers <n>", "autoscalers in all of them (default: those there are)")
    .option("--period <duration>", "sync period (default: the sync period of the clusters)")
    .option(
      "--changing <share>",
      "share of the autoscalers that change what they remember in one sync (default: 1%)",
    )
    .option(
      "--scales <n>",
      "scales of one autoscaler in a day (default: the scales of the last day)",
    )
    .option("--secrets <n>", "clusters that are reached by a secret (default: those there are)")
    .option("--readers <n>", "people and screens that watch the fleet all day (default: none)")
    .option("--scrape <duration>", "time between two scrapes of /metrics (default: no scrape)")
    .addOption(
      new Option("--cluster-metrics <extent>", "the parameter clusterMetrics of the stack")
        .choices(["none", "few", "all"])
        .default("none"),
    )
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark cost --stack tidemark-prod",
        "tidemark cost --clusters 50 --autoscalers 2000 --period 30s",
        "tidemark cost --sources",
      ),
    )
    .action(
      async ({
        sources,
        ...options
      }: CostOptions & TargetOptions & { readonly sources?: true }) => {
        if (sources) {
          const { sourceCost } = await import("../commands/source-use.ts");
          return run.show(options, async (session, out) =>
            sourceCost(session, out, options.output),
          );
        }
        const { cost, givenFleet } = await import("../commands/cost.ts");
        const wanted = givenFleet(options);
        // With both numbers nothing is read, so no folder or stack is opened.
        if (wanted.clusters !== undefined && wanted.autoscalers !== undefined)
          await cost(printer, wanted, options.output);
        else
          await run.show(options, async (session, out) =>
            cost(out, wanted, options.output, session),
          );
      },
    );
};

const code = () => import("../commands/stack.ts");

/** Commands that deploy the stack from a checkout, with the parameters of a file. */
export const deployCommands = (root: Command, io: CommandIo, printer: Printer): void => {
  const stack = root
    .command("stack")
    .enablePositionalOptions()
    .description("deploy, compare, show and remove the stack that a file of parameters describes");
  /**
   * The file says stage and region. An option before the command that names another target would be
   * passed over.
   */
  const aimed = <Options extends StackCommandOptions>(options: Options): Options => {
    const { profile, ...others } = root.opts<Readonly<Record<string, string | undefined>>>();
    const stray = Object.keys(others).find((name) => others[name] !== undefined);
    if (stray !== undefined)
      throw usage(
        `Cannot use --${stray} with stack commands: stage and region are in the file of --params`,
      );
    return profile === undefined ? options : { profile, ...options };
  };
  const withParams = (command: Command): Command =>
    command
      .requiredOption("--params <file>", "YAML with stage, region and parameters of the stack")
      .option(
        "--profile <profile>",
        "AWS profile with the credentials (default: from the AWS settings)",
      );
  withParams(stack.command("deploy"))
    .description(
      "deploy the checkout in this folder; refuses a file with a mistake, and a deployment that would drop a value of the stack",
    )
    .option(
      "--set <name=value>",
      "deploy this value too, and then write it into the file (repeatable)",
      repeatable,
    )
    .option(
      "--drop <name>",
      "let the stack lose the value of this parameter (repeatable)",
      repeatable,
    )
    .addHelpText(
      "after",
      example(
        "tidemark stack deploy --params prod.yaml",
        "tidemark stack deploy --params prod.yaml --set logDays=90",
      ),
    )
    .action(async (options: DeployOptions) => (await code()).deploy(printer, aimed(options), io));
  withParams(stack.command("diff"))
    .description(
      "show what a deployment with the file would change; exit code 1 when something differs",
    )
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText("after", example("tidemark stack diff --params prod.yaml"))
    .action(async (options: ShowOptions) => (await code()).diff(printer, aimed(options), io));
  withParams(stack.command("status"))
    .description(
      "show state, version and parameters of the stack; exit code 1 when its deployment failed",
    )
    .addOption(output(["text", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark stack status --params prod.yaml",
        "tidemark stack status --params prod.yaml -o json",
      ),
    )
    .action(async (options: ShowOptions) => (await code()).status(printer, aimed(options), io));
  withParams(stack.command("remove"))
    .description("remove the stack; its tables stay, with all data")
    .option("--yes", "confirm it without a question")
    .addHelpText("after", example("tidemark stack remove --params prod.yaml"))
    .action(async (options: StackCommandOptions & { readonly yes?: boolean }) =>
      (await code()).remove(printer, aimed(options), io),
    );
};
