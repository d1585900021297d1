import * as z from "zod";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type NoticeKind, NOTICE_KINDS } from "../../../rules/model/notices.ts";
import { compress, readIfKnown } from "../table/compressed.ts";
import { itemKey, openNoticesKey } from "../table/keys.ts";
import { repeatWrite } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readRecord } from "./write.ts";

/** Something that was found, and whether its notice was made. */
export interface OpenNotice {
  readonly kind: NoticeKind;
  readonly cluster: string;
  /** NAMESPACE/NAME, and the uid; empty of a whole cluster. */
  readonly of: string;
  readonly uid: string;
  readonly sinceMs: number;
  readonly hasBegun: boolean;
}

/** What the last look left. */
export interface OpenNotices {
  readonly open: readonly OpenNotice[];
  /** Minutes before it were looked at for storms; 0 before the first look. */
  readonly stormsMs: number;
}

const VERSION = 1;
const stored = z.tuple([
  z.number(),
  z.array(
    z.tuple([
      z.enum(NOTICE_KINDS),
      z.string(),
      z.string(),
      z.string(),
      z.number(),
      z.union([z.literal(0), z.literal(1)]),
    ]),
  ),
]);

const NONE: OpenNotices = { open: [], stormsMs: 0 };

/**
 * Empty before the first look. An item that cannot be read counts as empty: what goes on is noticed
 * once more.
 */
export const readOpenNotices = async (tables: Tables): Promise<OpenNotices> => {
  const item = await readRecord(tables, "read the open notices", openNoticesKey);
  const body = item?.["body"]?.B;
  return (
    (body &&
      readIfKnown(body, VERSION, (value) => {
        const [stormsMs, all] = stored.parse(value);
        const open = all.map(([kind, cluster, of, uid, sinceMs, hasBegun]) => ({
          ...{ kind, cluster, of, uid, sinceMs, hasBegun: hasBegun === 1 },
        }));
        return { open, stormsMs };
      })) ??
    NONE
  );
};

/**
 * No condition: where two looks run at once, a notice is made twice with the same id, or remembered
 * twice.
 */
export const storeOpenNotices = async (
  tables: Tables,
  { open, stormsMs }: OpenNotices,
): Promise<void> => {
  const value = [
    stormsMs,
    open.map(({ kind, cluster, of, uid, sinceMs, hasBegun }) => [
      ...[kind, cluster, of, uid, sinceMs, hasBegun ? 1 : 0],
    ]),
  ];
  const params = {
    TableName: tables.stateTable,
    Item: { ...itemKey(openNoticesKey), body: { B: compress(VERSION, value) } },
  };
  await repeatWrite(tables, "store the open notices", () =>
    tables.client.send(new PutItemCommand(params)),
  );
};
