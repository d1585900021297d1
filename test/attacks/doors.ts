import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterName, namespace } from "../../lib/rules/model/ids.ts";
import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import { readPlanMarks } from "../../lib/stack/store/records/plan-records.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { fillWith, kubernetes } from "../cluster/stand-in/kubernetes.ts";
import { json, status } from "../cluster/stand-in/server.ts";
import { startMemory } from "../contracts/engines.ts";
import { exportsIn } from "../simulation/beside/build.ts";
import { testTables } from "../sync/world.ts";
import { type Attack, type Seen, said, withFolder } from "./attack.ts";
import { checkoutOf } from "./checkout.ts";

const IDENTITY = "/api/v1/namespaces/kube-system";
const [OWN, ANOTHER] = ["uid-of-own", "uid-of-another"];

/**
 * The address of a cluster leads to another one, which has a workload of the same name and uid as a
 * copy has, and says once which cluster it is, and never again.
 */
const anotherCluster = async (folder: string): Promise<Seen> => {
  const { clientFor } = await checkoutOf(folder);
  const server = await kubernetes();
  fillWith(server, [["shop", "web"]]);
  let answer = json(200, { kind: "Namespace", metadata: { name: "kube-system", uid: ANOTHER } });
  server.overrides.push({
    match: ({ url }) => url.pathname === IDENTITY,
    answer: (...call) => answer(...call),
  });
  let nowMs = Date.now();
  const clock = (): number => nowMs;
  const record = { name: clusterName("eu-1"), uid: "uid", kubeSystemUid: OWN };
  const client = clientFor(record, accessTo(server), { clock, elapsed: clock });
  const write = {
    namespace: namespace("shop"),
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    ...{ targetUid: "uid-shop-web", resourceVersion: "7", replicas: 3 },
  };
  for (let minute = 0; minute < 3; minute++) {
    await client.putScale(write, 2_000);
    answer = status(403, "Forbidden", "you may not get this namespace");
    nowMs += 61_000;
  }
  client.close();
  await server.close();
  const puts = server.seen.filter(({ method }) => method === "PUT").length;
  return { held: puts === 0, saw: `${puts} PUTs reached the other cluster` };
};

const PLAN_HERE = { planSyncs, readPlanMarks } as const;
const PLAN = {
  planSyncs: [
    ["stack/plan/schedule.ts", "planSyncs"],
    ["stack/plan/schedule.ts", "schedule"],
  ],
  readPlanMarks: [["stack/store/records/plan-records.ts", "readPlanMarks"]],
} as const;
const MINUTE_MS = 60_000;
const AHEAD_MS = 240_000;

/** The planner of a machine whose clock is four minutes ahead, for ten minutes. */
const planAhead = async (folder: string): Promise<Seen> => {
  const plan = (await exportsIn(folder, PLAN)) as unknown as typeof PLAN_HERE;
  const { putCluster } = await checkoutOf(folder);
  const engine = await startMemory();
  let nowMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  const right = testTables(engine.client, engine.tables, () => nowMs);
  const cluster = {
    ...{ name: clusterName("eu-1"), uid: "uid", syncPeriodMs: 15_000, version: 1 },
    partitions: [{ name: "default" }],
    settings: {},
  };
  await putCluster(right, cluster as never, undefined);
  const ahead: Tables = {
    ...right,
    clock: () => nowMs + AHEAD_MS,
    serverClock: () => ({ leastMs: AHEAD_MS - 1_000, mostMs: AHEAD_MS + 1_000 }),
  };
  let [sent, failed] = [0, 0];
  const queue = {
    client: {
      send: (async ({ input }: { readonly input: { readonly Entries: readonly unknown[] } }) => {
        sent += input.Entries.length;
        return {};
      }) as never,
    },
    ...{ queueUrl: "https://queue", wait: async () => undefined, random: () => 1 },
  };
  const clock = ahead.clock;
  for (let minute = 0; minute < 10; minute++, nowMs += MINUTE_MS)
    await plan
      .planSyncs({ tables: ahead, queue, clock } as never, { scheduledMs: nowMs })
      .catch(() => {
        failed++;
      });
  const marks = (await plan.readPlanMarks(right)).size;
  return {
    held: failed === 10 && marks === 0,
    saw: `${failed} of 10 calls failed, ${sent} syncs were planned, and ${marks} minutes are marked as planned`,
  };
};

/** A data folder with an hour of a demonstration. */
const withData = <Result>(
  folder: string,
  use: (at: { readonly dir: string; readonly data: readonly string[] }) => Promise<Result>,
): Promise<Result> =>
  withFolder(async (dir) => {
    const data = ["--data", join(dir, "data")];
    await said(folder, ["start", ...data, "--for", "1m", "--speed", "100000"], dir);
    return use({ dir, data });
  });

const PATIENCE_MS = 10_000;

/** A file of holidays that stands for millions of days. */
const calendarOfAges = (folder: string): Promise<Seen> =>
  withData(folder, async ({ dir, data }) => {
    const event = "BEGIN:VEVENT\nDTSTART:00010101\nDURATION:P400D\nRRULE:FREQ=YEARLY\nEND:VEVENT\n";
    const file = join(dir, "de.ics");
    writeFileSync(file, `BEGIN:VCALENDAR\n${event.repeat(90)}END:VCALENDAR\n`);
    const fromMs = Date.now();
    const put = await said(folder, ["calendar", "put", "de", "-f", file, ...data], dir);
    const tookMs = Date.now() - fromMs;
    return {
      held: put.code !== 0 && tookMs < PATIENCE_MS,
      saw: `a file of ${readFileSync(file).length} bytes took ${(tookMs / 1_000).toFixed(1)} s and ended with ${put.code}`,
    };
  });

/** A link that waits where an export writes. */
const exportLink = (folder: string): Promise<Seen> =>
  withData(folder, async ({ dir, data }) => {
    const [out, own] = [join(dir, "out"), join(dir, "own-file")];
    mkdirSync(out);
    writeFileSync(own, "of a person");
    for (const name of ["events", "changes", "history"])
      symlinkSync(own, join(out, `${name}.csv.part`));
    await said(folder, ["export", "--since", "1h", "-o", out, ...data], dir);
    const kept = existsSync(own) && readFileSync(own, "utf8") === "of a person";
    return {
      held: kept,
      saw: `the file behind the link is ${kept ? "as it was" : "written over"}`,
    };
  });

/** Identity, clock and border: one mechanism each, which every door goes through. */
export const ATTACKS: readonly Attack[] = [
  {
    name: "another cluster behind an address, which says once which it is and then 403",
    play: anotherCluster,
  },
  { name: "a planner whose clock is four minutes ahead", play: planAhead },
  { name: "a calendar file of 7 KB that stands for millions of days", play: calendarOfAges },
  { name: "a link in the place of a file that an export writes", play: exportLink },
];
