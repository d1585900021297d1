import { hash } from "node:crypto";
import * as z from "zod";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import {
  ROW_PROBLEM_KINDS,
  type ProblemTimes,
  type SummaryRow,
  type SummaryTotals,
} from "../../../rules/model/summary.ts";
import { compress, readIfKnown } from "../table/compressed.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

const VERSION = 1;

/**
 * Characters of a key: 48 bits of a hash. Two of 5,000 autoscalers of a partition share one with a
 * chance of 1 in 20 million.
 */
const KEY_CHARACTERS = 8;

/** Keys of uids. Each sync needs the keys of all its autoscalers. */
const keys = new Map<AutoscalerUid, string>();
const KEYS_MAX = 50_000;

/** The key of an autoscaler in summaries: a summary with whole uids would be twice as large. */
export const summaryKeyOf = (uid: AutoscalerUid): string => {
  const known = keys.get(uid);
  if (known !== undefined) return known;
  if (keys.size >= KEYS_MAX) keys.clear();
  const made = hash("sha256", uid, "base64url").slice(0, KEY_CHARACTERS);
  keys.set(uid, made);
  return made;
};

const amounts = z.array(z.number().nullable());
/** Most columns are absent where no row has a value. */
const optionalAmounts = amounts.optional();
const body = z.tuple([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]);

const TOTALS = [
  "ups",
  "added",
  "downs",
  "removed",
  "refusedUps",
  "refusedDowns",
] as const satisfies readonly (keyof SummaryTotals)[];
const COUNTS = [
  "heldBy",
  "current",
  "unread",
  "desired",
  "min",
  "max",
  "over",
  "off",
  "bands",
  "more",
  "missing",
  "scaled",
] as const;
const OPTIONAL = [...COUNTS, ...TOTALS, ...ROW_PROBLEM_KINDS];

/** A column for each field. Columns compress better than rows: what is alike stands together. */
const columns = z.object({
  state: amounts,
  reason: amounts,
  targets: z.array(z.string()).optional(),
  ...(Object.fromEntries(OPTIONAL.map((name) => [name, optionalAmounts])) as Record<
    (typeof OPTIONAL)[number],
    typeof optionalAmounts
  >),
});
type Columns = z.infer<typeof columns>;

/** Between the targets of one row. It is in no quantity. */
const BETWEEN_TARGETS = "\n";

/**
 * Times are seconds before the instant of the summary, rounded down, so that two summaries of one
 * fact are alike.
 */
const secondsBefore = (atMs: number, thenMs: number | undefined): number | null =>
  thenMs === undefined ? null : Math.floor(atMs / SECOND_MS) - Math.floor(thenMs / SECOND_MS);
