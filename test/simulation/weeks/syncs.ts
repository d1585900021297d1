import { clusterName, partitionName } from "../../../lib/rules/model/ids.ts";
import type { ClusterClient } from "../../../lib/stack/cluster/cluster-client.ts";
import { DEFAULT_TIMING } from "../../../lib/stack/plan/message.ts";
import type { CompletedSync, DroppedSync } from "../../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../../lib/stack/store/history/item.ts";
import type { PurePart } from "../../../lib/stack/sync/pure-part.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { sync } from "../../../lib/stack/sync/sync.ts";
import type { Process } from "../process.ts";
import { SHARED_RULES } from "../rules.ts";
import { listed } from "../watch/ledger.ts";
import { PERIOD_MS, type WeekMistake, type WeekPartition, type WeekStage } from "./stage.ts";
import type { Decided, Evaluated } from "./truth.ts";

const WARM = 2;
const NEW_CHANCE = 0.1;

/** One sync of a partition now. `dies`: its process ends as its first PUT is on its way. */
export type SyncOnce = (partition: WeekPartition, dies: boolean) => void;

/** Syncs by the code of production, each in an environment that is kept warm for the next one. */
export const newSyncs = (stage: WeekStage, { afterSync }: WeekMistake): SyncOnce => {
  const { scheduler, nowMs, network, random, truth, story } = stage;
  let warm: readonly Process[] = [];
  let made = 0;
  const environment = (): Process => {
    const free = warm.filter(({ alive, busy }) => alive && busy === 0);
    if (free.length > 0 && !random.chance(NEW_CHANCE)) return random.pick(free);
    const process = stage.newProcess(`env-${++made}`);
    warm = [...free.slice(-WARM), process];
    return process;
  };
  const lastPut =
    (client: ClusterClient, process: Process): ClusterClient["putScale"] =>
    (write, timeoutMs) => {
      scheduler.at(nowMs() + 1, () => network.end(process, "the outage begins"));
      return client.putScale(write, timeoutMs);
    };
  const noting = (
    { cluster, partition }: WeekPartition,
    decided: Evaluated[],
    all: Decided[],
  ): PurePart => ({
    ...SHARED_RULES,
    decide: (input) => {
      const decision = SHARED_RULES.decide(input);
      const at = { nowMs: input.nowMs, atMs: nowMs() };
      if (decided.length === 0) listed(truth.begun, `${cluster}/${partition}`).push(at);
      const path = `${cluster}/${input.namespace}/${input.spec.target.name}`;
      decided.push({ ...at, path, from: decision.from });
      const one: Decided = {
        ...{ path, nowMs: input.nowMs, decidedMs: nowMs(), from: decision.from },
        to: decision.kind === "scale" ? decision.to : undefined,
      };
      all.push(one);
      listed(truth.decided, path).push(one);
      return decision;
    },
  });
  return (partition, dies) => {
    const process = environment();
    const tables = stage.tablesFor(process);
    const decided: Evaluated[] = [];
    const all: Decided[] = [];
    process.busy++;
    process.endsMs = nowMs() + DEFAULT_TIMING.lifeMs;
    let over = false;
    const ports: SyncPorts = {
      ...{ tables, insert: insertByStatement(tables), timing: DEFAULT_TIMING },
      cache: process.cache,
      connect: async ({ name }) => {
        const client = stage.clusters.get(name)?.clientFor(process);
        if (!client) throw new RangeError(`there is no cluster ${name}`);
        return dies ? { ...client, putScale: lastPut(client, process) } : client;
      },
      rules: noting(partition, decided, all),
    };
    scheduler.at(process.endsMs, () => {
      if (!over) network.end(process, "its life is over");
    });
    const done = (): void => {
      over = true;
      process.busy--;
    };
    const ended = async (report: CompletedSync | DroppedSync): Promise<void> => {
      const words = `sync of ${partition.cluster}/${partition.partition}`;
      story.tell(process.name, () => `${words}: ${JSON.stringify(report).slice(0, 120)}`);
      if (report.kind === "completed") {
        for (const one of decided) truth.evaluated.push({ ...one, atMs: nowMs() });
        for (const one of all) one.completedMs = nowMs();
      }
      await afterSync?.(ports, partition);
    };
    sync(ports, {
      cluster: clusterName(partition.cluster),
      partition: partitionName(partition.partition),
      dueMs: Math.floor(nowMs() / PERIOD_MS) * PERIOD_MS,
      periodMs: PERIOD_MS,
    })
      .then(ended)
      .then(done, (error: unknown) => {
        done();
        // Its clock may be wrong, and stays so.
        network.end(process, "its sync failed");
        stage.broke(process.name)(error);
      });
    scheduler.resumed();
  };
};
