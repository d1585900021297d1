import * as z from "zod";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { itemKey, planKey, reportedProblemsKey } from "../table/keys.ts";
import { repeatWrite } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readRecord } from "./write.ts";
import { compress, decompress } from "../table/compressed.ts";

/**
 * The begins of the minutes that are marked as planned, milliseconds since 1970. Only the newest
 * few are kept.
 */
export const readPlanMarks = async (tables: Tables): Promise<ReadonlySet<number>> => {
  const item = await readRecord(tables, "read the planned minutes", planKey);
  return new Set((item?.["minutes"]?.NS ?? []).map(Number));
};

/*
 *  call 12:00   reads {12:00, 12:01} ── sends 12:02 ── writes {12:00, 12:01, 12:02}
 *  call 12:01   fails before it has sent all           no mark
 *  call 12:02   reads {…, 12:02} ── sends 12:04 and 12:03 ── writes {12:02, 12:03, 12:04}
 *
 * No condition: where two calls run at once, the later write takes away the mark of the earlier
 * one. Then a minute is planned once more, and the claim refuses the copies.
 */

/**
 * Stores which minutes are planned, in place of what was stored. To be called when every message of
 * these minutes was sent.
 */
export const markPlanned = async (tables: Tables, minutes: readonly number[]): Promise<void> => {
  const params = {
    TableName: tables.stateTable,
    Item: { ...itemKey(planKey), minutes: { NS: minutes.map(String) } },
  };
  await repeatWrite(tables, "mark the planned minutes", () =>
    tables.client.send(new PutItemCommand(params)),
  );
};

/**
 * The problems that were reported to people, by kind: how many at each place, and when the last
 * time.
 */
export type ReportedProblems = Readonly<
  Record<string, { readonly toldMs: number; readonly counts: Readonly<Record<string, number>> }>
>;

const VERSION = 1;
const stored = z.record(
  z.string(),
  z.object({ toldMs: z.number(), counts: z.record(z.string(), z.number()) }),
);

/**
 * Empty before the first problem. An item that cannot be read counts as empty: what goes on is
 * reported once more.
 */
export const readReported = async (tables: Tables): Promise<ReportedProblems> => {
  const body = (await readRecord(tables, "read the reported problems", reportedProblemsKey))?.[
    "body"
  ]?.B;
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
export const storeReported = async (tables: Tables, reported: ReportedProblems): Promise<void> => {
  const params = {
    TableName: tables.stateTable,
    Item: { ...itemKey(reportedProblemsKey), body: { B: compress(VERSION, reported) } },
  };
  await repeatWrite(tables, "store the reported problems", () =>
    tables.client.send(new PutItemCommand(params)),
  );
};
