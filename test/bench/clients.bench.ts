import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Table from "cli-table3";
import { clusterClients, clientFor } from "../../lib/stack/cluster/connect.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { accessTo } from "../cluster/stand-in/connected.ts";
import { WHOLE, watch } from "../cluster/stand-in/watched.ts";
import { nameOf } from "../sync/stand-in-fleet.ts";

const SIZES = (process.env["CLIENTS_SIZES"] ?? "50,100,500").split(",").map(Number);
const ROUNDS = 3;
/** The limit that the clients had before it followed the memory. */
const FEW = 64;
const MEBIBYTE = 2 ** 20;
const WATCHED = [watch("shop", "web")];

interface Figures {
  readonly opened: number;
  readonly cpuMs: number;
  readonly clientKib: number;
}

interface Address {
  readonly url: string;
  readonly ca: string;
}

const settledMemory = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss;
};

/**
 * Observes each cluster in turn, some rounds, as one environment does that gets the messages of
 * all. The first round opens every client and does not count.
 */
const play = async (servers: readonly Address[], most: number): Promise<Figures> => {
  let opened = 0;
  const clients = clusterClients(
    { clock: Date.now },
    async ({ name }, options): Promise<ClusterClient> => {
      opened++;
      const server = servers[Number(name.slice(2))];
      if (!server) throw new RangeError(`no server for "${name}"`);
      return clientFor({ name, kubeSystemUid: undefined }, accessTo(server), options);
    },
    most,
  );
  const round = async (): Promise<void> => {
    for (const at of servers.keys()) {
      const client = await clients.clientFor({
        name: nameOf(at),
        uid: "uid-of-cluster",
        version: 1,
      });
      await client.observe(WATCHED, WHOLE);
    }
  };
  const beforeBytes = settledMemory();
  await round();
  const clientKib = (settledMemory() - beforeBytes) / 1_024 / Math.min(most, servers.length);
  opened = 0;
  const started = process.cpuUsage();
  for (let rounds = 0; rounds < ROUNDS; rounds++) await round();
  const { user, system } = process.cpuUsage(started);
  await clients.closeAll();
  return {
    opened: opened / ROUNDS,
    cpuMs: (user + system) / 1_000 / ROUNDS / servers.length,
    clientKib,
  };
};

/**
 * What an environment takes that serves many clusters in turn, with room for all clients and with
 * room for 64. Each opening reads a secret, or describes the cluster.
 */
export const run = async (): Promise<void> => {
  const head = [
    "clusters",
    "room",
    "opened a round",
    "CPU of an observation in ms",
    "ratio",
    "KiB of a client",
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: head.map(() => "right"),
  });
  for (const clusters of SIZES) {
    const child = fork(join(import.meta.dirname, "stand-ins.ts"), [String(clusters), "0"]);
    const [servers] = (await once(child, "message")) as [readonly Address[]];
    const all = await play(servers, clusters);
    for (const most of [clusters, FEW]) {
      const figures = most === clusters ? all : await play(servers, most);
      table.push([
        clusters,
        most,
        figures.opened,
        figures.cpuMs.toFixed(2),
        (figures.cpuMs / all.cpuMs).toFixed(2),
        figures.clientKib.toFixed(0),
      ]);
    }
    child.disconnect();
  }
  process.stdout.write(
    `${table.toString()}\nRSS ${(process.memoryUsage().rss / MEBIBYTE).toFixed(0)} MiB at the end; means of ${ROUNDS} rounds; the API servers are stand-ins with TLS in another process\n`,
  );
};
