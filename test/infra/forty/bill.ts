import { ok } from "node:assert/strict";
import * as z from "zod";
import { MONTH_SECONDS, PRICES } from "../../../lib/answers/cost/prices.ts";
import { IDLE_POLLS, PLATFORM_LINE_BYTES } from "../../../lib/answers/cost/units.ts";
import type { Counted } from "./fleet.ts";

/** What the account counted in a span of time. */
export interface Log extends Counted {
  readonly seconds: number;
  /** Requests to the queue that send messages. */
  readonly sends: number;
  readonly logBytes: number;
  readonly schedules: number;
  readonly syncs: number;
}

const answer = z.object({
  fleet: z.object({ changing: z.number(), scalesADay: z.number() }),
  parts: z.record(z.string(), z.number()),
  syncs: z.object({ syncs: z.number(), hours: z.number() }),
  assumed: z.object({ parts: z.record(z.string(), z.number()) }),
});

/** A part of the bill by `tidemark cost` and by what was counted, in dollars a month. */
export interface BillRow {
  readonly part: string;
  readonly said: number;
  readonly counted: number;
}

/** A message is received and deleted by requests of its own. */
const TAKING = 2;

/**
 * What `tidemark cost -o json` says beside what the account counted. The time of Lambda is left
 * out: both would take it from the same table, and nothing here measures it.
 */
export const billRows = (
  text: string,
  log: Log,
): { readonly rows: readonly BillRow[]; readonly changing: number; readonly scales: number } => {
  const { parts, fleet } = answer.parse(JSON.parse(text));
  const month = MONTH_SECONDS / log.seconds;
  const lines = log.logBytes + (log.syncs + log.schedules) * PLATFORM_LINE_BYTES;
  const counted: Readonly<Record<string, number>> = {
    DynamoDB: month * (log.writeUnits * PRICES.writeUnit + log.readUnits * PRICES.readUnit),
    SQS: (month * (log.sends + log.syncs * TAKING) + IDLE_POLLS) * PRICES.sqsRequest,
    logs: ((month * lines) / 1e9) * PRICES.logGb,
  };
  const rows = Object.entries(counted).map(([part, dollars]) => ({
    part,
    said: parts[part] ?? Number.NaN,
    counted: dollars,
  }));
  return { rows, changing: fleet.changing, scales: fleet.scalesADay };
};

const offOf = (said: number, counted: number): number => said / counted - 1;
const OFF_MAX = 0.05;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** The rows with their sum, as a table. Throws where the sum is more than 5 % off. */
export const billTable = (rows: readonly BillRow[]): readonly string[] => {
  const sum = (value: (row: BillRow) => number): number =>
    rows.reduce((all, row) => all + value(row), 0);
  const together = {
    part: "together",
    said: sum((row) => row.said),
    counted: sum((row) => row.counted),
  };
  const lines = [...rows, together].map(
    ({ part, said, counted }) =>
      `| ${part} | $${said.toFixed(2)} | $${counted.toFixed(2)} | ${percent(offOf(said, counted))} |`,
  );
  const off = offOf(together.said, together.counted);
  ok(Math.abs(off) <= OFF_MAX, `the bill is ${percent(off)} off:\n${lines.join("\n")}`);
  return ["| a month | `tidemark cost` | counted | off by |", "|---|---:|---:|---:|", ...lines];
};
