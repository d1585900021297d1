import type * as z from "zod";
import type { EditCondition } from "../service/service.ts";
import { conditionIn, mustBeUnconditional } from "./if-match.ts";
import type { PageLimits } from "./list-page.ts";
import { bodyInput, queryInput } from "./read-input.ts";
import type { ApiRequest, Reply } from "./request-and-answer.ts";

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
  /** True when the request connects a cluster, which takes a right of its own. */
  readonly connects: boolean;
}

export interface Route<Part> {
  /** The input, also read by the documentation test. */
  readonly schema: z.ZodType;
  /** What the route does, for the documentation. */
  readonly summary: string;
  /** True for an edit of one autoscaler, which takes the header If-Match. */
  readonly conditional: boolean;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: ApiRequest) => CheckedRequest<Part>;
}

/** A route that reads its input from the query string. */
export const getRoute = <Part, Input extends object>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, context: RouteContext) => Promise<Reply>,
): Route<Part> => ({
  summary,
  schema,
  conditional: false,
  read: (request) => {
    const input = queryInput(schema, request);
    return { call: (part, context) => call(part, input, context), input, connects: false };
  },
});

/** Limit of a body, unless the route sets another. */
const BODY_BYTES_MAX = 64 * 1024;

interface PostOptions<Input> {
  readonly bodyBytesMax?: number;
  /** True for input that connects a cluster. */
  readonly connects?: (input: Input) => boolean;
  /** True for an edit of one autoscaler, which takes the header If-Match. */
  readonly conditional?: boolean;
}

/** A route that reads its input from a JSON body. */
export const postRoute = <Part, Input extends object>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, context: EditContext) => Promise<Reply>,
  { bodyBytesMax: mostBytes = BODY_BYTES_MAX, connects = () => false, conditional = false }: PostOptions<Input> = {},
): Route<Part> => ({
  summary,
  schema,
  conditional,
  read: (request) => {
    if (!conditional) mustBeUnconditional(request);
    const onlyIf = conditional ? conditionIn(request) : undefined;
    const input = bodyInput(schema, request, mostBytes);
    const condition = onlyIf === undefined ? {} : { onlyIf };
    return { call: (part, context) => call(part, input, { ...context, condition }), input, connects: connects(input) };
  },
});
