import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import * as https from "node:https";
import { join } from "node:path";
import Table from "cli-table3";
import type {
  ClusterClient,
  ObservedCluster,
  Watched,
} from "../../lib/stack/cluster/cluster-client.ts";
import { budgetOf, transportTo } from "../cluster/stand-in/connected.ts";
import { clientTo, WHOLE, watch } from "../cluster/stand-in/watched.ts";

interface Server {
  readonly url: string;
  readonly ca: string;
  readonly process: ChildProcess;
}

const ROUNDS = 7;
const SEQUENTIAL_CALLS = 300;

const serve = async (deployments: number): Promise<Server> => {
  const process = fork(join(import.meta.dirname, "../cluster/stand-in/serve.ts"), [
    String(deployments),
  ]);
  const [ready] = (await once(process, "message")) as [{ url: string; ca: string }];
  return { ...ready, process };
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const timed = async <Result>(work: () => Promise<Result>): Promise<readonly [number, Result]> => {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
};

interface Row {
  readonly calls: number;
  readonly kib: number;
  readonly coldMs: number;
  readonly warmMs: number;
  readonly blockedMs: number;
}

const observing = async (client: ClusterClient, watched: readonly Watched[]): Promise<Row> => {
  const [coldMs] = await timed(() => client.observe(watched, WHOLE));
  const warm: number[] = [];
  let last: ObservedCluster | undefined;
  let blockedMs = 0;
  let tick = performance.now();
  const sampler = setInterval(() => {
    blockedMs = Math.max(blockedMs, performance.now() - tick);
    tick = performance.now();
  }, 1);
  for (let round = 0; round < ROUNDS; round++) {
    const [ms, observed] = await timed(() => client.observe(watched, WHOLE));
    warm.push(ms);
    last = observed;
  }
  clearInterval(sampler);
  return {
    calls: last?.calls ?? 0,
    kib: (last?.bytes ?? 0) / 1024,
    coldMs,
    warmMs: median(warm),
    blockedMs,
  };
};

/**
 * What one sync asks of a cluster where every deployment is autoscaled on CPU, and what the pool
 * saves over a connection per request.
 */
export const run = async (): Promise<void> => {
  const table = new Table({
    head: ["autoscalers", "calls", "KiB on the wire", "first ms", "warm ms", "longest block ms"],
    style: { head: [], border: [] },
    colAligns: ["right", "right", "right", "right", "right", "right"],
  });
  for (const size of [100, 1_000, 10_000]) {
    const server = await serve(size);
    const client = clientTo(server);
    const watched = Array.from({ length: size }, (_, index) =>
      watch(`team-${Math.floor(index / 50)}`, `app-${index}`),
    );
    const row = await observing(client, watched);
    table.push([
      String(size),
      String(row.calls),
      row.kib.toFixed(0),
      row.coldMs.toFixed(0),
      row.warmMs.toFixed(0),
      row.blockedMs.toFixed(0),
    ]);
    client.close();
    server.process.disconnect();
  }
  process.stdout.write(
    `${table.toString()}\none pod of 4 KB each, no compression, server in another process, median of ${ROUNDS}\n`,
  );
  await comparePools();
};

const comparePools = async (): Promise<void> => {
  const server = await serve(1);
  const path = "/apis/apps/v1/namespaces/team-0/deployments/app-0";
  const transport = transportTo(server);
  const budget = budgetOf(120_000, { maxCalls: Number.POSITIVE_INFINITY });
  const [pooledMs] = await timed(async () => {
    for (let call = 0; call < SEQUENTIAL_CALLS; call++)
      await transport.get({ path, resource: "deployments.apps" }, budget);
  });
  transport.close();
  const [singleMs] = await timed(async () => {
    for (let call = 0; call < SEQUENTIAL_CALLS; call++)
      await single(`${server.url}${path}`, server.ca);
  });
  server.process.disconnect();
  const table = new Table({
    head: ["GETs one after the other", "per second"],
    style: { head: [], border: [] },
    colAligns: ["left", "right"],
  });
  table.push(
    ["over the pool", (SEQUENTIAL_CALLS / (pooledMs / 1000)).toFixed(0)],
    ["a connection each", (SEQUENTIAL_CALLS / (singleMs / 1000)).toFixed(0)],
  );
  process.stdout.write(
    `${table.toString()}\nratio ${(singleMs / pooledMs).toFixed(1)} on loopback; each connection is two round trips more elsewhere\n`,
  );
};

const single = (url: string, ca: string): Promise<void> =>
  new Promise((done, failed) => {
    https
      .get(url, { ca, agent: false }, (response) => {
        response.resume();
        response.on("end", done);
      })
      .on("error", failed);
  });
