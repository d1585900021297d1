import type { NoticeRecord } from "../../../rules/model/notices.ts";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { NOTICES_PK_PREFIX, noticeKey } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, type Stretch, stretchParams, ttlOf } from "./events.ts";
import { type HistoryItem, historyItemOf, type InsertHistory } from "./item.ts";

/** Inserts notices. One that is there already stays as it is. */
export const insertNotices = async (
  insert: InsertHistory,
  notices: readonly NoticeRecord[],
): Promise<void> => {
  if (notices.length === 0) return;
  await insert(
    notices.map((notice) => ({
      ...noticeKey(notice.cluster, notice),
      body: JSON.stringify(notice),
      ttlSeconds: ttlOf(notice.atMs, EVENT_DAYS_KEPT),
    })),
  );
};

/** Throws `store.unreadable`, also for text that is no notice. */
export const noticeOf = (item: HistoryItem): NoticeRecord => {
  if (typeof item.body === "string") return JSON.parse(item.body) as NoticeRecord;
  throw new TidemarkError(
    "store.unreadable",
    `Cannot read the notice "${item.sk}": its body is not text`,
    { key: item.sk },
  );
};

/** The notices of one cluster in order of time. */
export async function* noticesOfCluster(
  tables: Tables,
  cluster: string,
  stretch: Stretch,
): AsyncGenerator<NoticeRecord> {
  const pk = `${NOTICES_PK_PREFIX}${cluster}`;
  const params = stretchParams(tables.historyTable, pk, "", stretch);
  for await (const item of readAll(tables, `read the notices of "${cluster}"`, params))
    yield noticeOf(historyItemOf(item));
}
