import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Reporter } from "../../stack/report/reporter.ts";

/** The counts of a run about its own work. */
export interface Tally {
  readonly syncs: number;
  readonly failed: number;
  /** Writes to the state table. */
  readonly stateWrites: number;
  /** Items inserted into history: scale events, each twice, and the journal. */
  readonly historyWrites: number;
  /** Wall time of each sync, ascending. */
  readonly wallMs: readonly number[];
}

/** What a thread has counted so far. */
export interface ThreadCounts extends Pick<Tally, "stateWrites" | "historyWrites"> {
  readonly autoscalers: number;
}

export interface Counter {
  /** What this counter would say of a thread. */
  readonly counts: () => ThreadCounts;
  /** Takes what the counter of another thread says. */
  readonly take: (thread: number, counts: ThreadCounts) => void;
  /** Counts the writes that this client sends. */
  readonly watch: (client: DynamoDBClient) => void;
  /** A reporter that also counts the autoscalers of each report. */
  readonly hear: (reporter: Reporter) => Reporter;
  /** Autoscalers of all partitions, by the last completed sync of each. */
  readonly autoscalers: () => number;
  readonly begin: () => void;
  /** A sync has ended. */
  readonly sync: (wallMs: number, failed: boolean) => void;
  readonly underWay: () => number;
  readonly tally: () => Tally;
}

const STATE_WRITES: ReadonlySet<string> = new Set([
  "PutItemCommand",
  "UpdateItemCommand",
  "DeleteItemCommand",
]);

export const runCounter = (): Counter => {
  const writes = { state: 0, history: 0 };
  let failures = 0;
  let underWay = 0;
  const wallMs: number[] = [];
  const autoscalers = new Map<string, number>();
  const threads = new Map<number, ThreadCounts>();
  const inThreads = (of: keyof ThreadCounts): number =>
    [...threads.values()].reduce((sum, counts) => sum + counts[of], 0);
  const counts = (): ThreadCounts => ({
    stateWrites: writes.state + inThreads("stateWrites"),
    historyWrites: writes.history + inThreads("historyWrites"),
    autoscalers:
      [...autoscalers.values()].reduce((sum, count) => sum + count, 0) + inThreads("autoscalers"),
  });
  return {
    counts,
    take: (thread, counted) => void threads.set(thread, counted),
    hear: (reporter) => ({
      ...reporter,
      sync: (report) => {
        if (report.kind === "completed")
          autoscalers.set(`${report.cluster}/${report.partition}`, report.autoscalers);
        reporter.sync(report);
      },
    }),
    autoscalers: () => counts().autoscalers,
    watch: (client) =>
      client.middlewareStack.add(
        (next, { commandName }) => {
          return (args) => {
            if (STATE_WRITES.has(commandName ?? "")) writes.state++;
            writes.history += statementsOf(args.input);
            return next(args);
          };
        },
        { step: "initialize", name: "countWrites" },
      ),
    begin: () => {
      underWay++;
    },
    underWay: () => underWay,
    sync: (took, failed) => {
      underWay--;
      wallMs.push(took);
      if (failed) failures++;
    },
    tally: () => ({
      syncs: wallMs.length,
      failed: failures,
      stateWrites: counts().stateWrites,
      historyWrites: counts().historyWrites,
      wallMs: wallMs.toSorted((a, b) => a - b),
    }),
  };
};

/** The items that a request inserts into history. */
const statementsOf = (input: object): number => {
  const statements: unknown = Reflect.get(input, "Statements");
  return Array.isArray(statements) ? statements.length : 0;
};

/** The value below which the given share of an ascending list lies, by nearest rank. */
export const quantile = (ascending: readonly number[], share: number): number | undefined =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)];
