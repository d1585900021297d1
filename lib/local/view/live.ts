import { line, type Word } from "../../report/printed.ts";
import type { AutoscalerView, EventView } from "../../service/views/autoscaler-view.ts";
import type { WorkloadFigures } from "../cluster/reading.ts";
import type { RunClock } from "../engine/clock.ts";
import type { Row } from "./frame.ts";
import { picture, rowsMax } from "./picture.ts";
import type { StackReader } from "./reader.ts";
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

/** The last samples of load and replicas of each autoscaler, for the sparklines. */
interface SampleHistory {
  /** Takes one sample per completed sync; `atText` tells one sync from the next. The load is absent where it is not known. */
  readonly take: (key: string, atText: string, sample: { readonly load: number | undefined; readonly replicas: number }) => void;
  readonly of: (key: string) => Samples;
}

interface Samples {
  readonly load: readonly number[];
  readonly replicas: readonly number[];
}

/** Two hours of 15-second syncs. */
const MAX_SAMPLES = 480;
const NO_SAMPLES: Samples = { load: [], replicas: [] };

const sampleHistory = (): SampleHistory => {
  const kept = new Map<string, Samples & { readonly atText: string }>();
  return {
    take: (key, atText, { load, replicas }) => {
      const known = kept.get(key);
      if (known?.atText === atText) return;
      const before = known ?? NO_SAMPLES;
      kept.set(key, {
        atText,
        load: load === undefined ? before.load : [...before.load, load].slice(-MAX_SAMPLES),
        replicas: [...before.replicas, replicas].slice(-MAX_SAMPLES),
      });
    },
    of: (key) => kept.get(key) ?? NO_SAMPLES,
  };
};

/** A picture that is drawn over itself, below what the terminal shows already. */
interface Screen {
  readonly draw: (lines: readonly Word[]) => void;
}

type Stream = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

const ESCAPE = "\u001b[";
const up = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}A` : "");
const down = (lines: number): string => (lines > 0 ? `${ESCAPE}${lines}B` : "");
const CLEAR_LINE_END = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;
const CLEAR_ALL = `${ESCAPE}2J${ESCAPE}H`;
/** Terminals that know these show the whole change at once; others ignore them. */
const BEGIN = `${ESCAPE}?2026h`;
const END = `${ESCAPE}?2026l`;

/** Writes the lines that changed and no others, so that a slow connection carries little and nothing flickers. The cursor rests below the picture. */
export const screen = (stream: Stream): Screen => {
  let before: readonly string[] = [];
  let size = sizeOf(stream);
  return {
    draw: (picture) => {
      const lines = picture.map((each) => line(each).written());
      const resized = size !== sizeOf(stream);
      size = sizeOf(stream);
      const text = resized ? CLEAR_ALL + whole(lines) : lines.length === before.length ? changes(before, lines) : again(before, lines);
      before = lines;
      if (text !== "") stream.write(`${BEGIN}${text}${END}`);
    },
  };
};

/** A resized terminal has moved its lines, so the whole picture is drawn again. */
const sizeOf = ({ columns, rows }: Stream): string => `${columns}x${rows}`;

const whole = (lines: readonly string[]): string => lines.map((each) => `${each}${CLEAR_LINE_END}\r\n`).join("");

const again = (before: readonly string[], lines: readonly string[]): string => `\r${up(before.length)}${CLEAR_BELOW}${whole(lines)}`;

const changes = (before: readonly string[], lines: readonly string[]): string =>
  lines
    .map((each, at) => {
      const height = lines.length - at;
      return each === before[at] ? "" : `\r${up(height)}${each}${CLEAR_LINE_END}\r${down(height)}`;
    })
    .join("");
