import type { ChangeRecord } from "../../model/changes.ts";
import { TidemarkError } from "../../model/errors.ts";
import { autoscalerName, type ClusterName, namespace } from "../../model/ids.ts";
import { changeKey, type Key } from "../table/keys.ts";
import type { HistoryItem } from "./insert-history.ts";
import { hasDictionaries, packed, unpacked } from "./zstd-dictionary.ts";

/** The first byte of a change that is read alone. */
const WHOLE = 1;
/** The first byte of a change that says only how it differs from an earlier one of its autoscaler, its base. */
const DIFFERENCE = 2;
const SEPARATOR = "\n";

/** A change that is the base of later ones. */
export interface ChangeBase {
  readonly id: string;
  readonly text: Uint8Array;
  /** Of its body, as it is stored. */
  readonly bytes: number;
}

/** A difference that is larger than this share of its base saves too little, and the change becomes a new base. */
const DIFFERENCE_SHARE_MAX = 0.5;

export interface ChangeBody {
  readonly body: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * The bytes of a change. An edit of one field of a large manifest is some hundred bytes: the manifest before and after are almost what the base says. The base is named, never a chain of changes,
 * so that one more read restores any change.
 */
export const changeBody = (change: ChangeRecord, base: ChangeBase | undefined): ChangeBody => {
  const text = Buffer.from(JSON.stringify(change));
  if (base && hasDictionaries()) {
    const head = Buffer.from(`${change.namespace} ${change.name} ${base.id}${SEPARATOR}`);
    const difference = packed(text, base.text);
    if (difference.length <= base.bytes * DIFFERENCE_SHARE_MAX)
      return { body: Buffer.concat([Buffer.of(DIFFERENCE), head, difference]), isWhole: false };
  }
  return { body: Buffer.concat([Buffer.of(WHOLE), packed(text)]), isWhole: true };
};

/** The key of the change that a difference refers to; absent for one that is read alone. Names and uids have neither spaces nor line ends. */
export const baseKeyOf = ({ body }: Pick<HistoryItem, "body">, cluster: ClusterName): Key | undefined => {
  if (typeof body === "string" || body[0] !== DIFFERENCE) return undefined;
  const [inside = "", name = "", id = ""] = headOf(body).split(" ");
  return changeKey({ cluster, namespace: namespace(inside), name: autoscalerName(name) }, id);
};

const headOf = (body: Uint8Array): string => Buffer.from(body.subarray(1, body.indexOf(SEPARATOR.charCodeAt(0)))).toString();

/** The text of a change, from its item and the text of its base. Throws `store.unreadable`. */
export const changeText = (item: HistoryItem, base?: Uint8Array): Uint8Array => {
  const { body } = item;
  if (typeof body === "string") throw unreadable(item, "its body is not compressed");
  try {
    if (body[0] === WHOLE) return unpacked(body.subarray(1));
    if (body[0] === DIFFERENCE && base) return unpacked(body.subarray(body.indexOf(SEPARATOR.charCodeAt(0)) + 1), base);
  } catch (error) {
    throw unreadable(item, `its bytes are damaged: ${String(error)}`, error);
  }
  throw unreadable(item, body[0] === DIFFERENCE ? `the change "${headOf(body)}" that it refers to is missing` : `its version is ${body[0]}`);
};

const unreadable = ({ sk }: Key, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError("store.unreadable", `Cannot read the change "${sk}": ${why}`, { key: sk }, { cause });
