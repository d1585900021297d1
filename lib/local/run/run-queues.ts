import { openQueueJournal, readQueueJournal } from "../queue/journal.ts";
import { openQueue, type Queue } from "../queue/queue.ts";
import { startSqsServer } from "../queue/sqs-server.ts";
import { DEAD_LETTERS, SYNC_QUEUE } from "./names.ts";

/** As in the template (infra/queues.yml, serverless.yml): six times the function's timeout, an hour, five receives, two weeks in the dead-letter queue. */
const VISIBILITY_MS = 180_000;
const RETENTION_MS = 3_600_000;
const DEAD_RETENTION_MS = 1_209_600_000;
const MAX_RECEIVES = 5;

export interface Queues {
  readonly sync: Queue;
  readonly dead: Queue;
  readonly endpoint: string;
  readonly syncUrl: string;
  /** Messages that the previous run received and did not finish. */
  readonly recovered: number;
  readonly close: () => Promise<void>;
}

/** Opens the queues of the run, with the messages of the last run, and serves them on loopback. */
export const startQueues = async (path: string, clock: () => number): Promise<Queues> => {
  const journal = openQueueJournal(path);
  const redrive = { deadLetterQueue: DEAD_LETTERS, maxReceiveCount: MAX_RECEIVES };
  const sync = openQueue(journal, clock, { name: SYNC_QUEUE, visibilityTimeoutMs: VISIBILITY_MS, retentionMs: RETENTION_MS, redrive });
  const dead = openQueue(journal, clock, { name: DEAD_LETTERS, visibilityTimeoutMs: VISIBILITY_MS, retentionMs: DEAD_RETENTION_MS });
  const recovered = sync.recoverInFlight();
  const server = await startSqsServer([sync, dead]);
  const close = async () => {
    await server.close();
    journal.close();
  };
  return { sync, dead, endpoint: server.endpoint, syncUrl: server.urlOf(sync), recovered, close };
};

/** Messages in the dead-letter queue of a data folder, also while a run writes its journal. Throws `local.queue-unreadable`. */
export const deadLettersIn = (journal: string): number =>
  [...readQueueJournal(journal).values()].filter(({ queue }) => queue === DEAD_LETTERS).length;
