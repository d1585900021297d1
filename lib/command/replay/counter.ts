import type { Trace } from "../../embedded/traces/trace.ts";
import { printable } from "../../rules/model/foreign-text.ts";
import { usage } from "../usage-error.ts";

/** Fewer samples do not show that a series only rises. */
const SAMPLES_LEAST = 30;
/** After a restart of its process a counter begins anew, with what was counted since. */
const RESET_TO = 0.1;
/** A load that rises in steps stays as it is in between; a counter of a service that is used does not. */
const RISES_LEAST = 0.9;
/** Names that the conventions of Prometheus give to counters. */
const COUNTER_NAME = /_(total|count|sum|bucket)$/;

/** Whether a series only rises, and starts anew, as one does that counts and is no load. */
export const onlyRises = ({ points }: Pick<Trace, "points">): boolean => {
  let rises = 0;
  for (const [at, { value }] of points.entries()) {
    const before = points[at - 1]?.value ?? value;
    if (value < before && value > before * RESET_TO) return false;
    if (value > before) rises++;
  }
  return points.length >= SAMPLES_LEAST && rises >= RISES_LEAST * (points.length - 1);
};

/** What a report says of a load that may be a counter, and has no name that says so. */
export const COUNTER_WORDS =
  "The load rises in nearly each sample and hardly falls: of a counter, give the rate, such as rate(…[1m])";

/** Refuses a counter by its name: each value has all that was counted before it. */
export const refuseCounter = (of: string, trace: Trace): void => {
  const { unit } = trace;
  if (!COUNTER_NAME.test(unit) || !onlyRises(trace)) return;
  const name = printable(unit);
  throw usage(
    `Cannot use the load of "${of}": "${name}" only rises, as a counter does; a load is a rate: export rate(${name}[1m])`,
  );
};
