import { isDeepStrictEqual } from "node:util";
import type { Problem, ProblemReport } from "../report/problems.ts";
import { readGlances } from "../store/head/head.ts";
import { type ClusterItem, getFleet } from "../store/records/clusters.ts";
import { readTold, storeTold } from "../store/records/told-problems.ts";
import type { Tables } from "../store/table/tables.ts";
import { ownerNews, ownersTold } from "./owner-problems.ts";
import { problemsOf } from "./problems.ts";
import { risenProblems } from "./risen-problems.ts";

interface CountPorts {
  readonly tables: Tables;
  readonly tell: (report: ProblemReport) => Promise<void>;
  /** Owners who are told of their own autoscalers, and how. Default none. */
  readonly owners?: { readonly names: Iterable<string>; readonly tell: (owner: string, news: readonly Problem[]) => Promise<void> } | undefined;
}

/**
 * Counts the problems of the fleet from the heads of all partitions, and tells of them. What was told is stored after it was told: where this ends in between, it is told once more.
 * Throws where something cannot be read or told. An owner who cannot be told keeps no other owner from it, and is not told later: the error raises the alarm of the fleet once, as an alarm that stays on would hide the next cluster.
 */
export const countProblems = async ({ tables, tell, owners }: CountPorts, clusters: readonly ClusterItem[]): Promise<void> => {
  const refs = clusters.flatMap((item) =>
    item.kind === "read" ? item.record.partitions.map(({ name }) => ({ cluster: item.record.name, partition: name })) : [],
  );
  const [fleet, before, heads] = await Promise.all([getFleet(tables), readTold(tables), readGlances(tables, refs)]);
  const nowMs = tables.clock();
  const all = problemsOf({ fleet, clusters, heads, nowMs });
  const { report, told } = risenProblems(before, all, nowMs);
  await tell(report);
  const found = owners ? ownerNews(before, all, owners.names, nowMs) : [];
  const errors: unknown[] = [];
  for (const { owner, news } of found) {
    if (news.length > 0) await owners?.tell(owner, news).catch((error: unknown) => void errors.push(error));
  }
  const after = { ...told, ...ownersTold(found) };
  if (!isDeepStrictEqual(after, before)) await storeTold(tables, after);
  if (errors.length > 0) throw errors[0];
};
