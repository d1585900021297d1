import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answering, Before } from "../../../lib/embedded/cluster/server.ts";
import {
  type ClusterOptions,
  type SimulatedCluster,
  startSimulatedCluster,
} from "../../../lib/embedded/cluster/simulated-cluster.ts";
import { ServerRefusal } from "../../../lib/embedded/cluster/status.ts";

/** A fault that a test plants in requests to the simulated API server. */
type Fault = {
  readonly path: string;
  readonly method?: string;
  /** How many requests it meets; then it has ended. Absent: all. */
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
  /**
   * The request that was read whole takes effect after this wall time, whether or not the client
   * still waits: so a late write can be met.
   */
  | { readonly kind: "slow"; readonly delayMs: number };

/** "after": the request has its effect, only the answer is lost. Default "before". */
type When = "before" | "after";

/** The faults in force: the first one that fits a request meets it. */
export interface Faults {
  /** Begins a fault. The returned function ends it. */
  add(fault: Fault): () => void;
  clear(): void;
}

export interface FaultyCluster extends SimulatedCluster {
  readonly faults: Faults;
}

/** A simulated cluster with planted faults before its API server. */
export const startFaultyCluster = async (options: ClusterOptions): Promise<FaultyCluster> => {
  const inForce = new Map<symbol, { readonly fault: Fault; left: number }>();
  const take = (method: string, path: string): Fault | undefined => {
    for (const [key, entry] of inForce) {
      if (!path.startsWith(entry.fault.path) || (entry.fault.method ?? method) !== method) continue;
      entry.left--;
      if (entry.left <= 0) inForce.delete(key);
      return entry.fault;
    }
    return undefined;
  };
  const before: Before = (answering) => async (request, response) => {
    const fault = take(
      request.method ?? "GET",
      new URL(request.url ?? "/", "https://cluster.invalid").pathname,
    );
    if (fault === undefined) return answering(request, response);
    if (fault.kind === "slow") return answerLate(answering, { request, response }, fault.delayMs);
    if (fault.when === "after") await withoutAnswer(answering, request);
    spoil(fault, request, response);
  };
  const faults: Faults = {
    add: (fault) => {
      const key = Symbol(fault.kind);
      inForce.set(key, { fault, left: fault.times ?? Number.POSITIVE_INFINITY });
      return () => void inForce.delete(key);
    },
    clear: () => inForce.clear(),
  };
  return { ...(await startSimulatedCluster({ ...options, before })), faults };
};

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A delay does not keep the process alive. */
const answerLate = async (
  answering: Answering,
  { request, response }: Call,
  delayMs: number,
): Promise<void> => {
  const { method, url, headers, socket } = request;
  const body = await buffer(request);
  await sleep(delayMs, undefined, { ref: false });
  await answering(
    Object.assign(Readable.from([body]), {
      method,
      url,
      headers,
      socket,
    }) as unknown as IncomingMessage,
    response,
  );
};

const withoutAnswer = (answering: Answering, request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    const response = { writeHead: () => response, end: () => resolve(), destroy: () => resolve() };
    void answering(
      request,
      response as unknown as ServerResponse & { readonly req: IncomingMessage },
    );
  });

const spoil = (
  fault: Exclude<Fault, { kind: "slow" }>,
  request: IncomingMessage,
  response: ServerResponse,
): void => {
  if (fault.kind === "reset") request.socket.destroy();
  if (fault.kind !== "status") return;
  const { code, reason, message, retryAfterSeconds } = fault;
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const content = Buffer.from(
    `${JSON.stringify(new ServerRefusal(code, reason, message, details).body)}\n`,
  );
  response.writeHead(code, {
    "content-type": "application/json",
    "content-length": content.length,
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
  });
  response.end(content);
};
