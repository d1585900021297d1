import type { ClusterRows } from "../../../answers/views/row.ts";
import { type Ask, type Known, usePolled, useSource } from "../data/use-document.ts";
import type { Api, Outcome } from "../data/request.ts";
import { type FleetRow, flatRows, joinedClusters, marksOf } from "./fleet-rows.ts";
import { useMemo } from "preact/hooks";

const ROWS = "/v1/rows";

interface RowsPage {
  readonly items: readonly ClusterRows[];
  readonly next?: string;
}

/**
 * All rows of the fleet. After the first time only those of partitions that show something new
 * come again.
 */
export const useRows = (): Known<readonly FleetRow[]> => {
  const { api, refreshMs } = useSource();
  const ask: Ask<readonly ClusterRows[]> = async (before, signal) =>
    allPages(api, before ?? [], signal);
  const { value, failure } = usePolled(ROWS, ask, refreshMs);
  const rows = useMemo(() => value && flatRows(value), [value]);
  return { ...(rows && { value: rows }), ...(failure && { failure }) };
};

const allPages = async (
  api: Api,
  before: readonly ClusterRows[],
  signal: AbortSignal,
): Promise<Outcome<readonly ClusterRows[]>> => {
  const known = before.length === 0 ? undefined : marksOf(before);
  const found: ClusterRows[] = [];
  let page: string | undefined;
  do {
    const outcome: Outcome<RowsPage> = await api.get(ROWS, { known, page }, { signal });
    if (outcome.kind !== "answer") return outcome;
    found.push(...outcome.value.items);
    page = outcome.value.next;
  } while (page !== undefined);
  return { kind: "answer", value: joinedClusters(before, found), tag: undefined };
};
