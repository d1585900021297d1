import type * as z from "zod";
import type { ApiRequest, Reply } from "./messages.ts";
import type { PageLimits } from "./page.ts";
import { bodyInput, queryInput } from "./read-input.ts";

/** What an answer needs beside the service. */
export interface RouteContext {
  readonly clock: () => number;
  readonly limits: PageLimits;
}

/** A request of a route after everything about it was checked: what remains is one call of the service. */
export interface CheckedRequest<Part> {
  readonly call: (part: Part, edge: RouteContext) => Promise<Reply>;
  /** It gives a cluster a connection. That is a right of its own, and not every URL has it. */
  readonly connects: boolean;
}

export interface Route<Part> {
  /** What may be given, for people. */
  readonly schema: z.ZodType;
  /** What it does, for people. */
  readonly summary: string;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: ApiRequest) => CheckedRequest<Part>;
}

/** A route that takes its input from behind the question mark. */
export const getRoute = <Part, Input>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, edge: RouteContext) => Promise<Reply>,
): Route<Part> => ({
  summary,
  schema,
  read: (request) => {
    const input = queryInput(schema, request);
    return { call: (part, edge) => call(part, input, edge), connects: false };
  },
});

/** Bytes of a body, unless a route says otherwise. */
const BODY_BYTES_MAX = 64 * 1024;

interface PostOptions<Input> {
  readonly bodyBytesMax?: number;
  /** True for an input that gives a cluster a connection. */
  readonly connects?: (input: Input) => boolean;
}

/** A route that takes its input from a JSON body. */
export const postRoute = <Part, Input>(
  summary: string,
  schema: z.ZodType<Input>,
  call: (part: Part, input: Input, edge: RouteContext) => Promise<Reply>,
  { bodyBytesMax: mostBytes = BODY_BYTES_MAX, connects = () => false }: PostOptions<Input> = {},
): Route<Part> => ({
  summary,
  schema,
  read: (request) => {
    const input = bodyInput(schema, request, mostBytes);
    return { call: (part, edge) => call(part, input, edge), connects: connects(input) };
  },
});
