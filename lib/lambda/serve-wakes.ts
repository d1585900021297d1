import { clusterName, namespace } from "../rules/model/ids.ts";
import { present } from "../rules/model/json.ts";
import type { ClusterRecord } from "../rules/model/records.ts";
import type { WakeRecord } from "../rules/model/wake.ts";
import type { WakeReport } from "../stack/report/function-lines.ts";
import { getCluster } from "../stack/store/records/clusters.ts";
import { listWakes } from "../stack/store/records/wakes.ts";
import type { Tables } from "../stack/store/table/tables.ts";
import type { WakeEvent } from "../stack/plan/wake-events.ts";
import type { WantedWake } from "../stack/plan/wake-alerts.ts";
import { remembered, type Waker } from "../stack/plan/wake.ts";

/** Serves events: each is one report. Throws where the tables or the queue cannot be used. */
export type ServeWakes = (event: WakeEvent) => Promise<WakeReport>;

export const servesWakes = (tables: Tables, waker: Waker): ServeWakes => {
  const registered = remembered(tables.clock, () => readRegistered(tables));
  const clusters = new Map<string, () => Promise<ClusterRecord | undefined>>();
  const clusterOf = (name: string): Promise<ClusterRecord | undefined> => {
    const known = clusters.get(name);
    if (known) return known();
    // Names come from outside: as many as are sent must not stay in memory.
    if (clusters.size >= CLUSTERS_MAX) clusters.clear();
    const read = remembered(tables.clock, () => getCluster(tables, clusterName(name)));
    clusters.set(name, read);
    return read();
  };

  const serve = async (wanted: WantedWake): Promise<WakeReport["served"][number]> => {
    const { cluster: name, namespace: inside, names, reason } = wanted;
    const of = { cluster: name, ...present({ namespace: inside }), reason };
    const cluster = await clusterOf(name);
    if (!cluster) return { ...of, outcome: "unknown cluster" };
    const partitions = await waker(cluster, {
      cluster: cluster.name,
      ...(inside !== undefined && { namespace: namespace(inside) }),
      ...present({ names }),
      reason,
    });
    const sent = partitions.filter(({ kind }) => kind === "sync").length;
    if (partitions.length === 0) return { ...of, outcome: "unknown namespace" };
    if (partitions.some(({ kind }) => kind === "elsewhere")) return { ...of, outcome: "elsewhere" };
    return { ...of, outcome: sent > 0 ? "sent" : "joined" };
  };

  return async (event) => {
    if (event.kind === "nothing") return { served: [] };
    const wanted =
      event.kind === "wakes" ? event.wakes : wakesOfAlarm(await registered(), event.arn);
    const served: WakeReport["served"][number][] = [];
    for (const wake of wanted) served.push(await serve(wake));
    return { served, ...(event.kind === "alarm" && { alarm: event.arn }) };
  };
};

const CLUSTERS_MAX = 1_000;

const readRegistered = async (tables: Tables): Promise<readonly WakeRecord[]> => {
  const all = await Array.fromAsync(listWakes(tables));
  return all.flatMap((item) => (item.kind === "read" ? item.record : []));
};

const wakesOfAlarm = (all: readonly WakeRecord[], arn: string): readonly WantedWake[] =>
  all
    .filter(({ alarm }) => alarm === arn)
    .map(({ name, cluster, namespace: inside, names }) => ({
      cluster,
      ...present({ namespace: inside, names }),
      reason: `alarm of wake ${name}`,
    }));
