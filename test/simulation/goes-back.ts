import type { SimulatedCluster, Workload } from "./cluster.ts";
import type { Random } from "./random.ts";
import { siteOf } from "./sites.ts";
import type { Stage } from "./stage.ts";
import { FAULTS_MS } from "./timetable.ts";
import { type Ledger, listed } from "./watch/ledger.ts";
import { noteOutside } from "./watch/outside.ts";

/**
 * The etcd of a cluster is restored: everything in it is as it was some seconds before. Offsets
 * from the start.
 */
export interface PlannedReturn {
  readonly cluster: string;
  readonly atMs: number;
  readonly backMs: number;
}

const TIMES_MAX = 4;
const BACK_MS_MAX = 45_000;

export const planReturns = (random: Random): readonly PlannedReturn[] =>
  Array.from({ length: random.int(1, TIMES_MAX) }, () => ({
    cluster: random.pick(["eu-1", "eu-2", "us-1"]),
    atMs: random.int(BACK_MS_MAX, FAULTS_MS - 60_000),
    backMs: random.int(1, BACK_MS_MAX),
  }));

export const playReturns = (stage: Stage, startMs: number): void => {
  for (const { cluster, atMs, backMs } of stage.returns) {
    stage.scheduler.at(startMs + atMs, () => {
      const site = siteOf(stage, cluster);
      stage.story.tell(cluster, `its etcd is restored to ${backMs} ms ago`);
      for (const workload of site.workloads.values())
        goBack(stage, site, workload, stage.nowMs() - backMs);
    });
  }
};

/**
 * Uid, versions and count are those of the earlier instant. Its load and other controllers are no
 * matter of etcd here.
 */
const goBack = (
  { ledger }: Stage,
  site: SimulatedCluster,
  workload: Workload,
  toMs: number,
): void => {
  const [then] = site.past(workload, toMs, toMs);
  if (!then)
    throw new TypeError(`nothing is known of "${workload.target.name}" at an earlier instant`);
  const { uid, replicas, resourceVersion, generation, gone } = then;
  // Where it was gone then, a person makes it anew at once, as it was.
  if (gone) return;
  if (replicas !== workload.replicas) noteOutside(ledger, workload, replicas);
  Object.assign(workload, { uid, replicas, resourceVersion, generation, gone });
  site.changed(workload);
  takeBack(ledger, workload, toMs);
};

/**
 * What took effect after the earlier instant was never made, as the cluster has it now: no limit
 * asks for it, and an event may say that it was refused. One that is settled may give room all the
 * same.
 */
const takeBack = (ledger: Ledger, { target, namespace, cluster }: Workload, toMs: number): void => {
  for (const { intent, partition, effects } of ledger.intents.values()) {
    if (
      intent.target.name !== target.name ||
      intent.namespace !== namespace ||
      !partition.includes(`#${cluster}#`)
    )
      continue;
    for (const effect of effects.filter(({ atMs }) => atMs > toMs)) {
      effects.splice(effects.indexOf(effect), 1);
      const made = ledger.effects.get(effect.uid) ?? [];
      if (!made.includes(effect)) continue;
      made.splice(made.indexOf(effect), 1);
      listed(ledger.unmade, effect.uid).push(effect);
    }
  }
};
