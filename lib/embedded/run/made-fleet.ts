import { createHash } from "node:crypto";
import { openService } from "../../answers/service/open.ts";
import type { ServiceContext } from "../../answers/service/context.ts";
import { MAX_MANIFESTS } from "../../rules/manifest/budget.ts";
import { IDLE, POD, type WorkloadDefinition } from "../cluster/definition.ts";
import type { MadeFleet } from "../folder/identity.ts";
import { fleetNames } from "../layout.ts";
import { readShippedTrace } from "../traces/read-trace.ts";
import { ordinaryHigh, SHIPPED_TRACES, spanMs, type Trace } from "../traces/trace.ts";
import { SOURCE_LIMITS } from "../../rules/model/metric-source.ts";
import { arnOf } from "../../rules/model/aws-partitions.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import { LOCAL_ACCOUNT } from "../queue/message.ts";

interface MadeWorkload {
  readonly namespace: string;
  readonly name: string;
  /** Its place among the workloads of all clusters. */
  readonly at: number;
}

const NAMESPACES = 20;

/** The workloads of one cluster. Workloads of different clusters have different names. */
const workloadsIn = (
  { clusters, autoscalers }: MadeFleet,
  cluster: number,
): readonly MadeWorkload[] => {
  const made: MadeWorkload[] = [];
  for (let at = cluster; at < autoscalers; at += clusters)
    made.push({
      at,
      namespace: `team-${padded((made.length % NAMESPACES) + 1, NAMESPACES)}`,
      name: `web-${padded(at + 1, autoscalers)}`,
    });
  return made;
};

const padded = (number: number, most: number): string =>
  String(number).padStart(String(most).length, "0");

const TARGET_PERCENT = 60;
/**
 * Pods that an ordinary high needs: few, because the memory and the time of a sync go with the
 * pods.
 */
const PODS_AT_HIGH = 4;
/**
 * So many minutes are two workloads in a row apart in their trace. It has no common factor with the
 * minutes of a day.
 */
const APART_MS = 137 * 60_000;

/**
 * What each cluster plays: the recorded workloads in turn, each from another minute on.
 * `podStartMs`: how long each pod takes to start.
 */
export const madeDefinitions = async (
  fleet: MadeFleet,
  podStartMs?: number,
): Promise<readonly (readonly WorkloadDefinition[])[]> => {
  const traces = (await Promise.all(SHIPPED_TRACES.map(readShippedTrace))).map((trace) => ({
    trace,
    high: ordinaryHigh(trace),
  }));
  const pods = podStartMs === undefined ? {} : { startupMs: { min: podStartMs, max: podStartMs } };
  return Array.from({ length: fleet.clusters }, (_, cluster) =>
    workloadsIn(fleet, cluster).map((workload) => ({ ...definitionOf(workload, traces), ...pods })),
  );
};

interface PlayedTrace {
  readonly trace: Trace;
  readonly high: number;
}

const definitionOf = (
  { namespace, name, at }: MadeWorkload,
  traces: readonly PlayedTrace[],
): WorkloadDefinition => {
  const { trace, high } = traces[at % traces.length] ?? {};
  if (!trace || high === undefined) throw new RangeError("there are no recorded workloads to play");
  const millicores = (POD.requests.cpuMillicores * TARGET_PERCENT) / 100 - IDLE.cpuMillicores;
  return {
    ...POD,
    targetCpuPercent: TARGET_PERCENT,
    initialReplicas: 2,
    namespace,
    name,
    trace,
    traceOffsetMs: (at * APART_MS) % spanMs(trace),
    cpuMillicoresPerUnit: (millicores * PODS_AT_HIGH) / high,
  };
};

const manifestOf = ({ namespace, name }: MadeWorkload) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
    minReplicas: 1,
    maxReplicas: 3 * PODS_AT_HIGH,
    metrics: [
      {
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: TARGET_PERCENT },
        },
      },
    ],
  },
});

const SAY_EVERY_MS = 5_000;

