import { choice, group, integer, type ReadOf, words } from "../fields/field-types.ts";
import { is, isSet, type Rule } from "../fields/rule.ts";
import { asList, isObject, present } from "../model/json.ts";
import { keyText, mayCountKey } from "../model/metric-source.ts";
import type { Answer, MetricValue } from "../model/observation.ts";
import type { NativeSourceOf } from "../model/spec-native.ts";
import {
  type BatchAsking,
  type ForeignAnswer,
  failure,
  type MetricSource,
  type RegisteredQuery,
  registeredSamples,
  roundedMilli,
  unusable,
} from "./source.ts";

/**
 * What counts of a key: its items, or of a stream the messages that a group has read and not
 * acknowledged, or has not read yet.
 */
const COUNTS = ["Length", "Pending", "Lag"] as const;
type RedisCount = (typeof COUNTS)[number];

interface RedisPlace {
  readonly key: string;
  readonly count: RedisCount;
  readonly group?: string;
  readonly database: number;
}

declare module "../model/spec-native.ts" {
  interface NativeSources {
    readonly Redis: RedisPlace & { readonly source: string };
  }
}

/** A question about one key. */
export interface RedisQuery extends RegisteredQuery, RedisPlace {
  readonly for: "redis";
}

const NAME_CHARACTERS_MAX = 512;
const DATABASE_MAX = 1_023;

const FIELDS = {
  source: words("Name of the registered source (docs/sources.md).", {
    required: true,
    segment: true,
  }),
  key: words("Name of a list, a set, a sorted set, a hash or a stream: jobs.", {
    required: true,
    mostCharacters: NAME_CHARACTERS_MAX,
  }),
  count: choice(
    "What counts: the items of the key (Length); of a stream, the messages that its group has read and not acknowledged (Pending), or has not read yet (Lag).",
    COUNTS,
    { default: "Length" },
  ),
  group: words("Name of the consumer group of a stream, for Pending and Lag.", {
    mostCharacters: NAME_CHARACTERS_MAX,
  }),
  database: integer("Number of the database. A cluster has only 0.", {
    least: 0,
    most: DATABASE_MAX,
    default: 0,
  }),
};

const RULES: readonly Rule[] = [
  {
    when: is("redis.count", "Pending", "Lag"),
    needs: isSet("redis.group"),
    at: "redis.group",
    detail: "is needed for Pending and Lag",
    fix: "write the name of the consumer group",
  },
  {
    when: isSet("redis.group"),
    needs: is("redis.count", "Pending", "Lag"),
    at: "redis.group",
    detail: "is for count Pending or Lag",
    fix: "write count: Pending or count: Lag, or remove it",
  },
];

/** The command that counts the items of a key, by the type that TYPE gives. */
const LENGTHS = {
  list: "LLEN",
  set: "SCARD",
  zset: "ZCARD",
  hash: "HLEN",
  stream: "XLEN",
} as const;
const TYPES = Object.keys(LENGTHS);

/**
 * All commands are sent at once: the type says which of the lengths is one, and the others are
 * errors of the server. A script would need more rights.
 */
const commandsOf = ({ key, count, group: of = "" }: RedisQuery): readonly RedisCommand[] => {
  if (count === "Pending") return [["XPENDING", key, of]];
  if (count === "Lag") return [["XINFO", "GROUPS", key]];
  return [["TYPE", key], ...Object.values(LENGTHS).map((name) => [name, key])];
};

export type RedisCommand = readonly string[];

type Answered = Answer<readonly MetricValue[]>;

/** The error of a server begins with a word in capitals. Nothing else of it is shown. */
const ERROR_WORD = /^[A-Z]{2,20}$/;
const errorIn = (reply: unknown): string | undefined => {
  if (!isObject(reply) || typeof reply["error"] !== "string") return undefined;
  const [word = ""] = reply["error"].split(" ");
  return ERROR_WORD.test(word) ? word : "an error";
};

/** The status that an HTTP server would have, and words, by the word of the error. */
const ERRORS: Readonly<Record<string, readonly [status: number, words: string]>> = {
  NOAUTH: [401, "the server asks for a user and a password"],
  WRONGPASS: [401, "the server refuses the user or the password"],
  NOPERM: [403, "the user of the source may not send this command or read this key"],
  WRONGTYPE: [200, "the key is no stream"],
  NOGROUP: [200, "the stream has no such consumer group, or does not exist"],
  MOVED: [200, "the key is on another server of a cluster: register the source as redis-cluster"],
  CLUSTERDOWN: [503, "the cluster is down"],
  LOADING: [503, "the server is loading its data"],
  MASTERDOWN: [503, "the server has lost its primary"],
};

const refusedBy = (answer: ForeignAnswer, word: string): Answered => {
  const [status, why] = ERRORS[word] ?? [answer.status, "the server refuses the command"];
  return unusable({ ...answer, status }, "RefusedByServer", `${why}: ${word}`);
};

