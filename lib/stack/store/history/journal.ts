import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { AutoscalerUid, PartitionRef } from "../../../rules/model/ids.ts";
import { type Key, journalKey, journalPagePrefix, journalPk } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { isEmptyStretch, type Stretch, stretchParams, ttlOf } from "./events.ts";
import { type HistoryItem, historyItemOf, readAllWritten, readWritten } from "./item.ts";
import {
  hasDictionaries,
  packed,
  unpacked,
  compressText,
  firstWithin,
  inflatedText,
  versionOf,
} from "../table/compressed.ts";
import { rowsToShapes, shapesToRows } from "../table/shapes.ts";
import { shortened, writtenOut } from "./shorthand.ts";
import type { Evaluation, JournalPage } from "../../../rules/model/scale-records.ts";

export const JOURNAL_DAYS_KEPT = 14;
/**
 * A page is stored as its difference from a page that is at most this old. The older page is kept
 * for as much longer.
 */
export const BASE_MS_MAX = 3_600_000;
/**
 * A difference that is larger than this share of its base saves too little, and the page becomes a
 * new base.
 */
const DIFFERENCE_SHARE_MAX = 0.5;

/**
 * A larger journal page is shortened, well before an item is full (400 KB). The journal only
 * explains, so it must never stop a sync from its release.
 */
export const JOURNAL_BYTES_MAX = 350_000;
const MESSAGE_CHARS_MAX = 200;

/**
 * What to leave out, one more at each step. The last form has only the decision and a short reason.
 */
const LIGHTER: readonly ((evaluation: Evaluation) => Evaluation)[] = [
  (evaluation) => evaluation,
  ({ gauges: _gauges, ...evaluation }) => evaluation,
  ({ gauges: _gauges, status: _status, ...evaluation }) => ({
    ...evaluation,
    steps: [],
    events: [],
  }),
  ({ gauges: _gauges, status: _status, because: { reason, message }, ...evaluation }) => ({
    ...evaluation,
    because: { reason, message: message.slice(0, MESSAGE_CHARS_MAX) },
    metrics: [],
    steps: [],
    events: [],
  }),
];

const lightEnough = (page: JournalPage): Uint8Array =>
  firstWithin(JOURNAL_BYTES_MAX, LIGHTER, (lighten) =>
    wholeBody({ ...page, evaluations: page.evaluations.map(lighten) }),
  );

/**
 * The bases of a partition, by journal page. An environment remembers those that it has inserted
 * itself.
 */
export type JournalBases = ReadonlyMap<number, JournalBase>;

/**
 * The difference of a page from its base; absent where this Node makes none, the base is too old or
 * the two are too different. The page is then stored whole, which every version reads.
 */
const differenceOf = (
  page: JournalPage,
  base: JournalBase | undefined,
  makesDifferences: boolean,
): Uint8Array | undefined => {
  if (!base || !makesDifferences || page.atMs < base.atMs || page.atMs - base.atMs > BASE_MS_MAX)
    return undefined;
  const body = differenceBody(page, base);
  return body.length <= base.body.length * DIFFERENCE_SHARE_MAX ? body : undefined;
};

export const journalItem = (
  ref: PartitionRef,
  page: JournalPage,
  base?: JournalBase,
  makesDifferences = hasDictionaries(),
): HistoryItem & { readonly body: Uint8Array } => ({
  ...journalKey(ref, page),
  body: differenceOf(page, base, makesDifferences) ?? lightEnough(page),
  ttlSeconds: ttlOf(page.atMs + BASE_MS_MAX, JOURNAL_DAYS_KEPT),
});

/**
 * The bases for the next sync, after these pages were inserted: those before, and each page that is
 * read by itself and holds all its autoscalers.
 */
export const basesAfter = (
  bases: JournalBases,
  inserted: readonly { readonly page: JournalPage; readonly item: { readonly body: Uint8Array } }[],
): JournalBases => {
  const added = inserted.flatMap(({ page, item: { body } }) =>
    page.partial || baseOf(body)
      ? []
      : [[page.page, { atMs: page.atMs, epoch: page.epoch, body }] as const],
  );
  return added.length > 0 ? new Map([...bases, ...added]) : bases;
};

/**
 * Texts of bases that an environment keeps for its readers, some 0.3 MB each. The bases of several
 * environments follow each other in a journal.
 */
const BASES_KEPT = 8;
/** Pages that a reader has passed, of which some are the bases of the next ones. */
const PASSED_KEPT = 32;

const keep = <Value>(kept: Map<string, Value>, most: number, key: string, value: Value): void => {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size >= most) kept.delete(oldest);
  kept.set(key, value);
};

