import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdFolder } from "../../lib/embedded/folder/folder-lock.ts";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { startQueues } from "../../lib/embedded/queue/sqs-server.ts";
import { startSeriesServer } from "../../lib/embedded/run/series-server.ts";
import { startQueueServer } from "../../lib/embedded/run/queue-server.ts";
import { startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { runCluster } from "./cluster/running-cluster.ts";

/**
 * Status and text of a request that comes with this Host header; a certificate is not looked at.
 */
const asked = async (url: string, host: string | undefined): Promise<readonly [number, string]> => {
  const request = url.startsWith("https:") ? secureRequest : plainRequest;
  const options = {
    rejectUnauthorized: false,
    setHost: false,
    ...(host !== undefined && { headers: { host } }),
  };
  const response = await new Promise<
    Parameters<NonNullable<Parameters<typeof plainRequest>[2]>>[0]
  >((resolve, reject) => {
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
  const sources = await startQueueServer(async () => undefined);
  const cluster = await runCluster();
  closing.push(tables.close, queues.close, series.close, sources.close, cluster.remove);
  Object.assign(urls, {
    tables: tables.endpoint,
    queue: queues.endpoint,
    series: series.url,
    sources: sources.url,
    cluster: `${cluster.url}/readyz`,
  });
});
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(dir, { recursive: true, force: true });
});

describe("a server on loopback", () => {
  it.each(["tables", "queue", "series", "sources", "cluster"])(
    "of the %s answers requests that name this machine, with any port, and refuses every other name",
    async (name) => {
      const url = urls[name] ?? "";
      const { host, port } = new URL(url);
      for (const own of [host, `localhost:${port}`, "localhost", "127.0.0.1:9999", `[::1]:${port}`])
        expect((await asked(url, own))[0], own).not.toBe(421);
      for (const foreign of [
        `evil.example:${port}`,
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "a b",
        "",
        "@127.0.0.1/",
      ]) {
        const [status, words] = await asked(url, foreign);
        // What no URL can hold never reaches the guard, or is refused by it.
        if (status !== 400) expect([status, words], foreign).toEqual(REFUSED);
      }
      expect((await asked(url, undefined))[0]).toBe(400);
    },
  );
});

/** The API server of the simulated cluster asks for the tokens of its kubeconfig. */
const WITH_TOKENS = "cluster/simulated-cluster.ts";

describe("a server of the embedded run", () => {
  it("listens for its own user, or asks for a token: there is no other", async () => {
    const embedded = join(import.meta.dirname, "../../lib/embedded");
    const files = readdirSync(embedded, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.listen\(|listenOnLoopback/.test(
        file.endsWith(".ts") ? readFileSync(join(embedded, file), "utf8") : "",
      ),
    );
    expect(files.toSorted()).toEqual([WITH_TOKENS, "host/loopback.ts"]);
    expect(
      await asked((urls["cluster"] ?? "").replace("readyz", "api/v1/pods"), "localhost"),
    ).toEqual([401, expect.anything()]);
  });
});

const SECRET = /^\/[\w-]{43}(?=\/|$)/;
const NOBODY = 65_534;

/** What a program of another user is answered that puts an item, by status. */
const PUT_BY_ANOTHER = `
const { request } = require("node:http");
const { readdirSync } = require("node:fs");
let folder = "read";
try { readdirSync(process.argv[2]); } catch (error) { folder = error.code; }
const headers = { "x-amz-target": "DynamoDB_20120810.PutItem", "content-type": "application/x-amz-json-1.0" };
const sent = request(process.argv[1], { method: "POST", headers }, ({ statusCode }) => console.log(JSON.stringify([process.getuid(), folder, statusCode])));
sent.end("{}");`;

describe("the tables, the queue, the series and the recorded sources of a run", () => {
  it.each(["tables", "queue", "series", "sources"])(
    "answer no request without the secret of the run: the %s",
    async (name) => {
      const url = new URL(urls[name] ?? "");
      expect(url.pathname).toMatch(SECRET);
      expect((await asked(url.href, url.host))[0]).not.toBe(403);
      const [whole = "", rest = ""] = [url.pathname.slice(0, 44), url.pathname.slice(44)];
      const other = `${whole.slice(0, -1)}${whole.endsWith("A") ? "B" : "A"}`;
      for (const path of [
        "/",
        "",
        "/x",
        `${other}${rest}`,
        `${whole.slice(0, -1)}${rest}`,
        rest,
        `/x${url.pathname}`,
        `//${url.pathname}`,
        encodeURI(`/%2e${url.pathname}`),
      ])
        expect(await asked(`${url.origin}${path}`, url.host), path).toEqual([
          403,
          "Cannot answer: the address lacks the secret of this run\n",
        ]);
    },
  );

  it("are no use to another user of the machine, who can neither read the address nor write an item without it", async (test) => {
    if (process.getuid?.() !== 0)
      test.skip("needs root: only root can start a process of another user");
    // A data folder in a place that others may enter: the folder `locks` alone keeps them out.
    chmodSync(dir, 0o755);
    const held = await holdFolder({ ...folderLayout(dir), locks: join(dir, "locks") }, "run", 0);
    held.publish({ tablesEndpoint: urls["tables"] ?? "" });
    const { origin } = new URL(urls["tables"] ?? "");
    const child = spawn(process.execPath, ["-e", PUT_BY_ANOTHER, origin, join(dir, "locks")], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: "/",
    });
    expect(JSON.parse(await text(child.stdout))).toEqual([NOBODY, "EACCES", 403]);
    held.release();
  });
});
