import type { RequestListener } from "node:http";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { boundedRequests } from "../../aws/bounded-requests.ts";
import { withoutLogger } from "../../aws/without-logger.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../run/loopback.ts";
import { callListener } from "./call-listener.ts";

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

/** A client for the embedded tables of this process: the same requests and answers, without a socket. `onAnswer` is called with the target of each request after its answer. */
export const inProcessClient = (listener: RequestListener, onAnswer: (target: string) => void): DynamoDBClient =>
  clientWith({
    endpoint: "http://in-process",
    requestHandler: {
      handle: async ({ headers, body }: HttpRequest) => {
        const answer = await bounded(callListener(listener, headers, body));
        onAnswer(String(headers["x-amz-target"]));
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
