import { gzipSync } from "node:zlib";
import { type AccessRecord, type Rights, rightsOf } from "../../rules/model/access.ts";
import { requestLine } from "../../stack/report/function-lines.ts";
import type { LogLine } from "../../stack/report/log-lines.ts";
import type { Ahead } from "../service/context.ts";
import type { AutoscalerQuery, CommandService, QueryService } from "../service/service.ts";
import {
  callerHas,
  type ApiAnswer,
  type VerifiedRequest,
  type PlainAnswer,
  problemOf,
  refusal,
  tagged,
} from "./request-and-answer.ts";
import { type IdempotencyStore, withIdempotency } from "./idempotency.ts";
import { PAGE_LIMITS, type PageLimits } from "./list-page.ts";
import {
  IF_NONE_MATCH_HEADER,
  TAG_HEADER,
  COMMAND_PATHS,
  METRICS_PATH,
  QUERY_PATHS,
} from "./paths.ts";
import { mustBeGranted } from "./route-scopes.ts";
import { COMMAND_ROUTES } from "./command-routes.ts";
import { METRICS_ROUTE, QUERY_ROUTES } from "./query-routes.ts";
import type { Route } from "./route.ts";

/**
 * Where clusters are connected. A function URL has no rights for single routes, so connecting a
 * cluster has a URL of its own.
 */
export type ConnectEndpoint =
  | { readonly kind: "here" }
  | { readonly kind: "elsewhere"; readonly url: string };

/** What the routes need to answer requests. */
export interface ApiContext {
  /** Reads all grants. */
  readonly access: () => Promise<AccessRecord>;
  /** Begins to read the fleet, or the autoscaler that a request names, beside the grants. */
  readonly ahead?: (begins: AutoscalerQuery | "fleet") => Ahead;
  /** Shows what the caller may look at. */
  readonly reading: (rights: Rights, ahead?: Ahead) => QueryService;
  /** Absent where the URL is read-only. */
  readonly editing?: {
    /** Records edits for the caller that the platform verified, never for a name in the request. */
    readonly for: (rights: Rights) => CommandService;
    readonly idempotency: Omit<IdempotencyStore, "onStoreFailure" | "clock">;
    readonly connectEndpoint: ConnectEndpoint;
  };
  readonly clock: () => number;
  readonly log: (line: LogLine) => void;
  readonly limits?: PageLimits;
}

type IdentifiedRequest = VerifiedRequest & { readonly by: string };

/** Answers every request and writes one log line for each. Never rejects. */
export const answerRequest = async (
  context: ApiContext,
  request: VerifiedRequest,
): Promise<ApiAnswer> => {
  const startedMs = context.clock();
  const failures: unknown[] = [];
  const answered = await attempt(request, failures, () => routed(context, request, failures));
  const { method, path, by, id: requestId } = request;
  const report = {
    method,
    path,
    status: answered.status,
    tookMs: context.clock() - startedMs,
    bytes: Buffer.byteLength(answered.body),
    requestId,
  };
  context.log(
    requestLine({
      ...report,
      ...(by !== undefined && { by }),
      ...(failures.length > 0 && { error: failures[0] }),
    }),
  );
  return answered;
};

const attempt = async (
  request: VerifiedRequest,
  failures: unknown[],
  work: () => Promise<PlainAnswer>,
): Promise<ApiAnswer> => {
  try {
    return compressed(await work(), request);
  } catch (error) {
    failures.push(error);
    return compressed(problemOf(error, request.id), request);
  }
};

const routed = async (
  context: ApiContext,
  request: VerifiedRequest,
  failures: unknown[],
): Promise<PlainAnswer> => {
  const named = withCaller(request);
  const route = findRoute(request);
  return route.kind === "reading"
    ? runQuery(context, route, named)
    : runCommand(context, route, named, failures);
};

/**
 * A request without a verified caller is refused, so that a URL opened to all callers by mistake
 * stays closed.
 */