const beforeSeconds = (atMs: number, seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined
    ? undefined
    : (Math.floor(atMs / SECOND_MS) - seconds) * SECOND_MS;

/**
 * Rows as one value for JSON: keys, words, and a column for each field that some row has. `atMs` is
 * the instant that times are stored against.
 */
export const rowsValue = (rows: readonly SummaryRow[], atMs: number): unknown => {
  const words: string[] = [];
  const wordAt = (word: string | undefined): number | null => {
    if (word === undefined) return null;
    const known = words.indexOf(word);
    return known === -1 ? words.push(word) - 1 : known;
  };
  /** A column that no row has a value for is left out, and takes no memory. */
  const numbers = (
    value: (row: SummaryRow) => number | null | undefined,
  ): readonly (number | null)[] | undefined =>
    rows.some((row) => (value(row) ?? null) !== null)
      ? rows.map((row) => value(row) ?? null)
      : undefined;
  const since = (kind: keyof ProblemTimes) =>
    numbers((row) => secondsBefore(atMs, row.since?.[kind]));
  const total = (name: keyof SummaryTotals) => numbers((row) => row.totals?.[name] || null);
  const all = {
    state: numbers((row) => wordAt(row.state)),
    heldBy: numbers((row) => wordAt(row.heldBy)),
    reason: numbers((row) => wordAt(row.reason)),
    current: numbers((row) => row.current),
    unread: numbers((row) => (row.unreadMs === 0 ? -1 : secondsBefore(atMs, row.unreadMs))),
    // Most autoscalers want the count that they have.
    desired: numbers((row) =>
      row.desired === undefined ? null : row.desired - (row.current ?? 0),
    ),
    min: numbers((row) => row.min),
    max: numbers((row) => row.max),
    over: numbers((row) => (row.overridden ? 1 : null)),
    off: numbers((row) => (row.switchedOff ? 1 : null)),
    bands: numbers((row) => (row.hasBands ? 1 : null)),
    targets: rows.some(({ targets }) => targets.some((target) => target !== ""))
      ? rows.map(({ targets }) => targets.join(BETWEEN_TARGETS))
      : undefined,
    more: numbers((row) => row.moreTargets || null),
    missing: numbers((row) => row.missing || null),
    scaled: numbers((row) => secondsBefore(atMs, row.lastScaleMs)),
    ...Object.fromEntries(TOTALS.map((name) => [name, total(name)])),
    ...Object.fromEntries(ROW_PROBLEM_KINDS.map((kind) => [kind, since(kind)])),
  };
  return [rows.map(({ key }) => key).join(""), words, all];
};

/**
 * The rows of such a value. On doubt, none: it throws for a column, a key or a word that is cut
 * off, because each row below it would show the numbers of another autoscaler, or none.
 */
export const rowsIn = (value: unknown, atMs: number): readonly SummaryRow[] => {
  const [keyText, words, kept] = body.parse(value);
  const read = columns.parse({ state: [], reason: [], ...kept });
  const count = keyText.length / KEY_CHARACTERS;
  const cut = Object.entries(read).find(
    ([, column]) => column !== undefined && column.length !== count,
  );
  if (cut)
    throw new RangeError(
      `Cannot read a summary of ${count} rows: its column "${cut[0]}" has ${cut[1]?.length}`,
    );
  return Array.from({ length: count }, (_, at) => {
    const key = keyText.slice(at * KEY_CHARACTERS, (at + 1) * KEY_CHARACTERS);
    return rowAt(read, { key, at, words, atMs });
  });
};

/** The value of an optional field where a row has one. */
const optional = <Name extends keyof SummaryRow>(
  name: Name,
  value: SummaryRow[Name] | null | undefined,
): Pick<SummaryRow, never> => (value === null || value === undefined ? {} : { [name]: value });

const markAt = (column: readonly (number | null)[] | undefined, at: number): true | undefined =>
  column?.[at] === 1 ? true : undefined;

const rowAt = (
  read: Columns,
  {
    key,
    at,
    words,
    atMs,
  }: {
    readonly key: string;
    readonly at: number;
    readonly words: readonly string[];
    readonly atMs: number;
  },
): SummaryRow => {
  const wordIn = (column: readonly (number | null)[] | undefined): string | undefined => {
    const index = column?.[at] ?? undefined;
    const word = index === undefined ? undefined : words[index];
    if (index !== undefined && word === undefined)
      throw new RangeError(`Cannot read a summary: it has no word ${index}`);
    return word;
  };
  const current = read.current?.[at] ?? undefined;
  const desired = read.desired?.[at] ?? undefined;
  const unread = read.unread?.[at] ?? undefined;
  const targets = read.targets?.[at] ?? "";
  return {
    key,
    state: wordIn(read.state) ?? "",
    ...optional("heldBy", wordIn(read.heldBy)),
    reason: wordIn(read.reason) ?? "",
    ...optional("current", current),
    ...optional("unreadMs", unread === -1 ? 0 : beforeSeconds(atMs, unread)),
    ...optional("desired", desired === undefined ? undefined : desired + (current ?? 0)),
    ...optional("min", read.min?.[at]),
    ...optional("max", read.max?.[at]),
    ...optional("overridden", markAt(read.over, at)),
    ...optional("switchedOff", markAt(read.off, at)),
    ...optional("hasBands", markAt(read.bands, at)),
    targets: targets === "" ? [] : targets.split(BETWEEN_TARGETS),
    ...optional("moreTargets", read.more?.[at]),
    ...optional("missing", read.missing?.[at]),
    ...optional("lastScaleMs", beforeSeconds(atMs, read.scaled?.[at])),
    ...optional("totals", totalsAt(read, at)),
    ...optional("since", sinceAt(read, at, atMs)),
  };
};

const totalsAt = (read: Columns, at: number): SummaryTotals | undefined => {
  const totals = TOTALS.map((name) => [name, read[name]?.[at] ?? 0] as const);
  return totals.some(([, value]) => value > 0)
    ? (Object.fromEntries(totals) as unknown as SummaryTotals)
    : undefined;
};

const sinceAt = (read: Columns, at: number, atMs: number): ProblemTimes | undefined => {
  const times = ROW_PROBLEM_KINDS.flatMap((kind) => {
    const beganMs = beforeSeconds(atMs, read[kind]?.[at]);
    return beganMs === undefined ? [] : [[kind, beganMs] as const];
  });
  return times.length > 0 ? Object.fromEntries(times) : undefined;
};

/** A larger body is not written: an item holds 400 KB. Some 15,000 autoscalers fit. */
export const DERIVED_BYTES_MAX = 390_000;

/**
 * A whole summary as the body of its item; without targets where it would be too large, and
 * `undefined` where it is too large even so: readers then do without.
 */
export const encodeSummary = (
  rows: readonly SummaryRow[],
  atMs: number,
): Uint8Array | undefined => {
  const whole = compress(VERSION, [atMs, rowsValue(rows, atMs)]);
  if (whole.length <= DERIVED_BYTES_MAX) return whole;
  const lighter = rows.map(({ missing: _ofTargets, ...row }) => ({ ...row, targets: [] }));
  const light = compress(VERSION, [atMs, rowsValue(lighter, atMs)]);
  return light.length <= DERIVED_BYTES_MAX ? light : undefined;
};

const whole = z.tuple([z.number(), z.unknown()]);

/**
 * The instant and the rows of a body; `undefined` for damage or a later version: a reader then does
 * without.
 */
export const decodeSummary = (
  bytes: Uint8Array,
): { readonly atMs: number; readonly rows: readonly SummaryRow[] } | undefined =>
  readIfKnown(bytes, VERSION, (value) => {
    const [atMs, rows] = whole.parse(value);
    return { atMs, rows: rowsIn(rows, atMs) };
  });
