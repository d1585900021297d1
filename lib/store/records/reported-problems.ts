import { PutItemCommand, type PutItemCommandInput } from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { compress, decompress } from "../table/compressed.ts";
import { itemKey, reportedProblemsKey } from "../table/keys.ts";
import { repeat } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readRecord } from "./write.ts";

/** The problems that were reported to people, by kind: how many at each place, and when the last time. */
export type ReportedProblems = Readonly<Record<string, { readonly toldMs: number; readonly counts: Readonly<Record<string, number>> }>>;

const VERSION = 1;
const stored = z.record(z.string(), z.object({ toldMs: z.number(), counts: z.record(z.string(), z.number()) }));

/** Empty before the first problem. An item that cannot be read counts as empty: what goes on is reported once more. */
export const readReported = async (tables: Tables): Promise<ReportedProblems> => {
  const body = (await readRecord(tables, "read the reported problems", reportedProblemsKey))?.["body"]?.B;
  return body ? reportedIn(body) : {};
};

const reportedIn = (body: Uint8Array): ReportedProblems => {
  try {
    return stored.parse(decompress(body).value);
  } catch {
    // As before the first problem.
    return {};
  }
};

/** No condition: where two calls run at once, a problem is reported twice or remembered twice. */
export const storeReportedParams = (stateTable: string, reported: ReportedProblems): PutItemCommandInput => ({
  TableName: stateTable,
  Item: { ...itemKey(reportedProblemsKey), body: { B: compress(VERSION, reported) } },
});

export const storeReported = async (tables: Tables, reported: ReportedProblems): Promise<void> => {
  await repeat(tables, "store the reported problems", () => tables.client.send(new PutItemCommand(storeReportedParams(tables.stateTable, reported))));
};
