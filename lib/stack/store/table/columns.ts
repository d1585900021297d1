import * as z from "zod";
import { SECOND_MS } from "../../../rules/model/time-text.ts";

/**
 * Rows that are alike, stored by columns: what is alike stands together and compresses better. A
 * field is one line in a list of columns, and is read and written by it. Columns are stored in the
 * order of the list, so that a new one comes last. One in which no row has a value takes two bytes.
 */
export interface Column {
  /** The place of the value in a row: "current", or "totals.ups". */
  readonly field: string;
  readonly kind: Kind;
}

type Kind =
  /** A number as it is; `base`: as the difference from another field, which has its line before. */
  | { readonly as: "number"; readonly base?: string; readonly times?: number }
  /** A number that is absent where it is 0. */
  | { readonly as: "count" }
  /** One of few texts: a number into the words of the body. */
  | { readonly as: "word" }
  /** True, or absent. */
  | { readonly as: "flag" }
  /** An instant, as whole seconds before the instant of the body, rounded down. */
  | { readonly as: "before" }
  /** Texts of so many characters each, without anything between them. */
  | { readonly as: "fixed"; readonly characters: number }
  /** A text, or several of which none has a line break. */
  | { readonly as: "text" }
  | { readonly as: "texts" };

/** The columns of a list, by the kind of their values. */
export const column = {
  number: (field: string): Column => ({ field, kind: { as: "number" } }),
  /** A fraction as a whole number of parts: of `times` 10,000, four digits are kept. */
  fraction: (field: string, times: number): Column => ({ field, kind: { as: "number", times } }),
  count: (field: string): Column => ({ field, kind: { as: "count" } }),
  delta: (field: string, base: string): Column => ({ field, kind: { as: "number", base } }),
  word: (field: string): Column => ({ field, kind: { as: "word" } }),
  flag: (field: string): Column => ({ field, kind: { as: "flag" } }),
  before: (field: string): Column => ({ field, kind: { as: "before" } }),
  fixed: (field: string, characters: number): Column => ({
    field,
    kind: { as: "fixed", characters },
  }),
  text: (field: string): Column => ({ field, kind: { as: "text" } }),
  texts: (field: string): Column => ({ field, kind: { as: "texts" } }),
};

type Stored = number | string | null;

/** Between the texts of one row. */
const BETWEEN = "\n";

const secondsOf = (ms: number): number => Math.floor(ms / SECOND_MS);

interface Body {
  readonly words: string[];
  /** The instant that times are stored against. */
  readonly atMs: number;
}

const wordAt = (words: string[], value: string): number => {
  const known = words.indexOf(value);
  return known === -1 ? words.push(value) - 1 : known;
};

type Row = Readonly<Record<string, unknown>>;

const valueAt = (row: Row, [name = "", inner]: readonly string[]): unknown => {
  const value = row[name];
  return inner === undefined ? value : (value as Row | undefined)?.[inner];
};

const storedOf = (kind: Kind, value: unknown, row: Row, { words, atMs }: Body): Stored => {
  switch (kind.as) {
    case "number": {
      const base = kind.base === undefined ? 0 : ((row[kind.base] as number | undefined) ?? 0);
      return kind.times === undefined
        ? (value as number) - base
        : Math.round((value as number) * kind.times);
    }
    case "count":
      return (value as number) || null;
    case "word":
      return wordAt(words, value as string);
    case "flag":
      return value === true ? 1 : null;
    case "before":
      return secondsOf(atMs) - secondsOf(value as number);
    case "texts":
      return (value as readonly string[]).join(BETWEEN) || null;
    case "fixed":
    case "text":
      return value as string;
  }
};

/** Rows as one value for JSON. */
export const rowsToColumns = <Fields extends object>(
  columns: readonly Column[],
  rows: readonly Fields[],
  atMs: number,
): unknown => {
  const body: Body = { words: [], atMs };
  const all = columns.map(({ field, kind }) => {
    const path = field.split(".");
    const values = rows.map((row) => {
      const value = valueAt(row as Row, path);
      return value === undefined ? null : storedOf(kind, value, row as Row, body);
    });
    if (kind.as === "fixed") return values.join("");
    return values.some((value) => value !== null) ? values : NONE;
  });
  return [rows.length, body.words, ...all.slice(0, all.findLastIndex((one) => one !== NONE) + 1)];
};

/** Stands for a column without a value. */
const NONE = 0;

const columnStored = z.union([
  z.literal(NONE),
  z.string(),
  z.array(z.union([z.number(), z.string(), z.null()])),
]);
const stored = z.tuple([z.int().nonnegative(), z.array(z.string())], columnStored);

type Making = Record<string, unknown>;

const readOf = (kind: Kind, value: Stored, row: Row, { words, atMs }: Body): unknown => {
  switch (kind.as) {
    case "number": {
      const base = kind.base === undefined ? 0 : ((row[kind.base] as number | undefined) ?? 0);
      return kind.times === undefined ? (value as number) + base : (value as number) / kind.times;
    }
    case "word": {
      const found = words[value as number];
      if (found === undefined)
        throw new RangeError(`Cannot read columns: there is no word ${value}`);
      return found;
    }
    case "flag":
      return true;
    case "before":
      return (secondsOf(atMs) - (value as number)) * SECOND_MS;
    case "texts":
      return (value as string).split(BETWEEN);
    case "count":
    case "fixed":
    case "text":
      return value;
  }
};

/** A value of another type than its column's is damage. */
const isOf = ({ as }: Kind, value: Stored): boolean =>
  typeof value === (as === "text" || as === "texts" || as === "fixed" ? "string" : "number");

/**
 * The rows of such a value, without what `columns` does not name. On doubt, none: it throws for a
 * column or a word that is cut off, because each row below it would show the numbers of another
 * row.
 */
export const columnsToRows = <Fields>(
  columns: readonly Column[],
  value: unknown,
  atMs: number,
): readonly Fields[] => {
  const [count, words, ...all] = stored.parse(value);
  const body: Body = { words, atMs };
  const rows: Making[] = Array.from({ length: count }, () => ({}));
  for (const [place, one] of columns.entries()) {
    const found = all[place] ?? NONE;
    if (found === NONE) continue;
    const values = valuesOf(one, found);
    if (values.length !== count)
      throw new RangeError(
        `Cannot read columns of ${count} rows: the column "${one.field}" has ${values.length} values`,
      );
    for (const [at, row] of rows.entries()) put(row, one, values[at] ?? null, body);
  }
  return rows as readonly Fields[];
};

const valuesOf = ({ kind }: Column, found: string | readonly Stored[]): readonly Stored[] => {
  if (typeof found !== "string") return found;
  return kind.as === "fixed" ? split(found, kind.characters) : [];
};

const put = (row: Making, { field, kind }: Column, value: Stored, body: Body): void => {
  if (value === null) return;
  if (!isOf(kind, value)) throw new RangeError(`Cannot read columns: "${field}" has "${value}"`);
  const [name = "", inner] = field.split(".");
  const read = readOf(kind, value, row, body);
  if (inner === undefined) {
    row[name] = read;
    return;
  }
  row[name] ??= {};
  (row[name] as Making)[inner] = read;
};

const split = (all: string, characters: number): readonly string[] =>
  Array.from({ length: Math.ceil(all.length / characters) }, (_, at) =>
    all.slice(at * characters, (at + 1) * characters),
  ).filter(({ length }) => length === characters);
