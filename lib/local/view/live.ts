import type { AutoscalerView, EventView } from "../../service/views/autoscaler-view.ts";
import type { WorkloadFigures } from "../cluster/reading.ts";
import type { RunClock } from "../engine/clock.ts";
import type { Row } from "./frame.ts";
import { type SampleHistory, sampleHistory } from "./history.ts";
import { picture, rowsMax } from "./picture.ts";
import type { StackReader } from "./reader.ts";
import { screen } from "./screen.ts";
import type { View } from "./view.ts";
import { decisionText, lastKnownText, metricText, stateWords } from "./words.ts";

export interface LiveOptions {
  readonly stream: NodeJS.WriteStream;
  readonly reader: StackReader;
  /** The present demand on the simulated workloads, the only value here that does not come from the tables. */
  readonly readings: () => readonly WorkloadFigures[];
  readonly clock: RunClock;
  readonly startMs: number;
  readonly endMs?: number;
  /** The option after a command in a hint, so that it finds the folder of this run. */
  readonly dataOption: string;
}

/** Events that are kept for the screen. The tables keep all. */
const KEPT_EVENTS = 200;

/** The view of a terminal: one picture, drawn over itself. */
export const liveView = ({ stream, reader, readings, clock, startMs, endMs, dataOption }: LiveOptions): View => {
  const { draw } = screen(stream);
  const history = sampleHistory();
  let events: readonly EventView[] = [];
  let shown: readonly AutoscalerView[] | undefined;
  let rows: readonly Row[] = [];
  let trouble: string | undefined;
  const refresh = async () => {
    events = [...events, ...(await reader.newEvents())].slice(-KEPT_EVENTS);
    const canvas = { columns: stream.columns, rows: stream.rows, startMs, dataOption };
    // One more than fit, so that the picture says that there are more also before a sync has counted them.
    const autoscalers = await reader.autoscalers(rowsMax(canvas) + 1);
    const nowMs = clock.now();
    if (autoscalers !== shown) {
      const loads = loadsOf(readings());
      sample(history, autoscalers, loads);
      rows = autoscalers.map((autoscaler) => rowOf(autoscaler, history, loads, nowMs));
      shown = autoscalers;
    }
    const frame = {
      nowMs,
      pace: clock.pace(),
      rows,
      total: reader.total(),
      events,
      ...(endMs !== undefined && { endMs }),
      ...(trouble !== undefined && { trouble }),
    };
    draw(picture(frame, canvas));
  };
  return {
    say: (line) => {
      trouble = line;
    },
    refresh,
    end: refresh,
  };
};

type Loads = ReadonlyMap<string, Pick<WorkloadFigures, "demand" | "unit">>;

const loadsOf = (readings: readonly WorkloadFigures[]): Loads =>
  new Map(readings.map((reading) => [`${reading.namespace}/${reading.name}`, reading]));

const loadOf = (loads: Loads, { namespace, target }: AutoscalerView) => loads.get(`${namespace}/${target?.name}`);

const sample = (history: SampleHistory, autoscalers: readonly AutoscalerView[], loads: Loads): void => {
  for (const autoscaler of autoscalers) {
    const { uid, syncedAt, currentReplicas } = autoscaler;
    if (syncedAt === undefined || currentReplicas === undefined) continue;
    history.take(uid, syncedAt, { load: loadOf(loads, autoscaler)?.demand, replicas: currentReplicas });
  }
};

const rowOf = (autoscaler: AutoscalerView, history: SampleHistory, loads: Loads, nowMs: number): Row => {
  const { uid, namespace, name, target, currentReplicas, desiredReplicas, minReplicas, maxReplicas, metrics, lastKnown } = autoscaler;
  return {
    name: `${namespace}/${name}`,
    target: target ? `${target.kind}/${target.name}` : "?",
    state: stateWords(autoscaler),
    ...(currentReplicas !== undefined && { current: currentReplicas }),
    ...(desiredReplicas !== undefined && { desired: desiredReplicas }),
    ...(lastKnown && { lastKnown: lastKnownText(lastKnown, nowMs) }),
    ...(minReplicas !== undefined && { min: minReplicas }),
    ...(maxReplicas !== undefined && { max: maxReplicas }),
    metrics: metrics.map(metricText),
    decision: decisionText(autoscaler),
    loadUnit: loadOf(loads, autoscaler)?.unit ?? "",
    ...history.of(uid),
  };
};