const withCaller = (request: VerifiedRequest): IdentifiedRequest => {
  if (request.unproven) throw request.unproven;
  if (request.by !== undefined && request.by !== "") return { ...request, by: request.by };
  throw refusal(
    "api.no-identity",
    "Cannot answer: the request has no IAM identity; set AuthType AWS_IAM on the function URL",
    {
      status: 403,
    },
  );
};

const DONE = { status: 200 };

const runQuery = async (
  context: ApiContext,
  { route }: Extract<FoundRoute, { kind: "reading" }>,
  request: IdentifiedRequest,
): Promise<PlainAnswer> => {
  const { call, input, begins } = route.read(request);
  const access = context.access();
  const ahead = begins && context.ahead?.(begins);
  const rights = rightsOf(await access, request.by);
  mustBeGranted(rights, { scope: route.scope, role: "view", input });
  const reply = tagged(
    await call(context.reading(rights, ahead), {
      clock: context.clock,
      limits: context.limits ?? PAGE_LIMITS,
    }),
    rights,
  );
  return callerHas(reply.headers?.[TAG_HEADER], request.headers[IF_NONE_MATCH_HEADER])
    ? { ...reply, ...NOT_MODIFIED }
    : { ...DONE, ...reply };
};

/** Without a body, so that it is no JSON. */
const NOT_MODIFIED = { status: 304, type: "text/plain", text: "" };

/**
 * Checks everything about the request before the edit begins. A refusal of the service is an answer
 * like any other, and a repeat gets the same one.
 */
const runCommand = async (
  context: ApiContext,
  { route, path }: Extract<FoundRoute, { kind: "editing" }>,
  request: IdentifiedRequest,
  failures: unknown[],
): Promise<PlainAnswer> => {
  const { editing, clock } = context;
  if (!editing)
    throw refusal(
      "api.read-only",
      `Cannot POST "${path}": this URL is read-only; edits go to the URL of the function api`,
      { status: 403 },
    );
  const { call, input, connects } = route.read(request);
  // Runs before the idempotency key is stored, because the same request is then sent to the other
  // URL.
  if (connects && editing.connectEndpoint.kind === "elsewhere")
    throw connectsElsewhere(editing.connectEndpoint.url);
  // Before the key too: a refusal is not kept, and no kept answer is given to a caller that has
  // lost its right.
  const rights = rightsOf(await context.access(), request.by);
  mustBeGranted(rights, { scope: route.scope, role: "edit", input });
  const work = async (): Promise<PlainAnswer> => {
    try {
      return {
        ...DONE,
        ...(await call(editing.for(rights), { clock, limits: context.limits ?? PAGE_LIMITS })),
      };
    } catch (error) {
      failures.push(error);
      return problemOf(error, request.id);
    }
  };
  return withIdempotency(
    { ...editing.idempotency, clock, onStoreFailure: (error) => failures.push(error) },
    request,
    work,
  );
};

/** The message is for people. The command reads `url` and sends the request there. */
const connectsElsewhere = (url: string): Error =>
  refusal(
    "api.connects-elsewhere",
    `Cannot connect a cluster at this URL: it takes a right of its own; send the request to ${url}`,
    {
      status: 403,
      url,
    },
  );

/**
 * A function answers at most 6 MB with its frame. Text is a JSON string in that frame; bytes are
 * base64, which is a third longer.
 */
const ANSWER_BYTES_MAX = 6_000_000;
const BASE64_FACTOR = 4 / 3;
/** Compression gains nothing below this length. */
const COMPRESSED_FROM_CHARACTERS = 1_000;
const GZIP_LEVEL = 5;

const acceptsGzip = ({ headers }: VerifiedRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers["accept-encoding"] ?? "");

/**
 * Compresses an answer where the caller accepts gzip. Throws `api.too-long` where it does not fit
 * even so.
 */
