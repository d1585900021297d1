import type { AutoscalerUid } from "../../model/ids.ts";
import { compress, inflatedText, versionOf } from "../table/compressed.ts";
import { packed, unpacked } from "./zstd-dictionary.ts";
import type { Evaluation, JournalPage } from "../../model/scale-records.ts";

/** A page that is read by itself. */
const WHOLE = 1;
/** A page that says only how it differs from an earlier one, its base. */
const DIFFERENCE = 2;

/** A journal page in the table that later pages refer to. It is stored for longer than they are. */
export interface JournalBase {
  readonly atMs: number;
  readonly epoch: number;
  readonly body: Uint8Array;
}
export type BaseKey = Omit<JournalBase, "body">;

/** Bytes of a time and of an epoch in a body. */
const NUMBER_BYTES = 6;
const HEAD_BYTES = 1 + 2 * NUMBER_BYTES;

/** The bytes of a page that is read by itself. */
export const wholeBody = (page: JournalPage): Uint8Array => compress(WHOLE, page);

/**
 * The bytes of a page as its difference from a base. Two pages of one partition say almost the same a minute apart: the difference takes a fifth of the page. Throws for a base that cannot be read.
 */
export const differenceBody = (page: JournalPage, { atMs, epoch, body }: JournalBase): Uint8Array => {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(DIFFERENCE);
  head.writeUIntBE(atMs, 1, NUMBER_BYTES);
  head.writeUIntBE(epoch, 1 + NUMBER_BYTES, NUMBER_BYTES);
  return Buffer.concat([head, packed(Buffer.from(JSON.stringify(page)), inflatedText(body))]);
};

/** The base that a body refers to; absent for a page that is read by itself. */
export const baseOf = (body: Uint8Array): BaseKey | undefined => {
  if (body[0] !== DIFFERENCE || body.length <= HEAD_BYTES) return undefined;
  const head = Buffer.from(body.subarray(0, HEAD_BYTES));
  return { atMs: head.readUIntBE(1, NUMBER_BYTES), epoch: head.readUIntBE(1 + NUMBER_BYTES, NUMBER_BYTES) };
};

/**
 * The page of a body; with `uid`, only with the evaluation of that autoscaler. `baseText` is the text of its base. Damage, a missing base and later versions give `undefined`, because the
 * journal explains and never decides.
 */
export const pageOfBody = (body: Uint8Array, baseText?: Uint8Array, uid?: AutoscalerUid): JournalPage | undefined => {
  try {
    const text = body[0] === DIFFERENCE ? baseText && unpacked(body.subarray(HEAD_BYTES), baseText) : wholeText(body);
    if (!text) return undefined;
    return uid === undefined ? (JSON.parse(text.toString()) as JournalPage) : pageWithOne(text, uid);
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

const wholeText = (body: Uint8Array): Buffer | undefined => (versionOf(body) === WHOLE ? inflatedText(body) : undefined);

const LIST = '"evaluations":[';

/**
 * The page with one evaluation, which is cut out of the text: a page has hundreds, and a reader of two weeks wants one of each of 20,000 pages. A quote inside a JSON string is escaped,
 * so these needles are found only where the page itself has them.
 */
const pageWithOne = (text: Buffer, uid: AutoscalerUid): JournalPage => {
  const listAt = text.indexOf(LIST);
  if (listAt === -1) throw new RangeError("the page has no evaluations");
  const page = JSON.parse(`${text.toString("utf8", 0, listAt)}${LIST}]}`) as JournalPage;
  const from = text.indexOf(`{"uid":${JSON.stringify(uid)},`, listAt);
  return from === -1 ? page : { ...page, evaluations: [JSON.parse(text.toString("utf8", from, endOfObject(text, from))) as Evaluation] };
};

const [QUOTE, BACKSLASH, OPEN, CLOSE] = Buffer.from('"\\{}') as unknown as readonly [number, number, number, number];

/** The index after the object that begins at an index. */
const endOfObject = (text: Buffer, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at);
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  throw new RangeError("an object does not end");
};

/** The index of the quote that ends the string which begins at an index. */
const endOfString = (text: Buffer, from: number): number => {
  let at = from + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
};
