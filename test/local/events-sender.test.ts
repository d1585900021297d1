import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readEventFilter } from "../../lib/answers/cloud-events/event-filter.ts";
import { cloudEvent, type CloudEvent } from "../../lib/answers/cloud-events/kinds.ts";
import type { ServiceContext } from "../../lib/answers/service/context.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { eventsSender } from "../../lib/embedded/run/events-sender.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  WHOLE_CLUSTER,
} from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import { insertEvents } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { insertScopeChange } from "../../lib/stack/store/history/scope-changes.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { type Engine, startMemory } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { event } from "../store/records.ts";
import { testTables } from "../sync/world.ts";

let engine: Engine;
let context: ServiceContext;
let folder: string;
let server: Server;
let url: string;
/** The status of each next answer; 204 where none is left. */
let statuses: number[];
let taken: CloudEvent[];
let asked: number;
let said: string[];
let logged: LogLine[];
let nowMs: number;

beforeEach(async () => {
  [statuses, taken, asked, said, logged, nowMs] = [[], [], 0, [], [], NOON];
  engine = await startMemory();
  const tables = testTables(engine.client, engine.tables, () => nowMs);
  context = {
    tables,
    insert: insertByStatement(tables),
    clock: () => nowMs,
    by: "ada",
    newUid: () => "uid",
  };
  await putCluster(
    tables,
    {
      name: clusterName("eu-1"),
      uid: "uid-of-cluster",
      syncPeriodMs: 15_000,
      partitions: [{ name: WHOLE_CLUSTER }],
      settings: DEFAULT_SETTINGS,
      version: 1,
    },
    undefined,
  );
  folder = mkdtempSync(join(tmpdir(), "events-"));
  server = createServer((request, response) => {
    void text(request).then((body) => {
      asked++;
      const status = statuses.shift() ?? 204;
      if (status === 204 && request.headers["content-type"] === CLOUD_EVENTS)
        taken.push(cloudEvent.parse(JSON.parse(body)) as CloudEvent);
      response.writeHead(status, status === 302 ? { location: "http://127.0.0.1:1/" } : {}).end();
    });
  });
  url = `${await listenOnLoopback(server)}/hooks?token=s3cret`;
});
afterEach(async () => {
  await closeServer(server);
  await engine.close();
  rmSync(folder, { recursive: true });
});
const CLOUD_EVENTS = "application/cloudevents+json; charset=utf-8";

const newSender = (...filters: readonly string[]) => {
  let writes = 0;
  const sender = eventsSender({
    url,
    filters: filters.map(readEventFilter),
    path: join(folder, "events.json"),
    service: openService(context),
    tables: context.tables,
    insert: context.insert,
    clock: () => nowMs,
    writes: () => ++writes,
    log: (line) => void logged.push(line),
  });
  return { start: () => sender.start((line) => void said.push(line)) };
};
const start = () => newSender().start();

const scale = (name: string, epoch: number) =>
  event({
    name: autoscalerName(name),
    uid: autoscalerUid(`uid-${name}`),
    id: `uid-${name}:${epoch}`,
    atMs: NOON + epoch,
    settledMs: NOON + epoch,
  });
const store = async (...epochs: readonly number[]): Promise<void> => {
  nowMs = Math.max(nowMs, NOON + Math.max(...epochs));
  await insertEvents(
    context.insert,
    epochs.map((epoch) => scale("web", epoch)),
  );
};
/** A start that sends what there is, and ends. */
const sendAll = async (): Promise<void> => start().stop();
const ids = (): readonly string[] => taken.map(({ id }) => id);

