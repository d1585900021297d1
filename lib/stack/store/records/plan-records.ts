import * as z from "zod";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { itemKey, planKey, reportedProblemsKey } from "../table/keys.ts";
import { repeatWrite } from "../table/repeat.ts";
import type { Tables } from "../table/tables.ts";
import { readRecord } from "./write.ts";
import { compress, decompress } from "../table/compressed.ts";

/** What the planner remembers between two calls. */
export interface PlanRecord {
  /**
   * The begins of the minutes that are marked as planned, milliseconds since 1970. Only the newest
   * few are kept.
   */
  readonly minutes: ReadonlySet<number>;
  /**
   * Until then this stack holds the fleet: no message that it sent is due later (docs/standby.md).
   * Absent where the tables have no replica.
   */
  readonly heldUntilMs?: number;
  /** True while it takes the fleet up again after a pause. */
  readonly resuming?: true;
  /**
   * The term of the fleet whose leases this stack may have written. In this term it plans only by a
   * renewed lease.
   */
  readonly leasedTerm?: number;
}

export const readPlan = async (tables: Tables): Promise<PlanRecord> => {
  const item = await readRecord(tables, "read the planned minutes", planKey);
  const held = item?.["heldUntilMs"]?.N;
  const leased = item?.["leasedTerm"]?.N;
  return {
    minutes: new Set((item?.["minutes"]?.NS ?? []).map(Number)),
    ...(held !== undefined && { heldUntilMs: Number(held) }),
    ...(item?.["resuming"]?.BOOL === true && { resuming: true as const }),
    ...(leased !== undefined && { leasedTerm: Number(leased) }),
  };
};

/** The begins of the minutes that are marked as planned. */
export const readPlanMarks = async (tables: Tables): Promise<ReadonlySet<number>> =>
  (await readPlan(tables)).minutes;

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
export const markPlanned = (
  tables: Tables,
  minutes: readonly number[],
  held: Pick<PlanRecord, "heldUntilMs" | "leasedTerm"> = {},
): Promise<void> => storePlan(tables, { minutes: new Set(minutes), ...held });

/** Stores what the planner remembers, in place of what was stored. */
export const storePlan = async (
  tables: Tables,
  { minutes, heldUntilMs, resuming, leasedTerm }: PlanRecord,
): Promise<void> => {
  const params = {
    TableName: tables.stateTable,
    Item: {
      ...itemKey(planKey),
      ...(minutes.size > 0 && { minutes: { NS: [...minutes].map(String) } }),
      ...(heldUntilMs !== undefined && { heldUntilMs: { N: String(heldUntilMs) } }),
      ...(resuming && { resuming: { BOOL: true } }),
      ...(leasedTerm !== undefined && { leasedTerm: { N: String(leasedTerm) } }),
    },
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
