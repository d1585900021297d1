import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ServerCredentials } from "../host/certificates.ts";
import { ServiceReply } from "./services.ts";
import type { KubeApi } from "./api.ts";
import { EventStream } from "./objects/watch.ts";
import { jsonOf } from "./kube-objects.ts";
import { internalError, ServerRefusal, tooLargeStatus, unauthorized } from "./status.ts";

/** Longest body that is read, as on a real server. */
const MAX_BODY_BYTES = 3 * 2 ** 20;
/** From this size on a real server compresses an answer for a client that accepts it. */
const GZIP_FROM_BYTES = 128 * 2 ** 10;
/**
 * An idle connection outlives the time between two slow syncs, so that no request meets a
 * connection that is being closed.
 */
const KEEP_ALIVE_MS = 180_000;
const HEALTH_PATHS = new Set(["/healthz", "/livez", "/readyz"]);

const compress = promisify(gzip);

interface Answer {
  readonly code: number;
  /** An object is sent as JSON, a stream as it comes. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerParts {
  readonly api: KubeApi;
  readonly credentials: ServerCredentials;
  /** Stands before what answers a request. Absent: nothing does. */
  readonly before?: Before;
  /** Gets what should not have happened; the client gets a 500. */
  readonly onError: (error: unknown) => void;
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Meets the requests of a server, and gives those on that it lets through. */
export type Before = (answering: Answering) => Answering;

/**
 * The HTTPS side of the API: authentication, bodies, Status objects. It has no state of its own.
 */
export const apiServer = (parts: ServerParts): Server => {
  const { certificatePem, keyPem } = parts.credentials;
  const answering: Answering = async (request, response) => {
    try {
      await send(request, response, await answerTo(parts, request));
    } catch (error) {
      // No answer is possible: the connection is broken, or half an answer was sent.
      parts.onError(error);
      response.destroy();
    }
  };
  const first = parts.before?.(answering) ?? answering;
  return createServer(
    { cert: certificatePem, key: keyPem, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => void first(request, response),
  );
};

const answerTo = async (parts: ServerParts, request: IncomingMessage): Promise<Answer> => {
  try {
    return await perform(parts, request);
  } catch (error) {
    if (error instanceof ServerRefusal) return { code: error.body.code, body: error.body };
    // The client closed the connection in the middle of its request: there is no effect and no
    // answer.
    if (request.errored) return { code: 400, body: "" };
    parts.onError(error);
    const { body } = internalError(error instanceof Error ? error.message : String(error));
    return { code: body.code, body };
  }
};

const perform = async (
  { api, credentials }: ServerParts,
  request: IncomingMessage,
): Promise<Answer> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://cluster.invalid");
  if (HEALTH_PATHS.has(pathname)) return { code: 200, body: "ok" };
  if (!isBearer(request.headers.authorization, credentials.token)) throw unauthorized();
  const body = await bodyOf(request);
  const answer = await api({
    method: request.method ?? "GET",
    path: pathname,
    query: searchParams,
    contentType: mediaType(request),
    accept: request.headers.accept ?? "",
    body,
  });
  if (answer instanceof ServiceReply) return answer;
  return answer === undefined
    ? { code: 404, body: "404 page not found\n" }
    : { code: 200, body: answer };
};

const mediaType = (request: IncomingMessage): string =>
  (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim() ?? "";

/** Compared in constant time: the port is open to every process of the machine. */
const isBearer = (header: string | undefined, token: string): boolean => {
  const received = Buffer.from(header ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return received.length === wanted.length && timingSafeEqual(received, wanted);
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLargeStatus(MAX_BODY_BYTES);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const send = async (
  request: IncomingMessage,
  response: ServerResponse,
  { code, body, headers }: Answer,
): Promise<void> => {
  if (body instanceof EventStream) return body.sendTo(response);
  const plain = typeof body === "string";
  const bytes = Buffer.from(plain ? body : `${jsonOf(body)}\n`);
  const zipped =
    bytes.length >= GZIP_FROM_BYTES && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  const content = zipped ? await compress(bytes, { level: 1 }) : bytes;
  response.writeHead(code, {
    "content-type": plain ? "text/plain; charset=utf-8" : "application/json",
    "cache-control": "no-cache, private",
    "content-length": content.length,
    ...(zipped && { "content-encoding": "gzip" }),
    ...(code === 413 && { connection: "close" }),
    ...headers,
  });
  response.end(content);
};
