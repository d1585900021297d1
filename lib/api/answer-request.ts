import type { LogLine } from "../report/log-lines.ts";
import { requestLine } from "../report/request-line.ts";
import type { CommandService, QueryService } from "../service/service.ts";
import { compressed } from "./compressed.ts";
import { type FoundRoute, findRoute } from "./find-route.ts";
import { type IdempotencyStore, withIdempotency } from "./idempotency.ts";
import type { ApiAnswer, ApiRequest, PlainAnswer } from "./messages.ts";
import { PAGE_LIMITS, type PageLimits } from "./page.ts";
import { problemOf, refusal } from "./problem.ts";

/** Whether clusters are connected here. A URL has no rights for single routes, so that this right has a URL of its own. */
export type ConnectEndpoint = { readonly kind: "here" } | { readonly kind: "elsewhere"; readonly url: string };

/** What answers requests. */
export interface ApiContext {
  /** Kept from one request to the next: it remembers what series need of the history. */
  readonly reading: QueryService;
  /** Absent where nothing can be edited. */
  readonly editing?: {
    /** Edits are recorded for the caller that the platform verified, never for one that the request names. */
    readonly for: (by: string) => CommandService;
    readonly idempotency: Omit<IdempotencyStore, "onStoreFailure" | "clock">;
    readonly connectEndpoint: ConnectEndpoint;
  };
  readonly clock: () => number;
  readonly tell: (line: LogLine) => void;
  readonly limits?: PageLimits;
}

type IdentifiedRequest = ApiRequest & { readonly by: string };

/** Answers every request, and tells each in one line of the log. Never rejects. */
export const answerRequest = async (context: ApiContext, request: ApiRequest): Promise<ApiAnswer> => {
  const startedMs = context.clock();
  const failures: unknown[] = [];
  const answered = await attempt(request, failures, () => routed(context, request, failures));
  const { method, path, by, id: requestId } = request;
  const report = { method, path, status: answered.status, tookMs: context.clock() - startedMs, bytes: Buffer.byteLength(answered.body), requestId };
  context.tell(requestLine({ ...report, ...(by !== undefined && { by }), ...(failures.length > 0 && { error: failures[0] }) }));
  return answered;
};

const attempt = async (request: ApiRequest, failures: unknown[], work: () => Promise<PlainAnswer>): Promise<ApiAnswer> => {
  try {
    return compressed(await work(), request);
  } catch (error) {
    failures.push(error);
    return compressed(problemOf(error, request.id), request);
  }
};

const routed = async (context: ApiContext, request: ApiRequest, failures: unknown[]): Promise<PlainAnswer> => {
  const named = withCaller(request);
  const found = findRoute(request);
  return found.kind === "reading" ? runQuery(context, found, named) : runCommand(context, found, named, failures);
};

/** Without a verified caller nothing is answered: a URL that lets everybody in by mistake lets nobody in. */
const withCaller = (request: ApiRequest): IdentifiedRequest => {
  if (request.by !== undefined && request.by !== "") return { ...request, by: request.by };
  throw refusal("api.no-identity", "Cannot answer: the request has no IAM identity, and the URL must ask for one (AuthType AWS_IAM)", {
    status: 403,
  });
};

const DONE = { status: 200 };

const runQuery = async (
  context: ApiContext,
  { route }: Extract<FoundRoute, { kind: "reading" }>,
  request: IdentifiedRequest,
): Promise<PlainAnswer> => {
  const reply = await route.read(request).call(context.reading, { clock: context.clock, limits: context.limits ?? PAGE_LIMITS });
  return { ...DONE, ...reply };
};

/** Everything about the request is checked before it is begun; a refusal of the service is an answer like any other, and repeats are told it again. */
const runCommand = async (
  context: ApiContext,
  { route, path }: Extract<FoundRoute, { kind: "editing" }>,
  request: IdentifiedRequest,
  failures: unknown[],
): Promise<PlainAnswer> => {
  const { editing, clock } = context;
  if (!editing) throw refusal("api.read-only", `Cannot POST "${path}": this URL only shows; edits have a URL of their own`, { status: 403 });
  const { call, connects } = route.read(request);
  // Before the key of the edit is kept: the same request is then sent to the other URL.
  if (connects && editing.connectEndpoint.kind === "elsewhere") throw connectsElsewhere(editing.connectEndpoint.url);
  const work = async (): Promise<PlainAnswer> => {
    try {
      return { ...DONE, ...(await call(editing.for(request.by), { clock, limits: context.limits ?? PAGE_LIMITS })) };
    } catch (error) {
      failures.push(error);
      return problemOf(error, request.id);
    }
  };
  return withIdempotency({ ...editing.idempotency, clock, onStoreFailure: (error) => failures.push(error) }, request, work);
};

/** The sentence is for people, `url` for the command, which goes on there. */
const connectsElsewhere = (url: string): Error =>
  refusal("api.connects-elsewhere", `Cannot connect a cluster here: that is a right of its own, and has the URL ${url}`, { status: 403, url });
