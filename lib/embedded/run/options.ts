import { Command, InvalidArgumentError, Option } from "commander";
import { VALIDATION_WORDS, type Validation, validationOf } from "../../rules/model/spec.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { inUtc } from "../../stack/report/instant-text.ts";
import { AUTOSCALERS_EACH, AUTOSCALERS_MAX, CLUSTERS_MAX, START_WORDS } from "../layout.ts";
import {
  collect,
  collectMetric,
  upTo,
  duration,
  httpUrl,
  instant,
  once,
  portNumber,
  positive,
  givenName,
  wholeNumber,
} from "./option-values.ts";

/** The options of `npm start`. */
export interface RunOptions {
  /** As written on the command line. Without it the run chooses the folder (setup.ts). */
  readonly data?: string;
  /** How unknown and repeated fields of manifests are treated. */
  readonly validate: Validation;
  readonly trace?: string;
  /**
   * What one simulated pod serves at most, in the unit of the load. Absent: pods are measured so
   * that twelve of them serve an ordinary high.
   */
  readonly capacity?: number;
  /** Simulated clusters and autoscalers that the run makes by itself. */
  readonly clusters?: number;
  readonly autoscalers?: number;
  /** Time from the creation of a simulated pod to Ready. */
  readonly podStart?: number;
  readonly manifest: readonly string[];
  /** NAME=FILE: the recorded load of a metric. */
  readonly metric?: readonly string[];
  readonly for?: number;
  readonly seed?: number;
  /** Virtual time of the beginning of a new run. */
  readonly begin?: number;
  readonly speed: number;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A Prometheus of the person's own, in place of the recorded one. */
  readonly sourceUrl?: string;
  /** Whose objects scale the simulated workloads, until Tidemark takes them over. */
  readonly beside?: BesideWhat;
  /**
   * Where the autoscalers of a simulated cluster are kept, as `tidemark cluster add --specs` says
   * it. Absent: as the folder has it, and the table in a new one.
   */
  readonly specs?: Specs;
  /** Times are printed in UTC. */
  readonly utc?: true;
  /** Port of the series on 127.0.0.1; 0 takes a free one. */
  readonly metricsPort: number;
  /** Port that takes wakes on 127.0.0.1; 0 takes a free one. Absent: no wake comes over HTTP. */
  readonly wakePort?: number;
  /** Where events are posted to. Absent: nowhere. */
  readonly eventsUrl?: string;
  /** Which events; one of them is enough. Absent: all. */
  readonly eventsFilter?: readonly string[];
  /** Port of the page on 127.0.0.1; 0 takes a free one. */
  readonly dashboardPort: number;
  /** The page may pause, resume, override and freeze. */
  readonly allowEdits?: true;
  /** The arguments without `--data`, for hints. */
  readonly args: readonly string[];
}

export const BESIDE = ["hpa", "wpa", "keda"] as const;
export type BesideWhat = (typeof BESIDE)[number];
export const SPECS = ["table", "cluster"] as const;
export type Specs = (typeof SPECS)[number];

type WrittenOptions = Partial<Omit<RunOptions, "args">>;

const DEFAULT_SPEED = 60;
const CLOCK_SPEED = 1;

/**
 * The options of `npm start --`, and what runs with them. Called wrongly, commander throws, or the
 * handler throws `local.usage`: nothing was read or written then.
 */
