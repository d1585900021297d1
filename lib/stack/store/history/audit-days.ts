import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { TidemarkError } from "../../../rules/model/errors.ts";
import { jsonIn } from "../../../rules/model/json.ts";
import { AUDITS_PK, auditKey } from "../table/keys.ts";
import { readAll } from "../table/read-many.ts";
import type { Tables } from "../table/tables.ts";
import { EVENT_DAYS_KEPT, ttlOf } from "./events.ts";
import { type HistoryItem, historyItemOf, type InsertHistory } from "./item.ts";

const auditDay = z.object({
  /** UTC. */
  date: z.string(),
  files: z.array(z.object({ key: z.string(), lines: z.number(), head: z.string() })).min(1),
  /** Of the last file. The first file of the next day follows it. */
  head: z.string(),
});

/** The audit of one day as it was put into the bucket. */
export type AuditDay = z.infer<typeof auditDay>;

const auditDayOf = ({ sk, body }: HistoryItem): AuditDay => {
  const read = auditDay.safeParse(typeof body === "string" ? jsonIn(body) : undefined);
  if (read.success) return read.data;
  throw new TidemarkError("store.unreadable", `Cannot read the audit of the day "${sk}"`, {
    key: sk,
  });
};

/** The newest day whose audit was put into the bucket. Throws `store.unreadable`. */
export const lastAuditDay = async (tables: Tables): Promise<AuditDay | undefined> => {
  const params: QueryCommandInput = {
    TableName: tables.historyTable,
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": { S: AUDITS_PK } },
    ScanIndexForward: false,
    ConsistentRead: true,
    Limit: 1,
  };
  for await (const item of readAll(tables, "read the audit of the newest day", params))
    return auditDayOf(historyItemOf(item));
  return undefined;
};

/** Notes an audit that is in the bucket. The one that was noted first counts, and is returned. */
export const insertAuditDay = async (insert: InsertHistory, day: AuditDay): Promise<AuditDay> => {
  const [outcome] = await insert([
    {
      ...auditKey(day.date),
      body: JSON.stringify(day),
      ttlSeconds: ttlOf(Date.parse(day.date), EVENT_DAYS_KEPT),
    },
  ]);
  return outcome?.kind === "duplicate" ? auditDayOf(outcome.stored) : day;
};
