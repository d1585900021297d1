import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/** Answers requests, and knows which of them are still at work. */
export interface PendingAnswers {
  readonly listener: RequestListener;
  /** Settles when no answer is being made any more. */
  readonly idle: () => Promise<void>;
}

/**
 * A listener for answers that take time. A client that goes away ends its connection, and not the
 * work for its answer. So whoever closes what answers are read from closes the server and waits for
 * `idle` before. `answer` never rejects.
 */
export const answering = (
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): PendingAnswers => {
  const underWay = new Set<Promise<void>>();
  return {
    listener: (request, response) => {
      const work = answer(request, response).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};
