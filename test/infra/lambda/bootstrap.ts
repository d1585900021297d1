import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join } from "node:path";
import { moveClock } from "./moved-clock.ts";

/**
 * What Lambda's runtime does around a handler, as its Runtime API documents it: load, then for ever
 * take the next event, call, answer. Run as a process of its own: `node bootstrap.ts`, with the
 * environment that Lambda sets.
 */
const API = `http://${process.env["AWS_LAMBDA_RUNTIME_API"]}/2018-06-01/runtime`;

/**
 * A route of the network, "10.99.0.1=127.0.0.1": connections to the first address go to the second.
 * Functions never connect to loopback, where the servers of a test listen; so a cluster has a
 * private address here, as in a VPC, and the network leads to it.
 */
const [from, to] = (process.env["STAND_IN_ROUTE"] ?? "").split("=");
const { connect } = Socket.prototype;
const rerouted = (part: unknown): unknown =>
  typeof part === "object" && part !== null && Reflect.get(part, "host") === from
    ? { ...part, host: to }
    : part;
if (from && to) {
  Object.assign(Socket.prototype, {
    connect(this: Socket, ...given: unknown[]): Socket {
      return Reflect.apply(connect, this, given.map(rerouted));
    },
  });
}

interface Context {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly memoryLimitInMB: string;
  readonly getRemainingTimeInMillis: () => number;
}
type Handler = (event: unknown, context: Context) => Promise<unknown>;

const post = async (path: string, body: unknown): Promise<void> => {
  const answer = await fetch(`${API}/${path}`, {
    method: "POST",
    body: JSON.stringify(body) ?? "null",
  });
  await answer.arrayBuffer();
};
const shapeOf = (error: unknown): { readonly errorType: string; readonly errorMessage: string } =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message }
    : { errorType: "Error", errorMessage: String(error) };

const load = (): Handler => {
  const [, file = "", member = ""] = /^(.*)\.(\w+)$/.exec(process.env["_HANDLER"] ?? "") ?? [];
  const root = process.env["LAMBDA_TASK_ROOT"] ?? ".";
  return createRequire(join(root, "bootstrap.cjs"))(`./${file}`)[member];
};

/** Waits for an event for as long as there is none: a request of its own ends after five minutes. */
const nextEvent = async (): Promise<Response> => {
  for (;;) {
    try {
      return await fetch(`${API}/invocation/next`);
    } catch (error) {
      const { cause } = error as { readonly cause?: { readonly code?: string } };
      if (cause?.code !== "UND_ERR_HEADERS_TIMEOUT") throw error;
    }
  }
};

const serveOne = async (handler: Handler): Promise<void> => {
  const next = await nextEvent();
  const id = next.headers.get("lambda-runtime-aws-request-id") ?? "";
  moveClock(Number(next.headers.get("stand-in-ahead-ms")));
  const deadlineMs = Number(next.headers.get("lambda-runtime-deadline-ms"));
  const context: Context = {
    awsRequestId: id,
    functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"] ?? "",
    memoryLimitInMB: process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] ?? "",
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
  };
  try {
    await post(`invocation/${id}/response`, await handler(await next.json(), context));
  } catch (error) {
    await post(`invocation/${id}/error`, shapeOf(error));
  }
};

let handler: Handler;
try {
  handler = load();
} catch (error) {
  await post("init/error", shapeOf(error));
  throw error;
}
for (;;) await serveOne(handler);
