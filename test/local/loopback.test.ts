import { mkdtempSync, rmSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startQueues } from "../../lib/local/run/run-queues.ts";
import { startSeriesServer } from "../../lib/local/run/series-server.ts";
import { startTables } from "../../lib/local/tables/embedded-tables.ts";
import { runCluster } from "./cluster/running-cluster.ts";

/** Status and text of a request that comes with this Host header; a certificate is not looked at. */
const asked = async (url: string, host: string | undefined): Promise<readonly [number, string]> => {
  const request = url.startsWith("https:") ? secureRequest : plainRequest;
  const options = { rejectUnauthorized: false, setHost: false, ...(host !== undefined && { headers: { host } }) };
  const response = await new Promise<Parameters<NonNullable<Parameters<typeof plainRequest>[2]>>[0]>((resolve, reject) => {
    request(url, options, resolve).on("error", reject).end();
  });
  return [response.statusCode ?? 0, await text(response)];
};

const REFUSED = [421, "Cannot answer: the Host header does not name this machine\n"];

let dir: string;
const closing: (() => Promise<unknown>)[] = [];
const urls: Record<string, string> = {};
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-loopback-"));
  const tables = await startTables(join(dir, "tables"));
  const queues = await startQueues(join(dir, "queue.jsonl"), Date.now);
  const series = await startSeriesServer(async () => "# EOF\n", 0);
  const cluster = await runCluster();
  closing.push(tables.close, queues.close, series.close, cluster.remove);
  Object.assign(urls, { tables: tables.endpoint, queue: queues.endpoint, series: series.url, cluster: `${cluster.url}/readyz` });
});
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(dir, { recursive: true, force: true });
});

describe("a server on loopback", () => {
  it.each(["tables", "queue", "series", "cluster"])(
    "of the %s answers requests that name this machine, with any port, and refuses every other name",
    async (name) => {
      const url = urls[name] ?? "";
      const { host, port } = new URL(url);
      for (const own of [host, `localhost:${port}`, "localhost", "127.0.0.1:9999", `[::1]:${port}`])
        expect((await asked(url, own))[0], own).not.toBe(421);
      for (const foreign of [`evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "a b", "", "@127.0.0.1/"]) {
        const [status, words] = await asked(url, foreign);
        // What no URL can hold never reaches the guard, or is refused by it.
        if (status !== 400) expect([status, words], foreign).toEqual(REFUSED);
      }
      expect((await asked(url, undefined))[0]).toBe(400);
    },
  );
});
