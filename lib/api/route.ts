import type * as z from "zod";
import type { PageLimits } from "./list-page.ts";
import { bodyInput, queryInput } from "./read-input.ts";
import type { ApiRequest, Reply } from "./request-and-answer.ts";

/** What a route needs beside the service. */
export interface RouteContext {
  readonly clock: () => number;
  readonly limits: PageLimits;
}

/** A request whose input was checked. What remains is one call of the service. */
export interface CheckedRequest<Part> {
  readonly call: (part: Part, context: RouteContext) => Promise<Reply>;
  /** True when the request connects a cluster, which takes a right of its own. */
  readonly connects: boolean;
}

export interface Route<Part> {
  /** The input, also read by the documentation test. */
  readonly schema: z.ZodType;
  /** What the route does, for the documentation. */
  readonly summary: string;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: ApiRequest) => CheckedRequest<Part>;
}

/** A route that reads its input from the query string. */
export const getRoute = <Part, Input>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, context: RouteContext) => Promise<Reply>,
): Route<Part> => ({
  summary,
  schema,
  read: (request) => {
    const input = queryInput(schema, request);
    return { call: (part, context) => call(part, input, context), connects: false };
  },
});

/** Limit of a body, unless the route sets another. */
const BODY_BYTES_MAX = 64 * 1024;

interface PostOptions<Input> {
  readonly bodyBytesMax?: number;
  /** True for input that connects a cluster. */
  readonly connects?: (input: Input) => boolean;
}

/** A route that reads its input from a JSON body. */
export const postRoute = <Part, Input>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, context: RouteContext) => Promise<Reply>,
  { bodyBytesMax: mostBytes = BODY_BYTES_MAX, connects = () => false }: PostOptions<Input> = {},
): Route<Part> => ({
  summary,
  schema,
  read: (request) => {
    const input = bodyInput(schema, request, mostBytes);
    return { call: (part, context) => call(part, input, context), connects: connects(input) };
  },
});
