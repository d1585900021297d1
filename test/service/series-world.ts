import { PutItemCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import {
  type ClusterName,
  clusterName,
  type PartitionName,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import type {
  Answer,
  Observation,
  Pod,
  MeasuredSamples,
  ScaleReading,
} from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { questions } from "../../lib/rules/policy/dialects.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { openMetricsText } from "../../lib/stack/report/open-metrics.ts";
import { openQueries, openService } from "../../lib/answers/service/open.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import type { HistoryItem } from "../../lib/stack/store/history/item.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { sync } from "../../lib/stack/sync/sync.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { askedOf } from "../answers.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { NO_METRICS, readyPod } from "../observation.ts";
import { type ParsedFamily, parseOpenMetrics } from "../report/open-metrics-parser.ts";
import { type MemoryCluster, memoryCluster } from "../sync/memory-cluster.ts";
import { serviceWorld, type tablesInMemory } from "./world/context.ts";

export const PERIOD_MS = 15_000;
const CLUSTER: ClusterName = clusterName("eu-1");

/** Tables, a service over them, and a cluster whose one external metric is set by the test. */
export interface SeriesWorld {
  readonly service: Service;
  readonly context: ServiceContext;
  readonly cluster: MemoryCluster;
  /** Sum of the metric in thousandths; undefined: it cannot be read. */
  milli: bigint | undefined;
  nowMs: number;
  /** Which partition the next syncs are of. */
  partition: PartitionName;
  /** Moves on by that many periods, syncing in each. */
  readonly play: (periods: number) => Promise<void>;
  readonly wait: (ms: number) => void;
  /** The same as `play`, with the reports of the syncs. */
  readonly reports: (periods: number) => Promise<readonly CompletedSync[]>;
  /** The next inserts of rollups that fail, after a part of their items was inserted. */
  failRollups: number;
  /** The next sync is in a new environment. */
  readonly forget: () => void;
  /** What a scrape tells. */
  readonly scrape: () => Promise<readonly ParsedFamily[]>;
  /**
   * The first words of the partition keys that the scrapes have queried: "journal", "autoscalers".
   */
  readonly queried: ReadonlySet<string>;
  /** Stores an item of the state table that cannot be read. */
  readonly damage: (key: { readonly pk: string; readonly sk: string }) => Promise<void>;
  readonly close: () => Promise<void>;
}

export const seriesWorld = async (
  workloads: Readonly<Record<string, number>>,
  manifests: string,
  open?: typeof tablesInMemory,
): Promise<SeriesWorld> => {
  const { context, tables, set, close } = await serviceWorld("ada", open);
  const cluster = memoryCluster(workloads);
  const client: MemoryCluster["client"] = {
    ...cluster.client,
    observe: async (watched, limits) => {
      const seen = await cluster.client.observe(watched, limits);
      const observations = watched.map(({ uid, namespace, spec }) => {
        const observed = seen.observations.get(uid);
        if (!observed) throw new Error(`"${uid}" was not observed`);
        const { external } = askedOf(questions(spec, namespace, observed.observation.scale));
        return [
          uid,
          {
            ...observed,
            observation: withMetric(observed.observation, external.map(queryKey), world.milli),
          },
        ] as const;
      });
      return { ...seen, observations: new Map(observations) };
    },
  };
  const service = openService(context);
  const queried = new Set<string>();
  const watching = around(tables.client, async (command, send, input) => {
    if (command === "QueryCommand")
      queried.add(
        String((input as QueryCommandInput).ExpressionAttributeValues?.[":pk"]?.S).replace(
          /#.*/,
          "",
        ),
      );
    return send();
  });
  const watched = openQueries({ ...context, tables: { ...tables, client: watching } });
  const syncTables = { ...tables, clock: context.clock };
  const ports = {
    tables: syncTables,
    insert: async (items: readonly HistoryItem[]) => {
      if (!items[0]?.sk.startsWith("rollup#") || world.failRollups === 0)
        return context.insert(items);
      world.failRollups -= 1;
      await context.insert(items.slice(1));
      throw new Error("the call died");
    },
    connect: async () => client,
    rules: PURE_PART,
    timing: DEFAULT_TIMING,
    cache: warmCache(),
  };
  await service.addCluster({ name: CLUSTER, connection: { kind: "kubeconfig", path: "none" } });
  await service.apply([{ file: "all.yaml", text: manifests }], { cluster: CLUSTER, dryRun: false });
  const move = (ms: number): void => {
    world.nowMs += ms;
    set(world.nowMs);
  };
  const world: SeriesWorld = {
    service,
    context,
    cluster,
    milli: 0n,
    nowMs: NOON,
    partition: WHOLE_CLUSTER,
    play: async (periods) => {
      await world.reports(periods);
    },
    reports: async (periods) => {
      const reports: CompletedSync[] = [];
      for (let at = 0; at < periods; at++) {
        move(PERIOD_MS);
        const report = await sync(ports, {
          cluster: CLUSTER,
          partition: world.partition,
          dueMs: world.nowMs,
          periodMs: PERIOD_MS,
        });
        if (report.kind !== "completed") throw new Error(`a sync was dropped: ${report.why}`);
        reports.push(report);
      }
      return reports;
    },
    failRollups: 0,
    forget: () => {
      ports.cache = warmCache();
    },
    wait: move,
    scrape: async () => parseOpenMetrics(openMetricsText(await watched.series())),
    queried,
    damage: async ({ pk, sk }) => {
      await tables.client.send(
        new PutItemCommand({
          TableName: tables.stateTable,
          Item: { pk: { S: pk }, sk: { S: sk }, record: { S: "{" } },
        }),
      );
    },
    close,
  };
  cluster.clock = context.clock;
  return world;
};

const withMetric = (
  observation: Observation,
  keys: readonly string[],
  milli: bigint | undefined,
): Observation => {
  const answer =
    milli === undefined
      ? NO_METRICS
      : ({ kind: "answered", items: [{ milli, timestampMs: NOON }] } as const);
  const external = keys.map((key) => [key, answer] as const);
  return {
    ...observation,
    pods: labelIndex(podsOf(observation.scale)),
    answers: new Map<string, Answer<MeasuredSamples>>([...observation.answers, ...external]),
  };
};

const podsOf = (scale: ScaleReading): readonly Pod[] => {
  if (scale.kind === "failed") return [];
  const app = scale.selector.replace("app=", "");
  const more = { labels: { app }, owners: [{ kind: "ReplicaSet", name: `${app}-1` }] };
  return Array.from({ length: scale.specReplicas }, (_, at) =>
    readyPod(`${app}-1-${at}`, undefined, more),
  );
};

/** The one value of a family whose labels include those given; undefined where it is absent. */
export const valueIn = (
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined => {
  const found = (families.find((family) => family.name === name)?.samples ?? []).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  if (found.length > 1) throw new Error(`${found.length} samples of "${name}" have these labels`);
  return found[0]?.value;
};