/**
 * Applies the manifests of a new fleet, in steps of as many as one step may have. Uids follow from
 * the seed and the order, so that the same run gives the same events: the documents of a step are
 * stored in their order. `say` prints how far it is.
 */
export const applyMade = async (
  context: ServiceContext,
  fleet: MadeFleet,
  { seed, say }: { readonly seed: number; readonly say: (line: string) => void },
): Promise<void> => {
  say(
    `Making ${fleet.autoscalers} autoscalers and their workloads in ${fleet.clusters} simulated ${fleet.clusters === 1 ? "cluster" : "clusters"}`,
  );
  let done = 0;
  let saidMs = performance.now();
  for (const [at, cluster] of fleetNames(fleet.clusters).entries()) {
    let next = 0;
    const service = openService({
      ...context,
      newUid: () => seededUid(`${seed}/${cluster}/${next++}`),
    });
    const workloads = workloadsIn(fleet, at);
    for (let from = 0; from < workloads.length; from += MAX_MANIFESTS) {
      const items = workloads.slice(from, from + MAX_MANIFESTS).map(manifestOf);
      const text = JSON.stringify({ apiVersion: "v1", kind: "List", items });
      await service.apply([{ file: cluster, text }], {
        cluster,
        dryRun: false,
        validation: "strict",
      });
    }
    done += workloads.length;
    if (performance.now() - saidMs < SAY_EVERY_MS) continue;
    saidMs = performance.now();
    say(`${done} of ${fleet.autoscalers} autoscalers are made`);
  }
};

/** A UUID of version 8 (RFC 9562 5.8: contents of one's own) made of a text. */
export const seededUid = (text: string): string => {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/**
 * What edits of a start are signed with, so that the next start knows them from the edits of
 * people.
 */
const BY = "npm start";

/** The name of the Prometheus, also of one that `--source-url` names. */
const PROMETHEUS = "main";

const EVERYBODY = { clusters: ["*"], namespaces: ["*"] };
const service = (name: string, port: string) =>
  ({ namespace: "monitoring", name, port, scheme: "http", path: "" }) as const;

const QUEUES_REGION = "eu-central-1";

/**
 * The sources of a simulated run. Two are services of its cluster, which its API server passes
 * questions on to; the queues are an account of AWS on this machine.
 */
const RECORDED: readonly NewSource[] = [
  { name: PROMETHEUS, kind: "prometheus", service: service("prometheus", "9090"), ...EVERYBODY },
  { name: "jobs", kind: "http", service: service("jobs", "8080"), ...EVERYBODY },
  {
    name: "queues",
    kind: "sqs",
    aws: {
      region: QUEUES_REGION,
      roleArn: arnOf("iam", QUEUES_REGION, LOCAL_ACCOUNT, "role/tidemark-local-source-queues"),
      externalId: "npm-start",
      queues: ["*"],
    },
    ...EVERYBODY,
  },
];

/** A Prometheus of the person who starts the run. */
const own = (url: string): NewSource => ({
  name: PROMETHEUS,
  kind: "prometheus",
  url,
  private: true,
  timeoutSeconds: SOURCE_LIMITS.timeoutSeconds.default,
  ...EVERYBODY,
});

/**
 * Registers the sources of a start. One that a person has registered or changed stays as it is, but
 * for the one that `--source-url` names. Throws `service.invalid` for a URL that cannot be asked.
 */
export const registerSources = async (
  context: ServiceContext,
  { simulated, sourceUrl }: { readonly simulated: boolean; readonly sourceUrl: string | undefined },
): Promise<void> => {
  const editing = openService({ ...context, by: BY, ownAddresses: true });
  const kept = new Set(
    (await editing.sources()).flatMap((source) =>
      "updatedBy" in source && source.updatedBy === BY ? [] : [source.name],
    ),
  );
  for (const source of simulated ? RECORDED : []) {
    if (!kept.has(source.name) && !(source.name === PROMETHEUS && sourceUrl !== undefined))
      await editing.putSource(source);
  }
  if (sourceUrl !== undefined) await editing.putSource(own(sourceUrl));
};
