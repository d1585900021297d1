import { group, type ReadOf, words } from "../fields/field-types.ts";
import { foreignText } from "../model/foreign-text.ts";
import { isObject } from "../model/json.ts";
import type { Answer, MetricValue } from "../model/observation.ts";
import { floatOf, milliOf, parseQuantity } from "../model/quantity.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  type ForeignAnswer,
  failure,
  type MetricSource,
  type RegisteredQuery,
  registeredSamples,
  roundedMilli,
  unusable,
} from "./source.ts";
import { OK } from "../model/http-status.ts";

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Http: { readonly source: string; readonly path: string; readonly pointer: string };
  }
}

/** A GET of a JSON document below the address of a registered source. */
export interface HttpQuery extends RegisteredQuery {
  readonly for: "http";
  readonly path: string;
  readonly pointer: string;
}

/**
 * Segments of letters, digits and -._~ only, and none that is . or ..: nothing that a server or a
 * proxy could decode to a path that leaves the address. A whole segment may be %2F, which is the
 * default virtual host of a RabbitMQ, and at worst an empty segment.
 */
const PATH = {
  pattern: "^(/(%2[Ff]|[.]{0,2}[a-zA-Z0-9_~-][a-zA-Z0-9_.~-]*|[.]{3}[a-zA-Z0-9_.~-]*))+$",
  detail:
    "must be /segments of letters, digits, -, ., _ and ~, without . and .. as a segment; %2F only as a whole segment",
  fix: "write a path below the address of the source, such as /queues/orders",
};
const PATH_CHARACTERS_MAX = 512;
const POINTER = {
  pattern: "^(/([^/~]|~[01])*)+$",
  detail: "must be a JSON Pointer",
  fix: "write a JSON Pointer, such as /queue/depth",
};

const FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", {
    required: true,
    segment: true,
  }),
  path: words("Path of a JSON document below the address of the source: /queues/orders.", {
    required: true,
    form: PATH,
    mostCharacters: PATH_CHARACTERS_MAX,
  }),
  pointer: words("JSON Pointer (RFC 6901) to a number or a quantity in the document: /depth.", {
    required: true,
    form: POINTER,
  }),
};

/**
 * On doubt, a missing metric: only a number, or a text that is a quantity, at the place of the
 * pointer is a value.
 */
const read = (answer: ForeignAnswer, { pointer }: HttpQuery): Answer<readonly MetricValue[]> => {
  if (answer.status !== OK || answer.body === undefined)
    return unusable(answer, "InvalidAnswer", "the source did not answer with a JSON document");
  const milli = milliIn(at(answer.body, pointer));
  if (milli === undefined)
    return unusable(
      answer,
      "NotANumber",
      `there is neither a number nor a quantity of ordinary size at ${foreignText(pointer)}`,
    );
  return { kind: "answered", items: [{ milli, timestampMs: 0 }] };
};

/** A quantity that 64 bits cannot hold wraps in Kubernetes, often to 0. Here it is no value. */
const milliIn = (found: unknown): bigint | undefined => {
  if (typeof found === "number") return roundedMilli(found);
  const quantity = typeof found === "string" ? parseQuantity(found.trim()) : undefined;
  return quantity && Math.abs(floatOf(quantity)) <= Number.MAX_SAFE_INTEGER
    ? milliOf(quantity)
    : undefined;
};

/**
 * What is at the place of a JSON Pointer (RFC 6901, section 4); undefined where there is nothing.
 */
const at = (document: unknown, pointer: string): unknown => {
  let found = document;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = INDEX.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
};

const INDEX = /^(?:0|[1-9]\d{0,5})$/;

const questionOf = (source: string, path: string, pointer: string): HttpQuery => ({
  for: "http",
  source,
  path,
  pointer,
});

/** A number in a JSON document of an HTTP server that an administrator registered. */
export const HTTP: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Http">,
  HttpQuery,
  readonly bigint[]
> = {
  type: "Http",
  field: group("A number in a JSON document of a registered HTTP server.", FIELDS),
  measures: ["Total", "Average"],
  samplesOf: "whole",
  specOf: ({ source = "", path = "", pointer = "" }) => ({ type: "Http", source, path, pointer }),
  namedBy: ["source"],
  nameOf: ({ source }) => `document of source ${source}`,
  queryOf: ({ source, path, pointer }) => questionOf(source, path, pointer),
  asking: {
    way: "registered",
    kinds: ["http"],
    request: ({ path }) => ({ path, parameters: {} }),
    read,
  },
  samples: ({ source, path, pointer }, { answers }) =>
    registeredSamples(answers, questionOf(source, path, pointer), {
      unable: (cause) => failure(`unable to get a document from source "${source}": ${cause}`),
      empty: "the answer holds no value",
    }),
  statusOf: ({ source }, current) => ({ type: "Http", http: { source, current } }),
};
