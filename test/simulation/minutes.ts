import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import type { Process } from "./process.ts";
import type { SimulatedQueue } from "./queue.ts";
import { START_MS, type Stage } from "./stage.ts";
import { TEMPLATE } from "./template.ts";

const MINUTE_MS = 60_000;
/** Lambda repeats a failed call after about this time. */
const AGAIN_MS = 60_000;
const ATTEMPTS_MAX = 1 + TEMPLATE.scheduleRetries;
/** Calls that never come, as a share of the faults of one request. */
const NEVER = 2;
/** Chance that the clock of an environment that lives on was set anew since its last call. */
const RESET = 1 / 4;
/** Minutes by which a call may be ahead. */
const AHEAD_MIN = 2;
const AHEAD_MAX = 90;

/**
 * The scheduler's call of every minute, to the real planning: on time, up to a minute late, twice,
 * again after a failure as far as the template lets Lambda do it, or never.
 */
export const planMinutes = (
  stage: Stage,
  { fromMs = 0, untilMs }: { readonly fromMs?: number; readonly untilMs: number },
  queue: SimulatedQueue,
  newProcess: (name: string) => Process,
): void => {
  const { scheduler, random, rate, nowMs, personSkew } = stage;
  /** Environments at rest: each plans one call at a time. */
  const warm: Process[] = [];
  const names = new Set<string>();
  // A machine that lost its power knows by their names which processes it ended.
  const newName = (minute: number, again = ""): string => {
    const name = `plan-${minute}${again}`;
    if (names.has(name)) return newName(minute, `${again}+`);
    names.add(name);
    return name;
  };
  const environment = (minute: number): Process => {
    const process = personSkew && warm.pop();
    if (!process?.alive) return newProcess(newName(minute));
    // Its clock goes on to be wrong, or was set anew.
    if (random.chance(RESET) || rate() === 0) process.skewMs = personSkew?.() ?? 0;
    return process;
  };
  const plan = (minute: number, attempt = 1, calledMs = nowMs()): void => {
    const process = environment(minute);
    const tables = stage.tablesFor(process, undefined);
    const again = (): void => {
      const againMs = nowMs() + AGAIN_MS;
      if (attempt >= ATTEMPTS_MAX || againMs > calledMs + TEMPLATE.scheduleAgeMs) return;
      scheduler.at(againMs, () => plan(minute, attempt + 1, calledMs));
    };
    process.onEnd.add(again);
    let isDone = false;
    scheduler.at(nowMs() + TEMPLATE.scheduleLifeMs, () => {
      if (!isDone) stage.network.end(process, "its life is over");
    });
    const messages = {
      client: queue.clientFor(process),
      queueUrl: "queue",
      wait: tables.wait,
      random: random.real,
    };
    const tick = { scheduledMs: START_MS + minute * MINUTE_MS };
    const done = (): void => {
      isDone = true;
      process.onEnd.clear();
      warm.push(process);
    };
    planSyncs({ tables, queue: messages }, tick).then(done, () => {
      done();
      again();
    });
    scheduler.resumed();
  };
  const call = (minute: number): void => {
    if (random.chance(rate() * NEVER)) return;
    const lateMs = random.chance(rate() * 5) ? random.int(0, MINUTE_MS) : 0;
    scheduler.at(nowMs() + lateMs, () => plan(minute));
    if (random.chance(rate()))
      scheduler.at(nowMs() + lateMs + random.int(0, MINUTE_MS), () => plan(minute));
    // A call that says that it is scheduled for a time to come.
    if (random.chance(rate())) plan(minute + random.int(AHEAD_MIN, AHEAD_MAX), ATTEMPTS_MAX);
  };
  for (let minute = Math.ceil(fromMs / MINUTE_MS); minute * MINUTE_MS < untilMs; minute++)
    scheduler.at(START_MS + minute * MINUTE_MS, () => call(minute));
};
