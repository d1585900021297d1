import type { IncomingHttpHeaders } from "node:http";
import { API_METHODS, PAGE_FILES, TOKEN_HEADER } from "./routes.ts";
import { isSameSecret } from "./secret.ts";

/**
 * Sent with every answer. The page gets scripts, styles and answers from here only, shows text as
 * text (trusted types), and no other page may frame it, read it or learn its address.
 */
export const SECURITY_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

/** What guards look at. */
export interface GuardedRequest {
  readonly method: string;
  /** The target without its query, as it was sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The names and values as they were sent, so that a header that comes twice is seen. */
  readonly rawHeaders: readonly string[];
  /** The port that the connection came to. */
  readonly port: number;
}

/** What a server guards. */
export interface Guarded {
  readonly token: string;
  readonly allowEdits: boolean;
}

export interface GuardRefusal {
  readonly status: number;
  readonly words: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Guard = (request: GuardedRequest, guarded: Guarded) => GuardRefusal | undefined;

const MISDIRECTED = 421;
const UNSUPPORTED = 415;

/**
 * Every request passes all of them in this order before anything else of it is used. Each refuses
 * on doubt: a header that comes twice or in another spelling is a wrong one.
 */
export const GUARDS = {
  /**
   * A page of another name can make that name resolve to 127.0.0.1 (DNS rebinding), and is then of
   * the same origin as what it gets. The Host header still has its name.
   */
  host: (request) =>
    onlyValue(request, "host") === hostOf(request)
      ? undefined
      : { status: MISDIRECTED, words: "the Host header does not name this server" },

  /** A browser says of which page a request is, and a page cannot change it. */
  origin: (request) =>
    isAbsentOr(request, "origin", `http://${hostOf(request)}`)
      ? undefined
      : { status: 403, words: "the request comes from another origin" },

  /**
   * A browser says whether the request is of this page. A person comes from elsewhere, such as a
   * link: the document, which holds nothing of the fleet, opens as a page of its own, and no more.
   */
  fetchSite: (request) => {
    const { method, path, headers } = request;
    if (isAbsentOr(request, "sec-fetch-site", "same-origin")) return undefined;
    const isOpened =
      method === "GET" &&
      path === "/" &&
      headers["sec-fetch-mode"] === "navigate" &&
      headers["sec-fetch-dest"] === "document";
    return isOpened ? undefined : { status: 403, words: "the request comes from another site" };
  },

  /** Every program and user of this machine reaches the port, so reads need the token too. */
  token: (request, { token }) => {
    if (PAGE_FILES.has(request.path)) return undefined;
    return isSameSecret(onlyValue(request, TOKEN_HEADER) ?? "", token)
      ? undefined
      : {
          status: 403,
          words: `the token is missing or is of another start; open the address that this start has printed`,
        };
  },

  path: ({ path }) =>
    PAGE_FILES.has(path) || API_METHODS.has(path)
      ? undefined
      : { status: 404, words: "there is nothing at this path" },

  /** An edit is a POST: a link or an image is a GET and changes nothing. */
  method: ({ method, path }) => {
    const takes = API_METHODS.get(path) ?? "GET";
    return method === takes
      ? undefined
      : { status: 405, words: `this path takes ${takes}`, headers: { allow: takes } };
  },

  edits: ({ method }, { allowEdits }) =>
    method === "GET" || allowEdits
      ? undefined
      : { status: 403, words: "this page only reads; start it with --allow-edits" },

  /** A form of another page sends no JSON. A body of what reads could hold another request. */
  body: ({ method, headers }) => {
    if (method === "GET")
      return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined
        ? undefined
        : { status: 400, words: "a request that reads has no body" };
    return headers["content-type"] === "application/json"
      ? undefined
      : { status: UNSUPPORTED, words: "an edit is sent as application/json" };
  },
} as const satisfies Readonly<Record<string, Guard>>;

export type GuardName = keyof typeof GUARDS;

/** The first refusal, with the guard that refuses. */
export const guardRefusal = (
  request: GuardedRequest,
  guarded: Guarded,
): (GuardRefusal & { readonly guard: GuardName }) | undefined => {
  for (const [guard, check] of Object.entries<Guard>(GUARDS)) {
    const refusal = check(request, guarded);
    if (refusal) return { ...refusal, guard: guard as GuardName };
  }
  return undefined;
};

const hostOf = ({ port }: GuardedRequest): string => `127.0.0.1:${port}`;

const valuesOf = ({ rawHeaders }: GuardedRequest, name: string): readonly string[] =>
  rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);

const onlyValue = (request: GuardedRequest, name: string): string | undefined => {
  const values = valuesOf(request, name);
  return values.length === 1 ? values[0] : undefined;
};

const isAbsentOr = (request: GuardedRequest, name: string, wanted: string): boolean =>
  valuesOf(request, name).every((value) => value === wanted);
