import { clientAt } from "../contracts/engines.ts";
import type { App } from "../control-plane/fill.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Subject, subjectOf } from "./burst-subject.ts";

/**
 * What a player needs to know of the others: the checkout that it plays, the cluster and the
 * tables.
 */
export interface SteadyStage {
  readonly name: string;
  readonly folder: string;
  readonly plane: Pick<ControlPlane, "url" | "ca" | "token">;
  readonly endpoint: string;
  readonly tables: Pick<Tables, "stateTable" | "historyTable">;
  readonly apps: readonly App[];
}

export interface SteadySample {
  readonly userMs: number;
  readonly pages: number;
  readonly calls: number;
  readonly bytes: number;
}

/**
 * A process of the bench `steady`: it gets the stage and then the due time of each sync, and
 * answers with what the sync took.
 */
let subject: Subject | undefined;

const oneSync = async (
  { name, cluster, ports, sync }: Subject,
  dueMs: number,
): Promise<SteadySample> => {
  const cpu = process.cpuUsage();
  const message = {
    cluster: cluster.name,
    partition: cluster.partitions[0]?.name,
    dueMs,
    periodMs: cluster.syncPeriodMs,
  };
  const report = await sync({ ...ports, tables: { ...ports.tables, clock: () => dueMs } }, message);
  const { user } = process.cpuUsage(cpu);
  if (report.kind !== "completed")
    throw new Error(`a sync of ${name} was ${JSON.stringify(report)}`);
  if (report.events.length > 0)
    throw new Error(`a sync of ${name} scaled, so that it was not steady`);
  const { pagesWritten, journalPages, calls, bytes } = report;
  return { userMs: user / 1_000, pages: pagesWritten + journalPages, calls, bytes };
};

const answerTo = async (message: SteadyStage | number): Promise<SteadySample | "ready"> => {
  if (typeof message === "number") {
    if (!subject) throw new Error("a due time came before the stage");
    return oneSync(subject, message);
  }
  const { name, folder, plane, endpoint, tables, apps } = message;
  subject = await subjectOf(name, folder, plane, { client: clientAt(endpoint), tables }, apps);
  return "ready";
};

// An error ends the process, and the bench reports how it ended.
process.on(
  "message",
  (message: SteadyStage | number) =>
    void answerTo(message).then((answer) => process.send?.(answer)),
);
// By its own end, so that a profile of Node is written (NODE_OPTIONS=--cpu-prof).
process.on("disconnect", () => process.exit());
