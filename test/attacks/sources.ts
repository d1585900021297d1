import { putMetricSource } from "../../lib/stack/store/records/metric-sources.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import type { CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { type Kubernetes, kubernetes, workload } from "../cluster/stand-in/kubernetes.ts";
import { exportsIn } from "../simulation/beside/build.ts";
import { oneSeries, prometheusServer, sourceRecord } from "../source-client/scene.ts";
import type { Attack, Seen } from "./attack.ts";
import { type Checkout, checkoutOf, HERE } from "./checkout.ts";
import { subjectOn } from "./subject.ts";

/** The code of a checkout that stores and asks sources. */
const SOURCES_HERE = { putMetricSource, sourceClient } as const;
const PARTS = {
  putMetricSource: [
    ["stack/store/records/metric-sources.ts", "putMetricSource"],
    ["store/records/metric-sources.ts", "putMetricSource"],
  ],
  sourceClient: [
    ["stack/source-client/source-client.ts", "sourceClient"],
    ["source-client/source-client.ts", "sourceClient"],
  ],
} as const;

export interface SourcesCode {
  readonly code: Checkout;
  readonly sources: typeof SOURCES_HERE;
}
export const SOURCES_CODE: SourcesCode = { code: HERE, sources: SOURCES_HERE };

/** An autoscaler with questions to a source. The name of a question says how long it takes. */
export interface Asker {
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  readonly queries: readonly string[];
  /** The period of its metrics, where they are metrics of CloudWatch. */
  readonly periodSeconds?: number;
}

/** A question that is answered after so many milliseconds. */
export const queryOf = (tookMs: number, of: string): string => `t${tookMs}_${of}`;

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Each in a namespace of its own, with one question. */
export const othersOf = (count: number, tookMs: number, source = "main"): readonly Asker[] =>
  times(count).map((at) => ({
    ...{ namespace: `team-${at}`, name: "web", source },
    queries: [queryOf(tookMs, `other_${at}`)],
  }));

export const tenantOf = (
  autoscalers: number,
  { queries, tookMs, source = "main" }: { queries: number; tookMs: number; source?: string },
): readonly Asker[] =>
  times(autoscalers).map((at) => ({
    ...{ namespace: "hostile", name: `web-${at}`, source },
    queries: times(queries).map((query) => queryOf(tookMs, `hostile_${at}_${query}`)),
  }));

export const askerManifest = ({ namespace, name, source, queries, periodSeconds }: Asker): string =>
  JSON.stringify({
    apiVersion: "tidemark.dev/v1",
    kind: "PodAutoscaler",
    metadata: { namespace, name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      ...{ minReplicas: 1, maxReplicas: 20 },
      metrics: queries.map((query) => ({
        name: query,
        ...(periodSeconds === undefined
          ? { prometheus: { source, query } }
          : { cloudwatch: { source, namespace: "Shop", metric: query, periodSeconds } }),
        ...{ measure: "Average", target: 10 },
      })),
    },
  });

const clusterOf = async (askers: readonly Asker[]): Promise<Kubernetes> => {
  const server = await kubernetes();
  const deployments = askers.map(({ namespace, name }) => workload(namespace, name, 1));
  server.collections.set("/apis/apps/v1/deployments", deployments);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  return server;
};

export interface PlayedSources {
  /** Of the others, by `namespace/name`. */
  readonly scaled: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
  readonly decisions: ReadonlyMap<string, string>;
  /** From the beginning of the first sync to the last scale of one of the others. */
  readonly lastMs: number;
  readonly reports: readonly CompletedSync[];
}

export interface SourcesPlay {
  readonly others: readonly Asker[];
  readonly tenant?: readonly Asker[];
  readonly record?: Partial<MetricSourceRecord>;
  readonly syncs?: number;
  readonly softDeadlineMs?: number;
  readonly isCold?: boolean;
}

