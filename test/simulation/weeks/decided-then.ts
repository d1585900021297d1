import { BEHIND_MS } from "./replicas.ts";
import { createdOf, SETTLED_MS } from "./judge-history.ts";
import { RESTORED_MS } from "./judge-rows.ts";
import type { Observation } from "./observed.ts";
import { type Place, pathOf } from "./places.ts";
import type { Decided, WeekTruth } from "./truth.ts";

type Asked = Pick<Observation, "askedMs" | "answeredMs">;

export interface DecidedThen {
  /** Decisions that an answer may show. */
  readonly may: readonly Decided[];
  /** Those that it must know of: of completed syncs, and of the autoscaler that is there now. */
  readonly must: readonly Decided[];
}

/** What syncs have decided of one autoscaler between two instants, as an answer may have it. */
export const decidedThen = (
  truth: WeekTruth,
  place: Place,
  asked: Asked,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): DecidedThen => {
  const path = pathOf(place);
  const createdMs = createdOf(truth, path, asked.answeredMs);
  const inside = (truth.decided.get(path) ?? []).filter(
    ({ nowMs, decidedMs }) => nowMs >= fromMs && nowMs <= toMs && decidedMs <= asked.answeredMs,
  );
  return {
    may: inside.filter((one) => !isLost(truth, one, asked)),
    must: inside.filter(
      (one) =>
        one.completedMs !== undefined &&
        one.completedMs < asked.askedMs - BEHIND_MS &&
        one.nowMs > createdMs + SETTLED_MS &&
        !mayBeLost(truth, one, asked),
    ),
  };
};

/** The tables went back to before it, more than a minute ago. */
const isLost = ({ restored }: WeekTruth, { decidedMs }: Decided, { askedMs }: Asked): boolean =>
  restored.some(
    ({ thenMs, atMs }) =>
      decidedMs > thenMs && decidedMs < atMs - SETTLED_MS && askedMs > atMs + RESTORED_MS,
  );

const mayBeLost = (
  { restored }: WeekTruth,
  { decidedMs }: Decided,
  { answeredMs }: Asked,
): boolean =>
  restored.some(
    ({ thenMs, atMs }) =>
      decidedMs > thenMs - SETTLED_MS && decidedMs < atMs + SETTLED_MS && answeredMs >= atMs,
  );

/** Whether the autoscaler was there all the while; `undefined` where that changed meanwhile. */
export const isThere = (
  truth: WeekTruth,
  place: Place,
  { askedMs, answeredMs }: Asked,
): boolean | undefined => {
  const wanted = truth.wanted.get(pathOf(place))?.between(askedMs - BEHIND_MS, answeredMs) ?? [];
  const there = wanted.map((one) => one !== undefined);
  return there.every((one) => one === there[0]) ? there[0] : undefined;
};