/** On doubt, a missing metric: only a whole number that is not negative is a count. */
const counted = (answer: ForeignAnswer, count: unknown, instead: string): Answered => {
  const milli =
    typeof count === "number" && Number.isSafeInteger(count) && count >= 0
      ? roundedMilli(count)
      : undefined;
  return milli === undefined
    ? unusable(answer, "NotANumber", instead)
    : { kind: "answered", items: [{ milli, timestampMs: 0 }] };
};

const readLength = (answer: ForeignAnswer, replies: readonly unknown[]): Answered => {
  const [type, ...lengths] = replies;
  const word = errorIn(type);
  if (word !== undefined) return refusedBy(answer, word);
  // A list without items is no key.
  if (type === "none") return counted(answer, 0, "");
  const length = lengths[TYPES.indexOf(String(type))];
  const refusal = errorIn(length);
  if (refusal !== undefined) return refusedBy(answer, refusal);
  return counted(
    answer,
    length,
    "the key is neither a list, a set, a sorted set, a hash nor a stream",
  );
};

/** Reads what XINFO GROUPS says of each group: names and values in turns. */
const lagOf = (groups: unknown, name: string): unknown => {
  const fields = asList(groups)
    .map(asList)
    .map((flat) => new Map(flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]]] : []))));
  return fields.find((of) => of.get("name") === name)?.get("lag");
};

const readOne = (
  answer: ForeignAnswer,
  replies: readonly unknown[],
  { count, group: name = "" }: RedisQuery,
): Answered => {
  if (count === "Length") return readLength(answer, replies);
  const [reply] = replies;
  const word = errorIn(reply);
  if (word !== undefined) return refusedBy(answer, word);
  if (count === "Pending")
    return counted(answer, asList(reply)[0], "the answer holds no number of pending messages");
  return counted(
    answer,
    lagOf(reply, name),
    "the group does not exist, or the server cannot say how many messages it has not read (Redis 7 can, where none was deleted from within the stream)",
  );
};

const BATCH: BatchAsking<RedisQuery> = {
  groupOf: ({ database }) => String(database),
  weightOf: () => 1,
  mostOf: () => 100,
  request: (queries) => {
    const database = queries[0]?.database ?? 0;
    return {
      path: "/",
      parameters: {},
      commands: [
        ...(database === 0 ? [] : [["SELECT", String(database)]]),
        ...queries.flatMap(commandsOf),
      ],
    };
  },
  next: () => undefined,
  isRefusalOfOne: () => false,
  read: ([answer], queries) => {
    if (answer === undefined) return [];
    const [first] = queries;
    const body = asList(answer.body);
    const word = errorIn(isObject(answer.body) ? answer.body : undefined);
    if (word !== undefined) return queries.map(() => refusedBy(answer, word));
    const selects = first !== undefined && first.database !== 0;
    if (selects && body[0] !== "OK")
      return queries.map(({ database }) =>
        unusable(answer, "RefusedByServer", `database ${database} cannot be selected`),
      );
    let from = selects ? 1 : 0;
    return queries.map((query) => {
      const to = from + commandsOf(query).length;
      const replies = body.slice(from, to);
      from = to;
      return readOne(answer, replies, query);
    });
  },
};

const questionOf = ({ source, key, count, group: of, database }: NativeSourceOf<"Redis">) =>
  ({ for: "redis", source, key, count, database, ...present({ group: of }) }) as const;

const WHAT: Readonly<Record<RedisCount, string>> = {
  Length: "items of",
  Pending: "pending messages of",
  Lag: "unread messages of",
};

/** The items of a key of a registered Redis, or the messages of a group of a stream. */
export const REDIS: MetricSource<
  ReadOf<typeof FIELDS>,
  NativeSourceOf<"Redis">,
  RedisQuery,
  readonly bigint[]
> = {
  type: "Redis",
  field: group("The items of a key of a registered Redis.", FIELDS),
  measures: ["Total", "Average"],
  samplesOf: "whole",
  rules: RULES,
  specOf: ({ source = "", key = "", count, group: of, database }) => ({
    type: "Redis",
    source,
    key,
    count,
    database,
    ...present({ group: of }),
  }),
  namedBy: ["key"],
  nameOf: ({ count, key }) => `${WHAT[count]} ${key}`,
  queryOf: questionOf,
  asking: {
    way: "registered",
    kinds: ["redis", "redis-cluster"],
    refusal: (query, source) =>
      mayCountKey(source, query)
        ? undefined
        : `source "${source.name}" does not allow key "${keyText(query)}"`,
    batch: BATCH,
  },
  samples: (spec, { answers }) =>
    registeredSamples(answers, questionOf(spec), {
      unable: (cause) =>
        failure(
          `unable to count the ${WHAT[spec.count]} key "${spec.key}" by source "${spec.source}": ${cause}`,
        ),
      empty: "the answer holds no number",
    }),
  statusOf: ({ source, key }, current) => ({ type: "Redis", redis: { source, key, current } }),
};
