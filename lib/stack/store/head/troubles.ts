import { createHash } from "node:crypto";
import * as z from "zod";
import { jsonIn } from "../../../rules/model/json.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";
import { LASTING_MS } from "../../../rules/model/summary.ts";
import { doSpellsCome, doSpellsLast, type Spells, spellsIn, spellsText } from "./spells.ts";
import { storedUndecided, type Undecided, undecidedOf, undecidedText } from "./undecided.ts";

/**
 * What keeps autoscalers of a partition from their work, and since when. It is an attribute of the
 * head, which every release writes anyway: so a sync that finds trouble writes nothing more, and
 * the function that plans knows of it from the heads that it reads.
 *
 * - `refused`: the scale that the rules wanted was refused.
 * - `unmeasured`: a metric could not be read.
 * - `contested`: others set the count again and again.
 * - `atMax`: the rules want more than `maxReplicas`.
 * - `overShare`: a namespace has used its share of the syncs, or its bytes for objects.
 * - `pods`: pods count that should not, or are refused. It wakes no person.
 * - `absent`: the workload does not exist. It wakes no person: manifests may come first.
 */
export const ALARMING_KINDS = ["refused", "unmeasured", "contested", "atMax", "overShare"] as const;
export const TROUBLE_KINDS = [...ALARMING_KINDS, "pods", "absent"] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

export interface Trouble {
  /**
   * Since when, in milliseconds and whole minutes, rounded up: by a short key of each autoscaler,
   * or of each namespace.
   */
  readonly since: ReadonlyMap<string, number>;
  /**
   * How long the trouble was there in the last hour, of each that had it, then did not, or has it
   * again. Absent where none has.
   */
  readonly spells?: ReadonlyMap<string, Spells>;
  /**
   * How many there are beyond those in `since`, and since when there have been more than it holds.
   */
  readonly more?: { readonly count: number; readonly sinceMs: number };
  /** One that has it the longest, as NAMESPACE/NAME or NAMESPACE. */
  readonly first: string;
  /** Of a count that is fought over: who changes the count of the first, where it is known. */
  readonly by?: string;
  /** Of pods: the rule of the doctor that finds something at the first. */
  readonly rule?: string;
  /**
   * How many each owner has that last long enough to be a problem. Absent where none of these has
   * an owner.
   */
  readonly owners?: Readonly<Record<string, number>>;
}

export interface Troubles {
  /** Since when no workload of the cluster could be read. */
  readonly unreachableMs?: number;
  /** Since when no autoscaler could be evaluated, although the cluster answers. */
  readonly failingMs?: number;
  /** Due syncs of the last day that decided nothing, whatever it was. */
  readonly undecided?: Undecided;
  /** How much the doctor finds at all of them, as of the last minute. Absent where nothing is. */
  readonly findings?: number;
  readonly of: Readonly<Partial<Record<TroubleKind, Trouble>>>;
}

export const NO_TROUBLES: Troubles = { of: {} };

/**
 * How long a whole cluster must be in trouble before it is a problem, and a namespace over its
 * share.
 */
export const CLUSTER_MS = 5 * MINUTE_MS;
export const LASTS_MS: Readonly<Record<TroubleKind, number>> = {
  refused: LASTING_MS,
  unmeasured: LASTING_MS,
  // Several changes in a row have shown it.
  contested: 0,
  atMax: LASTING_MS,
  overShare: CLUSTER_MS,
  pods: LASTING_MS,
  absent: LASTING_MS,
};
/**
 * Kinds that count also where they come and go. The others are there at once, or wake no person.
 */
export const HAS_SPELLS: Readonly<Record<TroubleKind, boolean>> = {
  refused: true,
  unmeasured: true,
  contested: false,
  atMax: true,
  overShare: true,
  pods: false,
  absent: false,
};
const KEY_CHARACTERS = 4;
/**
 * Autoscalers of one kind that the head remembers one by one: 200 take a kilobyte. Beyond that they
 * are counted together.
 */
export const REMEMBERED_MAX = 200;
/** Owners of one kind that are counted. */
export const OWNERS_MAX = 10;

/**
 * A short key of an autoscaler or a namespace: 24 bits, which tell 200 apart; where two meet, one
 * of them counts from the time of the other.
 */
export const troubleKey = (id: string): string =>
  createHash("sha256").update(id).digest("base64url").slice(0, KEY_CHARACTERS);

/**
 * The next whole minute: what lasts for some minutes needs no more, and autoscalers that began
 * together share one text.
 */
export const sinceMinute = (ms: number): number => Math.ceil(ms / MINUTE_MS) * MINUTE_MS;

/**
 * True where it has the trouble for so long without a break, or so long in the last hour while it
 * comes and goes.
 */
export const lastsAt = (
  { since, spells }: Pick<Trouble, "since" | "spells">,
  key: string,
  { lastsMs, nowMs }: { readonly lastsMs: number; readonly nowMs: number },
): boolean => {
  const sinceMs = since.get(key);
  if (sinceMs !== undefined && sinceMs <= nowMs - lastsMs) return true;
  const own = spells?.get(key);
  return own !== undefined && doSpellsLast(own, lastsMs, nowMs);
};

