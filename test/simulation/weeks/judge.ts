import { judgeEvents } from "./judge-events.ts";
import { judgeHistory } from "./judge-history.ts";
import { judgeLines } from "./judge-lines.ts";
import { judgeLooks } from "./judge-looks.ts";
import { judgeRows } from "./judge-rows.ts";
import { type Observation, timeOf } from "./observed.ts";
import type { WeekViolation } from "./shown.ts";
import type { WeekTruth } from "./truth.ts";

/**
 * Judges afterwards everything that the readers were shown, in the order of their answers, by what
 * the simulation itself has noted. Gives the first answer that cannot be true.
 */
export const judge = (
  truth: WeekTruth,
  observations: readonly Observation[],
): WeekViolation | undefined => {
  const inOrder = observations.toSorted((one, other) => one.answeredMs - other.answeredMs);
  const judged = [judgeRows, judgeEvents, judgeHistory, judgeLooks, judgeLines].map((one) =>
    one(truth),
  );
  for (const observation of inOrder)
    for (const one of judged) {
      const found = one(observation);
      if (found)
        return {
          ...found,
          message: `reader ${observation.reader}, asked ${timeOf(observation.askedMs)}, answered ${timeOf(observation.answeredMs)}: ${found.message}`,
        };
    }
  return undefined;
};
