import type { AutoscalerView } from "../../service/views.ts";
import type { RunClock } from "../engine/clock.ts";
import type { StackReader } from "./reader.ts";
import type { View } from "./view.ts";
import { clockText, decisionText, eventText, metricText, speedText } from "./words.ts";

export interface PlainOptions {
  readonly write: (text: string) => void;
  readonly reader: StackReader;
  readonly clock: RunClock;
  readonly startMs: number;
}

/** A line for every autoscaler so often, by wall time: a log without news should still show that the run is alive. */
const STATUS_EVERY_MS = 10_000;

/** Plain lines: events as they happen, and every few seconds how each autoscaler stands. For pipes, files and terminals without colours. */
export const plainView = ({ write, reader, clock, startMs }: PlainOptions): View => {
  let statusAt = 0;
  let wasBehind = false;
  const say = (line: string) => write(`${line}\n`);
  const events = async () => {
    for (const event of await reader.newEvents()) say(`${clockText(Date.parse(event.at), startMs)}  ${eventText(event)}`);
  };
  const pace = () => {
    const { behind, reached, asked } = clock.pace();
    if (behind && !wasBehind) say(`${clockText(clock.now(), startMs)}  falling behind: ${speedText(reached)} of ${speedText(asked)}`);
    wasBehind = behind;
  };
  return {
    say,
    refresh: async () => {
      await events();
      pace();
      if (performance.now() < statusAt) return;
      const autoscalers = await reader.autoscalers();
      // Before the first sync there is nothing to tell: look again soon.
      if (autoscalers.every(({ decision }) => decision === undefined)) return;
      statusAt = performance.now() + STATUS_EVERY_MS;
      for (const autoscaler of autoscalers) say(`${clockText(clock.now(), startMs)}  ${statusText(autoscaler)}`);
    },
    end: events,
  };
};

const statusText = (autoscaler: AutoscalerView): string => {
  const { namespace, name, currentReplicas, desiredReplicas, metrics } = autoscaler;
  const counts = currentReplicas === undefined ? "" : `, ${currentReplicas} replicas, ${desiredReplicas} desired`;
  return `${namespace}/${name}${counts}, ${metrics.map(metricText).join(", ")}${metrics.length > 0 ? ", " : ""}${decisionText(autoscaler)}`;
};
