import { nearlyMisses } from "../../../rules/doctor/rules/slow-sync.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { SECOND_MS } from "../../../rules/model/time-text.ts";
import { statedIn } from "../../../stack/store/summary/summary-items.ts";
import type { StatusProblem } from "../../views/status.ts";
import type { ClusterReading } from "../views/cluster-of.ts";
import {
  autoscalersText,
  doctorText,
  isBroken,
  aboutCluster,
  type Partition,
  problem,
  troubled,
} from "./status-problems.ts";

/**
 * What a person may want to look at, although everything works: workloads that do not exist, pods
 * that count and should not, syncs that nearly miss their period, and a day in which too few
 * decided.
 */
export const clusterNotices = (
  cluster: ClusterRecord,
  reading: ClusterReading,
  nowMs: number,
): readonly StatusProblem[] => {
  const { partitions } = reading;
  return aboutCluster(cluster.name, [
    ...partitions.flatMap((partition) => absentNotices(cluster, partition, nowMs)),
    ...partitions.flatMap((partition) => podsNotices(cluster, partition, nowMs)),
    ...partitions.flatMap((partition) => slowNotices(cluster, partition)),
    ...dayNotices(cluster, reading),
  ]);
};

/** Owed are 99 of 100 due syncs of a day. */
const OWED_PERCENT = 99;

const dayNotices = (cluster: ClusterRecord, reading: ClusterReading): readonly StatusProblem[] => {
  const { last24Hours = 100 } = reading.view.decided ?? {};
  if (isBroken(reading) || last24Hours >= OWED_PERCENT) return [];
  const message = `Cluster "${cluster.name}" decided ${last24Hours} % of its due syncs in 24 hours: ${OWED_PERCENT} % are owed`;
  return [problem("undecided", message, `tidemark cluster check ${cluster.name}`)];
};

/** Its manifest names a workload that is not there: a cluster whose workloads all went is no error. */
const absentNotices = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const [trouble, count] = troubled(partition, "absent", nowMs, "only lasting") ?? [];
  if (!trouble || count === undefined) return [];
  const message = `${autoscalersText(cluster, partition, count, trouble.first)} ${count === 1 ? "has" : "have"} had no workload for 15 minutes: the target of the manifest does not exist`;
  return [problem("absent", message, doctorText(cluster, trouble.first))];
};

/** What is wrong with the pods behind a count, by the rule of the doctor that finds it. */
const PODS_WORDS: Readonly<Record<string, string>> = {
  "finished-pods": "pods that have ended count",
  "foreign-pods": "pods of something else count",
  "old-samples": "old samples count",
  "pods-refused": "the cluster refuses pods",
};

const podsNotices = (
  cluster: ClusterRecord,
  partition: Partition,
  nowMs: number,
): readonly StatusProblem[] => {
  const [trouble, count] = troubled(partition, "pods", nowMs, "only lasting") ?? [];
  if (!trouble || count === undefined) return [];
  const words = PODS_WORDS[trouble.rule ?? ""] ?? "pods count that should not";
  const message = `${autoscalersText(cluster, partition, count, trouble.first)} ${count === 1 ? "has" : "have"} had other pods than wanted for 15 minutes: ${words}`;
  return [problem("pods", message, doctorText(cluster, trouble.first))];
};

const slowNotices = (
  { name, syncPeriodMs }: ClusterRecord,
  { view, head }: Partition,
): readonly StatusProblem[] => {
  const tookMs = (head && statedIn(head)?.tookMs) ?? 0;
  if (!nearlyMisses(tookMs, syncPeriodMs)) return [];
  const message = `The last sync of partition "${name}/${view.name}" took ${(tookMs / SECOND_MS).toFixed(1)} s: its period is ${syncPeriodMs / SECOND_MS} s`;
  return [problem("slow sync", message, "docs/operations.md, alarms SyncsStopped and SyncsLate")];
};