const compressed = (answer: PlainAnswer, request: VerifiedRequest): ApiAnswer => {
  const { status, type, text, headers: own } = answer;
  const headers = { "content-type": type, "cache-control": "no-store", ...own };
  if (text.length >= COMPRESSED_FROM_CHARACTERS && acceptsGzip(request)) {
    const bytes = gzipSync(text, { level: GZIP_LEVEL });
    if (bytes.length * BASE64_FACTOR > ANSWER_BYTES_MAX)
      throw tooLong(request, answer, "compressed");
    return {
      status,
      headers: { ...headers, "content-encoding": "gzip", vary: "accept-encoding" },
      body: bytes,
    };
  }
  if (Buffer.byteLength(JSON.stringify(text)) > ANSWER_BYTES_MAX)
    throw tooLong(request, answer, "plain");
  return { status, headers, body: text };
};

const MEGABYTE = 1_000_000;

/**
 * The request is at fault, not the stack: it asked for more than an answer holds, or in a form that
 * is too large.
 */
const tooLong = (
  { path }: VerifiedRequest,
  { text, narrower = "less" }: PlainAnswer,
  form: "compressed" | "plain",
): Error => {
  const even = form === "plain" ? "" : ", even compressed";
  const [has, limit] = [(text.length / MEGABYTE).toFixed(1), ANSWER_BYTES_MAX / MEGABYTE];
  const size = `${has} MB do not fit into the ${limit} MB of an answer${even}`;
  const advice =
    form === "plain"
      ? `send the header "accept-encoding: gzip", or ask for ${narrower}`
      : `ask for ${narrower}`;
  return refusal("api.too-long", `Cannot answer ${JSON.stringify(path)}: ${size}; ${advice}`, {
    status: form === "plain" ? 406 : 400,
  });
};

/** A route and its kind, which says which right it needs. */
export type FoundRoute = { readonly path: string } & (
  | { readonly kind: "reading"; readonly method: "GET"; readonly route: Route<QueryService> }
  | { readonly kind: "editing"; readonly method: "POST"; readonly route: Route<CommandService> }
);

const verbsOf = <Paths extends object>(paths: Paths): readonly (keyof Paths)[] =>
  Object.keys(paths) as (keyof Paths)[];

/** All routes, in the order of the documentation. */
export const ALL_ROUTES: readonly FoundRoute[] = [
  ...verbsOf(QUERY_PATHS).map(
    (verb): FoundRoute => ({
      kind: "reading",
      method: "GET",
      path: QUERY_PATHS[verb],
      route: QUERY_ROUTES[verb],
    }),
  ),
  { kind: "reading", method: "GET", path: METRICS_PATH, route: METRICS_ROUTE },
  ...verbsOf(COMMAND_PATHS).map(
    (verb): FoundRoute => ({
      kind: "editing",
      method: "POST",
      path: COMMAND_PATHS[verb],
      route: COMMAND_ROUTES[verb],
    }),
  ),
];

const BY_PATH: ReadonlyMap<string, FoundRoute> = new Map(
  ALL_ROUTES.map((route) => [route.path, route]),
);

/** Characters of the request that a message repeats. */
const SHOWN_CHARACTERS = 80;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/**
 * Throws `api.unknown-route` with the list of paths, and `api.method` with the method that the path
 * takes.
 */
const findRoute = ({ method, path }: Pick<VerifiedRequest, "method" | "path">): FoundRoute => {
  const route = BY_PATH.get(path);
  if (!route)
    throw refusal(
      "api.unknown-route",
      `Cannot find ${shown(path)}: the paths are ${[...BY_PATH.keys()].join(", ")}`,
      { status: 404 },
    );
  if (route.method === method) return route;
  throw refusal("api.method", `Cannot ${shown(method)} ${shown(path)}: it takes ${route.method}`, {
    status: 405,
    headers: { allow: route.method },
  });
};