export const startCommand = (
  run: (options: RunOptions) => Promise<void>,
  args: readonly string[] = [],
): Command =>
  new Command(START_WORDS)
    .description(
      "Runs Tidemark here: on a simulated cluster under recorded load, or on a cluster of yours.",
    )
    .option(
      "--data <dir>",
      "folder of everything that the run keeps (default: .tidemark, and one of its own for each cluster, trace or manifest)",
      once(givenName),
    )
    .option(
      "--manifest <file>",
      "apply these autoscalers instead of the demonstration's (repeatable)",
      collect,
    )
    .option(
      "--clusters <n>",
      `simulate this many clusters, whose workloads and autoscalers the run makes (at most ${CLUSTERS_MAX})`,
      once(upTo(CLUSTERS_MAX)),
    )
    .option(
      "--autoscalers <n>",
      `make this many autoscalers in them (default: ${AUTOSCALERS_EACH} in each cluster, at most ${AUTOSCALERS_MAX})`,
      once(upTo(AUTOSCALERS_MAX)),
    )
    .addOption(validateOption())
    .option(
      "--trace <file>",
      "play this recorded load (CSV: timestamp,value, or the JSON of a range query of Prometheus) on every deployment",
      once(givenName),
    )
    .option(
      "--metric <name=file>",
      "play this recorded load as the metric of this name (repeatable; default: the load of the workload)",
      collectMetric,
    )
    .option(
      "--capacity <n>",
      "what one pod serves, in the unit of the load, at 100 % of its CPU request",
      once(positive),
    )
    .option(
      "--pod-start <duration>",
      "time from the creation of a pod until it is ready: 40s (default: 20s to 40s)",
      once(duration),
    )
    .option(
      "--speed <n>",
      `virtual seconds per second, at most (default: ${DEFAULT_SPEED})`,
      once(positive),
    )
    .option("--for <duration>", "stop after so much virtual time: 90s, 1h30m, 2h", once(duration))
    .option(
      "--begin <time>",
      "virtual time at which a new run begins: 2026-03-27T06:00:00Z (default: 2026-01-05T08:00:00Z)",
      once(instant),
    )
    .option("--seed <n>", "another seed, other start-up times of pods", once(wholeNumber))
    .option(
      "--kubeconfig <file>",
      "scale this cluster in real time instead of a simulated one",
      once(givenName),
    )
    .option("--context <name>", "context of the kubeconfig", once(givenName))
    .option(
      "--source-url <url>",
      "ask this Prometheus in place of the recorded one; the run then goes at the speed of the clock",
      once(httpUrl("http://127.0.0.1:9090")),
    )
    .addOption(
      new Option(
        "--beside <controller>",
        "the manifests are objects of the simulated cluster, which a stand-in of the HPA controller, of the Watermark Pod Autoscaler or of KEDA follows: to rehearse a migration",
      ).choices(BESIDE),
    )
    .addOption(
      new Option(
        "--specs <source>",
        "read PodAutoscalers and WatermarkPodAutoscalers from the simulated cluster, or from the table (default: table)",
      ).choices(SPECS),
    )
    .option("--utc", "print times in UTC, not in the time zone of this machine")
    .option(
      "--metrics-port <port>",
      "serve the series on this port of 127.0.0.1; 0 takes a free one (default: 0)",
      once(portNumber),
    )
    .option(
      "--dashboard-port <port>",
      "serve the page on this port of 127.0.0.1; 0 takes a free one (default: 0)",
      once(portNumber),
    )
    .option(
      "--wake-port <port>",
      "take wakes over HTTP on this port of 127.0.0.1; 0 takes a free one (default: none)",
      once(portNumber),
    )
    .option(
      "--events-url <url>",
      "post scale events and changes to this endpoint of yours, in the form of CloudEvents",
      once(httpUrl("http://127.0.0.1:8080/events", true)),
    )
    .option(
      "--events-filter <filter>",
      "post only events with these fields: kind=scale,namespace=shop,labels.team=blue,step>=5 (repeatable: one of them is enough)",
      collect,
    )
    .option("--allow-edits", "let the page pause, resume, override and freeze")
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .action(async (options: WrittenOptions) => {
      refuseIdle(options);
      await refuseWrongFilters(options);
      const speed = options.sourceUrl === undefined ? DEFAULT_SPEED : CLOCK_SPEED;
      const whole = {
        manifest: [],
        validate: "strict",
        speed,
        metricsPort: 0,
        dashboardPort: 0,
        ...options,
        args: withoutData(args),
      } as const;
      return options.utc ? inUtc(() => run(whole)) : run(whole);
    });

/** The command was called wrongly. */
const usage = (message: string): TidemarkError =>
  new TidemarkError("local.usage", message, undefined);

const refuseIdleFilter = ({ eventsFilter, eventsUrl }: WrittenOptions): void => {
  if (eventsFilter !== undefined && eventsUrl === undefined)
    throw usage("Cannot use --events-filter without --events-url: no event is posted");
};

/**
 * A filter is read here, so that a wrong one is refused before anything begins. Its code is loaded
 * where there is one: every command loads this file.
 */
const refuseWrongFilters = async ({ eventsFilter }: WrittenOptions): Promise<void> => {
  if (eventsFilter === undefined) return;
  const { readEventFilter } = await import("../../answers/cloud-events/event-filter.ts");
  for (const filter of eventsFilter) readEventFilter(filter);
};

