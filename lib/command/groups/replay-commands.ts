import { type Command, Option } from "commander";
import { validateOption } from "../../embedded/run/options.ts";
import { inUtc } from "../../stack/report/instant-text.ts";
import type { HistoryReplayOptions } from "../commands/replay-history.ts";
import type { TraceForecastOptions } from "../commands/forecast.ts";
import type { TraceReplayOptions } from "../commands/replay.ts";
import type { StoredTuneOptions } from "../commands/tune-history.ts";
import type { CommandIo, Printer } from "../io.ts";
import {
  type CommandRun,
  example,
  output,
  repeatable,
  withOptionalFiles,
} from "../options/command-options.ts";
import {
  filterOf,
  NAMES,
  ONE_NAME,
  type ScopeOptions,
  withScope,
  withScopes,
  withSelector,
} from "../options/scope-options.ts";
import type { ChoiceOptions } from "../select/chosen-autoscalers.ts";
import { oneResource } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";

type WrittenOptions = Omit<TraceReplayOptions, "trace" | "filename"> &
  HistoryReplayOptions &
  ChoiceOptions & { readonly trace?: string; readonly filename?: readonly string[] };

/** Commands that ask what another policy would have done. */
export const replayCommands = (
  root: Command,
  run: CommandRun,
  { io, printer }: { readonly io: CommandIo; readonly printer: Printer },
): void => {
  withLoad(withOptionalFiles(withSelector(withScopes(root.command("replay")))))
    .description(
      "show what policies would have done, side by side: in the history of an autoscaler, or under a recorded load with --trace",
    )
    .argument("[names...]", NAMES)
    .option("--since <time>", "replay the history from this time on (default: 7d, or --days)")
    .option("--until <time>", "and up to this time (default: now)")
    .option(
      "--days <n>",
      "count only the last days, such as 7; or the days that tune reported on, such as 7+7",
    )
    .option(
      "--anyway",
      "compare also where a replay of the unchanged policy is more than 5 % off what happened",
    )
    .option(
      "--fail-if <bounds>",
      "exit code 1 where a policy is worse than the first one by more: 'cost > +10%, above-target > +1pt' (also unserved, scales, reversals)",
    )
    .addOption(output(["text", "markdown", "svg", "csv", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark replay --trace load.csv -f hpa.yaml -f mine.yaml",
        "tidemark replay --trace load.csv -f hpa.yaml -f mine.yaml --capacity 40 --price 0.05",
        "tidemark replay shop/web --since 7d -f changed.yaml",
        "tidemark replay -f changed.yaml -o markdown --fail-if 'cost > +10%' --stack tidemark-prod",
        "tidemark replay -A --since 1d",
      ),
    )
    .action(async (names: readonly string[], options: WrittenOptions) => {
      const { trace, filename = [] } = options;
      refuseIdle("replay", names, options);
      if (trace !== undefined) {
        const { replayTrace } = await import("../commands/replay.ts");
        const work = (): Promise<void> =>
          replayTrace({ printer, io }, { ...options, trace, filename });
        return options.utc ? inUtc(work) : work();
      }
      return replayStored(run, io, printer, names, { ...options, filename });
    });
  tuneCommand(root, run, { io, printer });
};

/** The options that say of which load a command is, and what serves it. */
const withLoad = (command: Command): Command =>
  command
    .option(
      "--trace <file>",
      "a recorded load in place of a history: a CSV (timestamp,value) or the JSON of a range query of Prometheus",
    )
    .option(
      "--pods <n or file>",
      "the values of --trace are values per pod; this is the number of pods that served them: a number, or a file in the form of --trace",
    )
    .option(
      "--capacity <n>",
      "what one pod serves of the load of --trace at 100 % of its CPU request, and at most (default: so that twelve serve an ordinary high at 60 %)",
    )
    .option(
      "--pod-start <duration>",
      "time from a scale until its pods serve (default: as it was in the history, or 30s)",
    )
    .option(
      "--pod-idle <percent>",
      "what a pod uses of its CPU request without a load (default: 1%)",
    )
    .option(
      "--metric <name=file>",
      "with --trace: a recorded load of its own for the metric of this name (repeatable)",
      repeatable,
    )
    .option(
      "--model <name=model>",
      "what the value of this metric is: shared by the pods, total, or the backlog that waits (repeatable)",
      repeatable,
    )
    .option(
      "--price <dollars>",
      "what a pod costs in an hour, or vcpu=0.04,gb=0.0045: what a vCPU and a GB of --requests cost in an hour",
    )
    .option(
      "--requests <amounts>",
      "with such a --price: what a pod asks for, such as cpu=500m,memory=1Gi",
    )
    .option("--period <duration>", "with --trace: time from one sync to the next (default: 15s)")
    .option(
      "--warm-up <duration>",
      "with --trace: the beginning that fills the windows and is not counted (default: 1h, or a tenth of a shorter load)",
    )
    .addOption(validateOption());

type WrittenTune = StoredTuneOptions &
  Omit<TraceReplayOptions, "trace" | "filename" | "output" | "failIf"> &
  ChoiceOptions & { readonly trace?: string; readonly filename?: readonly string[] };

const tuneCommand = (
  root: Command,
  run: CommandRun,
  { io, printer }: { readonly io: CommandIo; readonly printer: Printer },
): void => {
  withLoad(withOptionalFiles(withSelector(withScopes(root.command("tune")))))
    .description(
      "search better numbers for a policy: tuned on the first days of a load or a history, reported on the others; of several autoscalers where most replica-hours lie. It applies nothing",
    )
    .argument("[names...]", NAMES)
    .addOption(
      new Option("--objective <objective>", "which of the points is printed first")
        .choices(["cost", "safety", "events"])
        .default("cost"),
    )
    .option(
      "--keep <parts>",
      "leave these as they are: some of target,tolerances,windows,policies,min,max",
    )
    .option(
      "--days <first+others>",
      "tune on so many days, and report on so many after them, such as 7+7 (default: half of the time each)",
    )
    .option("--seed <n>", "the same seed gives the same answer (default: 1)")
    .option("--quick", "search a sixth as much, which finds less")
    .option("--write <folder>", "write the manifest of each point into this folder")
    .option(
      "--top <n>",
      "of several autoscalers tune those with the most replica-hours (default: 20)",
    )
    .option("--since <time>", "read the history from this time on (default: 14d)")
    .option("--until <time>", "and up to this time (default: now)")
    .option(
      "--anyway",
      "tune also where a replay of the unchanged policy is more than 5 % off what happened",
    )
    .addOption(output(["text", "markdown", "csv", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark tune --trace load.csv -f hpa.yaml --capacity 40 --price 0.05",
        "tidemark tune shop/web --objective safety --keep min,max --days 7+7",
        "tidemark tune --trace load.csv -f hpa.yaml --write tuned",
        "tidemark tune -A --top 20 --price 0.05 --stack tidemark-prod",
      ),
    )
    .action(async (names: readonly string[], options: WrittenTune) => {
      const { trace, filename = [] } = options;
      refuseIdle("tune", names, options);
      if (trace !== undefined) {
        const { tuneTrace } = await import("../commands/tune.ts");
        const work = (): Promise<void> =>
          tuneTrace({ printer, io }, { ...options, trace, filename });
        return options.utc ? inUtc(work) : work();
      }
      return tuneStored(run, io, names, options);
    });
};

type WrittenForecast = Omit<TraceForecastOptions, "trace" | "filename"> &
  ScopeOptions & { readonly trace?: string; readonly filename?: readonly string[] };

/** The command that says what a load will be. */
export const forecastCommand = (
  root: Command,
  run: CommandRun,
  { io, printer }: { readonly io: CommandIo; readonly printer: Printer },
): void => {
  withOptionalFiles(withScope(root.command("forecast")))
    .description(
      "show what the load of an autoscaler will need in the next hours, and how good such forecasts were; or of a recorded load with --trace",
    )
    .argument("[name...]", ONE_NAME)
    .option("--ahead <duration>", "so far ahead, at most 12h", "6h")
    .option(
      "--quantile <quantile>",
      "the pods are for this quantile: p50, p75, p90 or p95 (default: as the advice of the manifest, or p90)",
    )
    .option(
      "--trace <file>",
      "a recorded load in place of a history: a CSV (timestamp,value) or the JSON of a range query of Prometheus; with the manifest of -f",
    )
    .option(
      "--pods <n or file>",
      "the values of --trace are values per pod; this is the number of pods that served them: a number, or a file in the form of --trace",
    )
    .option(
      "--capacity <n>",
      "what one pod serves of the load of --trace at 100 % of its CPU request (default: so that twelve serve an ordinary high at 60 %)",
    )
    .addOption(validateOption())
    .addOption(output(["text", "csv", "json", "yaml"]))
    .addHelpText(
      "after",
      example(
        "tidemark forecast shop/web",
        "tidemark forecast shop/web --ahead 12h --quantile p95",
        "tidemark forecast --trace load.csv -f web.yaml -o csv",
      ),
    )
    .action(async (names: readonly string[], options: WrittenForecast) => {
      const { trace, filename = [] } = options;
      refuseIdleForecast(names, options);
      if (trace === undefined) {
        const resource = oneResource("forecast", names, filterOf(options));
        return run.show(options, async (session, out) =>
          (await import("../commands/forecast.ts")).forecast(
            session,
            { printer: out, io },
            resource,
            options,
          ),
        );
      }
      const { forecastTrace } = await import("../commands/forecast.ts");
      const work = (): Promise<void> =>
        forecastTrace({ printer, io }, { ...options, trace, filename });
      return options.utc ? inUtc(work) : work();
    });
};

const refuseIdleForecast = (
  [name]: readonly string[],
  { trace, filename = [], pods, capacity }: WrittenForecast,
): void => {
  if (trace !== undefined && name !== undefined)
    throw usage(`Cannot forecast "${name}" and --trace "${trace}" together: give one of them`);
  if (trace !== undefined && filename.length === 0)
    throw usage(
      "Cannot forecast a load alone: give the manifest whose target says what a pod takes, with -f",
    );
  const [idle] =
    trace === undefined
      ? Object.entries({ filename: filename[0], pods, capacity }).filter(
          ([, value]) => value !== undefined,
        )
      : [];
  if (idle) throw usage(`Cannot use --${idle[0]} without --trace: leave one of them out`);
};

/** Reads what the options name before the data folder or the stack is opened. */
const tuneStored = async (
  run: CommandRun,
  io: CommandIo,
  names: readonly string[],
  options: WrittenTune,
): Promise<void> => {
  if ((options.filename ?? []).length > 0)
    throw usage("Cannot use -f without --trace: an autoscaler is tuned from its own manifest");
  const [{ tuneHistory }, { modelsOf }, subjects] = await Promise.all([
    import("../commands/tune-history.ts"),
    import("../replay/trace-input.ts"),
    import("../replay/subjects.ts"),
  ]);
  const choose = subjects.chooserOf(names, options, [], "tune");
  const models = modelsOf(options);
  return run.show(options, async (session, out) =>
    tuneHistory(session, { printer: out, io }, await choose(session.service), {
      ...options,
      models,
    }),
  );
};

/** Reads what the options name before the data folder or the stack is opened. */
const replayStored = async (
  run: CommandRun,
  io: CommandIo,
  printer: Printer,
  names: readonly string[],
  options: WrittenOptions & { readonly filename: readonly string[] },
): Promise<void> => {
  const [{ replayHistory }, { readCandidates }, { modelsOf }, subjects] = await Promise.all([
    import("../commands/replay-history.ts"),
    import("../replay/candidates.ts"),
    import("../replay/trace-input.ts"),
    import("../replay/subjects.ts"),
  ]);
  const candidates =
    options.filename.length === 0 ? [] : await readCandidates(printer, options, io.stdin);
  const choose = subjects.chooserOf(names, options, candidates);
  const models = modelsOf(options);
  return run.show(options, async (session, out) =>
    replayHistory(session, { printer: out, io }, await choose(session.service), {
      ...options,
      models,
    }),
  );
};

const ONLY_TRACE = ["pods", "capacity", "metric", "period", "warmUp"] as const;
const ONLY_HISTORY = ["since", "until", "anyway", "top"] as const;
const WORDS: Readonly<Record<string, string>> = { warmUp: "warm-up" };

/** Refuses an option without effect, because its user expects one. */
const refuseIdle = (
  command: "replay" | "tune",
  names: readonly string[],
  options: Pick<WrittenOptions, "trace" | "filename"> & {
    readonly [Name in (typeof ONLY_TRACE)[number] | (typeof ONLY_HISTORY)[number]]?: unknown;
  },
): void => {
  const { trace, filename = [] } = options;
  const [name] = names;
  if (trace !== undefined && name !== undefined)
    throw usage(`Cannot ${command} "${name}" and --trace "${trace}" together: give one of them`);
  if (trace !== undefined && filename.length === 0)
    throw usage(`Cannot ${command} a load alone: give the manifests of the policies with -f`);
  const idle = (trace === undefined ? ONLY_TRACE : ONLY_HISTORY).find(
    (each) => options[each] !== undefined,
  );
  if (idle !== undefined)
    throw usage(
      `Cannot use --${WORDS[idle] ?? idle} ${trace === undefined ? "without" : "with"} --trace: leave one of them out`,
    );
};
