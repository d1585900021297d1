import { printable } from "../../rules/model/foreign-text.ts";
import { shortMetricName } from "../../rules/policy/shared/scale-sentence.ts";
import { withLocalTimes, instantText } from "../../stack/report/instant-text.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { EventView, MetricView } from "../../answers/views/event.ts";
import { lines, type Printed } from "../../stack/report/printed.ts";
import { stateWords } from "../../answers/words/state-words.ts";
import type { RunClock } from "../engine/clock.ts";
import type { StackReader } from "./reader.ts";

export const viewedMetric = (metric: MetricView): string => {
  const [short = metric.name] = shortMetricName(metric.name).split(" ");
  if (metric.kind === "measured")
    return `${short} ${metric.value}${metric.average === undefined ? "" : ` (${metric.average})`} of ${metric.target}`;
  return metric.kind === "failed"
    ? `${short} missing`
    : `${short} not measured yet, target ${metric.target}`;
};

/** "9 (5 min ago)": what was read last, and since when it cannot be read. */
export const lastKnownText = (
  { replicas, at }: NonNullable<AutoscalerView["lastKnown"]>,
  nowMs: number,
): string =>
  at === undefined
    ? `${replicas}?`
    : `${replicas} (${durationText(Math.max(0, nowMs - Date.parse(at)))} ago)`;

/** The last decision in words: what was done, and why. */
export const decisionText = ({ decision, problem, state }: AutoscalerView): string => {
  if (problem !== undefined) return problem;
  if (!decision)
    return state === "paused" || state === "frozen" ? state : "waiting for its first sync";
  const done = decision.kind === "scale" ? `${decision.from} → ${decision.to}` : "holds";
  const { from, withoutHold } = decision;
  const without = withoutHold?.to === undefined ? "" : `; without that ${from} → ${withoutHold.to}`;
  const refused = decision.refused === undefined ? "" : `; refused: ${decision.refused}`;
  return withLocalTimes(`${done}: ${decision.reason}, ${decision.message}${without}${refused}`);
};

/** "shop/daily 2 → 4 applied: ScaleUpLimit, …" */
export const eventText = ({
  namespace,
  name,
  from,
  to,
  outcome,
  reason,
  message,
  detail,
}: EventView): string =>
  withLocalTimes(
    `${namespace}/${name} ${from} → ${to} ${outcome}: ${reason}, ${message}${detail === undefined ? "" : ` (${detail})`}`,
  );

export const speedText = (reached: number): string =>
  `${reached >= 10 ? Math.round(reached) : reached.toFixed(1)}x`;

/** "2 h 05 min", "40 min", "15 s". */
export const durationText = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
};

/**
 * Breaks a text at blanks into lines of at most this many characters. The second line and all that
 * follow are indented. Unprintable characters are escaped first, because they count as what they
 * become. After `linesMax` lines the rest is cut off with an ellipsis.
 */
