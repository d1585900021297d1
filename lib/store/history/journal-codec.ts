import type { JournalPage } from "../../model/records.ts";
import { compress, decompress, inflatedText } from "../table/compressed.ts";
import { packed, unpacked } from "./zstd-dictionary.ts";

/** A page that is read alone. */
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

/** The bytes of a page that is read alone. */
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

/** The base that a body refers to; absent for a page that is read alone. */
export const baseOf = (body: Uint8Array): BaseKey | undefined => {
  if (body[0] !== DIFFERENCE || body.length <= HEAD_BYTES) return undefined;
  const head = Buffer.from(body.subarray(0, HEAD_BYTES));
  return { atMs: head.readUIntBE(1, NUMBER_BYTES), epoch: head.readUIntBE(1 + NUMBER_BYTES, NUMBER_BYTES) };
};

/** The page of a body. Damage, a missing base and later versions give `undefined`, because the journal explains and never decides. */
export const pageOfBody = (body: Uint8Array, base?: Uint8Array): JournalPage | undefined => {
  try {
    if (body[0] === DIFFERENCE) return base && withBase(body, base);
    const { version, value } = decompress(body);
    return version === WHOLE ? (value as JournalPage) : undefined;
  } catch {
    return undefined;
  }
};

const withBase = (body: Uint8Array, base: Uint8Array): JournalPage =>
  JSON.parse(unpacked(body.subarray(HEAD_BYTES), inflatedText(base)).toString()) as JournalPage;
