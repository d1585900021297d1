import type { Command } from "commander";
import { validateOption } from "../../embedded/run/options.ts";
import { inUtc } from "../../stack/report/instant-text.ts";
import type { TraceReplayOptions } from "../commands/replay.ts";
import type { CommandIo, Printer } from "../io.ts";
import { example, output, repeatable, withFiles } from "../options/command-options.ts";

/** Commands that ask what another policy would have done. */
export const replayCommands = (root: Command, io: CommandIo, printer: Printer): void => {
  withFiles(root.command("replay"))
    .description(
      "show what policies would have done under a recorded load, side by side: replica-hours, dollars, time above target, scales",
    )
    .requiredOption(
      "--trace <file>",
      "the recorded load: a CSV (timestamp,value) or the JSON of a range query of Prometheus",
    )
    .option(
      "--pods <n or file>",
      "the values are of one pod each, and so many pods served then: a number, or a file like that of --trace",
    )
    .option(
      "--capacity <n>",
      "what one pod serves at 100 % of its CPU request, and at most (default: so that twelve serve an ordinary high at 60 %)",
    )
    .option("--pod-start <duration>", "time from a scale until its pods serve (default: 30s)")
    .option(
      "--metric <name=file>",
      "a recorded load of its own for the metric of this name (repeatable)",
      repeatable,
    )
    .option(
      "--model <name=model>",
      "what the value of this metric is: shared by the pods, total, or the backlog that waits (repeatable)",
      repeatable,
    )
    .option("--price <dollars>", "what a pod costs in an hour")
    .option("--period <duration>", "time from one sync to the next", "15s")
    .option(
      "--warm-up <duration>",
      "the beginning that fills the windows and is not counted (default: 1h, or a tenth of a shorter load)",
    )
    .option("--utc", "print times in UTC, not in the time zone of this machine")
    .addOption(validateOption())
    .addOption(output(["text", "markdown", "svg", "csv", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark replay --trace load.csv -f hpa.yaml -f mine.yaml",
        "tidemark replay --trace load.csv -f hpa.yaml -f mine.yaml --capacity 40 --price 0.05",
        "tidemark replay --trace cpu.csv --pods pods.csv -f hpa.yaml -o svg > replay.svg",
      ),
    )
    .action(async (options: TraceReplayOptions & { readonly utc?: true }) => {
      const { replayTrace } = await import("../commands/replay.ts");
      const work = (): Promise<void> => replayTrace({ printer, io }, options);
      return options.utc ? inUtc(work) : work();
    });
};
