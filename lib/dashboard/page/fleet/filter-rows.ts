import { ascending } from "d3-array";
import { stateWords } from "../../../answers/words/state-words.ts";
import type { FleetRow } from "./fleet-rows.ts";

/**
 * What a search asks for: words that a row must have anywhere, and fields with a value, as in
 * `state:failing ns:shop crowd`. All must be met; several values of one field are alternatives.
 */
export interface Search {
  readonly words: readonly string[];
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** Fields that a search may name, with what each compares. */
const FIELDS: Readonly<Record<string, (row: FleetRow) => string>> = {
  state: ({ state }) => state,
  cluster: ({ cluster }) => cluster,
  ns: ({ namespace }) => namespace,
  owner: ({ owner = "" }) => owner,
  reason: ({ reason = "" }) => reason,
  kind: ({ kind }) => kind,
  is: (row) => traitsOf(row),
};
export const SEARCH_FIELDS = Object.keys(FIELDS);

/** What is true of a row beside its state, each a word after `is:`. */
const traitsOf = ({ overridden, missingMetrics = 0, paused, heldBy }: FleetRow): string =>
  [
    overridden ? "overridden" : "",
    missingMetrics > 0 ? "unmeasured" : "",
    paused ? "paused" : "",
    heldBy ?? "",
  ].join(" ");

export const readSearch = (text: string): Search => {
  const fields = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of text.toLowerCase().split(/\s+/)) {
    const [name = "", value = ""] = token.split(/:(.*)/s);
    if (value !== "" && Object.hasOwn(FIELDS, name))
      fields.set(name, [...(fields.get(name) ?? []), value]);
    else if (token !== "") words.push(token);
  }
  return { words, fields };
};

/** A search with a field value more, or without it where it has it. */
export const withField = (text: string, field: string, value: string): string => {
  const token = `${field}:${value}`;
  const tokens = text.split(/\s+/).filter((each) => each !== "");
  return tokens.includes(token)
    ? tokens.filter((each) => each !== token).join(" ")
    : [...tokens, token].join(" ");
};

/** What words are looked for in; made once for each row. */
const texts = new WeakMap<FleetRow, string>();
const textOf = (row: FleetRow): string => {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const { key, owner = "", reason = "", targets, target, kind } = row;
  const text =
    `${key} ${stateWords(row)} ${owner} ${reason} ${kind} ${target?.name ?? ""} ${targets.join(" ")}`.toLowerCase();
  texts.set(row, text);
  return text;
};

/** The same of each row of a list, by its index: a search goes through them without a look-up. */
const textsOfLists = new WeakMap<readonly FleetRow[], string[]>();
const textsOf = (rows: readonly FleetRow[]): string[] => {
  const known = textsOfLists.get(rows) ?? [];
  textsOfLists.set(rows, known);
  return known;
};

/** Rows whose texts are made at once: some milliseconds. */
const TEXTS_AT_ONCE = 1_000;

/**
 * Makes them all while nothing else is to do, so that the first search does not. Returns what ends
 * it.
 */
export const makeTexts = (rows: readonly FleetRow[]): (() => void) => {
  const known = textsOf(rows);
  const makeFrom = (from: number): void => {
    for (const [at, row] of rows.slice(from, from + TEXTS_AT_ONCE).entries())
      known[from + at] ??= textOf(row);
    if (from + TEXTS_AT_ONCE < rows.length)
      timer = setTimeout(() => makeFrom(from + TEXTS_AT_ONCE));
  };
  let timer = setTimeout(() => makeFrom(0));
  return () => clearTimeout(timer);
};

export const filterRows = (
  rows: readonly FleetRow[],
  { words, fields }: Search,
): readonly FleetRow[] => {
  if (words.length === 0 && fields.size === 0) return rows;
  const known = textsOf(rows);
  const hasWords = (row: FleetRow, at: number): boolean => {
    if (words.length === 0) return true;
    const text = known[at] ?? textOf(row);
    known[at] = text;
    return words.every((word) => text.includes(word));
  };
  const wanted = [...fields];
  const hasFields = (row: FleetRow): boolean =>
    wanted.every(([name, values]) => {
      const own = (FIELDS[name]?.(row) ?? "").toLowerCase();
      return values.some((value) => own.includes(value));
    });
  return rows.filter((row, at) => hasWords(row, at) && hasFields(row));
};

/** By what a table is sorted. The first is the order without a choice. */
export const SORTS = ["attention", "name", "replicas", "scaled", "reason", "owner"] as const;
export type Sort = (typeof SORTS)[number];
export interface Order {
  readonly by: Sort;
  readonly isDown: boolean;
}

/** `-replicas` is from the most to the fewest. */
export const readOrder = (text = ""): Order => {
  const isDown = text.startsWith("-");
  const by = SORTS.find((known) => known === text.replace(/^-/, "")) ?? "attention";
  return { by, isDown };
};
export const orderText = ({ by, isDown }: Order): string => `${isDown ? "-" : ""}${by}`;

/** What needs a person comes first. */
const URGENCY: Readonly<Record<FleetRow["state"], number>> = {
  failing: 0,
  forbidden: 0,
  invalid: 0,
  frozen: 1,
  paused: 1,
  held: 1,
  limited: 2,
  shadow: 3,
  waiting: 3,
  active: 4,
};

const VALUES: Readonly<Record<Sort, (row: FleetRow) => string | number>> = {
  attention: ({ state, missingMetrics = 0 }) =>
    missingMetrics > 0 ? Math.min(1, URGENCY[state]) : URGENCY[state],
  name: ({ name }) => name,
  replicas: ({ currentReplicas = -1 }) => currentReplicas,
  scaled: ({ lastScaleAt = "" }) => lastScaleAt,
  reason: ({ reason = "" }) => reason,
  owner: ({ owner = "" }) => owner,
};

export const sortRows = (rows: readonly FleetRow[], { by, isDown }: Order): readonly FleetRow[] => {
  const sortedBy = VALUES[by];
  const sign = isDown ? -1 : 1;
  return rows
    .map((row) => ({ row, value: sortedBy(row) }))
    .sort(
      (one, other) =>
        sign * ascending(one.value, other.value) || ascending(one.row.key, other.row.key),
    )
    .map(({ row }) => row);
};
