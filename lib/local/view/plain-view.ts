import { instantText } from "../../report/instant-text.ts";
import { lines, type Printed } from "../../report/printed.ts";
import { stateWords } from "../../service/views/row-view.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { RunClock } from "../engine/clock.ts";
import type { StackReader } from "./reader.ts";
import { decisionText, eventText, metricText, speedText } from "./words.ts";

/** The view of a run, for people. */
export interface View {
  /** Shows a failure at once. */
  readonly say: (line: string) => void;
  /** Reads and shows the newest state. It is called periodically during the run. */
  readonly refresh: () => Promise<void>;
  /** Shows the last state and leaves the terminal as it was. */
  readonly end: () => Promise<void>;
}

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

/** Of more autoscalers nobody reads a line for each change: the summary line comes more often instead. */
const EACH_MAX = 100;

/** Plain lines for pipes, files, logs of a build and terminals without colours: what changes when it changes, and one line a minute that sums it up. */
export const plainView = ({ write, reader, clock, wall = () => performance.now() }: PlainOptions): View => {
  const printed = new Map<string, string>();
  let [lookAt, summaryAt, events] = [0, 0, 0];
  let wasBehind = false;
  const say = (line: string) => write(lines([line]));
  const sayNow = (line: string) => say(`${instantText(clock.now())}  ${line}`);
  const tellEvents = async () => {
    for (const event of await reader.newEvents()) {
      events++;
      if (reader.total() <= EACH_MAX) say(`${instantText(Date.parse(event.at))}  ${eventText(event)}`);
    }
  };
  const tellPace = () => {
    const { behind, reached, wanted } = clock.pace();
    if (behind !== wasBehind) sayNow(behind ? `falling behind: ${speedText(reached)} of ${speedText(wanted)}` : `at ${speedText(wanted)} again`);
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

/** The state whose changes are printed. Counts and limits change all the time; the scale events print those. */
const standingOf = (autoscaler: AutoscalerView): string =>
  stateWords(autoscaler.state === "limited" ? { ...autoscaler, state: "active" } : autoscaler);

const statusText = (autoscaler: AutoscalerView): string => {
  const { namespace, name, currentReplicas, desiredReplicas, metrics } = autoscaler;
  const counts = currentReplicas === undefined ? "" : `, ${currentReplicas} replicas, ${desiredReplicas} desired`;
  return `${namespace}/${name} ${stateWords(autoscaler)}${counts}, ${metrics.map(metricText).join(", ")}${metrics.length > 0 ? ", " : ""}${decisionText(autoscaler)}`;
};

/** "3 autoscalers: 2 active, 1 failing; 31 pods; 4 scale events in the last minute". */
const summaryText = (autoscalers: readonly AutoscalerView[], events: number): string => {
  const states = Map.groupBy(autoscalers, ({ state }) => state);
  const counted = [...states].map(([state, { length }]) => `${length} ${state}`).join(", ");
  const pods = autoscalers.reduce((sum, { currentReplicas = 0 }) => sum + currentReplicas, 0);
  return `${autoscalers.length} autoscalers: ${counted}; ${pods} pods; ${events} scale events in the last minute of the wall clock`;
};
