import type * as z from "zod";
import type { ApiRequest, Reply } from "./exchange.ts";
import { bodyOf, queryOf } from "./given.ts";
import type { PageLimits } from "./pages.ts";

/** What an answer needs beside the service. */
export interface Edge {
  readonly clock: () => number;
  readonly limits: PageLimits;
}

/** A request of a route after everything about it was checked: what remains is one call of the service. */
export type Call<Part> = (part: Part, edge: Edge) => Promise<Reply>;

export interface Route<Part> {
  /** What may be given, for people. */
  readonly takes: z.ZodType;
  /** What it does, for people. */
  readonly does: string;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: ApiRequest) => Call<Part>;
}

/** A route that takes its input from behind the question mark. */
export const asking = <Part, Input>(
  does: string,
  takes: z.ZodType<Input>,
  call: (part: Part, input: Input, edge: Edge) => Promise<Reply>,
): Route<Part> => ({
  does,
  takes,
  read: (request) => {
    const input = queryOf(takes, request);
    return (part, edge) => call(part, input, edge);
  },
});

/** Bytes of a body, unless a route says otherwise. */
const BODY_BYTES_MAX = 64 * 1024;

/** A route that takes its input from a JSON body. */
export const giving = <Part, Input>(
  does: string,
  takes: z.ZodType<Input>,
  call: (part: Part, input: Input, edge: Edge) => Promise<Reply>,
  mostBytes: number = BODY_BYTES_MAX,
): Route<Part> => ({
  does,
  takes,
  read: (request) => {
    const input = bodyOf(takes, request, mostBytes);
    return (part, edge) => call(part, input, edge);
  },
});
