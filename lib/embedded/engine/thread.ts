import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import {
  isMainThread,
  type MessagePort,
  parentPort,
  type TransferListItem,
  Worker,
  workerData,
} from "node:worker_threads";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";

/**
 * Asks a part of the run that works in another thread. Rejects with the error of that part, or
 * where its thread ends without an answer.
 */
export type Ask<Question, Answer> = (
  question: Question,
  moved?: readonly TransferListItem[],
) => Promise<Answer>;

/** A part of the run that works in a thread of its own, and answers questions. */
export interface Thread<Question, Answer> {
  readonly ask: Ask<Question, Answer>;
  /** Ends the thread at once. What it has open is closed by a question before. */
  readonly end: () => Promise<void>;
}

/**
 * What a module gets that is loaded as a thread: which part it is, and what that part needs to
 * know.
 */
interface Start<Data> {
  readonly part: string;
  readonly data: Data;
}

interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

/** `news`: what the thread says without a question. */
type Said<Answer, News> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: Failure }
  | { readonly news: News };

/**
 * An error as it goes from one thread to another: a copy of an error has no members but its message
 * and stack.
 */
interface Failure {
  readonly error: unknown;
  readonly code?: string;
  readonly details?: unknown;
}

interface Asking<Question, Answer, News> {
  readonly ask: Ask<Question, Answer>;
  readonly hear: (said: Said<Answer, News>) => void;
  readonly fail: (error: Error) => void;
}

const asking = <Question, Answer, News>(
  port: Pick<MessagePort, "postMessage">,
  onNews: (news: News) => void,
): Asking<Question, Answer, News> => {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let ended: Error | undefined;
  let next = 0;
  return {
    hear: (said) => {
      if ("news" in said) return onNews(said.news);
      const { resolve, reject } = waiting.get(said.id) ?? {};
      waiting.delete(said.id);
      return "failure" in said ? reject?.(errorOf(said.failure)) : resolve?.(said.answer);
    },
    ask: (question, moved = []) => {
      // A thread that has ended takes every message, and answers none.
      if (ended) return Promise.reject(ended);
      const id = next++;
      const answer = Promise.withResolvers<Answer>();
      waiting.set(id, answer);
      port.postMessage({ id, question } satisfies Asked<Question>, moved);
      return answer.promise;
    },
    fail: (error) => {
      ended = error;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
};

/**
 * Asks over one end of a channel whose other end answers by `answerOn`. Rejects too once either end
 * is closed.
 */
export const askOn = <Question, Answer>(port: MessagePort): Ask<Question, Answer> => {
  const { ask, hear, fail } = asking<Question, Answer, never>(port, () => {});
  port.on("message", hear);
  port.once("close", () => fail(new Error("the thread at the other end has ended")));
  return ask;
};

interface ThreadOptions<Data, News> extends Start<Data> {
  /** The module, which calls `answerIn` when it is loaded in a thread. */
  readonly module: string;
  readonly onNews?: (news: News) => void;
}

/**
 * Starts a thread. An error that nothing in it catches is an uncaught error of the process, as it
 * is without a thread.
 */
export const startThread = <Question, Answer, Data, News = never>({
  module,
  part,
  data,
  onNews = () => {},
}: ThreadOptions<Data, News>): Thread<Question, Answer> => {
  const compiled = getCompileCacheDir();
  const worker = new Worker(new URL(module), {
    workerData: { part, data } satisfies Start<Data>,
    // A thread keeps compiled code only where its environment says so. The folder of the process is
    // one of this version of Node, in the folder that the variable names.
    ...(compiled !== undefined && {
      env: { ...process.env, NODE_COMPILE_CACHE: dirname(compiled) },
    }),
  });
  const { ask, hear, fail } = asking<Question, Answer, News>(worker, onNews);
  worker.on("message", hear);
  worker.once("exit", () => fail(new Error(`the thread of the ${part} has ended`)));
  return {
    ask,
    end: async () => {
      await worker.terminate();
    },
  };
};

/** Answers every question that comes over a port. */
export const answerOn = <Question, Answer>(
  port: MessagePort,
  answer: (question: Question) => Promise<Answer>,
): void => {
  const say = (said: Said<Answer, never>): void => port.postMessage(said);
  port.on("message", ({ id, question }: Asked<Question>) => {
    answer(question).then(
      (answered) => say({ id, answer: answered }),
      (error: unknown) => say({ id, failure: failureOf(error) }),
    );
  });
};

/**
 * Answers the questions of the thread that started this one, if it was started as this part; does
 * nothing in any other thread. `open` makes the answering function, and gets what says news to that
 * thread.
 */
export const answerIn = <Question, Answer, Data, News = never>(
  part: string,
  open: (data: Data, say: (news: News) => void) => (question: Question) => Promise<Answer>,
): void => {
  const start: Partial<Start<Data>> | undefined = workerData ?? undefined;
  if (isMainThread || !parentPort || start?.part !== part) return;
  const port = parentPort;
  answerOn(
    port,
    open(start.data as Data, (news) => port.postMessage({ news } satisfies Said<Answer, News>)),
  );
};

const failureOf = (error: unknown): Failure => {
  if (isTidemarkError(error))
    return { error: error.message, code: error.code, details: error.details };
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return { error, ...(code !== undefined && { code }) };
};

const errorOf = ({ error, code, details }: Failure): unknown => {
  if (typeof error === "string" && code !== undefined)
    return new TidemarkError(code, error, details);
  return code !== undefined && error instanceof Error ? Object.assign(error, { code }) : error;
};
