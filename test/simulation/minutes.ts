import { plannedTime } from "../../lib/sync/plan.ts";
import { schedule } from "../../lib/sync/schedule.ts";
import type { Process } from "./process.ts";
import type { SimulatedQueue } from "./queue.ts";
import { START_MS, type Stage } from "./stage.ts";
import { FAULTS_MS } from "./timetable.ts";

const MINUTE_MS = 60_000;
const ATTEMPTS_MAX = 3;
/** The timeout of the function `schedule` (serverless.yml). */
const LIFE_MS = 30_000;
/** Minutes by which a call may be ahead. */
const AHEAD_MIN = 2;
const AHEAD_MAX = 90;

/** The scheduler's call of every minute, to the real planning: on time, up to a minute late, twice, again after a failure, or never. */
export const planMinutes = (stage: Stage, untilMs: number, queue: SimulatedQueue, newProcess: (name: string) => Process): void => {
  const { scheduler, random, rate, nowMs } = stage;
  const plan = (minute: number, attempt = 1): void => {
    const process = newProcess(`plan-${minute}`);
    const tables = stage.tablesFor(process, undefined);
    const startedMs = nowMs();
    const again = (): void => {
      if (attempt >= ATTEMPTS_MAX) return;
      const againMs = nowMs() + MINUTE_MS;
      if (startedMs < START_MS + FAULTS_MS) stage.ledger.calledAgainMs = Math.max(stage.ledger.calledAgainMs, againMs);
      scheduler.at(againMs, () => plan(minute, attempt + 1));
    };
    process.onEnd.add(again);
    let isDone = false;
    scheduler.at(nowMs() + LIFE_MS, () => {
      if (!isDone) stage.network.end(process, "its life is over");
    });
    const messages = { client: queue.clientFor(process), queueUrl: "queue", wait: tables.wait, random: random.real };
    const tick = { scheduledMs: START_MS + minute * MINUTE_MS, start: minute === 0 };
    const done = (): void => {
      isDone = true;
      process.onEnd.clear();
    };
    schedule({ tables, queue: messages }, tick).then(done, () => {
      done();
      again();
    });
    scheduler.resumed();
  };
  const call = (minute: number): void => {
    // Nothing is lost of what is due after the faults.
    if (random.chance(rate(plannedTime(nowMs(), false).fromMs) / 2)) return;
    const lateMs = random.chance(rate() * 5) ? random.int(0, MINUTE_MS) : 0;
    scheduler.at(nowMs() + lateMs, () => plan(minute));
    if (random.chance(rate())) scheduler.at(nowMs() + lateMs + random.int(0, MINUTE_MS), () => plan(minute));
    // A call that says that it is scheduled for a time to come.
    if (random.chance(rate())) plan(minute + random.int(AHEAD_MIN, AHEAD_MAX), ATTEMPTS_MAX);
  };
  for (let minute = 0; minute * MINUTE_MS < untilMs; minute++) scheduler.at(START_MS + minute * MINUTE_MS, () => call(minute));
};
