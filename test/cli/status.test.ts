import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../../lib/command/main.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { openQueueJournal } from "../../lib/embedded/queue/queue.ts";
import { deadLettersIn } from "../../lib/embedded/queue/sqs-server.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { clusterKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import type { DeadLetters, StatusView } from "../../lib/answers/views/status.ts";
import { around } from "../contracts/faults.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";
import { recordOf } from "../service/world/shop.ts";
import { type Outcome, storeSync } from "../service/world/synced.ts";
import { shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/output.md"), "utf8");
const CONNECTION = { kind: "secret", secretId: "tidemark-prod/eu-1" } as const;

/** The example below the heading of the command. */
const shown = (page: string): string => /^## status.*?^```text\n(.*?)^```/ms.exec(page)?.[1] ?? "";

let world: ServiceWorld;
let deadLetters: DeadLetters | undefined;
const serviceOf = () => openService({ ...world.context, deadLetters: async () => deadLetters });
const session = async () => ({
  place: "folder here",
  service: serviceOf(),
  nowMs: NOON,
  clock: () => NOON,
  close: async () => {},
});
const status = (...args: readonly string[]) => inside(["status", ...args], { open: session });

beforeEach(async () => {
  world = await serviceWorld();
  deadLetters = { syncs: 0, plans: 0 };
  world.set(NOON - 600_000);
});
afterEach(() => world.close());

const add = async (name: string): Promise<void> =>
  void (await serviceOf().addCluster({
    name,
    connection: { ...CONNECTION, secretId: `tidemark-prod/${name}` },
  }));
const syncedAgo = (
  name: string,
  seconds: number,
  outcomes: readonly Outcome[] = [],
): Promise<void> => storeSync(world.context, clusterName(name), NOON - seconds * 1_000, outcomes);

const failing = async (
  cluster: string,
  reason: string,
  message: string,
  name = "web",
): Promise<Outcome> => {
  await serviceOf().apply([{ file: "a.yaml", text: hpa(name, { namespace: "shop" }) }], {
    cluster,
    dryRun: false,
  });
  const record = await recordOf(world.context, name, "shop", clusterName(cluster));
  const because = { reason, message };
  const condition = {
    type: "AbleToScale",
    status: "False",
    ...because,
    transitionMs: NOON - 300_000,
  } as const;
  const state = {
    conditions: [condition],
    currentReplicas: 3,
    desiredReplicas: 3,
    currentMetrics: null,
  };
  const windows = {
    memory: { recommendations: null, scaleUps: [], scaleDowns: [] },
    status: state,
  };
  return {
    record,
    windows,
    evaluation: {
      kind: "hold",
      failed: true,
      because,
      metrics: [],
      steps: [],
      events: [],
      status: state,
    },
  };
};

describe("tidemark status", () => {
  it("is healthy with exit code 0 where every partition was synced within two periods", async () => {
    await add("eu-1");
    await syncedAgo("eu-1", 10);
    world.set(NOON);
    const { code, out, err } = await status();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        "Status:        healthy",
        "At:            2026-03-01T12:00:00Z",
        "Fleet:         not frozen",
        "Clusters:      1 (1 ok)",
        "Syncs:         4 due in the last minute, 4 done, 0 late",
        "Decided:       100 % of due syncs in 24 h, 100 % in 1 h, 100 % in 15 min",
        "Dead letters:  0 of syncs, 0 of plans",
        "Paused:        nothing",
        "",
      ].join("\n"),
    );
  });

  it("tells each problem with the next step, and exits with 1; the page of the command shows it", async () => {
    for (const name of ["late", "out", "well"]) await add(name);
    await syncedAgo("out", 5, [
      await failing(
        "out",
        "FailedGetScale",
        `Cannot GET deployments.apps of cluster "out": nothing listens at the server's address (ECONNREFUSED)`,
      ),
    ]);
    await syncedAgo("late", 46);
    await syncedAgo("well", 5);
    world.set(NOON - 120_000);
    await serviceOf().pauseCluster("well", NOON + 3_600_000);
    await serviceOf().pause({ name: "out/shop/web" });
    await serviceOf().freeze("API servers are being upgraded");
    world.set(NOON);
    deadLetters = { syncs: 2, plans: 0 };
    const { code, out } = await status();
    expect(code).toBe(1);
    expect(out).toContain("Clusters:      3 (1 late, 1 unreachable, 1 frozen)");
    expect(shown(PAGE)).toBe(out);
  });

  it("names a namespace that has used its share, or its bytes for objects, and where it is written what to do", async () => {
    await add("eu-1");
    const overShare = { since: new Map([["kkkk", NOON - 60_000]]), first: "attack" };
    await storeSync(world.context, clusterName("eu-1"), NOON - 10_000, [], { of: { overShare } });
    world.set(NOON);
    const { code, out } = await status();
    expect(code).toBe(1);
    expect(out).toContain(
      'Namespace "attack" of cluster "eu-1" has used its share, or its bytes for objects',
    );
    expect(out).toContain("docs/operations.md, a tenant over its share");
  });

  it("is unhealthy after two periods without a sync, not before", async () => {
    await add("eu-1");
    await syncedAgo("eu-1", 30);
    world.set(NOON);
    expect((await serviceOf().status()).problems).toEqual([]);
    world.set(NOON + 1);
    expect((await serviceOf().status()).problems).toEqual([
      {
        kind: "late",
        message: 'Partition "eu-1/default" was synced 30 s ago: its period is 15 s',
        next: "docs/operations.md, alarms SyncsStopped and SyncsLate",
        cluster: "eu-1",
      },
    ]);
  });

  it("gives a cluster that was just added time for its first sync", async () => {
    world.set(NOON - 60_000);
    await add("new");
    world.set(NOON);
    expect((await serviceOf().status()).healthy).toBe(true);
    world.set(NOON + 600_000);
    expect((await serviceOf().status()).problems).toMatchObject([
      { kind: "never synced", message: 'Partition "new/default" was never synced' },
    ]);
  });

  it("counts a due time as done when it or a later one is done, and as late a period after it", async () => {
    await add("eu-1");
    await syncedAgo("eu-1", 40);
    world.set(NOON);
    const { planned, done, late } = (await serviceOf().status()).syncs;
    expect([planned, done, late]).toEqual([4, 1 + Number(done === 2), 4 - done - 1]);
  });

  it("tells what cannot be read: an autoscaler's windows, and the record of a cluster, which hides no other", async () => {
    for (const name of ["bad", "eu-1"]) await add(name);
    await syncedAgo("eu-1", 5, [
      await failing(
        "eu-1",
        "UnreadableWindows",
        "the windows page cannot be read: version 9 is not known",
      ),
    ]);
    const { stateTable, client } = world.tables;
    const broken = {
      TableName: stateTable,
      Key: itemKey(clusterKey(clusterName("bad"))),
      UpdateExpression: "SET syncPeriodMs = :no",
    };
    await client.send(
      new UpdateItemCommand({ ...broken, ExpressionAttributeValues: { ":no": { S: "soon" } } }),
    );
    world.set(NOON);
    const view = await serviceOf().status();
    expect(view).toMatchObject({
      healthy: false,
      clusters: 2,
      states: { "partly failing": 1, unreadable: 1 },
    });
    expect(view.problems).toEqual([
      {
        kind: "unreadable",
        message: expect.stringMatching(
          /^Cluster "bad" is not synced, because its record cannot be read: syncPeriodMs: /,
        ),
        next: expect.any(String),
      },
      {
        kind: "unreadable",
        message:
          'Autoscaler "eu-1/shop/web" holds: the windows page cannot be read: version 9 is not known',
        next: "tidemark partition describe eu-1/default",
        cluster: "eu-1",
      },
    ]);
  });

  it("is unhealthy where no autoscaler of a cluster can be evaluated", async () => {
    await add("eu-1");
    const outcome = await failing(
      "eu-1",
      "FailedGetResourceMetric",
      "no metrics returned from resource metrics API",
    );
    await syncedAgo("eu-1", 5, [{ ...outcome, evaluation: { ...outcome.evaluation, from: 3 } }]);
    world.set(NOON);
    expect(await serviceOf().status()).toMatchObject({
      healthy: false,
      problems: [{ kind: "failing", next: "tidemark cluster check eu-1" }],
    });
    expect((await status()).code).toBe(1);
  });

  it("is healthy while a single autoscaler cannot be evaluated and another can, and shows the error", async () => {
    await add("eu-1");
    const outcome = await failing(
      "eu-1",
      "FailedGetResourceMetric",
      "no metrics returned from resource metrics API",
    );
    const other = await failing(
      "eu-1",
      "ReadyForNewScale",
      "recommended size matches current size",
      "api",
    );
    const evaluations = [
      { ...outcome, evaluation: { ...outcome.evaluation, from: 3 } },
      { ...other, evaluation: { ...other.evaluation, failed: false, from: 3 } },
    ];
    await syncedAgo("eu-1", 5, evaluations);
    world.set(NOON);
    expect(await serviceOf().status()).toMatchObject({
      healthy: true,
      errors: [
        {
          cluster: "eu-1",
          state: "partly failing",
          error: 'autoscaler "shop/web": no metrics returned from resource metrics API',
        },
      ],
    });
  });

  it("reads the fleet with its clusters and all heads in a request each, and two journal pages of each partition without a summary", async () => {
    for (const name of ["a", "b", "c"]) {
      await add(name);
      await syncedAgo(name, 5);
    }
    world.set(NOON);
    let reads = 0;
    const client = around(world.tables.client, async (_command, send) => {
      reads++;
      return send();
    });
    await openService({ ...world.context, tables: { ...world.tables, client } }).status();
    expect(reads).toBe(2 + 3 * 2);
  });

  it("counts messages of the run's dead-letter queue in a data folder", async () => {
    const folder = await shopFolder();
    try {
      expect(
        JSON.parse((await inside(["status", "-o", "json", "--data", folder.data])).out).deadLetters,
      ).toEqual({ syncs: 0 });
      const journal = openQueueJournal(folderLayout(folder.data).queue);
      journal.put("sync-dead", {
        id: "1",
        sequence: 1,
        body: "{}",
        sentMs: 0,
        visibleAtMs: 0,
        receiveCount: 5,
      });
      journal.close();
      expect(deadLettersIn(folderLayout(folder.data).queue)).toBe(1);
    } finally {
      folder.remove();
    }
  });

  it("says that dead letters are not known, which is no problem", async () => {
    deadLetters = undefined;
    world.set(NOON);
    expect((await status()).out).toContain("\nDead letters:  not known\n");
    expect((await status()).code).toBe(0);
  });

  it("is a document with the same exit code", async () => {
    deadLetters = { syncs: 1 };
    world.set(NOON);
    const { code, out } = await status("-o", "json");
    const view: StatusView = JSON.parse(out);
    expect([code, view.healthy, view.deadLetters]).toEqual([1, false, { syncs: 1 }]);
    expect(view.problems).toMatchObject([
      { kind: "dead letters", next: "docs/operations.md, alarm SyncDeadLettersFilled" },
    ]);
    expect((await status("-o", "yaml")).out).toContain("healthy: false\n");
  });

  it("is printed again with --watch on a cleared screen until Ctrl-C, and exits as the last one", async () => {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const printed = text(stdout);
    const stop = new AbortController();
    let asked = 0;
    const service = {
      ...serviceOf(),
      status: async () => {
        if (++asked === 1) setTimeout(() => stop.abort(), 10);
        return serviceOf().status();
      },
    };
    world.set(NOON);
    const io = {
      stdin: process.stdin,
      stdout,
      stderr,
      colours: false,
      by: "ada",
      open: async () => ({ ...(await session()), service }),
    };
    const code = await main(["status", "-w"], {
      ...io,
      screen: true,
      interruptible: (work) => work(stop.signal),
    });
    stdout.end();
    expect([code, asked]).toEqual([0, 1]);
    expect((await printed).startsWith("\u001B[H\u001B[JIn folder here:\nStatus:")).toBe(true);
  });
});
