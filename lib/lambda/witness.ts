import type { Witness } from "../stack/store/records/fleet-leases.ts";
import { tablesWithoutIds } from "../stack/store/table/real-tables.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import { MINUTE_MS } from "../rules/model/time-text.ts";

/** A region that does not answer by then says nothing. The call of the scheduler lives for 30 s. */
const OTHER_REGION_MS = 6_000;

/** The state table of other regions. A client for each is made once, and each use has its time. */
export const tablesElsewhere = (stateTable: string): ((region: string) => Tables) => {
  const made = new Map<string, Tables>();
  return (region) => {
    const tables = made.get(region) ?? tablesWithoutIds({ stateTable, historyTable: "" }, region);
    made.set(region, tables);
    return { ...tables, untilMs: Date.now() + OTHER_REGION_MS };
  };
};

/** arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME */
const [REGION, RESOURCE] = [3, 5] as const;

/**
 * The witness of a stack that keeps leases of the fleet, for one call; undefined where the
 * parameter names no table. Throws a RangeError for what is no ARN of a table.
 */
export const witnessIn = (names: {
  readonly TIDEMARK_WITNESS_TABLE: string;
  readonly TIDEMARK_TAKE_OVER_MINUTES: string;
}): (() => Witness | undefined) => {
  const { TIDEMARK_WITNESS_TABLE: arn, TIDEMARK_TAKE_OVER_MINUTES: minutes } = names;
  if (arn === "none") return () => undefined;
  const parts = arn.split(":");
  const [region = "", name = ""] = [parts[REGION], (parts[RESOURCE] ?? "").split("/")[1]];
  const afterMs = Number(minutes) * MINUTE_MS;
  if (region === "" || name === "" || !Number.isSafeInteger(afterMs))
    throw new RangeError(
      `Cannot start: TIDEMARK_WITNESS_TABLE is "${arn}" and TIDEMARK_TAKE_OVER_MINUTES "${minutes}"; they must be the ARN of a table and a number`,
    );
  const elsewhere = tablesElsewhere(name);
  return () => ({ region, afterMs, tables: elsewhere(region) });
};
