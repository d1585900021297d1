import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { boundedRequests } from "../../../lib/stack/aws/bounded-requests.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { callName } from "../call-names.ts";
import type { Fate } from "../fates.ts";
import type { Network, Process } from "../process.ts";
import { isPageWrite, LATE_MS, REQUEST_TIMEOUT_MS, type TableWorld } from "../tables.ts";
import {
  type Break,
  breakOf,
  breakOff,
  LOST_MS,
  textOf,
  type WireAnswer,
} from "./broken-answers.ts";
import { agentTo, serverOf } from "./connections.ts";
import { clientVia } from "./sdk-client.ts";
import { commandIn, executed, refused } from "./table-server.ts";

/**
 * The tables over connections in memory: the client of the SDK, its limit for each request, and
 * HTTP are those of a function.
 */
export const clientOverSockets = (
  network: Network,
  process: Process,
  world: TableWorld,
): Tables["client"] => {
  const server: Server = serverOf(
    (request, response) => void serve({ network, process, world }, request, response),
  );
  const handler = boundedRequests(
    { connectMs: REQUEST_TIMEOUT_MS, wholeMs: REQUEST_TIMEOUT_MS },
    undefined,
    {
      httpAgent: agentTo(server),
      signalAfter: (ms) => {
        const limit = new AbortController();
        void network.wait(process, ms).then(() => limit.abort());
        return limit.signal;
      },
    },
  );
  return clientVia(handler);
};

interface Served {
  readonly network: Network;
  readonly process: Process;
  readonly world: TableWorld;
}

const serve = async (
  { network, process, world }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const command = commandIn(String(request.headers["x-amz-target"]), await textOf(request));
  // What was executed, whether or not its answer arrives.
  let made: WireAnswer = refused("InternalServerError", 500);
  const answer = await network.call<WireAnswer | Break>(process, {
    kind: isPageWrite(command) ? "page" : "table",
    name: callName(command),
    by: world.by,
    what: command.constructor.name.replace(/Command$/, ""),
    timeoutMs: LOST_MS,
    lateMs: LATE_MS,
    waitsForAnswer: true,
    execute: () => {
      made = executed(() => world.execute(command));
      return made;
    },
    unclear: (fate) => failedBy(fate) ?? breakOf(fate, made),
  });
  if (typeof answer === "string") breakOff(response, made, answer, JSON_1_0);
  else response.writeHead(answer.status, { "content-type": JSON_1_0 }).end(answer.body);
};

const JSON_1_0 = "application/x-amz-json-1.0";

/** What the service itself answers about a failure. */
const failedBy = ({ fault }: Fate): WireAnswer | undefined => {
  if (fault === "throttled") return refused("ProvisionedThroughputExceededException", 400);
  return fault === "failed before" || fault === "failed after"
    ? refused("InternalServerError", 500)
    : undefined;
};
