import limited from "p-limit";
import { describe, expect, it } from "vitest";
import { syncHandler } from "../../functions/sync.ts";
import { WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import type { CompletedSync, SyncReport } from "../../lib/stack/report/sync-report.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { DEFAULT_TIMING } from "../../lib/stack/plan/message.ts";
import { warmCache } from "../../lib/stack/sync/load/warm-cache.ts";
import { clientTo } from "../cluster/stand-in/watched.ts";
import { startMemory } from "../contracts/engines.ts";
import {
  CONTEXT,
  connectedTo,
  nameOf,
  sqsEvent,
  standInCluster,
  storeCluster,
  TROUBLES,
  type Trouble,
} from "./stand-in-fleet.ts";
import { testTables } from "./world.ts";

const CLUSTERS = 10;
const PERIOD_MS = 5_000;
/** As many syncs at once as the function may have. */
const CONCURRENCY = 4;
const TIMING = { ...DEFAULT_TIMING, softDeadlineMs: 4_000 };

/**
 * One sync of each of ten real HTTPS clusters through the function's handler, some of them in
 * trouble.
 */
const syncAll = async (troubles: readonly Trouble[]): Promise<readonly CompletedSync[]> => {
  const engine = await startMemory();
  const tables = testTables(engine.client, engine.tables, Date.now);
  const servers = await Promise.all(
    Array.from({ length: CLUSTERS }, (_, at) => standInCluster(troubles[at])),
  );
  const clients = new Map(servers.map((server, at) => [nameOf(at), clientTo(server)]));
  for (const name of clients.keys()) await storeCluster(tables, name, PERIOD_MS);
  const reports: SyncReport[] = [];
  const failures: unknown[] = [];
  const ports = {
    tables,
    insert: insertByStatement(tables),
    connect: connectedTo(clients),
    rules: PURE_PART,
    timing: TIMING,
    cache: warmCache(),
  };
  const reporter = {
    sync: (report: SyncReport) => void reports.push(report),
    failed: (error: unknown) => void failures.push(error),
  };
  const handler = syncHandler({ ports, reporter });
  const dueMs = Date.now();
  const limit = limited(CONCURRENCY);
  await Promise.all(
    [...clients.keys()].map((cluster) =>
      limit(() =>
        handler(sqsEvent({ cluster, partition: WHOLE_CLUSTER, dueMs, periodMs: 60_000 }), CONTEXT),
      ),
    ),
  );
  for (const client of clients.values()) client.close();
  await Promise.all(servers.map((server) => server.close()));
  expect(failures).toEqual([]);
  return reports
    .filter((report) => report.kind === "completed")
    .toSorted((one, other) => one.cluster.localeCompare(other.cluster));
};

/** What a sync did, without when. */
const deeds = ({
  cluster,
  autoscalers,
  evaluated,
  failed,
  events,
  openIntents,
  pagesWritten,
  calls,
}: CompletedSync) => ({
  cluster,
  ...{ autoscalers, evaluated, failed, openIntents, pagesWritten, calls },
  scales: events.map(({ name, from, to, outcome }) => [name, from, to, outcome]).sort(),
});

describe("a cluster that hangs, answers 500 or resets connections", () => {
  it("ends its own sync within the soft deadline, and changes nothing for the others", async () => {
    const [well, troubled] = [await syncAll([]), await syncAll(TROUBLES)];
    expect([well.length, troubled.length]).toEqual([CLUSTERS, CLUSTERS]);
    const bad = new Set<string>(TROUBLES.map((_, at) => nameOf(at)));
    for (const { cluster, startMs, endMs, failed, events } of troubled.filter((report) =>
      bad.has(report.cluster),
    )) {
      expect({ cluster, failed, events }).toEqual({ cluster, failed: 3, events: [] });
      expect(endMs - startMs, `${cluster} held its worker`).toBeLessThan(TIMING.softDeadlineMs);
    }
    const others = (reports: readonly CompletedSync[]) =>
      reports.filter(({ cluster }) => !bad.has(cluster)).map(deeds);
    expect(others(troubled)).toEqual(others(well));
    expect(others(troubled)[0]).toMatchObject({
      failed: 0,
      scales: [
        ["api", 1, 2, "applied"],
        ["jobs", 1, 2, "applied"],
        ["web", 1, 2, "applied"],
      ],
    });
  });
});
