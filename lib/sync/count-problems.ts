import { isDeepStrictEqual } from "node:util";
import type { ProblemReport } from "../report/problems.ts";
import { readHeads } from "../store/head/read-heads.ts";
import { type ClusterItem, getFleet } from "../store/records/clusters.ts";
import { readTold, storeTold } from "../store/records/told-problems.ts";
import type { Tables } from "../store/table/tables.ts";
import { problemsOf } from "./problems.ts";
import { risenProblems } from "./risen-problems.ts";

/**
 * Counts the problems of the fleet from the heads of all partitions, and tells of them. What was told is stored after it was told: where this ends in between, it is told once more.
 * Throws where something cannot be read or told.
 */
export const countProblems = async (
  { tables, tell }: { readonly tables: Tables; readonly tell: (report: ProblemReport) => Promise<void> },
  clusters: readonly ClusterItem[],
): Promise<void> => {
  const refs = clusters.flatMap((item) =>
    item.kind === "read" ? item.record.partitions.map(({ name }) => ({ cluster: item.record.name, partition: name })) : [],
  );
  const [fleet, before, heads] = await Promise.all([getFleet(tables), readTold(tables), readHeads(tables, refs)]);
  const nowMs = tables.clock();
  const { report, told } = risenProblems(before, problemsOf({ fleet, clusters, heads, nowMs }), nowMs);
  await tell(report);
  if (!isDeepStrictEqual(told, before)) await storeTold(tables, told);
};
