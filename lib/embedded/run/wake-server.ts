import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { COMMAND_PATHS } from "../../answers/api/paths.ts";
import { answering } from "../../dashboard/serve/answering.ts";
import { answerByService, type ServedService } from "../../dashboard/serve/answer-by-service.ts";
import { requestBody } from "../../dashboard/serve/request-body.ts";
import { closeServer, listenForOwnUser } from "../host/loopback.ts";
import { failureLine } from "./run-page.ts";
import type { LogLine } from "../../stack/report/log-lines.ts";

/** Takes wakes over HTTP, by the same code as the URL of a stack. */
export interface WakeServer {
  /** Where a wake is posted, with the secret of the run. Absent where nothing listens. */
  readonly url?: string;
  /** Answers from now on. What fails is logged. */
  readonly serve: (served: ServedService, log: (line: LogLine) => void) => void;
  readonly close: () => Promise<void>;
}

const PATH = COMMAND_PATHS.wake;
/** As the route has it, and something for what is around it: more is not kept in memory. */
const BODY_BYTES_MAX = 1_000_000;
const JSON_TYPE = /^application\/json(?:$|\s*;)/i;

type Answerer = (request: IncomingMessage, body: Uint8Array) => Promise<Answered>;
interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/**
 * Listens on 127.0.0.1 for programs of this user; without a port nothing does. Throws
 * `local.port-in-use`.
 */
export const startWakeServer = async (port: number | undefined): Promise<WakeServer> => {
  if (port === undefined) return { serve: () => {}, close: async () => {} };
  let answerer: Answerer | undefined;
  const { listener, idle } = answering((request, response) =>
    answered(answerer, request).then(
      ({ status, headers, body }) => void response.writeHead(status, headers).end(body),
      (error: unknown) => fail(response, error),
    ),
  );
  const server: Server = createServer(listener);
  const endpoint = await listenForOwnUser(server, port);
  return {
    url: `${endpoint}${PATH}`,
    serve: (served, log) => {
      const answer = answerByService(served);
      answerer = (request, body) => answerOf(answer, request, { body, log });
    },
    close: () => closeServer(server, idle),
  };
};

const answerOf = async (
  answer: ReturnType<typeof answerByService>,
  { url = "", method = "", headers }: IncomingMessage,
  { body, log }: { readonly body: Uint8Array; readonly log: (line: LogLine) => void },
): Promise<Answered> => {
  const [path = "", query = ""] = url.split("?");
  const single = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  const request = { method, path, query, headers: single, body, id: "wake" };
  return answer(request, (error) => log(failureLine(error)));
};

const plain = (status: number, text: string): Answered => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: `${text}\n`,
});

const answered = async (
  answerer: Answerer | undefined,
  request: IncomingMessage,
): Promise<Answered> => {
  if (request.url?.split("?")[0] !== PATH) return plain(404, `Not found: wakes go to ${PATH}`);
  // A page in a browser cannot send this type to another origin without asking before.
  if (request.method === "POST" && !JSON_TYPE.test(request.headers["content-type"] ?? ""))
    return plain(415, "Cannot read the wake: send it as application/json");
  if (!answerer) return plain(503, "Not yet: the run is starting");
  const body = await requestBody(request, BODY_BYTES_MAX);
  return body
    ? answerer(request, body)
    : plain(413, `Cannot read the wake: it is larger than ${BODY_BYTES_MAX} bytes`);
};

/** The sender went away, as a rule. */
const fail = (response: ServerResponse, error: unknown): void => {
  const { status, headers, body } = plain(
    500,
    `Cannot answer: ${error instanceof Error ? error.message : String(error)}`,
  );
  response.writeHead(status, headers).end(body);
};
