import { availableParallelism } from "node:os";
import { answerIn, startThread, type Thread } from "../../embedded/engine/thread.ts";
import type { Minutes } from "../../replay/minutes.ts";
import { type OnShare, type ReplayJob, replay } from "../../replay/replay.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import type { Printer } from "../io.ts";

/** Threads that replay, each one job at a time. */
export interface ReplayThreads {
  readonly replay: (job: ReplayJob, onShare?: OnShare) => Promise<Minutes>;
  readonly end: () => Promise<void>;
}

const PART = "replay";
/** A machine with more cores has other work. */
const THREADS_MAX = 8;

/** A thread, and what hears of the job that it has. */
interface ReplayThread {
  readonly thread: Thread<ReplayJob, Minutes>;
  onShare: OnShare | undefined;
}

const started = (): ReplayThread => {
  const own: ReplayThread = {
    onShare: undefined,
    thread: startThread<ReplayJob, Minutes, undefined, number>({
      ...{ module: import.meta.url, part: PART, data: undefined },
      onNews: (share) => own.onShare?.(share),
    }),
  };
  return own;
};

const threadsFor = (jobs: number): number =>
  Math.max(1, Math.min(availableParallelism(), jobs, THREADS_MAX));

/** Starts no more threads than there are jobs. The caller ends them. */
export const startReplayThreads = (jobs: number): ReplayThreads => {
  const threads = Array.from({ length: threadsFor(jobs) }, started);
  const free = [...threads];
  const waiting: ((thread: ReplayThread) => void)[] = [];
  const taken = async (): Promise<ReplayThread> =>
    free.pop() ?? new Promise((resolve) => waiting.push(resolve));
  const give = (thread: ReplayThread): void => {
    const next = waiting.shift();
    if (next) next(thread);
    else free.push(thread);
  };
  return {
    replay: async (job, onShare) => {
      const own = await taken();
      own.onShare = onShare;
      try {
        return await own.thread.ask(job);
      } finally {
        own.onShare = undefined;
        give(own);
      }
    },
    end: async () => {
      await Promise.all(threads.map(({ thread }) => thread.end()));
    },
  };
};

/** Replays jobs side by side, and gives their minutes in the order of the jobs. */
export type ReplayAll = (
  jobs: readonly ReplayJob[],
  onShare: OnShare,
) => Promise<readonly Minutes[]>;

/** `onShare` hears of all jobs together. */
export const allBy =
  (replayOne: ReplayThreads["replay"]): ReplayAll =>
  async (jobs, onShare) => {
    const shares = jobs.map(() => 0);
    return Promise.all(
      jobs.map(async (job, at) =>
        replayOne(job, (share) => {
          shares[at] = share;
          onShare(shares.reduce((sum, each) => sum + each, 0) / jobs.length);
        }),
      ),
    );
  };

const allHere = allBy(async ({ policy, workload, span }, onShare) =>
  replay(policy, workload, span, onShare),
);

/** Below so much policy-time a thread takes longer to start than the replay. */
const WORTH_THREADS_MS = 3 * DAY_MS;

/**
 * Replays for so many autoscalers, and how many of them are worth to be replayed together. Threads
 * are started with the first jobs that are worth them, and ended with the work.
 */
export const withReplays = async <Result>(
  autoscalers: number,
  work: (replayAll: ReplayAll, together: number) => Promise<Result>,
): Promise<Result> => {
  let threads: ReplayThreads | undefined;
  const replayAll: ReplayAll = async (jobs, onShare) => {
    const policyMs = jobs.reduce((sum, { span }) => sum + span.untilMs - span.fromMs, 0);
    const all = jobs.length * autoscalers;
    if (all < 2 || policyMs < WORTH_THREADS_MS) return allHere(jobs, onShare);
    threads ??= startReplayThreads(all);
    return allBy(threads.replay)(jobs, onShare);
  };
  try {
    return await work(replayAll, threadsFor(autoscalers));
  } finally {
    await threads?.end();
  }
};

const BAR = 20;
const PERCENT = 100;

/** Shows on a terminal how much of something is replayed. */
export const shareShown =
  ({ progress }: Pick<Printer, "progress">, of: string): OnShare =>
  (share) =>
    progress(`${of}: ${barText(share)} ${Math.floor(share * PERCENT)} % is replayed`);

export const barText = (share: number): string => {
  const full = Math.round(share * BAR);
  return `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
};

answerIn(
  PART,
  (_data: undefined, say: OnShare) =>
    async ({ policy, workload, span }: ReplayJob) =>
      replay(policy, workload, span, say),
);
