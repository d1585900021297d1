import { availableParallelism } from "node:os";
import { answerIn, startThread, type Thread } from "../../embedded/engine/thread.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { type ReplayJob, replay } from "../../replay/replay.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";

/** Threads that replay, each one job at a time. */
export interface ReplayThreads {
  readonly replay: (job: ReplayJob) => Promise<Minutes>;
  readonly end: () => Promise<void>;
}

const PART = "replay";
/** A machine with more cores has other work. */
const THREADS_MAX = 8;

/** Starts no more threads than there are jobs. The caller ends them. */
export const startReplayThreads = (jobs: number): ReplayThreads => {
  const threads = Array.from(
    { length: Math.max(1, Math.min(availableParallelism(), jobs, THREADS_MAX)) },
    (): Thread<ReplayJob, Minutes> =>
      startThread({ module: import.meta.url, part: PART, data: undefined }),
  );
  const free = [...threads];
  const waiting: ((thread: Thread<ReplayJob, Minutes>) => void)[] = [];
  const taken = async (): Promise<Thread<ReplayJob, Minutes>> =>
    free.pop() ?? new Promise((resolve) => waiting.push(resolve));
  const give = (thread: Thread<ReplayJob, Minutes>): void => {
    const next = waiting.shift();
    if (next) next(thread);
    else free.push(thread);
  };
  return {
    replay: async (job) => {
      const thread = await taken();
      try {
        return await thread.ask(job);
      } finally {
        give(thread);
      }
    },
    end: async () => {
      await Promise.all(threads.map(({ end }) => end()));
    },
  };
};

/** Below so much policy-time a thread takes longer to start than the replay. */
const WORTH_THREADS_MS = 3 * DAY_MS;

/** Replays jobs side by side, and gives their minutes in the order of the jobs. */
export const replayedBeside = async (
  jobs: readonly ReplayJob[],
  onDone: (done: number) => void,
): Promise<readonly Minutes[]> => {
  const policyMs = jobs.reduce((sum, { span }) => sum + span.untilMs - span.fromMs, 0);
  if (jobs.length < 2 || policyMs < WORTH_THREADS_MS)
    return jobs.map(({ policy, workload, span }) => replay(policy, workload, span));
  const threads = startReplayThreads(jobs.length);
  let done = 0;
  try {
    return await Promise.all(
      jobs.map(async (job) => {
        const minutes = await threads.replay(job);
        onDone(++done);
        return minutes;
      }),
    );
  } finally {
    await threads.end();
  }
};

answerIn(
  PART,
  () =>
    async ({ policy, workload, span }: ReplayJob) =>
      replay(policy, workload, span),
);