/** How many have it for so long. */
export const lasting = (trouble: Trouble, nowMs: number, lastsMs: number): number => {
  const { since, spells, more } = trouble;
  const keys = new Set([...since.keys(), ...(spells?.keys() ?? [])]);
  return (
    [...keys].filter((key) => lastsAt(trouble, key, { lastsMs, nowMs })).length +
    (more && more.sinceMs <= nowMs - lastsMs ? more.count : 0)
  );
};

/** All that have it now, however long. */
export const countOf = ({ since, more }: Trouble): number => since.size + (more?.count ?? 0);

/** True while there is one that has it, or had it a few minutes ago where it comes and goes. */
export const goesOn = (trouble: Trouble, nowMs: number): boolean =>
  countOf(trouble) > 0 ||
  [...(trouble.spells?.values() ?? [])].some((spells) => doSpellsCome(spells, nowMs));

const since = z.record(z.string(), z.string());
const trouble = z.object({
  s: since,
  f: z.string(),
  b: z.string().exactOptional(),
  r: z.string().exactOptional(),
  m: z.tuple([z.number(), z.number()]).exactOptional(),
  o: z.record(z.string(), z.number()).exactOptional(),
  e: z.record(z.string(), z.string()).exactOptional(),
});
const stored = z.object({
  u: z.number().exactOptional(),
  f: z.number().exactOptional(),
  d: storedUndecided.exactOptional(),
  n: z.number().exactOptional(),
  of: z.partialRecord(z.enum(TROUBLE_KINDS), trouble).default({}),
});
type Stored = z.infer<typeof stored>;

/**
 * The keys that began in one minute are one text behind the minute. Undefined where there is no
 * trouble, so that a partition at rest stores nothing.
 */
export const troublesText = ({
  unreachableMs,
  failingMs,
  undecided,
  findings,
  of,
}: Troubles): string | undefined => {
  const kinds = Object.entries(of);
  const isTroubled = unreachableMs !== undefined || failingMs !== undefined || kinds.length > 0;
  if (!isTroubled && !undecided && findings === undefined) return undefined;
  const text: Stored = {
    ...(unreachableMs !== undefined && { u: unreachableMs }),
    ...(failingMs !== undefined && { f: failingMs }),
    ...(undecided && { d: undecidedText(undecided) }),
    ...(findings !== undefined && { n: findings }),
    of: Object.fromEntries(kinds.map(([kind, one]) => [kind, packed(one)])),
  };
  return JSON.stringify(text);
};

/** The keys with one text stand together behind it. */
const joinedKeys = <Value>(
  all: ReadonlyMap<string, Value>,
  textOf: (value: Value) => string,
): Readonly<Record<string, string>> => {
  const byText = Map.groupBy(all, ([, value]) => textOf(value));
  return Object.fromEntries(
    [...byText].map(([text, same]) => [text, same.map(([key]) => key).join("")]),
  );
};

const packed = ({
  since: all,
  spells,
  more,
  first,
  by,
  rule,
  owners,
}: Trouble): z.infer<typeof trouble> => ({
  s: joinedKeys(all, (ms) => (ms / MINUTE_MS).toString(36)),
  f: first,
  ...(by !== undefined && { b: by }),
  ...(rule !== undefined && { r: rule }),
  ...(more && { m: [more.count, more.sinceMs] }),
  ...(owners && { o: owners }),
  ...(spells && { e: joinedKeys(spells, spellsText) }),
});

/**
 * The troubles of a head. A text that cannot be read counts as none: the sync finds what there is
 * anew, and no scale depends on it.
 */
export const troublesOf = (text: string | undefined): Troubles => {
  if (text === undefined || text === "") return NO_TROUBLES;
  const read = stored.safeParse(jsonIn(text));
  if (!read.success) return NO_TROUBLES;
  const { u, f, d, n, of } = read.data;
  const undecided = d && undecidedOf(d);
  return {
    ...(u !== undefined && { unreachableMs: u }),
    ...(f !== undefined && { failingMs: f }),
    ...(undecided && { undecided }),
    ...(n !== undefined && { findings: n }),
    of: Object.fromEntries(Object.entries(of).map(([kind, one]) => [kind, unpacked(one)])),
  };
};

const unpacked = ({ s, f, b, r, m, o, e }: z.infer<typeof trouble>): Trouble => ({
  since: keysIn(s, (minute) => Number.parseInt(minute, 36) * MINUTE_MS),
  first: f,
  ...(b !== undefined && { by: b }),
  ...(r !== undefined && { rule: r }),
  ...(m && { more: { count: m[0], sinceMs: m[1] } }),
  ...(o && { owners: o }),
  ...(e && { spells: keysIn(e, spellsIn) }),
});

const keysIn = <Value>(
  joined: Readonly<Record<string, string>>,
  valueIn: (text: string) => Value | undefined,
): ReadonlyMap<string, Value> =>
  new Map(
    Object.entries(joined).flatMap(([text, keys]) => {
      const value = valueIn(text);
      return value === undefined
        ? []
        : Array.from(
            { length: keys.length / KEY_CHARACTERS },
            (_, at) => [keys.slice(at * KEY_CHARACTERS, (at + 1) * KEY_CHARACTERS), value] as const,
          );
    }),
  );