/** Plays syncs over a real HTTPS API server and a real HTTP server for each source. */
export const playSources = async (
  { others, tenant = [], record = {}, syncs = 1, ...options }: SourcesPlay,
  { code, sources }: SourcesCode = SOURCES_CODE,
): Promise<PlayedSources> => {
  const askers = [...others, ...tenant];
  const server = await clusterOf(askers);
  const names = [...new Set(askers.map(({ source }) => source))];
  const servers = await Promise.all(names.map(() => prometheusServer()));
  for (const each of servers) each.answer = answerInTime;
  const asker = sources.sourceClient({ clock: Date.now, ownAddresses: true });
  const [scaled, decisions] = [new Set<string>(), new Map<string, string>()];
  let lastMs = 0;
  const isOther = new Set(others.map(({ namespace }) => namespace));
  const watching: Checkout["rules"] = {
    ...code.rules,
    decide: (input) => {
      const decision = code.rules.decide({
        ...input,
        nowMs: DECIDED_MS,
        ...(input.answeredMs !== undefined && { answeredMs: DECIDED_MS }),
      });
      if (isOther.has(input.namespace))
        decisions.set(`${input.namespace}/${input.name}`, JSON.stringify(decision, plain));
      return decision;
    },
  };
  const subject = await subjectOn({ ...code, rules: watching }, server, {
    ...options,
    manifests: askers.map(askerManifest),
    sources: async () => asker,
    prepare: async (tables) => {
      for (const [at, name] of names.entries())
        await sources.putMetricSource(
          tables,
          sourceRecord({ name, url: servers[at]?.url ?? "", timeoutSeconds: 3, ...record }),
          undefined,
        );
    },
    client: (client) => ({
      ...client,
      putScale: async (write, timeoutMs) => {
        const answer = await client.putScale(write, timeoutMs);
        if (answer.kind === "applied" && isOther.has(write.namespace)) {
          scaled.add(`${write.namespace}/${write.target.name}`);
          lastMs = performance.now();
        }
        return answer;
      },
    }),
  });
  const fromMs = performance.now();
  const reports: CompletedSync[] = [];
  for (let made = 0; made < syncs; made++) reports.push(await subject.next());
  const queries = servers.flatMap(({ seen }) =>
    seen.map(({ url }) => url.searchParams.get("query") ?? ""),
  );
  const byQuery = new Map(
    others.flatMap(({ namespace, name, queries: own }) =>
      own.map((query) => [query, `${namespace}/${name}`] as const),
    ),
  );
  const asked = new Set(queries.flatMap((query) => byQuery.get(query) ?? []));
  asker.close();
  await server.close();
  await Promise.all(servers.map((each) => each.close()));
  return { scaled, asked, decisions, lastMs: lastMs - fromMs, reports };
};

/** The time of every decision, so that decisions of two runs can be compared. */
const DECIDED_MS = 1_800_000_000_000;

/** Times of samples differ between two runs. */
const plain = (key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : key.endsWith("Ms") ? undefined : value;

const answerInTime: Awaited<ReturnType<typeof prometheusServer>>["answer"] = (query, response) => {
  const tookMs = Number(/^t(\d+)_/.exec(query)?.[1] ?? 0);
  setTimeout(() => oneSeries("40")(query, response), tookMs);
};

const OTHERS = othersOf(500, 10);

interface Hostile {
  readonly name: string;
  readonly tenant: readonly Asker[];
}

const HOSTILE: readonly Hostile[] = [
  {
    name: "50 questions of 1 s to the Prometheus of all",
    tenant: tenantOf(1, { queries: 50, tookMs: 1_000 }),
  },
  {
    name: "21 autoscalers of 50 questions, which are more than maxMetrics",
    tenant: tenantOf(21, { queries: 50, tookMs: 1 }),
  },
  {
    name: "four sources of its own that take 1 s for each of 50 questions",
    tenant: times(4).flatMap((at) =>
      tenantOf(1, { queries: 50, tookMs: 1_000, source: `slow-${at}` }).map((one) => ({
        ...one,
        name: `web-${at}`,
      })),
    ),
  },
];

const codeOf = async (folder: string): Promise<SourcesCode> => ({
  code: await checkoutOf(folder),
  sources: (await exportsIn(folder, PARTS)) as unknown as typeof SOURCES_HERE,
});

/** One tenant beside 500 others that ask a source, which must decide and scale as without it. */
const besideOthers = ({ name, tenant }: Hostile): Attack => ({
  name: `a tenant with ${name}`,
  play: async (folder): Promise<Seen> => {
    const code = await codeOf(folder);
    const alone = await playSources({ others: OTHERS }, code);
    const beside = await playSources({ others: OTHERS, tenant }, code);
    const differing = [...alone.decisions].filter(
      ([other, decision]) => beside.decisions.get(other) !== decision,
    ).length;
    return {
      held: differing === 0 && beside.scaled.size === OTHERS.length,
      isUnknown: alone.scaled.size < OTHERS.length,
      saw: `${beside.scaled.size} of ${OTHERS.length} others scaled (alone ${alone.scaled.size}), ${differing} decided otherwise or not at all`,
    };
  },
});

export const ATTACKS: readonly Attack[] = HOSTILE.map(besideOthers);
