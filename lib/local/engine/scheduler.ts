import * as z from "zod";
import { LOCAL_ACCOUNT } from "../queue/system-attributes.ts";
import { readIfThere, writeWhole } from "../whole-file.ts";
import type { Source } from "./drive.ts";
import { type Handler, invocationContext } from "./invocation.ts";

/** Input of the target as the template writes it (infra/schedule.yml): the scheduler puts the time in. */
export interface Tick {
  readonly scheduledTime: string;
}

export interface SchedulerOptions {
  /** File of its own state. */
  readonly path: string;
  readonly clock: () => number;
  readonly region: string;
  readonly functionName: string;
  readonly timeoutMs: number;
  readonly handler: Handler<Tick, unknown>;
  readonly onFailure: (scheduledTime: string, error: unknown) => void;
  /** A run in real time owes nothing for the minutes in which it did not run. */
  readonly skipsMissed: boolean;
}

const MINUTE_MS = 60_000;
/** As in the template: so often, and no longer than this after the scheduled time. */
const MAX_RETRIES = 5;
const MAX_AGE_MS = 2 * MINUTE_MS;
/** First wait of EventBridge Scheduler before it repeats; it then doubles. */
const FIRST_RETRY_MS = 10_000;

const stateSchema = z.object({
  /** The next minute that was not yet delivered. */
  minuteMs: z.number(),
  /** Deliveries that failed and will be repeated. */
  retries: z.array(z.object({ scheduledMs: z.number(), attempt: z.int(), atMs: z.number() })),
});
type State = z.infer<typeof stateSchema>;

/**
 * Fires once a minute with the payload of EventBridge Scheduler. At least once: a minute counts as delivered only after the handler returned, so a run that was killed
 * meanwhile delivers it again.
 */
export const scheduler = (options: SchedulerOptions): Source => {
  let state = restored(options);
  const save = (next: State) => {
    state = next;
    writeWhole(options.path, JSON.stringify(state));
  };
  const attempt = async (scheduledMs: number, attempt: number): Promise<void> => {
    const failure = await invoke(options, scheduledMs);
    if (failure === undefined) return;
    options.onFailure(tickOf(scheduledMs).scheduledTime, failure);
    const atMs = options.clock() + FIRST_RETRY_MS * 2 ** (attempt - 1);
    if (attempt > MAX_RETRIES || atMs > scheduledMs + MAX_AGE_MS) return;
    save({ ...state, retries: [...state.retries, { scheduledMs, attempt: attempt + 1, atMs }] });
  };
  let firing = false;
  return {
    nextMs: () => (firing ? undefined : Math.min(state.minuteMs, ...state.retries.map(({ atMs }) => atMs))),
    happen: async () => {
      firing = true;
      const retry = state.retries.find(({ atMs }) => atMs <= options.clock());
      if (retry) {
        await attempt(retry.scheduledMs, retry.attempt);
        save({ ...state, retries: state.retries.filter((other) => other !== retry) });
      } else {
        await attempt(state.minuteMs, 1);
        save({ ...state, minuteMs: state.minuteMs + MINUTE_MS });
      }
      firing = false;
    },
  };
};

const restored = ({ path, clock, skipsMissed }: SchedulerOptions): State => {
  const text = readIfThere(path);
  const thisMinuteMs = Math.floor(clock() / MINUTE_MS) * MINUTE_MS;
  if (text === undefined) return { minuteMs: thisMinuteMs, retries: [] };
  const saved = stateSchema.parse(JSON.parse(text));
  return skipsMissed && saved.minuteMs < thisMinuteMs ? { minuteMs: thisMinuteMs, retries: [] } : saved;
};

const tickOf = (scheduledMs: number): Tick => ({ scheduledTime: new Date(scheduledMs).toISOString().replace(/\.\d+Z$/, "Z") });

const invoke = async ({ handler, functionName, timeoutMs, region }: SchedulerOptions, scheduledMs: number): Promise<unknown> => {
  try {
    await handler(tickOf(scheduledMs), invocationContext(functionName, timeoutMs, region, LOCAL_ACCOUNT));
    return undefined;
  } catch (error) {
    return error ?? new Error("The handler threw nothing");
  }
};
