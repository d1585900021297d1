import { randomUUID } from "node:crypto";
import { requestBody } from "./request-body.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  IF_MATCH_HEADER,
  IF_NONE_MATCH_HEADER,
  KEY_HEADER,
  PROBLEM_TYPE,
} from "../../answers/api/paths.ts";
import type { ApiAnswer, VerifiedRequest } from "../../answers/api/request-and-answer.ts";
import type { DashboardFacts } from "./facts.ts";
import { type Guarded, guardRefusal, SECURITY_HEADERS } from "./guards.ts";
import type { PageFiles } from "./page-files.ts";
import { FACTS_PATH, PAGE_FILES } from "./routes.ts";

/**
 * Answers a request of the API in the name of the person: over tables of this machine, or by a
 * stack to which it is passed on. What failed is answered, and given to `onFailure` too.
 */
export type AnswerApi = (
  request: VerifiedRequest,
  onFailure: (error: unknown) => void,
) => Promise<ApiAnswer>;

export interface Dashboard {
  readonly answerApi: AnswerApi;
  readonly facts: () => Promise<DashboardFacts>;
  readonly isReady: () => boolean;
  readonly pageFiles: PageFiles;
  /** Called with what failed here. */
  readonly onFailure: (error: unknown) => void;
}

/** An edit of the page has some hundred bytes; the longest reason has 4,000 characters. */
const BODY_BYTES_MAX = 64 * 1_024;

/** What the API gets of the headers of a request. The token stays here. */
const PASSED_HEADERS = [
  "accept-encoding",
  IF_NONE_MATCH_HEADER,
  IF_MATCH_HEADER,
  KEY_HEADER,
] as const;

/** Answers every request of a server on this machine. Never rejects. */
export const dashboardHandler =
  (dashboard: Dashboard, guarded: Guarded) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await attempt(dashboard, guarded, request).catch((error: unknown) => {
      dashboard.onFailure(error);
      return problem(500, "failed", error instanceof Error ? error.message : String(error));
    });
    const { status, headers, body } = answer;
    response.writeHead(status, {
      ...headers,
      ...(status !== NOT_MODIFIED && { "content-length": Buffer.byteLength(body) }),
      // A body that was not read could hold what looks like a second request.
      ...(!request.complete && { connection: "close" }),
      ...SECURITY_HEADERS,
    });
    response.end(body);
  };

const NOT_MODIFIED = 304;

const attempt = async (
  dashboard: Dashboard,
  guarded: Guarded,
  incoming: IncomingMessage,
): Promise<ApiAnswer> => {
  const { method = "", url = "", headers, rawHeaders, socket } = incoming;
  const [path = "", query = ""] = dividedAt(url, "?");
  const port = socket.localPort ?? 0;
  const refusal = guardRefusal({ method, path, headers, rawHeaders, port }, guarded);
  if (refusal)
    return problem(
      refusal.status,
      refusal.guard,
      `Cannot answer: ${refusal.words}`,
      refusal.headers,
    );
  const page = PAGE_FILES.get(path);
  if (page)
    return {
      status: 200,
      headers: { "content-type": page.type },
      body: await dashboard.pageFiles(page.file),
    };
  if (!dashboard.isReady())
    return problem(503, "starting", "Cannot answer yet: the run is starting", {
      "retry-after": "1",
    });
  if (path === FACTS_PATH) return json(200, await dashboard.facts());
  const body = await requestBody(incoming, BODY_BYTES_MAX);
  if (!body)
    return problem(413, "body", `Cannot answer: an edit has at most ${BODY_BYTES_MAX} bytes`);
  const passed = Object.fromEntries(PASSED_HEADERS.map((name) => [name, textOf(headers[name])]));
  return dashboard.answerApi(
    { method, path, query, body, headers: passed, id: randomUUID() },
    dashboard.onFailure,
  );
};

const dividedAt = (text: string, mark: string): readonly [string, string] => {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
};

const textOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;

const json = (status: number, value: object): ApiAnswer => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

/** In the form of the problems of the API, so that the page shows both alike. */
const problem = (
  status: number,
  code: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ApiAnswer => ({
  status,
  headers: { ...headers, "content-type": PROBLEM_TYPE },
  body: JSON.stringify({ status, code: `dashboard.${code}`, detail }),
});
