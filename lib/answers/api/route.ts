import type * as z from "zod";
import type { AutoscalerQuery, AutoscalerVersion, EditCondition } from "../service/service.ts";
import type { PageLimits } from "./list-page.ts";
import { IF_MATCH_HEADER } from "./paths.ts";
import {
  type VerifiedRequest,
  json,
  type Reply,
  type RequestRefusal,
  refusal,
} from "./request-and-answer.ts";
import type { RouteScope } from "./route-scopes.ts";

/** What a route needs beside the service. */
export interface RouteContext {
  readonly clock: () => number;
  readonly limits: PageLimits;
}

/** What an edit needs beside the service. */
export interface EditContext extends RouteContext {
  /** From the header If-Match. */
  readonly condition: { readonly onlyIf?: EditCondition };
}

/** A request whose input was checked. What remains is one call of the service. */
export interface CheckedRequest<Part> {
  readonly call: (part: Part, context: RouteContext) => Promise<Reply>;
  /** The checked input. */
  readonly input: object;
  /** What may be read before the caller's rights are known: the named autoscaler, or all. */
  readonly begins?: AutoscalerQuery | "fleet";
  /** True when the request connects a cluster, which takes a right of its own. */
  readonly connects: boolean;
}

export interface Route<Part> {
  readonly scope: RouteScope;
  /** The input, also read by the documentation test. */
  readonly schema: z.ZodType;
  /** What the route does, for the documentation. */
  readonly summary: string;
  /** True for an edit of one autoscaler, which takes the header If-Match. */
  readonly conditional: boolean;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: VerifiedRequest) => CheckedRequest<Part>;
}

type Call<Part, Input, Context, Answer> = (
  part: Part,
  input: Input,
  context: Context,
) => Promise<Answer>;

/** A route that reads its input from the query string. */
export const getRoute = <Part, Input extends object>(
  scope: RouteScope,
  summary: string,
  schema: z.ZodType<Input>,
  call: Call<Part, Input, RouteContext, Reply>,
): Route<Part> => ({
  scope,
  summary,
  schema,
  conditional: false,
  read: (request) => {
    const input = queryInput(schema, request);
    return { call: (part, context) => call(part, input, context), input, connects: false };
  },
});

/** A route that answers of one autoscaler: its reads begin before the caller's rights are known. */
export const ofOne = <Part>(route: Route<Part>): Route<Part> => ({
  ...route,
  read: (request) => {
    const checkedRequest = route.read(request);
    return { ...checkedRequest, begins: checkedRequest.input as AutoscalerQuery };
  },
});

/** The same of a route that answers of the fleet, where no cluster is named and no page goes on. */
export const withFleet = <Part>(route: Route<Part>): Route<Part> => ({
  ...route,
  read: (request) => {
    const checkedRequest = route.read(request);
    const { cluster, page } = checkedRequest.input as { cluster?: string; page?: string };
    return cluster === undefined && page === undefined
      ? { ...checkedRequest, begins: "fleet" }
      : checkedRequest;
  },
});

/** The same, where the answer is what the service returns. */
export const getJson = <Part, Input extends object>(
  scope: RouteScope,
  summary: string,
  schema: z.ZodType<Input>,
  call: Call<Part, Input, RouteContext, unknown>,
): Route<Part> => getRoute(scope, summary, schema, async (...asked) => json(await call(...asked)));

/** Limit of a body, unless the route sets another. */
const BODY_BYTES_MAX = 64 * 1024;

interface PostOptions<Input> {
  readonly bodyBytesMax?: number;
  /** True for input that connects a cluster. The default is no, but for the scope `connect`. */
  readonly connects?: (input: Input) => boolean;
  /** True for an edit of one autoscaler, which takes the header If-Match. */
  readonly conditional?: boolean;
}

/** A route that reads its input from a JSON body. */
export const postRoute = <Part, Input extends object>(
  scope: RouteScope,
  summary: string,
  schema: z.ZodType<Input>,
  call: Call<Part, Input, EditContext, Reply>,
  {
    bodyBytesMax: mostBytes = BODY_BYTES_MAX,
    connects = () => scope === "connect",
    conditional = false,
  }: PostOptions<Input> = {},
): Route<Part> => ({
  scope,
  summary,
  schema,
  conditional,
  read: (request) => {
    if (!conditional) mustBeUnconditional(request);
    const onlyIf = conditional ? conditionIn(request) : undefined;
    const input = bodyInput(schema, request, mostBytes);
    const condition = onlyIf === undefined ? {} : { onlyIf };
    return {
      call: (part, context) => call(part, input, { ...context, condition }),
      input,
      connects: connects(input),
    };
  },
});

/** The same, where the answer is what the service returns. */
export const postJson = <Part, Input extends object>(
  scope: RouteScope,
  summary: string,
  schema: z.ZodType<Input>,
  call: Call<Part, Input, EditContext, unknown>,
  options: PostOptions<Input> = {},
): Route<Part> =>
  postRoute(scope, summary, schema, async (...asked) => json(await call(...asked)), options);

