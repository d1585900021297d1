import type { Agent } from "node:http";
import { NodeHttpHandler } from "@smithy/node-http-handler";

type Handle = NodeHttpHandler["handle"];

/** Limits of one HTTP request to an AWS service, in milliseconds. */
export interface RequestLimits {
  /** From the start until the connection stands. */
  readonly connectMs: number;
  /** From the start until the last byte of the answer. */
  readonly wholeMs: number;
}

/**
 * A request handler for the clients of the AWS SDK that ends each request at a limit.
 *
 * The SDK's own `requestTimeout` only logs a warning, and no setting of it covers an answer that
 * stops halfway. Here one timer covers everything: the wait for a socket, the connection, the
 * request and the whole body. A connection that went dead while the environment was frozen ends the
 * same way, is closed, and the next attempt opens a new one.
 *
 * A request that reaches its limit fails with the name `TimeoutError`. It says nothing about
 * whether the service executed the request.
 */
export const boundedRequests = (
  limits: RequestLimits,
  onDated: OnDated = () => {},
  surroundings: RequestSurroundings = {},
): NodeHttpHandler => new BoundedHandler(limits, onDated, surroundings);

/** Connections and time, where they are not the machine's. */
export interface RequestSurroundings {
  readonly httpAgent?: Agent;
  /** Connections at once, at most; by default the 50 of the SDK. */
  readonly sockets?: number;
  readonly signalAfter?: (ms: number) => AbortSignal;
}

/**
 * One answer of a service: its `Date` header, and the own clock before the request was sent and
 * after the head of the answer came.
 */
export interface DatedAnswer {
  readonly date: string;
  readonly sentMs: number;
  readonly receivedMs: number;
}

export type OnDated = (answer: DatedAnswer) => void;

class BoundedHandler extends NodeHttpHandler {
  readonly #wholeMs: number;
  readonly #onDated: OnDated;
  readonly #signalAfter: (ms: number) => AbortSignal;

  constructor(
    { connectMs, wholeMs }: RequestLimits,
    onDated: OnDated,
    { httpAgent, sockets, signalAfter = AbortSignal.timeout }: RequestSurroundings,
  ) {
    super({
      connectionTimeout: connectMs,
      ...(sockets !== undefined && {
        httpAgent: { keepAlive: true, maxSockets: sockets },
        httpsAgent: { keepAlive: true, maxSockets: sockets },
      }),
      ...(httpAgent && { httpAgent }),
    });
    this.#wholeMs = wholeMs;
    this.#signalAfter = signalAfter;
    this.#onDated = onDated;
  }

  override async handle(...[request, options]: Parameters<Handle>): ReturnType<Handle> {
    // Aborting also destroys the connection after the head of the answer came: the reader of the
    // body then fails with ECONNRESET.
    const limit = this.#signalAfter(this.#wholeMs);
    const callerSignal = options?.abortSignal;
    const abortSignal =
      callerSignal instanceof AbortSignal ? AbortSignal.any([limit, callerSignal]) : limit;
    try {
      const sentMs = Date.now();
      const answered = await super.handle(request, { ...options, abortSignal });
      const { date } = answered.response.headers;
      if (date !== undefined) this.#onDated({ date, sentMs, receivedMs: Date.now() });
      return answered;
    } catch (cause) {
      if (!limit.aborted) throw cause;
      throw Object.assign(
        new Error(`no answer from ${request.hostname} within ${this.#wholeMs} ms`, { cause }),
        { name: "TimeoutError" },
      );
    }
  }
}

/** Of a client of the AWS SDK, as far as it matters here. */
interface Client {
  readonly middlewareStack: { readonly remove: (name: string) => boolean };
}

/**
 * Takes the SDK's logger out of a client. Without a logger it writes nothing, and yet walks through
 * every input and output by its schema: some percent of a call that lists many items.
 */
export const withoutLogger = <Kind extends Client>(client: Kind): Kind => {
  client.middlewareStack.remove("loggerMiddleware");
  return client;
};
