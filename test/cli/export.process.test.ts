import { Writable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { viewHandler } from "../../functions/view.ts";
import { main } from "../../lib/command/main.ts";
import { autoscalerUid, clusterName } from "../../lib/rules/model/ids.ts";
import { requestSender } from "../../lib/answers/remote/send-request.ts";
import { remoteService } from "../../lib/answers/remote/service.ts";
import { stackUrl } from "../../lib/answers/remote/find-stack.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { EVENT_DAYS_KEPT, eventBody, ttlOf } from "../../lib/stack/store/history/events.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { dayEventKey, itemKey } from "../../lib/stack/store/table/keys.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import { type Engine, startDynalite } from "../contracts/engines.ts";
import { NOON } from "../noon.ts";
import { startFunctionUrl } from "../remote/stand-in/function-url.ts";
import { callerOf, IDENTITIES } from "../remote/world.ts";
import { event } from "../store/records.ts";
import { testTables } from "../sync/world.ts";
import type { ScaleEventRecord } from "../../lib/rules/model/scale-records.ts";
import { DAY_MS } from "../../lib/rules/model/time-text.ts";

const EVENTS = 20_000;
const CLUSTERS = ["eu-1", "us-1"].map(clusterName);
const DAYS = 20;
/** Items of one BatchWriteItem, the service's limit. */
const BATCH = 25;
/**
 * All events at once would be several times as much; the batches and pages that are held at a time
 * measure under 2 MB.
 */
const HEAP_GROWTH_MAX = 8 * 1_024 * 1_024;

const eventAt = (at: number): ScaleEventRecord => {
  const atMs = NOON - DAYS * DAY_MS + Math.floor(((at + 0.5) * DAYS * DAY_MS) / EVENTS);
  const cluster = CLUSTERS[at % CLUSTERS.length] ?? CLUSTERS[0] ?? clusterName("");
  const uid = autoscalerUid(`0b0cf6ee-57de-4a07-8d6e-${String(at % 100).padStart(12, "0")}`);
  return event({
    id: `${uid}:${at}`,
    uid,
    cluster,
    atMs,
    settledMs: atMs + 40,
    message: `cpu resource utilization above target, for the ${at}th time`,
  });
};

/** Stores the events where the export reads them: the cluster's days. */
const fill = async ({ client, historyTable }: Tables): Promise<void> => {
  for (let from = 0; from < EVENTS; from += BATCH) {
    const puts = Array.from({ length: BATCH }, (_, at) => {
      const one = eventAt(from + at);
      const key = dayEventKey(one.cluster, one);
      return {
        PutRequest: {
          Item: {
            ...itemKey(key),
            ttl: { N: String(ttlOf(one.atMs, EVENT_DAYS_KEPT)) },
            body: { B: eventBody(key, one) },
          },
        },
      };
    });
    const { UnprocessedItems = {} } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [historyTable]: puts } }),
    );
    expect(UnprocessedItems).toEqual({});
  }
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const heapNow = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

/**
 * Runs `tidemark events --all` and reads what it prints as a pipe does; heap is looked at every so
 * many writes.
 */
const exported = async (service: Service, output: "jsonl" | "csv", since = "30d") => {
  let [printed, writes, lines, most] = ["", 0, 0, 0];
  const before = heapNow();
  const stdout = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const text = chunk.toString();
      lines += text.split("\n").length - 1;
      if (++writes % 20 === 0) most = Math.max(most, heapNow() - before);
      // The first and the last rows are looked at; keeping all would be the test's own memory.
      if (text !== "") printed = writes === 1 ? text : `${printed.slice(0, 2_000)}${text}`;
      setImmediate(done);
    },
  });
  const stderr = new Writable({
    write: (chunk, _encoding, done) => done(new Error(String(chunk))),
  });
  const open = async () => ({
    place: "folder here",
    service,
    nowMs: NOON,
    clock: () => NOON,
    close: async () => undefined,
  });
  const code = await main(["events", "--all", "--since", since, "-o", output], {
    stdin: process.stdin,
    stdout,
    stderr,
    colours: false,
    by: "ada",
    open,
  });
  return { code, lines, writes, printed, most };
};

const warnings: string[] = [];
process.on("warning", ({ name, message }) => void warnings.push(`${name}: ${message}`));

const embedded = (): Service =>
  openService({
    tables,
    insert: insertByStatement(tables),
    clock: () => NOON,
    by: "ada",
    newUid: () => "uid",
  });

let engine: Engine;
let tables: Tables;
beforeAll(async () => {
  engine = await startDynalite();
  tables = testTables(engine.client, engine.tables, () => NOON);
  // Clusters have no events from before they were added.
  const context = {
    tables,
    insert: insertByStatement(tables),
    clock: () => NOON - 2 * DAYS * DAY_MS,
    by: "ada",
    newUid: () => "uid",
  };
  for (const name of CLUSTERS)
    await openService(context).addCluster({
      name,
      connection: { kind: "kubeconfig", path: "none" },
    });
  await fill(tables);
});
afterAll(() => engine.close());

describe("tidemark events --all --since 30d", () => {
  it("prints 20,000 events of two clusters as JSON Lines in order of time, in constant memory", async () => {
    const { code, lines, writes, printed, most } = await exported(embedded(), "jsonl");
    expect([code, lines]).toEqual([0, EVENTS]);
    expect(writes).toBeGreaterThanOrEqual(EVENTS / 200);
    const rows = printed.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    expect(JSON.parse(rows[0] ?? "")).toMatchObject({ cluster: "eu-1", id: eventAt(0).id });
    expect(JSON.parse(rows.at(-1) ?? "")).toMatchObject({
      cluster: "us-1",
      id: eventAt(EVENTS - 1).id,
    });
    expect(most).toBeLessThan(HEAP_GROWTH_MAX);
    expect(warnings).toEqual([]);
  });

  it("prints them as CSV, a header and a row each, in constant memory", async () => {
    const { code, lines, printed, most } = await exported(embedded(), "csv");
    expect([code, lines]).toEqual([0, EVENTS + 1]);
    const [row] = parse(printed.split("\n").slice(0, 2).join("\n"), {
      columns: true,
    }) as readonly Record<string, string>[];
    expect(row).toMatchObject({ cluster: "eu-1", from: "2", to: "5", outcome: "applied" });
    expect(most).toBeLessThan(HEAP_GROWTH_MAX);
  });

  it("prints 10,000 of them from a deployed stack, page by page, in constant memory", async () => {
    const url = await startFunctionUrl(
      viewHandler({ tables, clock: () => NOON, reporter: { line: () => {} } }),
      IDENTITIES,
      () => NOON,
    );
    const wire = {
      stack: stackUrl(url.url, "--stack"),
      caller: callerOf("ADA"),
      clock: () => NOON,
      wait: async () => {},
      random: Math.random,
    };
    const { code, lines, printed, most } = await exported(
      remoteService(requestSender(wire), () => "none"),
      "jsonl",
      `${DAYS / 2}d`,
    );
    await url.close();
    expect([code, lines]).toEqual([0, EVENTS / 2]);
    const rows = printed.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
    expect(JSON.parse(rows[0] ?? "")).toMatchObject({
      cluster: "eu-1",
      id: eventAt(EVENTS / 2).id,
    });
    // A page of four megabytes on either side, and what it was made of.
    expect(url.events.length).toBeGreaterThan(2);
    expect(most).toBeLessThan(HEAP_GROWTH_MAX);
  });
});