const FIELD = "If-Match";

/**
 * A list of entity tags (RFC 9110, sections 5.6.1 and 8.8.3). An item may be empty, but not all of
 * them.
 */
const TAG = String.raw`(?:W/)?"[!#-~\x80-\xff]*"`;
const LIST = new RegExp(String.raw`^[ \t,]*${TAG}[ \t]*(?:,[ \t]*(?:${TAG}[ \t]*)?)*$`);
const EACH_TAG = /(W\/)?"([^"]*)"/g;
/** What `entityTag` writes. A leading zero makes another tag. */
const VERSION = /^(.+)\.([1-9]\d{0,14})$/;

/**
 * The condition in the header If-Match; undefined without one. Throws `api.invalid` for a malformed
 * header.
 */
export const conditionIn = ({ headers }: VerifiedRequest): EditCondition | undefined => {
  const text = headers[IF_MATCH_HEADER]?.trim();
  if (text === undefined) return undefined;
  if (text === "*") return "exists";
  if (LIST.test(text))
    return [...text.matchAll(EACH_TAG)].flatMap(([, weak, tag = ""]) =>
      weak === undefined ? versionIn(tag) : [],
    );
  throw invalidRequest([
    { field: FIELD, message: 'must be *, or the ETag of an answer in its quotes, such as "UID.4"' },
  ]);
};

/**
 * A tag in another form is well-formed, and belongs to no autoscaler. Weak tags match nothing
 * either, because If-Match compares strongly (section 13.1.1).
 */
const versionIn = (tag: string): readonly AutoscalerVersion[] => {
  const [, uid, generation] = VERSION.exec(tag) ?? [];
  return uid === undefined || generation === undefined
    ? []
    : [{ uid, generation: Number(generation) }];
};

/**
 * Refuses a condition at a route that takes none. An edit whose condition is ignored could
 * overwrite what its caller has not seen.
 */
const mustBeUnconditional = ({ headers }: VerifiedRequest): void => {
  if (headers[IF_MATCH_HEADER] === undefined) return;
  throw invalidRequest([
    {
      field: FIELD,
      message: "is not taken by this route, only by edits of one autoscaler; remove it",
    },
  ]);
};

type FieldProblem = NonNullable<RequestRefusal["errors"]>[number];

/** Characters of the input that a message repeats. */
const SHOWN_CHARACTERS = 60;
const shown = (text: string): string =>
  JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);

export const invalidRequest = (errors: readonly FieldProblem[]): Error =>
  refusal(
    "api.invalid",
    errors
      .map(({ field, message }) => `Cannot read the request: ${shown(field)} ${message}`)
      .join("\n"),
    {
      status: 400,
      errors,
    },
  );

const unreadable = (what: string): Error =>
  refusal("api.invalid", `Cannot read the request: ${what}`, { status: 400 });

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (field, part) =>
      typeof part === "number"
        ? `${field}[${part}]`
        : `${field}${field === "" ? "" : "."}${String(part)}`,
    "",
  );

const problemsOf = (issue: z.core.$ZodIssue): readonly FieldProblem[] => {
  const field = fieldOf(issue.path) || "body";
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      field: fieldOf([...issue.path, key]),
      message: "is an unknown field",
    }));
  if (issue.code === "invalid_type")
    return [
      {
        field,
        message: issue.input === undefined ? "is missing" : `must be of type ${issue.expected}`,
      },
    ];
  return [{ field, message: issue.message }];
};

const checked = <Input>(schema: z.ZodType<Input>, input: unknown): Input => {
  const read = schema.safeParse(input, { reportInput: true });
  if (read.success) return read.data;
  throw invalidRequest(read.error.issues.flatMap(problemsOf));
};

/** Reads the query parameters, each of which may be given once. Throws `api.invalid`. */
const queryInput = <Input>(schema: z.ZodType<Input>, { query }: VerifiedRequest): Input => {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (parameters.has(name))
      throw invalidRequest([{ field: name, message: "is given twice; give it once" }]);
    parameters.set(name, value);
  }
  return checked(schema, Object.fromEntries(parameters));
};

/** Reads the JSON body. Throws `api.invalid`, `api.too-large`. */
const bodyInput = <Input>(
  schema: z.ZodType<Input>,
  { body }: VerifiedRequest,
  bodyBytesMax: number,
): Input => {
  if (body.length > bodyBytesMax) {
    throw refusal(
      "api.too-large",
      `Cannot read the request: its body has ${body.length} bytes, ` +
        `and the limit is ${bodyBytesMax}`,
      { status: 413 },
    );
  }
  return checked(schema, parsed(textOf(body)));
};

const textOf = (body: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw unreadable("its body is not UTF-8");
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message repeats the input, which may be anything.
    const at = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
    throw unreadable(`its body is not JSON${at === undefined ? "" : `, at ${at}`}`);
  }
};