describe("the events of a run", () => {
  it("are posted in the structured mode of CloudEvents, scales and edits, those of one subject in order", async () => {
    const sender = newSender();
    await store(1, 2);
    await insertScopeChange(context.insert, {
      ...{ id: "0a1b", scope: "cluster", name: "eu-1", version: 2, atMs: NOON + 3 },
      ...{ by: "ada", verb: "pause" },
    });
    nowMs = NOON + 10;
    await sender.start().stop();
    expect(ids().filter((id) => id.startsWith("uid"))).toEqual(["uid-web:1", "uid-web:2"]);
    expect(taken.find(({ id }) => id === "change:0a1b")).toMatchObject({
      data: { text: expect.stringMatching(/^cluster eu-1: pause by ada\./) },
    });
  });

  it("begin with those of the first start, and go on after the mark of the last one", async () => {
    await store(1);
    nowMs = NOON + 1_000;
    await sendAll();
    expect(ids()).toEqual([]);
    await store(2_000);
    await sendAll();
    await store(3_000);
    await sendAll();
    expect(ids()).toEqual(["uid-web:2000", "uid-web:3000"]);
  });

  it("are only those that a filter wants, and no later start reads the others from the beginning", async () => {
    const filters = ["kind=change,cluster=eu-1", "kind=scale,name=web,step>=2"];
    await newSender(...filters)
      .start()
      .stop();
    await store(1, 2);
    await insertEvents(context.insert, [scale("api", 3)]);
    await insertScopeChange(context.insert, {
      ...{ id: "0a1b", scope: "cluster", name: "eu-1", version: 2, atMs: NOON + 4 },
      ...{ by: "ada", verb: "pause" },
    });
    nowMs = NOON + 10;
    await newSender(...filters)
      .start()
      .stop();
    expect(ids().toSorted()).toEqual(["change:0a1b", "uid-web:1", "uid-web:2"]);
    nowMs = NOON + 3_600_000;
    await newSender("kind=atMax").start().stop();
    const { sinceMs } = JSON.parse(readFileSync(join(folder, "events.json"), "utf8"));
    expect(sinceMs).toBe(NOON + 3_600_000 - 600_000);
  });

  it("come again after a start that died before the mark, with the same ids", async () => {
    await sendAll();
    const before = readFileSync(join(folder, "events.json"), "utf8");
    await store(1);
    await sendAll();
    writeFileSync(join(folder, "events.json"), before);
    await sendAll();
    expect(ids()).toEqual(["uid-web:1", "uid-web:1"]);
  });

  it("are sent again while the endpoint takes none, which the run says once, without the query of the URL", async () => {
    const sending = start();
    statuses = Array.from({ length: 6 }, () => 503);
    await store(1, 2);
    await expect.poll(() => said, { timeout: 10_000 }).toHaveLength(2);
    await sending.stop();
    expect(said[0]).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ takes no events: it answered 503; they are sent again until it does$/,
    );
    expect(said[1]).toMatch(/takes events again$/);
    expect(ids()).toEqual(["uid-web:1", "uid-web:2"]);
    expect(JSON.stringify([said, logged])).not.toContain("s3cret");
  });

  it("that are late by their time are found by the look back", async () => {
    const sending = start();
    await store(100_000);
    await expect.poll(ids, { timeout: 10_000 }).toEqual(["uid-web:100000"]);
    await store(50);
    await sending.stop();
    expect(ids()).toEqual(["uid-web:100000", "uid-web:50"]);
  });

  it("follows no redirect, and refuses the event for good", async () => {
    const sending = start();
    statuses = [302];
    await store(1, 2);
    await sending.stop();
    expect(asked).toBe(2);
    expect(ids()).toEqual(["uid-web:2"]);
    expect(logged).toEqual([
      expect.objectContaining({
        fields: expect.objectContaining({ id: "uid-web:1", why: "it answered 302" }),
      }),
    ]);
  });

  it("wait for an endpoint that is not there, and stop with the run", async () => {
    await closeServer(server);
    const sending = start();
    await store(1);
    await wait(50);
    await sending.stop();
    expect(said).toHaveLength(1);
    server = createServer();
    await listenOnLoopback(server);
  });
});
