import type { TimeSpan } from "./figures.ts";
import type { PodShare } from "./load.ts";
import { MinuteRecord, type Minutes, type ReplayedScale } from "./minutes.ts";
import type { Recorded } from "./recorded.ts";
import { countSeries, cutOffSeries, readySeries, sampledSeries } from "./recorded.ts";
import { StepReader } from "./series.ts";
import { MINUTE_MS } from "../rules/model/time-text.ts";

/** The minutes as they were recorded: nothing is decided in them. */
export const happened = (
  recorded: Recorded,
  target: readonly PodShare[],
  { fromMs, untilMs }: TimeSpan,
): Minutes => {
  const read = {
    count: new StepReader(countSeries(recorded)),
    ready: new StepReader(readySeries(recorded)),
    max: new StepReader(sampledSeries(recorded, ({ max = Number.NaN }) => max)),
    min: new StepReader(sampledSeries(recorded, ({ min = Number.NaN }) => min)),
    cutOff: new StepReader(cutOffSeries(recorded)),
  };
  const shares = target.map(({ load, perPod }) => ({ reader: new StepReader(load), perPod }));
  const readers = [...Object.values(read), ...shares.map(({ reader }) => reader)];
  const record = new MinuteRecord(fromMs, untilMs);
  for (let atMs = fromMs; atMs < untilMs; ) {
    for (const reader of readers) reader.seek(atMs);
    const nextMs = Math.min(untilMs, ...readers.map((reader) => reader.untilMs));
    record.decided(atMs, "", { min: read.min.value, max: read.max.value });
    const needed = Math.max(...shares.map(({ reader, perPod }) => reader.value / perPod));
    record.pass(atMs, nextMs, {
      count: orZero(read.count.value),
      ready: orZero(read.ready.value),
      needed: Number.isNaN(read.count.value) ? Number.NaN : needed,
      isUnknown: Number.isNaN(read.count.value),
      isCutOff: read.cutOff.value === 1,
      ...{ load: 0, unserved: 0 },
    });
    atMs = nextMs;
  }
  for (const scale of scalesOf(recorded, { fromMs, untilMs })) record.scaled(scale);
  return record.minutes();
};

const orZero = (value: number): number => (Number.isNaN(value) ? 0 : value);

const scalesOf = ({ scales }: Recorded, { fromMs, untilMs }: TimeSpan): readonly ReplayedScale[] =>
  scales.flatMap(({ atMs, to }, at) => {
    const from = scales[at - 1]?.to;
    return from === undefined || from === to || atMs < fromMs || atMs >= untilMs
      ? []
      : [{ atMs, from, to, reason: "" }];
  });

/** How near a replay of the unchanged policy comes to what happened. */
export interface Fidelity {
  /** Share of the known minutes that end with the same count. */
  readonly sameMinutes: number;
  /** By how much its replica-hours differ, as a share of those that happened. */
  readonly hoursOff: number;
}

export const fidelityOf = (
  real: Minutes,
  replayed: Minutes,
  { fromMs, untilMs }: TimeSpan,
): Fidelity => {
  const from = Math.max(0, Math.ceil((fromMs - real.fromMs) / MINUTE_MS));
  const until = Math.min(real.length, Math.floor((untilMs - real.fromMs) / MINUTE_MS));
  let [known, same, hours, hoursReplayed] = [0, 0, 0, 0];
  for (let at = from; at < until; at++) {
    if (real.knownMs[at] !== MINUTE_MS) continue;
    known++;
    if (real.count[at] === replayed.count[at]) same++;
    hours += real.podMs[at] ?? 0;
    hoursReplayed += replayed.podMs[at] ?? 0;
  }
  return { sameMinutes: same / known, hoursOff: (hoursReplayed - hours) / hours };
};
