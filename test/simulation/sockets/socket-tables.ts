import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { boundedRequests } from "../../../lib/aws/bounded-requests.ts";
import type { Tables } from "../../../lib/store/table/tables.ts";
import { callName } from "../call-names.ts";
import type { Fate } from "../fates.ts";
import type { Network, Process } from "../process.ts";
import { isPageWrite, LATE_MS, REQUEST_TIMEOUT_MS, type TableWorld } from "../tables.ts";
import { agentTo, serverOf } from "./connections.ts";
import { clientVia } from "./sdk-client.ts";
import { commandIn, executed, refused, type TableAnswer } from "./table-server.ts";

/** How an answer fails on its way: not a byte, some of its bytes and no more, some of them and a reset, or a reset at once. */
export type Break = "silence" | "half answer" | "half answer and reset" | "reset";
const BREAKS: readonly Break[] = ["silence", "half answer", "half answer and reset", "reset"];

/** After so long the server has given up what the network lost. The client goes by its own limit. */
const LOST_MS = 15;

/** The tables over connections in memory: the client of the SDK, its limit for each request, and HTTP are those of a function. */
export const clientOverSockets = (network: Network, process: Process, world: TableWorld): Tables["client"] => {
  const server: Server = serverOf((request, response) => void serve({ network, process, world }, request, response));
  const handler = boundedRequests({ connectMs: REQUEST_TIMEOUT_MS, wholeMs: REQUEST_TIMEOUT_MS }, undefined, {
    httpAgent: agentTo(server),
    signalAfter: (ms) => {
      const limit = new AbortController();
      void network.wait(process, ms).then(() => limit.abort());
      return limit.signal;
    },
  });
  return clientVia(handler);
};

interface Served {
  readonly network: Network;
  readonly process: Process;
  readonly world: TableWorld;
}

const serve = async ({ network, process, world }: Served, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const command = commandIn(String(request.headers["x-amz-target"]), await textOf(request));
  // What was executed, whether or not its answer arrives.
  let made: TableAnswer = refused("InternalServerError", 500);
  const answer = await network.call<TableAnswer | Break>(process, {
    kind: isPageWrite(command) ? "page" : "table",
    name: callName(command),
    by: world.by,
    what: command.constructor.name.replace(/Command$/, ""),
    timeoutMs: LOST_MS,
    lateMs: LATE_MS,
    execute: () => {
      made = executed(() => world.execute(command));
      return made;
    },
    unclear: (fate) => brokenBy(fate, made),
  });
  if (typeof answer === "string") breakOff(response, made, answer);
  else response.writeHead(answer.status, HEADERS).end(answer.body);
};

const HEADERS = { "content-type": "application/x-amz-json-1.0" };

const brokenBy = ({ fault, lateness }: Fate, made: TableAnswer): TableAnswer | Break => {
  if (fault === "throttled") return refused("ProvisionedThroughputExceededException", 400);
  if (fault === "failed before" || fault === "failed after") return refused("InternalServerError", 500);
  // Of a request that was lost, or comes late, there is no answer yet.
  if (fault !== "lost answer") return lateness < 1 / 2 ? "silence" : "reset";
  return made.status === 200 ? (BREAKS[Math.floor(lateness * BREAKS.length)] ?? "silence") : "silence";
};

const breakOff = (response: ServerResponse, { status, body }: TableAnswer, how: Break): void => {
  const { socket } = response;
  if (how === "half answer" || how === "half answer and reset") {
    response.writeHead(status, { ...HEADERS, "content-length": Buffer.byteLength(body) }).write(body.slice(0, Math.ceil(body.length / 2)));
  }
  if (how === "reset" || how === "half answer and reset") socket?.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
};
