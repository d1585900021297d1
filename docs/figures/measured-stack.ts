import {
  type CloudWatchClient,
  GetMetricDataCommand,
  type MetricDataQuery,
} from "@aws-sdk/client-cloudwatch";
import {
  type CloudWatchLogsClient,
  paginateFilterLogEvents,
} from "@aws-sdk/client-cloudwatch-logs";
import { GetFunctionConfigurationCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import * as z from "zod";

/** The functions whose starts and calls are measured, of a stack without options. */
export const FUNCTIONS = ["schedule", "sync", "api", "connect", "view", "wake"] as const;
type FunctionName = (typeof FUNCTIONS)[number];

const functionSchema = z.object({
  architecture: z.string(),
  memoryMb: z.number(),
  calls: z.number(),
  errors: z.number(),
  /** Of all calls together, as Lambda bills it. */
  durationMs: z.number(),
  /** Of one call; absent where nothing was called. */
  longestMs: z.number().optional(),
  /** How many ran at once, at most. */
  concurrent: z.number(),
  /** `Init Duration` of each start, in ascending order. */
  initMs: z.array(z.number()),
});

/** What AWS measured of a stack. It names no account and no stack, because it becomes a page. */
export const measuredSchema = z.object({
  region: z.string(),
  since: z.string(),
  until: z.string(),
  functions: z.record(z.enum(FUNCTIONS), functionSchema),
  tables: z.object({ readUnits: z.number(), writeUnits: z.number() }),
  queue: z.object({
    sent: z.number(),
    received: z.number(),
    deleted: z.number(),
    empty: z.number(),
  }),
  logBytes: z.number(),
});
export type MeasuredStack = z.infer<typeof measuredSchema>;

export interface StackNames {
  readonly region: string;
  readonly functionOf: (name: FunctionName) => string;
  readonly tables: readonly string[];
  readonly queue: string;
}

export interface Clients {
  readonly metrics: CloudWatchClient;
  readonly logs: CloudWatchLogsClient;
  readonly lambda: LambdaClient;
}

export interface Span {
  readonly sinceMs: number;
  readonly untilMs: number;
}

const HOUR_SECONDS = 3_600;
/** Starts that are read of one function: more say no more. */
const STARTS_MAX = 2_000;

interface Asked {
  readonly namespace: string;
  readonly metric: string;
  readonly stat: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The values of each hour, in no order. */
const valuesOf = async (
  { metrics }: Clients,
  { sinceMs, untilMs }: Span,
  { namespace, metric, stat, dimensions }: Asked,
): Promise<readonly number[]> => {
  const query: MetricDataQuery = {
    Id: "m",
    MetricStat: {
      Metric: {
        Namespace: namespace,
        MetricName: metric,
        Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
      },
      Period: HOUR_SECONDS,
      Stat: stat,
    },
  };
  const values: number[] = [];
  let NextToken: string | undefined;
  do {
    const page = await metrics.send(
      new GetMetricDataCommand({
        MetricDataQueries: [query],
        StartTime: new Date(sinceMs),
        EndTime: new Date(untilMs),
        ...(NextToken !== undefined && { NextToken }),
      }),
    );
    values.push(...(page.MetricDataResults ?? []).flatMap(({ Values = [] }) => Values));
    ({ NextToken } = page);
  } while (NextToken !== undefined);
  return values;
};

const sumOf = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** `Init Duration: 312.45 ms`, of the line that Lambda writes for a call. */
const INIT = /\bInit Duration: ([\d.]+) ms/;

/** The milliseconds of each start that the log of a function has. */
const startsOf = async (
  { logs }: Clients,
  { sinceMs, untilMs }: Span,
  functionName: string,
): Promise<number[]> => {
  const found: number[] = [];
  const pages = paginateFilterLogEvents(
    { client: logs },
    {
      logGroupName: `/aws/lambda/${functionName}`,
      startTime: sinceMs,
      endTime: untilMs,
      filterPattern: '"Init Duration"',
    },
  );
  for await (const { events = [] } of pages) {
    for (const { message = "" } of events) {
      const ms = Number(INIT.exec(message)?.[1] ?? Number.NaN);
      if (!Number.isNaN(ms)) found.push(ms);
    }
    if (found.length >= STARTS_MAX) break;
  }
  return found.slice(0, STARTS_MAX).toSorted((one, other) => one - other);
};

const functionIn = async (
  clients: Clients,
  span: Span,
  functionName: string,
): Promise<z.infer<typeof functionSchema>> => {
  const { Architectures: [architecture = "x86_64"] = [], MemorySize = 0 } =
    await clients.lambda.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
  const values = (metric: string, stat: string): Promise<readonly number[]> =>
    valuesOf(clients, span, {
      ...{ namespace: "AWS/Lambda", metric, stat },
      dimensions: { FunctionName: functionName },
    });
  const longest = await values("Duration", "Maximum");
  return {
    architecture,
    memoryMb: MemorySize,
    calls: sumOf(await values("Invocations", "Sum")),
    errors: sumOf(await values("Errors", "Sum")),
    durationMs: sumOf(await values("Duration", "Sum")),
    ...(longest.length > 0 && { longestMs: Math.max(...longest) }),
    concurrent: Math.max(0, ...(await values("ConcurrentExecutions", "Maximum"))),
    initMs: await startsOf(clients, span, functionName),
  };
};

/**
 * What CloudWatch, the logs and Lambda say of a stack in a span of time. Asks with one request for
 * each metric, some sixty of them, which cost less than a cent.
 */
export const measureStack = async (
  clients: Clients,
  span: Span,
  { region, functionOf, tables, queue }: StackNames,
): Promise<MeasuredStack> => {
  const functions: Record<string, z.infer<typeof functionSchema>> = {};
  let logBytes = 0;
  for (const name of FUNCTIONS) {
    const functionName = functionOf(name);
    functions[name] = await functionIn(clients, span, functionName);
    logBytes += sumOf(
      await valuesOf(clients, span, {
        ...{ namespace: "AWS/Logs", metric: "IncomingBytes", stat: "Sum" },
        dimensions: { LogGroupName: `/aws/lambda/${functionName}` },
      }),
    );
  }
  const ofTables = async (metric: string): Promise<number> => {
    let units = 0;
    for (const TableName of tables)
      units += sumOf(
        await valuesOf(clients, span, {
          ...{ namespace: "AWS/DynamoDB", metric, stat: "Sum" },
          dimensions: { TableName },
        }),
      );
    return units;
  };
  const ofQueue = async (metric: string): Promise<number> =>
    sumOf(
      await valuesOf(clients, span, {
        ...{ namespace: "AWS/SQS", metric, stat: "Sum" },
        dimensions: { QueueName: queue },
      }),
    );
  return measuredSchema.parse({
    region,
    since: new Date(span.sinceMs).toISOString(),
    until: new Date(span.untilMs).toISOString(),
    functions,
    tables: {
      readUnits: await ofTables("ConsumedReadCapacityUnits"),
      writeUnits: await ofTables("ConsumedWriteCapacityUnits"),
    },
    queue: {
      sent: await ofQueue("NumberOfMessagesSent"),
      received: await ofQueue("NumberOfMessagesReceived"),
      deleted: await ofQueue("NumberOfMessagesDeleted"),
      empty: await ofQueue("NumberOfEmptyReceives"),
    },
    logBytes,
  });
};
