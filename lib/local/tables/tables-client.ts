import { EventEmitter } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { boundedRequests } from "../../aws/bounded-requests.ts";
import { withoutLogger } from "../../aws/without-logger.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../run/loopback.ts";

/** Many times as long as the slowest call. A command must not wait for ever on a process that serves the tables and was stopped. */
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;

/** The headers that the engine asks for. It does not check the signature, so none is computed. */
const UNSIGNED = {
  authorization: "AWS4-HMAC-SHA256 Credential=loopback/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none",
  "x-amz-date": "20260101T000000Z",
} as const;

const clientWith = (config: DynamoDBClientConfig): DynamoDBClient =>
  withoutLogger(
    new DynamoDBClient({
      region: LOOPBACK_REGION,
      credentials: LOOPBACK_CREDENTIALS,
      signer: { sign: async (request) => Object.assign(request, { headers: { ...request.headers, ...UNSIGNED } }) },
      ...config,
    }),
  );

/** A client for the embedded tables of another process. Connections are kept, since a command makes several calls in a row. */
export const tablesClient = (endpoint: string): DynamoDBClient =>
  clientWith({ endpoint, requestHandler: boundedRequests({ connectMs: CONNECT_MS, wholeMs: ANSWER_MS }) });

/** A client for the embedded tables of this process, in this thread or another: the same requests and answers, without a socket. */
export const inProcessClient = (call: CallTables): DynamoDBClient =>
  clientWith({
    endpoint: "http://in-process",
    requestHandler: {
      handle: async ({ headers, body }: HttpRequest) => {
        const answer = await bounded(call(headers, body));
        return { response: { statusCode: answer.status, headers: answer.headers, body: answer.body } };
      },
      destroy: () => {},
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
    },
  });

/** A request of the SDK, as far as the engine reads it. */
interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Rejects as a request over a socket does when no answer comes, so that a caller treats both alike. */
const bounded = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = () => reject(Object.assign(new Error(`no answer from the embedded tables within ${ANSWER_MS} ms`), { name: "TimeoutError" }));
    timer = setTimeout(late, ANSWER_MS);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
};

/** Answers a request of this process. */
export type CallTables = (headers: Readonly<Record<string, string>>, body: Uint8Array) => Promise<ListenerAnswer>;

/** What a request listener answered. */
export interface ListenerAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const METHOD = "POST";

/**
 * Sends one request to a request listener of the embedded engine in this process, without a socket: no connection, no parsing of HTTP. Request and response have only the members that the
 * listener uses. Throws what the listener throws before it answers.
 */
export const callListener = (listener: RequestListener, headers: OutgoingHttpHeaders, body: Uint8Array): Promise<ListenerAnswer> =>
  new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), { method: METHOD, url: "/", headers });
    const answered: Record<string, string> = {};
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: unknown) => {
        answered[name.toLowerCase()] = String(value);
      },
      end: (text = "") => resolve({ status: response.statusCode, headers: answered, body: Buffer.from(text) }),
    };
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    request.emit("data", Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    request.emit("end");
  });
