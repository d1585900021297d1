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
export interface Checked<Part> {
  readonly call: (part: Part, edge: Edge) => Promise<Reply>;
  /** It gives a cluster a connection. That is a right of its own, and not every URL has it. */
  readonly connects: boolean;
}

export interface Route<Part> {
  /** What may be given, for people. */
  readonly takes: z.ZodType;
  /** What it does, for people. */
  readonly does: string;
  /** Throws `api.invalid`, `api.too-large`. */
  readonly read: (request: ApiRequest) => Checked<Part>;
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
    return { call: (part, edge) => call(part, input, edge), connects: false };
  },
});

/** Bytes of a body, unless a route says otherwise. */
const BODY_BYTES_MAX = 64 * 1024;

interface GivingOptions<Input> {
  readonly mostBytes?: number;
  /** True for an input that gives a cluster a connection. */
  readonly connects?: (input: Input) => boolean;
}

/** A route that takes its input from a JSON body. */
export const giving = <Part, Input>(
  does: string,
  takes: z.ZodType<Input>,
  call: (part: Part, input: Input, edge: Edge) => Promise<Reply>,
  { mostBytes = BODY_BYTES_MAX, connects = () => false }: GivingOptions<Input> = {},
): Route<Part> => ({
  does,
  takes,
  read: (request) => {
    const input = bodyOf(takes, request, mostBytes);
    return { call: (part, edge) => call(part, input, edge), connects: connects(input) };
  },
});