type BaseText = Promise<Uint8Array | undefined>;
const texts = new WeakMap<Tables["client"], Map<string, BaseText>>();

/**
 * The texts of the bases of one journal page. In order of time a base is passed before the pages
 * that differ from it, and is read by itself only at the begin of a stretch. A base that does not
 * exist gives no page.
 */
export const baseReader = (tables: Tables, ref: PartitionRef, page: number) => {
  const passed = new Map<string, Uint8Array>();
  // Readers of many journals at once take the texts of each other out of the environment's.
  const own = new Map<string, BaseText>();
  const known = texts.get(tables.client) ?? new Map<string, BaseText>();
  texts.set(tables.client, known);
  const read = async (key: Key): BaseText => {
    const body = passed.get(key.sk) ?? (await readWritten(tables, key))?.body;
    return typeof body === "string" || !body ? undefined : baseText(body);
  };
  const begun = (key: Key): BaseText => {
    const path = `${key.pk} ${key.sk}`;
    const text = known.get(path) ?? read(key);
    if (!known.has(path)) keep(known, BASES_KEPT, path, text);
    // One that could not be read is asked for again.
    text.then(
      (found) => found ?? known.delete(path),
      () => known.delete(path),
    );
    return text;
  };
  return {
    pass: (sk: string, body: Uint8Array): void => keep(passed, PASSED_KEPT, sk, body),
    text: (base: BaseKey): BaseText => {
      const key = journalKey(ref, { page, ...base });
      const text = own.get(key.sk) ?? begun(key);
      if (!own.has(key.sk)) keep(own, BASES_KEPT, key.sk, text);
      return text;
    },
  };
};

/** Items of one journal page between two instants, both inclusive. */
export const journalParams = (
  historyTable: string,
  ref: PartitionRef,
  wanted: Stretch & { readonly page: number },
): QueryCommandInput =>
  stretchParams(historyTable, journalPk(ref), journalPagePrefix(wanted.page), wanted);

type JournalQuery = Parameters<typeof journalParams>[2] & {
  /**
   * Of the evaluations of each page only the one of this autoscaler is parsed, and no other is in
   * the answer.
   */
  readonly uid?: AutoscalerUid;
  /** Of several stretches of one journal page that are read at once. */
  readonly bases?: ReturnType<typeof baseReader>;
};

/** A page with some fields of its evaluations. */
type PartOfPage<Field extends keyof Evaluation> = PageHead & {
  readonly evaluations: readonly Pick<Evaluation, Field>[];
};

/** What the journal has of one page, in order of time; with `fields`, these of each evaluation. */
export async function* journalOfPage<Field extends keyof Evaluation = keyof Evaluation>(
  tables: Tables,
  ref: PartitionRef,
  wanted: JournalQuery & { readonly fields?: ReadonlySet<Field> },
): AsyncGenerator<PartOfPage<Field>> {
  if (isEmptyStretch(wanted)) return;
  const params = journalParams(tables.historyTable, ref, wanted);
  const bases = wanted.bases ?? baseReader(tables, ref, wanted.page);
  for await (const item of readAll(
    tables,
    `read the journal of "${ref.cluster}/${ref.partition}"`,
    params,
  )) {
    const { sk, body } = historyItemOf(item);
    if (typeof body === "string") continue;
    const base = baseOf(body);
    if (!base) bases.pass(sk, body);
    const page = pageOfBody(body, base && (await bases.text(base)), wanted.uid, wanted.fields);
    if (page) yield page;
  }
}

/** One page of one sync. */
export interface JournalPlace {
  readonly ref: PartitionRef;
  readonly page: number;
  readonly atMs: number;
  readonly epoch: number;
}

/**
 * Pages of many partitions whose syncs are known, in the order of their places, of which no two are
 * equal: in two requests for each hundred. `undefined` where there is no such page, or it cannot be
 * read.
 */
export const journalPagesAt = async <Field extends keyof Evaluation>(
  tables: Tables,
  places: readonly JournalPlace[],
  fields: ReadonlySet<Field>,
): Promise<readonly (PartOfPage<Field> | undefined)[]> => {
  const items = await readAllWritten(
    tables,
    places.map(({ ref, ...place }) => journalKey(ref, place)),
  );
  const found = places.map(({ ref, page }, at) => {
    const body = items[at]?.body;
    if (body === undefined || typeof body === "string") return undefined;
    const base = baseOf(body);
    return { body, base: base && journalKey(ref, { page, ...base }) };
  });
  const keys = new Map(
    found.flatMap((one) => (one?.base ? [[`${one.base.pk} ${one.base.sk}`, one.base]] : [])),
  );
  const bases = await readAllWritten(tables, [...keys.values()]);
  const baseTexts = new Map(
    [...keys.keys()].map((key, at) => {
      const body = bases[at]?.body;
      return [key, body === undefined || typeof body === "string" ? undefined : baseText(body)];
    }),
  );
  return found.map(
    (one) =>
      one &&
      pageOfBody(
        one.body,
        one.base && baseTexts.get(`${one.base.pk} ${one.base.sk}`),
        undefined,
        fields,
      ),
  );
};

