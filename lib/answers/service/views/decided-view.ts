import { percentOf, sharesOf, type Shares, togetherOf } from "../../../stack/plan/decided-share.ts";
import type { ClusterRecord } from "../../../rules/model/records.ts";
import { partitionName } from "../../../rules/model/ids.ts";
import { present } from "../../../rules/model/json.ts";
import type { Head } from "../../../stack/store/head/head.ts";
import type { DecidedView } from "../../views/cluster.ts";

/** What the partitions of a cluster that are shown were owed and got. */
export const clusterShares = (
  cluster: ClusterRecord,
  partitions: readonly { readonly view: { readonly name: string }; readonly head?: Head }[],
  nowMs: number,
): Shares =>
  togetherOf(
    partitions.map(({ view, head }) => sharesOf(cluster, partitionName(view.name), head, nowMs)),
  );

export const decidedView = ({ quarter, hour, day }: Shares): DecidedView | undefined => {
  if (day.due === 0 && hour.due === 0) return undefined;
  return present({
    last15Minutes: percentOf(quarter),
    lastHour: percentOf(hour),
    last24Hours: percentOf(day),
  });
};
