import { choice, group, type ReadOf, words } from "../fields/field-types.ts";
import { foreignText } from "../model/foreign-text.ts";
import { is, isSet, type Rule } from "../fields/rule.ts";
import { isObject, present } from "../model/json.ts";
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

/** What of a list is the value. */
const OF_LIST = ["Last", "Sum", "Count"] as const;
type OfList = (typeof OF_LIST)[number];

/** Where the number is. */
interface HttpPlace {
  readonly path: string;
  readonly pointer: string;
  /** Only where the pointer leads to a list. */
  readonly list?: OfList;
  /** JSON Pointer inside each item of the list. */
  readonly item?: string;
}

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Http: HttpPlace & { readonly source: string };
  }
}

/** A GET of a JSON document below the address of a registered source. */
export interface HttpQuery extends RegisteredQuery, HttpPlace {
  readonly for: "http";
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
  list: choice(
    "Of a list at the place of the pointer: its last item, the sum of its items, or how many it has.",
    OF_LIST,
  ),
  item: words("JSON Pointer to the number inside each item of the list: /value.", {
    form: POINTER,
  }),
};

const RULES: readonly Rule[] = [
  {
    when: isSet("http.item"),
    needs: is("http.list", "Last", "Sum"),
    at: "http.item",
    detail: "is for a list with Last or Sum",
    fix: "write list: Last or list: Sum, or remove it",
  },
];

/**
 * On doubt, a missing metric: only a number, or a text that is a quantity, at the place of the
 * pointer is a value.
 */
const read = (answer: ForeignAnswer, place: HttpQuery): Answer<readonly MetricValue[]> => {
  const { pointer } = place;
  if (answer.status !== OK || answer.body === undefined)
    return unusable(answer, "InvalidAnswer", "the source did not answer with a JSON document");
  const found = at(answer.body, pointer);
  if (place.list !== undefined && !Array.isArray(found))
    return unusable(answer, "NotANumber", `there is no list at ${foreignText(pointer)}`);
  const milli = Array.isArray(found) ? milliOfList(found, place) : milliIn(found);
  if (milli === undefined)
    return unusable(
      answer,
      "NotANumber",
      `there is neither a number nor a quantity of ordinary size at ${foreignText(pointer)}`,
    );
  return { kind: "answered", items: [{ milli, timestampMs: 0 }] };
};

/**
 * On doubt, a missing metric: one item that is no number makes the sum unknown, and an empty list
 * has no last item.
 */
const milliOfList = (
  items: readonly unknown[],
  { list, item = "" }: HttpPlace,
): bigint | undefined => {
  if (list === "Count") return roundedMilli(items.length);
  if (list === "Last") return milliIn(at(items.at(-1), item));
  if (list === undefined) return undefined;
  const amounts = items.map((each) => milliIn(at(each, item)));
  return amounts.reduce<bigint | undefined>(
    (sum, amount) => (sum === undefined || amount === undefined ? undefined : sum + amount),
    0n,
  );
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

const questionOf = ({ source, path, pointer, list, item }: NativeSourceOf<"Http">): HttpQuery => ({
  for: "http",
  source,
  path,
  pointer,
  ...present({ list, item }),
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
  rules: RULES,
  specOf: ({ source = "", path = "", pointer = "", list, item }) => ({
    type: "Http",
    source,
    path,
    pointer,
    ...present({ list, item }),
  }),
  namedBy: ["source"],
  nameOf: ({ source }) => `document of source ${source}`,
  queryOf: questionOf,
  asking: {
    way: "registered",
    kinds: ["http"],
    request: ({ path }) => ({ path, parameters: {} }),
    read,
  },
  samples: (spec, { answers }) =>
    registeredSamples(answers, questionOf(spec), {
      unable: (cause) => failure(`unable to get a document from source "${spec.source}": ${cause}`),
      empty: "the answer holds no value",
    }),
  statusOf: ({ source }, current) => ({ type: "Http", http: { source, current } }),
};
