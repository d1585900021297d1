import {
  BatchExecuteStatementCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { clusterName, partitionName } from "../../../lib/rules/model/ids.ts";
import { HOUR_MS } from "../../../lib/rules/model/time-text.ts";
import { DAY_COUNTS } from "../../../lib/stack/projections/counts.ts";
import { type Projection, project } from "../../../lib/stack/projections/project.ts";
import { SAMPLES } from "../../../lib/stack/projections/samples.ts";
import { getCluster } from "../../../lib/stack/store/records/clusters.ts";
import type { ApiAnswer } from "../../../lib/answers/api/request-and-answer.ts";
import { FORMER_IDS } from "../restores.ts";
import type { Shown } from "./shown.ts";
import type { WeekMistake } from "./stage.ts";

/** A mistake, the seed of weeks that shows it within so many days, and what catches it. */
export interface PlantedWeek extends WeekMistake {
  readonly leftOut: string;
  readonly seed: number;
  readonly days: number;
  readonly caughtBy: Shown;
}

/** Projects as a sync does, by a projection that is wrong in one thing. */
const projecting =
  (projection: Projection): NonNullable<WeekMistake["afterSync"]> =>
  async ({ tables, insert }, { cluster: name, partition }) => {
    const cluster = await getCluster(tables, clusterName(name));
    if (!cluster) return;
    const nowMs = tables.clock();
    await project(
      {
        ...{ tables, insert, cluster, partition: partitionName(partition), nowMs, beforeMs: 0 },
        ...{ untilMs: Number.POSITIVE_INFINITY, memory: {} },
      },
      [projection],
    );
  };

/** The names of the newest whole answer, by reader, are all that the tag stands for. */
const namesOnly = (): NonNullable<WeekMistake["answering"]> => {
  const had = new Map<number, string>();
  return (reader, once) => async (query, headers) => {
    const answer = await once(query, headers);
    if (answer.status !== 200 || answer.headers["etag"] === undefined) return answer;
    const names =
      String(answer.body)
        .match(/"generation":\d+|"uid":"[^"]*"/g)
        ?.join() ?? "";
    const isSame = had.get(reader) === names;
    had.set(reader, names);
    return isSame && headers["if-none-match"] !== undefined ? notModified(answer) : answer;
  };
};

const notModified = ({ headers }: ApiAnswer): ApiAnswer => ({ status: 304, headers, body: "" });

/** The marks of late events go where no reader looks. */
const withoutLateMarks = (command: unknown): unknown => {
  if (!(command instanceof BatchExecuteStatementCommand)) return command;
  const Statements = command.input.Statements?.map((one) =>
    one.Parameters?.some(({ S }) => S?.endsWith("#late"))
      ? {
          ...one,
          Parameters: one.Parameters.map((value) =>
            value.S?.endsWith("#late") ? { S: `~${value.S}` } : value,
          ),
        }
      : one,
  );
  return new BatchExecuteStatementCommand({ ...command.input, Statements });
};

/** The journal is read from its other end. */
const oldestFirst = (command: unknown): unknown =>
  command instanceof QueryCommand &&
  command.input.ScanIndexForward === false &&
  Object.values(command.input.ExpressionAttributeValues ?? {}).some(({ S }) =>
    S?.startsWith("journal#"),
  )
    ? new QueryCommand({ ...command.input, ScanIndexForward: true })
    : command;

/** Stored intents say that their sync was completed. */
const intentsAsCompleted = (command: unknown): unknown =>
  command instanceof UpdateItemCommand &&
  command.input.UpdateExpression?.endsWith("nowMs = :now, intents = :intents")
    ? new UpdateItemCommand({
        ...command.input,
        UpdateExpression: `${command.input.UpdateExpression}, evaluatedMs = :now`,
      })
    : command;

export const WEEK_MISTAKES: readonly PlantedWeek[] = [
  {
    leftOut: "what a sync has changed, in the tag of rows",
    ...{ seed: 0, days: 4, answering: namesOnly() },
    caughtBy: "a 304 is given only where nothing that the caller may see has changed",
  },
  {
    leftOut: "the two days before the events of a day are counted",
    ...{ seed: 7, days: 4, afterSync: projecting({ ...DAY_COUNTS, settledMs: 0 }) },
    caughtBy: "counts are the sums of the events",
  },
  {
    leftOut: "the mark that an event of a counted day came late",
    ...{ seed: 2, days: 8, sent: withoutLateMarks },
    caughtBy: "counts are the sums of the events",
  },
  {
    leftOut: "the last syncs of six hours in what is made of them",
    ...{ seed: 0, days: 4, afterSync: projecting({ ...SAMPLES, settledMs: -3 * HOUR_MS }) },
    caughtBy: "every step of a history is what a sync has decided",
  },
  {
    leftOut: "the difference between a sync that was completed and one that has stored intents",
    ...{ seed: 0, days: 19, sent: intentsAsCompleted },
    caughtBy: "no reader is shown what was true at no moment since its request",
  },
  {
    leftOut: "a look at which tables these are, in what is remembered of the last hour",
    ...{ seed: 5, days: 9, idsForReaders: FORMER_IDS },
    caughtBy: "what one autoscaler is said to have decided, a sync has decided",
  },
  {
    leftOut: "the newest evaluation of the journal, in an explanation (the oldest instead)",
    ...{ seed: 0, days: 4, sent: oldestFirst },
    caughtBy: "what one autoscaler is said to have decided, a sync has decided",
  },
];
