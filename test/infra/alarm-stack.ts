import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { ClusterOptions } from "../../lib/embedded/cluster/simulated-cluster.ts";
import { SYNC_QUEUE } from "../../lib/embedded/layout.ts";
import type { Queues } from "../../lib/embedded/queue/sqs-server.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { withIds } from "../../lib/stack/store/table/real-tables.ts";
import { type FaultyCluster, startFaultyCluster } from "../local/cluster/faulty-cluster.ts";
import { type Account, type OpenAccount, openAccount, type Statement } from "./lambda/account.ts";
import { keyOf, type Sample, samplesIn } from "./lambda/emitted.ts";
import { type Environment, startEnvironment } from "./lambda/runtime-api.ts";
import { CLUSTER_ADDRESS, type LoadBalancer, startLoadBalancer } from "./load-balancer.ts";
import { type Json, type Resource, resourcesOf, type Stack } from "./packaged.ts";
import type { ParameterValues } from "./settle-conditions.ts";

/**
 * The packaged functions `schedule` and `sync` behind the rights of their roles, with real tables,
 * a queue and clusters, and what their alarms look at.
 */
export const TABLES = { stateTable: "tidemark-prod-state", historyTable: "tidemark-prod-history" };
export interface TableNames {
  readonly stateTable: string;
  readonly historyTable: string;
}
/** What lies in a folder, and the template that it was deployed by. */
export interface StackOf {
  readonly folder: string;
  readonly packaged: Pick<Stack["packaged"], "resources" | "text">;
}
const MINUTE_MS = 60_000;
const SYNC_FUNCTION = "tidemark-prod-sync";
/** The topic that a stack with a mail address makes. */
const ALARM_TOPIC = "arn:aws:sns:eu-central-1:123456789012:tidemark-prod-alarms";

export const hpaOf = (maxReplicas: number, labels: Readonly<Record<string, string>> = {}): string =>
  JSON.stringify({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop", labels },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
        },
      ],
    },
  });
/** Four pods would be right, and it has two. */
export const WEB = {
  requests: { cpuMillicores: 500, memoryBytes: 2 ** 28 },
  limits: { cpuMillicores: 600, memoryBytes: 2 ** 29 },
  namespace: "shop",
  name: "web",
  trace: { points: [{ atMs: 0, value: 100 }], unit: "calls", stepMs: MINUTE_MS },
  initialReplicas: 2,
  cpuMillicoresPerUnit: 12,
};
/** The path that every scale of `web` is written to. */
export const SCALE_OF_WEB = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

export interface ReachedCluster {
  readonly cluster: FaultyCluster;
  readonly balancer: LoadBalancer;
  readonly close: () => Promise<void>;
}

/**
 * A simulated cluster with the workload `web`, or with others, which has run for ten minutes,
 * behind a load balancer that functions reach.
 */
export const startReachedCluster = async (
  folder: string,
  clock: () => number,
  { seed = 1, workloads = [WEB] }: Partial<Pick<ClusterOptions, "seed" | "workloads">> = {},
): Promise<ReachedCluster> => {
  let aheadMs = -10 * MINUTE_MS;
  const cluster = await startFaultyCluster({
    dataDir: folder,
    clock: () => clock() + aheadMs,
    seed,
    workloads,
  });
  aheadMs = 0;
  const balancer = await startLoadBalancer(cluster.kubeconfigPath);
  const close = async (): Promise<void> => {
    await balancer.close();
    await cluster.close();
  };
  return { cluster, balancer, close };
};

/** People's side of the same tables. */
export const serviceOn = (
  client: DynamoDBClient,
  clock: () => number = Date.now,
  names: TableNames = TABLES,
): Service => {
  const tables = withIds({
    client,
    ...names,
    clock,
    wait: async () => undefined,
    random: Math.random,
    token: randomUUID,
  });
  return openService({
    tables,
    insert: insertByStatement(tables),
    clock,
    by: "test",
    newUid: randomUUID,
  });
};

