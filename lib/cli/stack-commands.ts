import { type Command, Option } from "commander";
import type { TargetOptions } from "./command-target.ts";
import type { CostOptions } from "./commands/cost.ts";
import type { StatusOptions } from "./commands/status.ts";
import { type CommandIo, type Printer, showsOf } from "./io.ts";
import { output } from "./output-option.ts";
import type { Run } from "./run-command.ts";
import { withTarget } from "./target-options.ts";

/** Commands about the stack as a whole. */
export const stackCommands = (root: Command, run: Run, io: CommandIo, printer: Printer): void => {
  withTarget(root.command("status"))
    .description("show on one screen whether everything works, and what to look at; exit code 1 when something is unhealthy")
    .option("-w, --watch", "print it again every 5 s, until Ctrl-C")
    .addOption(output(["text", "json", "yaml"]))
    .action((options: StatusOptions & TargetOptions) =>
      run(options, "document", async (session, printer) => (await import("./commands/status.ts")).status(session, printer, options, io)),
    );
  withTarget(root.command("cost"))
    .description("show what a month on AWS costs: of the clusters and autoscalers there are, or of those given")
    .option("--clusters <n>", "clusters (default: those there are)")
    .option("--autoscalers <n>", "autoscalers in all of them (default: those there are)")
    .option("--period <duration>", "sync period (default: that of the clusters)")
    .option("--changing <share>", "share of the autoscalers that change what they remember in one sync (default: 1%)")
    .option("--scales <n>", "scales of one autoscaler in a day (default: those of the last day)")
    .option("--secrets <n>", "clusters that are reached by a secret (default: those there are)")
    .option("--readers <n>", "people and screens that watch the fleet all day (default: none)")
    .option("--scrape <duration>", "time between two scrapes of /metrics (default: no scrape)")
    .addOption(new Option("--cluster-metrics <extent>", "the parameter clusterMetrics of the stack").choices(["none", "few", "all"]).default("none"))
    .addOption(output(["text", "json", "yaml"]))
    .action(async (options: CostOptions & TargetOptions) => {
      const { cost, givenFleet } = await import("./commands/cost.ts");
      const wanted = givenFleet(options);
      // With both numbers nothing is read, so no folder or stack is opened.
      if (wanted.clusters !== undefined && wanted.autoscalers !== undefined) await cost(printer, wanted, options.output);
      else await run(options, showsOf(options.output), async (session, printer) => cost(printer, wanted, options.output, session));
    });
};