/** Refuses an option without effect, because its user expects one. */
const refuseIdle = (options: WrittenOptions): void => {
  refuseIdleFilter(options);
  if (options.context !== undefined && options.kubeconfig === undefined)
    throw usage("Cannot use --context without --kubeconfig: a simulated cluster has no contexts");
  refuseBesideFleet(options);
  refuseTwoReaders(options);
  refuseOtherSpeed(options);
  if (options.kubeconfig === undefined) return;
  if (options.capacity !== undefined)
    throw usage("Cannot use --capacity with --kubeconfig: it decides about simulated pods only");
  if (options.podStart !== undefined)
    throw usage("Cannot use --pod-start with --kubeconfig: it decides about simulated pods only");
  if (options.metric !== undefined)
    throw usage("Cannot use --metric with --kubeconfig: a real cluster has its own metrics");
  if (options.trace !== undefined)
    throw usage("Cannot use --trace with --kubeconfig: a real cluster has its own load");
  if (options.beside !== undefined)
    throw usage(
      `Cannot use --beside ${options.beside} with --kubeconfig: a real cluster has its own controllers`,
    );
  if (options.specs !== undefined)
    throw usage(
      "Cannot use --specs with --kubeconfig: set it with tidemark cluster add CLUSTER --replace --specs cluster",
    );
  if (options.speed !== undefined)
    throw usage("Cannot use --speed with --kubeconfig: a real cluster runs in real time");
  if (options.begin !== undefined)
    throw usage("Cannot use --begin with --kubeconfig: a real cluster runs in real time");
  if (options.seed !== undefined)
    throw usage("Cannot use --seed with --kubeconfig: it decides about simulated pods only");
};

const refuseTwoReaders = ({ beside, specs }: WrittenOptions): void => {
  if (beside === "wpa" && specs === "cluster")
    throw usage(
      "Cannot use --beside wpa with --specs cluster: a WatermarkPodAutoscaler belongs to the stand-in or to Tidemark; use --specs table",
    );
};

const refuseOtherSpeed = ({ sourceUrl, kubeconfig, speed = CLOCK_SPEED }: WrittenOptions): void => {
  if (sourceUrl !== undefined && kubeconfig === undefined && speed !== CLOCK_SPEED)
    throw usage(
      `Cannot use --speed ${speed} with --source-url: a Prometheus answers at the speed of the clock; leave --speed out`,
    );
};

/** The clusters that a run makes have workloads, loads and autoscalers of their own. */
const refuseBesideFleet = ({ clusters: wanted, autoscalers, ...options }: WrittenOptions): void => {
  if (wanted === undefined && autoscalers === undefined) return;
  const clusters = wanted ?? 1;
  const others = {
    "--kubeconfig": options.kubeconfig,
    "--manifest": options.manifest,
    "--trace": options.trace,
    "--metric": options.metric,
    "--capacity": options.capacity,
  };
  const beside = Object.entries({
    ...others,
    "--source-url": options.sourceUrl,
    "--beside": options.beside,
    "--specs": options.specs,
  }).find(([, value]) => value !== undefined);
  if (beside)
    throw usage(
      `Cannot use ${beside[0]} with --clusters or --autoscalers: the run makes the clusters, their workloads and autoscalers by itself`,
    );
  if (autoscalers !== undefined && autoscalers < clusters)
    throw usage(
      `Cannot make ${autoscalers} autoscalers in ${clusters} clusters: each cluster has one at least`,
    );
  if (clusters * AUTOSCALERS_EACH > AUTOSCALERS_MAX && autoscalers === undefined)
    throw usage(
      `Cannot make ${AUTOSCALERS_EACH} autoscalers in each of ${clusters} clusters: they are ${AUTOSCALERS_MAX} at most; give --autoscalers`,
    );
};

const withoutData = (args: readonly string[]): readonly string[] =>
  args.filter(
    (arg, at) => arg !== "--data" && args[at - 1] !== "--data" && !arg.startsWith("--data="),
  );

/** `--validate`, with the words of kubectl. */
export const validateOption = (): Option =>
  new Option(
    "--validate [mode]",
    "unknown fields and fields that are written twice: strict refuses them, warn names them, ignore drops them silently",
  )
    .preset("strict")
    .default("strict")
    .argParser((word: string) => {
      const validation = validationOf(word);
      if (validation === undefined)
        throw new InvalidArgumentError(`Wanted one of ${VALIDATION_WORDS}`);
      return validation;
    });