export const propertiesIn = (stack: StackOf, name: string): Resource["Properties"] =>
  stack.packaged.resources[name]?.Properties ?? {};

type Resources = Stack["packaged"]["resources"];
const propertiesOf = (resources: Resources, name: string): Resource["Properties"] =>
  resources[name]?.Properties ?? {};
const textVariablesOf = (resources: Resources, name: string): Readonly<Record<string, string>> => {
  const { Variables } = propertiesOf(resources, name)["Environment"] as {
    readonly Variables: Readonly<Record<string, Json>>;
  };
  return Object.fromEntries(
    Object.entries(Variables).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
};
const statementsOf = (resources: Resources, role: string): readonly Statement[] => {
  const { Policies } = propertiesOf(resources, role) as unknown as {
    readonly Policies: readonly {
      readonly PolicyDocument: { readonly Statement: readonly Statement[] };
    }[];
  };
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
};

export interface FunctionsOf {
  readonly stack: StackOf;
  readonly tables?: TableNames;
  readonly dynamodb: string;
  readonly queues: Queues;
  readonly secrets: Readonly<Record<string, string>>;
  /** Parameters of the template. Default: those of a deployment without any. */
  readonly parameters?: ParameterValues;
  readonly deafTopic?: string;
  /** Absent: eu-central-1. */
  readonly region?: string;
  /** How far the clocks of functions and tables are ahead of the real one. */
  readonly aheadMs?: () => number;
  /** Gets what the tables charge for each request. */
  readonly onConsumed?: Account["onConsumed"];
  /** The URL of `connect`, for `api`. */
  readonly connectUrl?: string;
}

const LOGICAL = {
  schedule: "ScheduleLambdaFunction",
  sync: "SyncLambdaFunction",
  api: "ApiLambdaFunction",
  connect: "ConnectLambdaFunction",
} as const;
type FunctionName = keyof typeof LOGICAL;

export interface Functions {
  readonly start: (name: FunctionName) => Promise<Environment>;
  /** Requests that the account got. */
  readonly calls: OpenAccount["calls"];
  readonly published: OpenAccount["published"];
  readonly close: () => Promise<void>;
}

/**
 * An account with the roles of the stack; `start` begins an execution environment of a function in
 * it. `close` ends them all.
 */
export const openFunctions = async ({
  stack,
  tables = TABLES,
  dynamodb,
  queues,
  secrets,
  parameters,
  deafTopic,
  region,
  aheadMs = () => 0,
  onConsumed,
  connectUrl = "https://connect.lambda-url.eu-central-1.on.aws/",
}: FunctionsOf): Promise<Functions> => {
  const resources = parameters
    ? resourcesOf(stack.packaged.text, parameters)
    : stack.packaged.resources;
  const started: Environment[] = [];
  const running = new Map<FunctionName, Environment>();
  const account = await openAccount({
    dynamodb,
    sqs: queues.endpoint,
    eks: {},
    secrets,
    invoke: async (_sync, payload) => (await running.get("sync")?.invoke(payload))?.body,
    roles: {
      schedule: statementsOf(resources, "ScheduleRole"),
      sync: statementsOf(resources, "SyncRole"),
      api: statementsOf(resources, "ApiRole"),
      connect: statementsOf(resources, "ConnectRole"),
    },
    ...(onConsumed && { onConsumed }),
    names: {
      SyncLambdaFunction: SYNC_FUNCTION,
      StateTable: tables.stateTable,
      HistoryTable: tables.historyTable,
      ExistingStateTable: tables.stateTable,
      ExistingHistoryTable: tables.historyTable,
      SyncQueue: SYNC_QUEUE,
      AlarmTopic: ALARM_TOPIC,
    },
    ...(deafTopic !== undefined && { deafTopic }),
    clock: () => Date.now() + aheadMs(),
  });
  const { TIDEMARK_ALARM_TOPIC = ALARM_TOPIC } = textVariablesOf(
    resources,
    "ScheduleLambdaFunction",
  );
  const TIDEMARK_SYNC_QUEUE_URL = queues.syncUrl.replace(queues.endpoint, account.endpoint);
  const TIDEMARK_HISTORY_TABLE = tables.historyTable;
  const deadLetters = {
    TIDEMARK_SYNC_DEAD_LETTERS_URL: `${account.endpoint}/000000000000/sync-dead-letters`,
    TIDEMARK_TICK_DEAD_LETTERS_URL: `${account.endpoint}/000000000000/tick-dead-letters`,
  };
  const editing = { TIDEMARK_SYNC_QUEUE_URL, TIDEMARK_HISTORY_TABLE, ...deadLetters };
  const own = {
    schedule: { TIDEMARK_ALARM_TOPIC, TIDEMARK_SYNC_QUEUE_URL },
    sync: { TIDEMARK_HISTORY_TABLE },
    api: { ...editing, TIDEMARK_CONNECT_URL: connectUrl },
    connect: { ...editing, TIDEMARK_SYNC_FUNCTION: SYNC_FUNCTION },
  };
  const start = async (name: FunctionName): Promise<Environment> => {
    const environment = await startEnvironment({
      taskRoot: stack.folder,
      handler: `dist/${name}/index.handler`,
      timeoutMs: 30_000,
      aheadMs,
      environment: {
        ...textVariablesOf(resources, LOGICAL[name]),
        TIDEMARK_CLUSTER_METRICS: "none",
        TIDEMARK_STATE_TABLE: tables.stateTable,
        STAND_IN_ROUTE: `${CLUSTER_ADDRESS}=127.0.0.1`,
        AWS_ENDPOINT_URL: account.endpoint,
        AWS_ACCESS_KEY_ID: name,
        ...(region !== undefined && { AWS_REGION: region }),
        ...own[name],
      },
    });
    started.push(environment);
    running.set(name, environment);
    return environment;
  };
  const close = async (): Promise<void> => {
    for (const environment of started) await environment.stop();
    await account.close();
  };
  return { start, published: account.published, calls: account.calls, close };
};

export const clusterFolder = (folder: string, name: string): string =>
  join(folder, `cluster-${name}`);

const counted = (namespace: string, name: string, dimensions: Json, value: number): Sample => ({
  key: keyOf({ namespace, name, dimensions }),
  value,
});
const ofFunction = (name: string, logicalId: string, value: number): Sample =>
  counted("AWS/Lambda", name, { FunctionName: { Ref: logicalId } }, value);
export const ofQueue = (name: string, logicalId: string, value: number): Sample =>
  counted("AWS/SQS", name, { QueueName: { "Fn::GetAtt": [logicalId, "QueueName"] } }, value);

/** One call of a function: the samples that it sent, and those that Lambda sends of every call. */
export const called = async (
  environment: Environment,
  logicalId: string,
  event: unknown,
): Promise<readonly Sample[]> => {
  const before = environment.log().length;
  const { kind } = await environment.invoke(event);
  const ofLambda = [
    ofFunction("Invocations", logicalId, 1),
    ofFunction("Errors", logicalId, kind === "error" ? 1 : 0),
  ];
  return [...samplesIn(environment.log().slice(before)), ...ofLambda];
};

export const eventOfMessage = (body: string) => ({
  Records: [
    {
      messageId: "m",
      receiptHandle: "r",
      body,
      attributes: {},
      messageAttributes: {},
      eventSource: "aws:sqs",
    },
  ],
});

/** Every alarm of the template, by its logical id. */
export const alarmsIn = (
  stack: StackOf,
): readonly (readonly [name: string, properties: Resource["Properties"]])[] =>
  Object.entries(stack.packaged.resources)
    .filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm")
    .map(([name, { Properties }]) => [name, Properties]);
