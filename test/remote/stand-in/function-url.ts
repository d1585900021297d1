import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { LambdaFunctionURLEvent } from "aws-lambda";
import type { FunctionUrlHandler } from "../../../lib/lambda/function-url.ts";
import { closeServer, listenOnLoopback } from "../../../lib/embedded/host/loopback.ts";
import { type Identities, type Verdict, verdictOn } from "./signature.ts";

/**
 * What goes wrong with one request, once: the connection before or after the function has run, or
 * an answer of the platform in its place.
 */
export type Fault =
  | "dropped"
  | "answer lost"
  | {
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface FunctionUrl {
  readonly url: string;
  readonly handler: FunctionUrlHandler;
  readonly identities: Identities;
  /** The platform's clock. */
  nowMs: () => number;
  /** Taken from the front, one for each request. */
  readonly faults: Fault[];
  /** Every event that reached the function. */
  readonly events: LambdaFunctionURLEvent[];
  readonly requests: () => number;
  readonly close: () => Promise<void>;
}

/** Types that the platform hands over as text; every other body comes as base64. */
const TEXT = /^(text\/|application\/(json|xml|javascript)|.*\+(json|xml))/;

/**
 * Stands for a function URL of AuthType AWS_IAM: a real HTTP server that verifies each signature
 * and calls the real handler with events of payload format 2.0.
 */
export const startFunctionUrl = async (
  handler: FunctionUrlHandler,
  identities: Identities,
  nowMs: () => number,
): Promise<FunctionUrl> => {
  const faults: Fault[] = [];
  const events: LambdaFunctionURLEvent[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    serve(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  const started: FunctionUrl = {
    url: await listenOnLoopback(server),
    handler,
    identities,
    nowMs,
    faults,
    events,
    requests: () => requests,
    close: () => closeServer(server),
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const fault = faults.shift();
    if (fault === "dropped") response.destroy();
    else if (typeof fault === "object")
      reply(response, fault.status, fault.body ?? "Internal Server Error", fault.headers ?? PLAIN);
    else await invoke(request, response, body, fault !== undefined);
  };
  const invoke = async (
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    isLost: boolean,
  ): Promise<void> => {
    const { method = "", url = "", headers } = request;
    const verdict = await verdictOn({ method, url, headers, body }, identities, started.nowMs());
    if (verdict.kind === "refused") return refuse(response, verdict, started.nowMs());
    const event = eventOf(request, body, verdict, `r-${requests}`);
    events.push(event);
    const result = await handler(event);
    if (isLost) response.destroy();
    else answer(response, result);
  };
  return started;
};

const PLAIN = { "content-type": "text/plain" };

const answer = (
  response: ServerResponse,
  result: Awaited<ReturnType<FunctionUrlHandler>>,
): void => {
  if (typeof result === "string") throw new Error("an answer has a status");
  const bytes = Buffer.from(result.body ?? "", result.isBase64Encoded ? "base64" : "utf8");
  const headers = Object.entries(result.headers ?? {}).map(([name, value]) => [
    name,
    String(value),
  ]);
  reply(response, result.statusCode ?? 200, bytes, Object.fromEntries(headers));
};

const reply = (
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
): void => {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
};

const refuse = (
  response: ServerResponse,
  { errorType, body }: Extract<Verdict, { kind: "refused" }>,
  nowMs: number,
): void =>
  reply(response, 403, JSON.stringify(body), {
    "content-type": "application/json",
    "x-amzn-errortype": errorType,
    date: new Date(nowMs).toUTCString(),
  });

const eventOf = (
  { method = "", url = "", headers }: IncomingMessage,
  body: Buffer,
  { identity, accessKey }: Extract<Verdict, { kind: "known" }>,
  requestId: string,
): LambdaFunctionURLEvent => {
  const [rawPath = "", rawQueryString = ""] = url.split("?");
  const isBase64Encoded = body.length > 0 && !TEXT.test(String(headers["content-type"]));
  const iam = {
    accessKey,
    accountId: identity.arn.split(":")[4] ?? "",
    callerId: "AIDASTANDIN",
    cognitoIdentity: null,
    principalOrgId: "",
    userArn: identity.arn,
    userId: "AIDASTANDIN",
  };
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        Array.isArray(value) ? value.join(",") : value,
      ]),
    ),
    requestContext: {
      accountId: iam.accountId,
      apiId: "standin",
      authorizer: { iam },
      domainName: String(headers.host),
      domainPrefix: "standin",
      http: {
        method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: "127.0.0.1",
        userAgent: String(headers["user-agent"]),
      },
      requestId,
      routeKey: "$default",
      stage: "$default",
      time: "01/Mar/2026:12:00:00 +0000",
      timeEpoch: 1_772_366_400_000,
    } as LambdaFunctionURLEvent["requestContext"],
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? "base64" : "utf8") }),
    isBase64Encoded,
  };
};