/** A page that is read by itself. */
const WHOLE = 3;
/** A page that says only how it differs from an earlier one, its base. */
const DIFFERENCE = 4;
/**
 * The same two from before numbers had a short form (shorthand.ts). A version that does not know
 * the short form passes over the pages that have it.
 */
const IN_FULL = { whole: 1, difference: 2 };
const isDifference = (body: Uint8Array): boolean =>
  body[0] === DIFFERENCE || body[0] === IN_FULL.difference;

/** A journal page in the table that later pages refer to. It is stored for longer than they are. */
interface JournalBase {
  readonly atMs: number;
  readonly epoch: number;
  readonly body: Uint8Array;
}
type BaseKey = Omit<JournalBase, "body">;

/** Bytes of a time and of an epoch in a body. */
const NUMBER_BYTES = 6;
const HEAD_BYTES = 1 + 2 * NUMBER_BYTES;

/** What a page says of all its evaluations. */
type PageHead = Omit<JournalPage, "evaluations">;

/** A page as JSON: its evaluations in their short form, by columns. */
const textOf = ({ evaluations, ...head }: JournalPage): Buffer =>
  Buffer.from(`[${JSON.stringify(head)},${rowsToShapes(evaluations.map(shortened))}]`);

/** The bytes of a page that is read by itself. */
export const wholeBody = (page: JournalPage): Uint8Array => compressText(WHOLE, textOf(page));

/**
 * The bytes of a page as its difference from a base. Two pages of one partition say almost the same
 * a minute apart, and the columns of what stays are as in the base: the difference takes a third of
 * the page. Throws for a base that cannot be read.
 */
export const differenceBody = (
  page: JournalPage,
  { atMs, epoch, body }: JournalBase,
): Uint8Array => {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(DIFFERENCE);
  head.writeUIntBE(atMs, 1, NUMBER_BYTES);
  head.writeUIntBE(epoch, 1 + NUMBER_BYTES, NUMBER_BYTES);
  return Buffer.concat([head, packed(textOf(page), inflatedText(body))]);
};

/** The base that a body refers to; absent for a page that is read by itself. */
export const baseOf = (body: Uint8Array): BaseKey | undefined => {
  if (!isDifference(body) || body.length <= HEAD_BYTES) return undefined;
  const head = Buffer.from(body.subarray(0, HEAD_BYTES));
  return {
    atMs: head.readUIntBE(1, NUMBER_BYTES),
    epoch: head.readUIntBE(1 + NUMBER_BYTES, NUMBER_BYTES),
  };
};

/**
 * The page of a body; with `uid`, only with the evaluation of that autoscaler; with `fields`, with
 * these of each. `baseText` is the
 * text of its base. Damage, a missing base and later versions give `undefined`, because the journal
 * explains and never decides.
 */
export const pageOfBody = <Field extends keyof Evaluation = keyof Evaluation>(
  body: Uint8Array,
  baseText?: Uint8Array,
  uid?: AutoscalerUid,
  fields?: ReadonlySet<Field>,
): PartOfPage<Field> | undefined => {
  try {
    const text = isDifference(body)
      ? baseText && unpacked(body.subarray(HEAD_BYTES), baseText)
      : wholeText(body);
    if (!text) return undefined;
    const [head, rows] = JSON.parse(text.toString()) as readonly [PageHead, unknown];
    const only = uid === undefined ? undefined : { field: "uid", is: uid };
    const stored = shapesToRows<Pick<Evaluation, Field>>(rows, only, fields);
    return { ...head, evaluations: stored.map(writtenOut) };
  } catch {
    return undefined;
  }
};

/** The text of a base, for the pages that refer to it; `undefined` for damage. */
export const baseText = (body: Uint8Array): Uint8Array | undefined => {
  try {
    return inflatedText(body);
  } catch {
    return undefined;
  }
};

const wholeText = (body: Uint8Array): Buffer | undefined =>
  versionOf(body) === WHOLE || versionOf(body) === IN_FULL.whole ? inflatedText(body) : undefined;
