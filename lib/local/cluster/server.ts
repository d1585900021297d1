import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ServerCredentials } from "../run/certificates.ts";
import { ServiceReply } from "../sources/services.ts";
import type { KubeApi } from "./api.ts";
import { EventStream } from "./objects/watch.ts";
import { jsonOf } from "./kube-objects.ts";
import { internalError, Refusal, tooLarge, unauthorized } from "./status.ts";

/** Longest body that is read, as on a real server. */
const MAX_BODY_BYTES = 3 * 2 ** 20;
/** From this size on a real server compresses an answer for a client that accepts it. */
const GZIP_FROM_BYTES = 128 * 2 ** 10;
/** An idle connection outlives the time between two slow syncs, so that no request meets a connection that is being closed. */
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
  readonly faults: Faults;
  /** Gets what should not have happened; the client gets a 500. */
  readonly onError: (error: unknown) => void;
}

/** The HTTPS side of the API: authentication, faults, bodies, Status objects. It has no state of its own. */
export const apiServer = (parts: ServerParts): Server => {
  const { certificatePem, keyPem } = parts.credentials;
  const server = createServer({ cert: certificatePem, key: keyPem, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    serve(parts, request, response).catch((error: unknown) => {
      // No answer is possible: the connection is broken, or half an answer was sent.
      parts.onError(error);
      response.destroy();
    });
  });
  return server;
};

const serve = async (parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const fault = parts.faults.take(request.method ?? "GET", urlOf(request).pathname);
  if (fault === undefined || fault.kind === "slow") return send(request, response, await answerTo(parts, request, fault?.delayMs));
  if (fault.when === "after") await answerTo(parts, request);
  return spoil(fault, request, response);
};

const spoil = async (fault: Exclude<Fault, { kind: "slow" }>, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  switch (fault.kind) {
    case "hang":
      return;
    case "reset":
      request.socket.destroy();
      return;
    case "status": {
      const { code, reason, message, retryAfterSeconds } = fault;
      const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
      const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
      return send(request, response, { code, body: new Refusal(code, reason, message, details).body, headers });
    }
  }
};

const answerTo = async (parts: ServerParts, request: IncomingMessage, delayMs = 0): Promise<Answer> => {
  try {
    return await perform(parts, request, delayMs);
  } catch (error) {
    if (error instanceof Refusal) return { code: error.body.code, body: error.body };
    // The client closed the connection in the middle of its request: there is no effect and no answer.
    if (request.errored) return { code: 400, body: "" };
    parts.onError(error);
    const { body } = internalError(error instanceof Error ? error.message : String(error));
    return { code: body.code, body };
  }
};

/** A request that was read whole takes effect after its delay, whether or not the client still waits: so a late write can be met. */
const perform = async ({ api, credentials }: ServerParts, request: IncomingMessage, delayMs: number): Promise<Answer> => {
  const { pathname, searchParams } = urlOf(request);
  if (HEALTH_PATHS.has(pathname)) return { code: 200, body: "ok" };
  if (!isBearer(request.headers.authorization, credentials.token)) throw unauthorized();
  const body = await bodyOf(request);
  // A delay does not keep the process alive.
  if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
  const answer = await api({
    method: request.method ?? "GET",
    path: pathname,
    query: searchParams,
    contentType: mediaType(request),
    accept: request.headers.accept ?? "",
    body,
  });
  if (answer instanceof ServiceReply) return answer;
  return answer === undefined ? { code: 404, body: "404 page not found\n" } : { code: 200, body: answer };
};

const mediaType = (request: IncomingMessage): string => (request.headers["content-type"] ?? "application/json").split(";")[0]?.trim() ?? "";

const urlOf = (request: IncomingMessage): URL => new URL(request.url ?? "/", "https://cluster.invalid");

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
    if (bytes > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const send = async (request: IncomingMessage, response: ServerResponse, { code, body, headers }: Answer): Promise<void> => {
  if (body instanceof EventStream) return body.sendTo(response);
  const plain = typeof body === "string";
  const bytes = Buffer.from(plain ? body : `${jsonOf(body)}\n`);
  const zipped = bytes.length >= GZIP_FROM_BYTES && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
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

/** A fault that a test or a demonstration plants in requests to the simulated API server. */
type Fault = {
  readonly path: string;
  readonly method?: string /** How many requests it meets; then it is over. Without it: all. */;
  readonly times?: number;
} & FaultKind;

type FaultKind =
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfterSeconds?: number;
      readonly when?: When;
    }
  /** No answer, the connection stays open. */
  | { readonly kind: "hang"; readonly when?: When }
  /** The connection is cut. */
  | { readonly kind: "reset"; readonly when?: When }
  /** The answer comes late, by wall time. */
  | { readonly kind: "slow"; readonly delayMs: number };

/** "after": the request has its effect, only the answer is lost. Default "before". */
type When = "before" | "after";

/** The faults in force: the first one that fits a request meets it. */
export interface Faults {
  /** Begins a fault. The returned function ends it. */
  add(fault: Fault): () => void;
  clear(): void;
  /** The fault that meets this request, counted as one of its times. */
  take(method: string, path: string): Fault | undefined;
}

export const faultSwitches = (): Faults => {
  const inForce = new Map<symbol, { readonly fault: Fault; left: number }>();
  return {
    add: (fault) => {
      const key = Symbol(fault.kind);
      inForce.set(key, { fault, left: fault.times ?? Number.POSITIVE_INFINITY });
      return () => {
        inForce.delete(key);
      };
    },
    clear: () => inForce.clear(),
    take: (method, path) => {
      for (const [key, entry] of inForce) {
        if (!path.startsWith(entry.fault.path) || (entry.fault.method ?? method) !== method) continue;
        entry.left--;
        if (entry.left <= 0) inForce.delete(key);
        return entry.fault;
      }
      return undefined;
    },
  };
};
