import type { ServerResponse } from "node:http";

const MILLISECONDS = 1_000;
/** A client that does not read is cut off, and lists again. */
const WAITING_BYTES_MAX = 2 ** 20;

export interface StreamParts {
  /** How long it lasts, in real time. */
  readonly seconds: number;
  readonly first: readonly object[];
  /** Reports each later event, until the returned function is called. */
  readonly follow: (send: (event: object) => void) => () => void;
}

/** The answer to a watch: events as lines of JSON, until the time has passed or the client closes. */
export class EventStream {
  readonly #parts: StreamParts;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  sendTo(response: ServerResponse): void {
    const { seconds, first, follow } = this.#parts;
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
    response.flushHeaders();
    const send = (event: object): void => {
      response.write(`${JSON.stringify(event)}\n`);
      if (response.writableLength > WAITING_BYTES_MAX) response.destroy();
    };
    first.forEach(send);
    const unfollow = follow(send);
    const timer = setTimeout(() => response.end(), seconds * MILLISECONDS);
    response.once("close", () => {
      clearTimeout(timer);
      unfollow();
    });
  }
}
