import { createLogUpdate } from "log-update";
import type { AutoscalerView, EventView } from "../../service/views.ts";
import type { Reading } from "../cluster/reading.ts";
import type { RunClock } from "../engine/clock.ts";
import type { Row } from "./frame.ts";
import { type SampleHistory, sampleHistory } from "./history.ts";
import { picture } from "./picture.ts";
import type { StackReader } from "./reader.ts";
import type { View } from "./view.ts";
import { decisionText, metricText } from "./words.ts";

export interface LiveOptions {
  readonly stream: NodeJS.WriteStream;
  readonly reader: StackReader;
  /** What is asked of the simulated workloads now: the one thing here that the stack does not know. */
  readonly readings: () => readonly Reading[];
  readonly clock: RunClock;
  readonly startMs: number;
  readonly endMs?: number;
  /** What follows a command in a hint, so that it finds this run's folder. */
  readonly dataOption: string;
}

/** Events kept for the screen; the tables keep all. */
const KEPT_EVENTS = 200;

/** The view of a terminal: one picture, drawn over itself. */
export const liveView = ({ stream, reader, readings, clock, startMs, endMs, dataOption }: LiveOptions): View => {
  const draw = createLogUpdate(stream);
  const history = sampleHistory();
  let events: readonly EventView[] = [];
  let shown: readonly AutoscalerView[] | undefined;
  let rows: readonly Row[] = [];
  let drawn: string | undefined;
  let trouble: string | undefined;
  const refresh = async () => {
    events = [...events, ...(await reader.newEvents())].slice(-KEPT_EVENTS);
    const autoscalers = await reader.autoscalers();
    if (autoscalers !== shown) {
      sample(history, autoscalers, readings());
      rows = autoscalers.map((autoscaler) => rowOf(autoscaler, history));
      shown = autoscalers;
    }
    const frame = {
      nowMs: clock.now(),
      pace: clock.pace(),
      rows,
      events,
      ...(endMs !== undefined && { endMs }),
      ...(trouble !== undefined && { trouble }),
    };
    const next = picture(frame, { columns: stream.columns, rows: stream.rows, startMs, dataOption });
    // Drawing it wraps every line anew: a picture that is on the screen already stays.
    if (next !== drawn) draw(next);
    drawn = next;
  };
  return {
    say: (line) => {
      trouble = line;
    },
    refresh,
    end: async () => {
      await refresh();
      draw.done();
    },
  };
};

const sample = (history: SampleHistory, autoscalers: readonly AutoscalerView[], readings: readonly Reading[]): void => {
  const demand = new Map(readings.map((reading) => [`${reading.namespace}/${reading.name}`, reading.demand]));
  for (const { uid, namespace, target, syncedAt, currentReplicas } of autoscalers) {
    if (syncedAt === undefined || currentReplicas === undefined) continue;
    history.take(uid, syncedAt, { load: demand.get(`${namespace}/${target?.name}`), replicas: currentReplicas });
  }
};

const rowOf = (autoscaler: AutoscalerView, history: SampleHistory): Row => {
  const { uid, namespace, name, target, state, currentReplicas, desiredReplicas, metrics } = autoscaler;
  return {
    name: `${namespace}/${name}`,
    target: target ? `${target.kind}/${target.name}` : "?",
    state,
    ...(currentReplicas !== undefined && { current: currentReplicas }),
    ...(desiredReplicas !== undefined && { desired: desiredReplicas }),
    metrics: metrics.map(metricText),
    decision: decisionText(autoscaler),
    ...history.of(uid),
  };
};
