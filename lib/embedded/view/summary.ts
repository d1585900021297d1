import { instantText } from "../../stack/report/instant-text.ts";
import { boundsInForce } from "../../answers/service/views/holds-view.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { EventView } from "../../answers/views/event.ts";
import type { Statistics } from "../cluster/reading.ts";
import type { Pace } from "../engine/clock.ts";
import { quantile, type Tally } from "./tally.ts";
import { durationText, speedText, wrapped } from "./plain-view.ts";
import { SECOND_MS, MINUTE_MS, HOUR_MS } from "../../rules/model/time-text.ts";

export interface SummaryInput {
  /** Virtual time that this run played. */
  readonly playedMs: number;
  readonly wallMs: number;
  /** The scale events of this start. */
  readonly events: readonly EventView[];
  /**
   * Of a run that was resumed: the time since it began, and all its events. The statistics of the
   * workloads are since then too.
   */
  readonly sinceBeginning?: { readonly playedMs: number; readonly events: readonly EventView[] };
  /**
   * The virtual time of the end, and the autoscalers then: their bounds say how long each was at
   * its maximum.
   */
  readonly endMs: number;
  readonly autoscalers: readonly AutoscalerView[];
  readonly tally: Tally;
  readonly pace: Pace;
  /** Of the simulated cluster since its first run; absent on a real one. */
  readonly statistics?: readonly Statistics[];
  /** What the run took of this machine. */
  readonly taken: Taken;
  /** Messages in the dead-letter queue: syncs that failed several times. */
  readonly deadLetters: number;
}

export interface Taken {
  /** The most memory that the process had. */
  readonly memoryBytes: number;
  /** The files of the data folder at the end, with the tables and the logs among them. */
  readonly disk: {
    readonly bytes: number;
    readonly tablesBytes: number;
    readonly logBytes: number;
  };
}

/**
 * Workloads with a line each. Of more, those with the largest share of their demand not served have
 * one.
 */
const WORKLOADS_MAX = 20;

/** Lines that one value takes at most in a narrow terminal. */
const VALUE_LINES_MAX = 8;

/**
 * The summary of a run, as lines of name and value. In a terminal of so many columns a long value
 * goes on below itself.
 */
export const summaryLines = (
  input: SummaryInput,
  columns = Number.POSITIVE_INFINITY,
): readonly string[] => {
  const rows = [
    played(input),
    ...eventRows(input.events),
    ...syncRows(input.tally),
    ...(input.deadLetters > 0 ? [["dead letters", String(input.deadLetters)] as const] : []),
    ...takenRows(input.taken),
    ...beginningRows(input),
    ...workloadRows({ ...input, ...input.sinceBeginning }),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, value]) =>
    wrapped(`${name.padEnd(width)}  ${value}`, columns, VALUE_LINES_MAX, " ".repeat(width + 2)),
  );
};

type SummaryLine = readonly [name: string, value: string];

const played = ({ playedMs, wallMs, pace }: SummaryInput): SummaryLine => [
  "played",
  `${durationText(playedMs)} in ${durationText(wallMs)}, ${speedText(wallMs > 0 ? playedMs / wallMs : 0)} of at most ${speedText(pace.wanted)}`,
];

const eventRows = (events: readonly EventView[]): readonly SummaryLine[] => {
  const count = (outcome: EventView["outcome"]) =>
    events.filter((event) => event.outcome === outcome).length;
  const [refused, unknown, outside] = [count("refused"), count("unknown"), count("outside")];
  const others = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
  ];
  const rows: readonly SummaryLine[] = [
    ["scale events", [String(events.length - outside), ...others].join(", ")],
  ];
  return outside === 0 ? rows : [...rows, ["changed outside", String(outside)]];
};

const syncRows = ({
  syncs,
  failed,
  stateWrites,
  historyWrites,
  wallMs,
}: Tally): readonly SummaryLine[] => [
  ["syncs", `${syncs}${failed > 0 ? `, ${failed} failed` : ""}`],
  [
    "writes per sync",
    syncs > 0
      ? `${(stateWrites / syncs).toFixed(1)}, and ${(historyWrites / syncs).toFixed(1)} to history`
      : "-",
  ],
  [
    "wall time per sync",
    `p50 ${msText(quantile(wallMs, 0.5))}, p99 ${msText(quantile(wallMs, 0.99))}`,
  ],
];

const takenRows = ({ memoryBytes, disk }: Taken): readonly SummaryLine[] => [
  ["memory", `${bytesText(memoryBytes)} at most`],
  [
    "disk",
    `${bytesText(disk.bytes)}: tables ${bytesText(disk.tablesBytes)}, logs ${bytesText(disk.logBytes)}`,
  ],
];

const MEBIBYTE = 2 ** 20;

