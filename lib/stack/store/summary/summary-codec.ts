import { hash } from "node:crypto";
import * as z from "zod";
import type { AutoscalerUid } from "../../../rules/model/ids.ts";
import {
  ROW_PROBLEM_KINDS,
  type SummaryRow,
  type SummaryTotals,
} from "../../../rules/model/summary.ts";
import { column, columnsToRows, rowsToColumns } from "../table/columns.ts";
import { compress, readIfKnown } from "../table/compressed.ts";

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

const NO_TOTALS: SummaryTotals = {
  ups: 0,
  added: 0,
  downs: 0,
  removed: 0,
  refusedUps: 0,
  refusedDowns: 0,
};

/** A field of a row is a line here. What changes in a minute comes first. */
const COLUMNS = [
  column.fixed("key", KEY_CHARACTERS),
  column.word("state"),
  column.word("reason"),
  column.texts("targets"),
  column.number("current"),
  // Most autoscalers want the count that they have.
  column.delta("desired", "current"),
  column.word("heldBy"),
  column.before("lastScaleMs"),
  ...Object.keys(NO_TOTALS).map((total) => column.count(`totals.${total}`)),
  column.number("min"),
  column.number("max"),
  column.flag("overridden"),
  column.number("missing"),
  column.number("moreTargets"),
  ...ROW_PROBLEM_KINDS.map((kind) => column.before(`since.${kind}`)),
  column.before("unreadMs"),
  column.flag("switchedOff"),
  column.flag("hasBands"),
  column.number("findings"),
];

/** Rows as one value for JSON. `atMs` is the instant that times are stored against. */
export const rowsValue = (rows: readonly SummaryRow[], atMs: number): unknown =>
  rowsToColumns(COLUMNS, rows, atMs);

/** The rows of such a value. Throws for damage. */
export const rowsIn = (value: unknown, atMs: number): readonly SummaryRow[] =>
  columnsToRows<Omit<SummaryRow, "targets"> & Partial<SummaryRow>>(COLUMNS, value, atMs).map(
    ({ targets = [], totals, ...row }) => ({
      ...row,
      targets,
      ...(totals && { totals: { ...NO_TOTALS, ...totals } }),
    }),
  );

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
