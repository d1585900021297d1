import { createHash } from "node:crypto";
import * as z from "zod";
import { jsonIn } from "../../../rules/model/json.ts";
import { MINUTE_MS } from "../../../rules/model/time-text.ts";
import { LASTING_MS } from "../../../rules/model/summary.ts";

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
 */
export const ALARMING_KINDS = ["refused", "unmeasured", "contested", "atMax", "overShare"] as const;
export const TROUBLE_KINDS = [...ALARMING_KINDS, "pods"] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

export interface Trouble {
  /**
   * Since when, in milliseconds and whole minutes, rounded up: by a short key of each autoscaler,
   * or of each namespace.
   */
  readonly since: ReadonlyMap<string, number>;
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

/** How many have it since `ms` at the latest. */
export const lasting = ({ since, more }: Trouble, ms: number): number =>
  [...since.values()].filter((sinceMs) => sinceMs <= ms).length +
  (more && more.sinceMs <= ms ? more.count : 0);

/** All of them, however long. */
export const countOf = ({ since, more }: Trouble): number => since.size + (more?.count ?? 0);

const since = z.record(z.string(), z.string());
const trouble = z.object({
  s: since,
  f: z.string(),
  b: z.string().exactOptional(),
  r: z.string().exactOptional(),
  m: z.tuple([z.number(), z.number()]).exactOptional(),
  o: z.record(z.string(), z.number()).exactOptional(),
});
const stored = z.object({
  u: z.number().exactOptional(),
  f: z.number().exactOptional(),
  of: z.partialRecord(z.enum(TROUBLE_KINDS), trouble).default({}),
});
type Stored = z.infer<typeof stored>;

/**
 * The keys that began in one minute are one text behind the minute. Undefined where there is no
 * trouble, so that a partition at rest stores nothing.
 */
export const troublesText = ({ unreachableMs, failingMs, of }: Troubles): string | undefined => {
  const kinds = Object.entries(of);
  if (unreachableMs === undefined && failingMs === undefined && kinds.length === 0)
    return undefined;
  const text: Stored = {
    ...(unreachableMs !== undefined && { u: unreachableMs }),
    ...(failingMs !== undefined && { f: failingMs }),
    of: Object.fromEntries(kinds.map(([kind, one]) => [kind, packed(one)])),
  };
  return JSON.stringify(text);
};

const packed = ({
  since: all,
  more,
  first,
  by,
  rule,
  owners,
}: Trouble): z.infer<typeof trouble> => {
  const byMinute = Map.groupBy(all, ([, ms]) => (ms / MINUTE_MS).toString(36));
  return {
    s: Object.fromEntries(
      [...byMinute].map(([minute, same]) => [minute, same.map(([key]) => key).join("")]),
    ),
    f: first,
    ...(by !== undefined && { b: by }),
    ...(rule !== undefined && { r: rule }),
    ...(more && { m: [more.count, more.sinceMs] }),
    ...(owners && { o: owners }),
  };
};

/**
 * The troubles of a head. A text that cannot be read counts as none: the sync finds what there is
 * anew, and no scale depends on it.
 */
export const troublesOf = (text: string | undefined): Troubles => {
  if (text === undefined || text === "") return NO_TROUBLES;
  const read = stored.safeParse(jsonIn(text));
  if (!read.success) return NO_TROUBLES;
  const { u, f, of } = read.data;
  return {
    ...(u !== undefined && { unreachableMs: u }),
    ...(f !== undefined && { failingMs: f }),
    of: Object.fromEntries(Object.entries(of).map(([kind, one]) => [kind, unpacked(one)])),
  };
};

const unpacked = ({ s, f, b, r, m, o }: z.infer<typeof trouble>): Trouble => ({
  since: new Map(
    Object.entries(s).flatMap(([minute, keys]) =>
      Array.from(
        { length: keys.length / KEY_CHARACTERS },
        (_, at) =>
          [
            keys.slice(at * KEY_CHARACTERS, (at + 1) * KEY_CHARACTERS),
            Number.parseInt(minute, 36) * MINUTE_MS,
          ] as const,
      ),
    ),
  ),
  first: f,
  ...(b !== undefined && { by: b }),
  ...(r !== undefined && { rule: r }),
  ...(m && { more: { count: m[0], sinceMs: m[1] } }),
  ...(o && { owners: o }),
});