const bytesText = (bytes: number): string =>
  bytes >= 10 * MEBIBYTE
    ? `${Math.round(bytes / MEBIBYTE)} MiB`
    : `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

/** A resumed run says of which span the lines of the workloads are. */
const beginningRows = ({
  sinceBeginning,
  statistics = [],
}: SummaryInput): readonly SummaryLine[] =>
  sinceBeginning && statistics.length > 0
    ? [
        [
          "since the beginning",
          `${durationText(sinceBeginning.playedMs)}, ${scalesText(sinceBeginning.events)}, and for each workload:`,
        ],
      ]
    : [];

const scalesText = (events: readonly EventView[]): string =>
  plural(events.filter(({ outcome }) => outcome !== "outside").length, "scale event");

const workloadRows = (input: SummaryInput): readonly SummaryLine[] => {
  const { statistics = [] } = input;
  if (statistics.length <= WORKLOADS_MAX) return statistics.map((one) => workloadRow(one, input));
  const share = ({ unserved, demand }: Statistics): number => (demand > 0 ? unserved / demand : 0);
  const short = statistics
    .filter(({ unserved }) => unserved > 0)
    .toSorted((a, b) => share(b) - share(a));
  const hours = statistics.reduce((sum, { replicaMs }) => sum + replicaMs, 0) / HOUR_MS;
  const named = short.slice(0, WORKLOADS_MAX);
  const first = named.length === 0 ? "" : `; the ${named.length} with the largest share of it:`;
  return [
    [
      "workloads",
      `${statistics.length}, ${hours.toFixed(1)} replica-hours, ${short.length} with demand not served${first}`,
    ],
    ...named.map((one) => workloadRow(one, input)),
  ];
};

const workloadRow = (
  statistics: Statistics,
  { events, autoscalers, playedMs, endMs }: SummaryInput,
): SummaryLine => {
  const {
    namespace,
    name,
    unit,
    stepMs,
    elapsedMs,
    replicaMs,
    demand,
    unserved,
    aboveTargetMs,
    targetCpuPercent,
    worst,
  } = statistics;
  const own = events.filter((event) => event.namespace === namespace && event.target.name === name);
  const scaledBy = autoscalers.find(
    (autoscaler) => autoscaler.namespace === namespace && autoscaler.target?.name === name,
  );
  return [
    `${namespace}/${name}`,
    [
      `${(replicaMs / HOUR_MS).toFixed(1)} replica-hours`,
      ...(targetCpuPercent === undefined
        ? []
        : [`${percent(aboveTargetMs, elapsedMs)} of the time above target`]),
      `${percent(unserved, demand)} of the demand not served (${loadText(unserved, { unit, stepMs, elapsedMs })})${worst ? `, most at ${instantText(worst.atMs)}` : ""}`,
      ...(scaledBy
        ? [atMaxText(scaledBy, own, { sinceMs: endMs - playedMs, untilMs: endMs })]
        : []),
      movesText(own),
    ].join(", "),
  ];
};

/**
 * How long the count was at the maximum in force at the end, and since when it first was: where
 * that is long, and demand was not served, the maximum is too low. The time before the last edit
 * may have had another maximum, so that it is not counted.
 */
const atMaxText = (
  autoscaler: AutoscalerView,
  events: readonly EventView[],
  { sinceMs: beganMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): string => {
  const { max } = boundsInForce(autoscaler);
  if (max === undefined) return "no maximum";
  const editedMs = Date.parse(autoscaler.updatedAt);
  const isEdited = editedMs > beganMs;
  const sinceMs = isEdited ? editedMs : beganMs;
  const edited = isEdited ? ` since its edit at ${instantText(editedMs)}` : "";
  const all = events.filter(({ outcome }) => outcome !== "refused");
  const scales = all.filter(({ at }) => Date.parse(at) >= sinceMs);
  const before = all[all.length - scales.length - 1]?.to ?? scales[0]?.from;
  const counts = [
    { atMs: sinceMs, count: before ?? autoscaler.currentReplicas ?? 0 },
    ...scales.map(({ at, to }) => ({ atMs: Date.parse(at), count: to })),
  ];
  const stretches = counts.flatMap(({ atMs, count }, at) =>
    count >= max ? [{ atMs, ms: (counts[at + 1]?.atMs ?? untilMs) - atMs }] : [],
  );
  const [first] = stretches;
  const totalMs = stretches.reduce((sum, { ms }) => sum + ms, 0);
  return first
    ? `${durationText(totalMs)} at its maximum of ${max}${edited}, first at ${instantText(first.atMs)}`
    : `never at its maximum of ${max}${edited}`;
};

/**
 * A reversal is a scale against the direction of the one before it. A policy that flaps has many.
 */
const movesText = (events: readonly EventView[]): string => {
  const directions = events
    .filter(
      ({ from, to, outcome }) => from !== to && outcome !== "refused" && outcome !== "outside",
    )
    .map(({ from, to }) => Math.sign(to - from));
  const reversals = directions.filter(
    (direction, index) => index > 0 && direction !== directions[index - 1],
  ).length;
  return `${plural(directions.length, "scale")}, ${plural(reversals, "reversal")}`;
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const percent = (part: number, whole: number): string =>
  whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "0 %";
const msText = (value: number | undefined): string =>
  value === undefined ? "-" : `${value.toFixed(1)} ms`;

const PERIODS_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  sec: SECOND_MS,
  second: SECOND_MS,
  m: MINUTE_MS,
  min: MINUTE_MS,
  minute: MINUTE_MS,
  h: HOUR_MS,
  hour: HOUR_MS,
};
const RATE = /^(.+?) per (?:(\d+) )?(s|sec|second|m|min|minute|h|hour)s?\b/;

interface Measured {
  readonly unit: string;
  /** Distance of two samples. */
  readonly stepMs: number;
  /** How long the load was played. */
  readonly elapsedMs: number;
}

/**
 * What a load was over a time, as people count it: of "HTTP requests per minute (sum)" so many HTTP
 * requests. A unit that is no rate ("percent CPU") cannot be counted: there it is the average.
 * `samples`: values × time ÷ distance of two samples, as the simulated workloads sum it up.
 */
export const loadText = (samples: number, { unit, stepMs, elapsedMs }: Measured): string => {
  const [, noun, times = "1", period = ""] = RATE.exec(unit) ?? [];
  const periodMs = (PERIODS_MS[period] ?? 0) * Number(times);
  if (noun === undefined || periodMs === 0)
    return `on average ${(elapsedMs > 0 ? (samples * stepMs) / elapsedMs : 0).toFixed(1)} ${unit}`;
  return `${Math.round((samples * stepMs) / periodMs)} ${noun}`;
};