export const wrapped = (
  text: string,
  columns: number,
  linesMax: number,
  indent = "",
): readonly string[] => {
  const broken: string[] = [];
  let rest = printable(text);
  while (rest !== "" && broken.length < linesMax) {
    const before = broken.length === 0 ? "" : indent;
    const room = Math.max(1, columns - before.length);
    if (rest.length <= room || broken.length === linesMax - 1) {
      broken.push(before + cut(rest, room));
      break;
    }
    const at = rest.lastIndexOf(" ", room);
    const end = at > 0 ? at : room;
    broken.push(before + rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return broken;
};

/** Cuts a text to one line of at most this many characters. */
export const cut = (text: string, columns: number): string => {
  const shown = printable(text);
  return shown.length <= columns ? shown : `${shown.slice(0, Math.max(0, columns - 1))}…`;
};

/** The view of a run, for people. */
export interface View {
  /** Shows a failure at once. */
  readonly say: (line: string) => void;
  /** Reads and shows the newest state. It is called periodically during the run. */
  readonly refresh: () => Promise<void>;
  /** Shows the last state and leaves the terminal as it was. */
  readonly end: () => Promise<void>;
}

/**
 * A view that ends nothing: what cannot be read is said once, and the next look reads again. The
 * run scales for others, and a clock that was set back, or a full disk, must not end it for a
 * picture.
 */
export const onlyShowing = (view: View): View => {
  let said: string | undefined;
  const shown = async (show: () => Promise<void>): Promise<void> => {
    try {
      await show();
      said = undefined;
    } catch (error) {
      const words = `The state could not be shown: ${error instanceof Error ? error.message : String(error)}`;
      if (words !== said) view.say(words);
      said = words;
    }
  };
  return { say: view.say, refresh: () => shown(view.refresh), end: () => shown(view.end) };
};

export interface PlainOptions {
  readonly write: (text: Printed) => void;
  readonly reader: StackReader;
  readonly clock: RunClock;
  /** Of the wall, in milliseconds. */
  readonly wall?: () => number;
}

/** Wall time between two reads of the autoscalers. */
const LOOK_EVERY_MS = 10_000;
/** Wall time between two summary lines, which show that the run is alive when no state changes. */
const SUMMARY_EVERY_MS = 60_000;

/**
 * Of more autoscalers nobody reads a line for each change: the summary line comes more often
 * instead.
 */
const EACH_MAX = 100;

/**
 * Plain lines for pipes, files, logs of a build and terminals without colours: what changes when it
 * changes, and one line a minute that sums it up.
 */
export const plainView = ({
  write,
  reader,
  clock,
  wall = () => performance.now(),
}: PlainOptions): View => {
  const printed = new Map<string, string>();
  let [lookAt, summaryAt, events] = [0, 0, 0];
  let wasBehind = false;
  const say = (line: string) => write(lines([line]));
  const sayNow = (line: string) => say(`${instantText(clock.now())}  ${line}`);
  const tellEvents = async () => {
    for (const event of await reader.newEvents()) {
      events++;
      if (reader.total() <= EACH_MAX)
        say(`${instantText(Date.parse(event.at))}  ${eventText(event)}`);
    }
  };
  const tellPace = () => {
    const { behind, reached, wanted } = clock.pace();
    if (behind !== wasBehind)
      sayNow(
        behind
          ? `falling behind: ${speedText(reached)} of ${speedText(wanted)}`
          : `at ${speedText(wanted)} again`,
      );
    wasBehind = behind;
  };
  const tellChanges = (autoscalers: readonly AutoscalerView[]) => {
    for (const autoscaler of autoscalers) {
      const standing = standingOf(autoscaler);
      if (printed.get(autoscaler.uid) !== standing) sayNow(statusText(autoscaler));
      printed.set(autoscaler.uid, standing);
    }
  };
  return {
    say,
    refresh: async () => {
      await tellEvents();
      tellPace();
      if (wall() < lookAt) return;
      const autoscalers = await reader.autoscalers();
      // There is no state before the first sync, so the next refresh looks again.
      if (autoscalers.every(({ decision }) => decision === undefined)) return;
      lookAt = wall() + LOOK_EVERY_MS;
      const many = autoscalers.length > EACH_MAX;
      if (!many) tellChanges(autoscalers);
      if (wall() < summaryAt) return;
      // Lines printed just now need no summary.
      if (summaryAt > 0 || many) sayNow(summaryText(autoscalers, events));
      [summaryAt, events] = [wall() + SUMMARY_EVERY_MS, 0];
    },
    end: tellEvents,
  };
};

/**
 * The state whose changes are printed. Counts and limits change all the time; the scale events
 * print those.
 */
const standingOf = (autoscaler: AutoscalerView): string =>
  stateWords(autoscaler.state === "limited" ? { ...autoscaler, state: "active" } : autoscaler);

const statusText = (autoscaler: AutoscalerView): string => {
  const { namespace, name, currentReplicas, desiredReplicas, metrics } = autoscaler;
  const counts =
    currentReplicas === undefined
      ? ""
      : `, ${currentReplicas} replicas, ${desiredReplicas} desired`;
  return `${namespace}/${name} ${stateWords(autoscaler)}${counts}, ${metrics.map(viewedMetric).join(", ")}${metrics.length > 0 ? ", " : ""}${decisionText(autoscaler)}`;
};

/** "3 autoscalers: 2 active, 1 failing; 31 pods; 4 scale events in the last minute". */
const summaryText = (autoscalers: readonly AutoscalerView[], events: number): string => {
  const states = Map.groupBy(autoscalers, ({ state }) => state);
  const counted = [...states].map(([state, { length }]) => `${length} ${state}`).join(", ");
  const pods = autoscalers.reduce((sum, { currentReplicas = 0 }) => sum + currentReplicas, 0);
  return `${autoscalers.length} autoscalers: ${counted}; ${pods} pods; ${events} scale events in the last minute of the wall clock`;
};
