import * as z from "zod";
import { readJsonIfThere, writeWhole } from "../host/whole-file.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";
import { type Activity, type Handler, invocationContext } from "./event-source.ts";
import { MINUTE_MS } from "../../rules/model/time-text.ts";

/**
 * Input of the target, as in the template (infra/schedule.yml). The scheduler fills in the time.
 */
export interface ScheduledTick {
  readonly scheduledTime: string;
}

export interface SchedulerOptions {
  /** The file that holds the state of the scheduler. */
  readonly path: string;
  readonly clock: () => number;
  readonly region: string;
  readonly functionName: string;
  readonly timeoutMs: number;
  readonly handler: Handler<ScheduledTick, unknown>;
  readonly onFailure: (scheduledTime: string, error: unknown) => void;
  /** True for a run in real time: it does not repeat the minutes in which it did not run. */
  readonly skipsMissed: boolean;
}

/** As in the template: the number of retries, and the longest time after the scheduled time. */
const MAX_RETRIES = 5;
const MAX_AGE_MS = 2 * MINUTE_MS;
/** First wait of EventBridge Scheduler before a retry. Each further wait is twice as long. */
const FIRST_RETRY_MS = 10_000;

const stateSchema = z.object({
  /** The next minute that was not yet delivered. */
  minuteMs: z.number(),
  /** Deliveries that failed and will be repeated. */
  retries: z.array(z.object({ scheduledMs: z.number(), attempt: z.int(), atMs: z.number() })),
});
type State = z.infer<typeof stateSchema>;
type Delivery = Omit<State["retries"][number], "atMs">;

/**
 * Fires once a minute with the payload of EventBridge Scheduler. Delivery is at least once: a
 * minute counts as delivered after the handler has returned, so a run that was killed before that
 * delivers it again.
 */
export const scheduler = (options: SchedulerOptions): Activity => {
  let state = restored(options);
  const save = (next: State) => {
    state = next;
    writeWhole(options.path, JSON.stringify(state));
  };
  const attempt = async (tick: Delivery): Promise<void> => {
    const { scheduledMs, attempt: attempts } = tick;
    const failure = await invoke(options, tick);
    if (failure === undefined) return;
    options.onFailure(tickOf(tick).scheduledTime, failure);
    const atMs = options.clock() + FIRST_RETRY_MS * 2 ** (attempts - 1);
    if (attempts > MAX_RETRIES || atMs > scheduledMs + MAX_AGE_MS) return;
    save({ ...state, retries: [...state.retries, { ...tick, attempt: attempts + 1, atMs }] });
  };
  let firing = false;
  /**
   * A minute that is ahead of the clock was saved under a clock that was ahead itself. Waiting for
   * it would stop every sync until then.
   */
  const beginAnewIfAhead = (): void => {
    const initial = anewAt(options.clock());
    if (options.skipsMissed && state.minuteMs > initial.minuteMs + MINUTE_MS) save(initial);
  };
  return {
    nextMs: () => {
      if (firing) return undefined;
      beginAnewIfAhead();
      return Math.min(state.minuteMs, ...state.retries.map(({ atMs }) => atMs));
    },
    happen: async () => {
      firing = true;
      const retry = state.retries.find(({ atMs }) => atMs <= options.clock());
      if (retry) {
        await attempt(retry);
        save({ ...state, retries: state.retries.filter((other) => other !== retry) });
      } else {
        const { minuteMs } = state;
        await attempt({ scheduledMs: minuteMs, attempt: 1 });
        save({ ...state, minuteMs: minuteMs + MINUTE_MS });
      }
      firing = false;
    },
  };
};

/** The state that a scheduler left. Throws `local.unreadable`. */
export const readSchedule = (path: string): State | undefined => readJsonIfThere(path, stateSchema);

/** Writes the state of a scheduler that has not fired yet. */
export const beginSchedule = (path: string, nowMs: number): void =>
  writeWhole(path, JSON.stringify(anewAt(nowMs)));

const anewAt = (nowMs: number): State => ({
  minuteMs: Math.floor(nowMs / MINUTE_MS) * MINUTE_MS,
  retries: [],
});

const restored = ({ path, clock, skipsMissed }: SchedulerOptions): State => {
  const saved = readSchedule(path);
  const initial = anewAt(clock());
  if (!saved) return initial;
  return skipsMissed && saved.minuteMs < initial.minuteMs ? initial : saved;
};

const tickOf = ({ scheduledMs }: Delivery): ScheduledTick => ({
  scheduledTime: new Date(scheduledMs).toISOString().replace(/\.\d+Z$/, "Z"),
});

const invoke = async (
  { handler, functionName, timeoutMs, region }: SchedulerOptions,
  tick: Delivery,
): Promise<unknown> => {
  try {
    await handler(tickOf(tick), invocationContext(functionName, timeoutMs, region, LOCAL_ACCOUNT));
    return undefined;
  } catch (error) {
    return error ?? new Error("The handler threw nothing");
  }
};
