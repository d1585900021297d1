import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { clientFor } from "../../../lib/cluster/connect.ts";
import type { ClusterClient } from "../../../lib/cluster/port.ts";
import { clusterName } from "../../../lib/model/ids.ts";
import type { Effect, SimulatedCluster } from "../cluster.ts";
import { BROKEN, denialOf } from "../cluster-client.ts";
import type { Fate } from "../fates.ts";
import type { Invocation } from "../invocation.ts";
import type { Network, Process } from "../process.ts";
import { type ApiRequest, apiAnswer, apiRequest, statusAnswer } from "./api-server.ts";
import { type Break, breakOf, breakOff, LOST_MS, textOf, type WireAnswer } from "./broken-answers.ts";
import { connectionTo, type Reached, serverOf } from "./connections.ts";

/** The sync that makes a request, and what is done with the counts that it moves. */
interface Caller {
  readonly by: Invocation;
  readonly effect: (effect: Effect) => void;
}

/** One client of one API server in one process, with the connections that it keeps between syncs. */
interface Kept {
  readonly client: ClusterClient;
  readonly callers: Map<string, Caller>;
}

interface World {
  readonly network: Network;
  readonly nowMs: () => number;
}

const calling = new AsyncLocalStorage<Caller>();
const keptBy = new WeakMap<Process, Map<SimulatedCluster, Kept>>();

/** Reads and writes of scales by the real client of a cluster, over connections in memory: its transport, its discovery, its limits and HTTP are those of a function. */
export const scalesOverSockets = (world: World, site: SimulatedCluster, caller: Caller): Pick<ClusterClient, "putScale" | "readScale"> => {
  const { by } = caller;
  const sites = keptBy.get(by.process) ?? new Map<SimulatedCluster, Kept>();
  keptBy.set(by.process, sites);
  const kept = sites.get(site) ?? newKept(world, by.process, site);
  sites.set(site, kept);
  kept.callers.set(by.name, caller);
  return {
    putScale: (write, timeoutMs) => calling.run(caller, () => kept.client.putScale(write, timeoutMs)),
    readScale: (namespace, target, timeoutMs) => calling.run(caller, () => kept.client.readScale(namespace, target, timeoutMs)),
  };
};

const newKept = (world: World, process: Process, site: SimulatedCluster): Kept => {
  const { network, nowMs } = world;
  const callers = new Map<string, Caller>();
  const served: Served = { network, process, site, callers };
  const server: Server = serverOf((request, response) => void serve(served, request, response));
  const access = {
    server: new URL(`http://${site.name}.simulated`),
    rejectUnauthorized: true,
    ownAddresses: true,
    // The token of a request is the name of the sync that makes it.
    credentials: async () => ({ headers: { authorization: `Bearer ${calling.getStore()?.by.name}` } }),
    forget: () => undefined,
  };
  const client = clientFor({ name: clusterName(site.name) }, access, {
    clock: () => Math.floor(nowMs()) + process.skewMs,
    elapsed: nowMs,
    surroundings: {
      after: (ms, happen) => {
        let isCancelled = false;
        void network.wait(process, ms).then(() => {
          if (!isCancelled) happen();
        });
        return () => {
          isCancelled = true;
        };
      },
      connection: () => connectionTo(server, () => reach(network, process, site, calling.getStore()?.by)),
    },
  });
  return { client, callers };
};

/** What a caller waits for a connection at the most: nothing answers for longer than any limit of a call. */
const NEVER_CONNECTED_MS = 60_000;

const reach = (network: Network, process: Process, site: SimulatedCluster, by: Invocation | undefined): Promise<Reached> =>
  network.call<Reached>(process, {
    kind: "connect",
    name: "connect",
    by,
    what: `connect to ${site.name}`,
    timeoutMs: NEVER_CONNECTED_MS,
    lateMs: 0,
    execute: () => "connected",
    unclear: ({ fault }) => (fault === "failed before" ? "refused" : "silence"),
  });

interface Served {
  readonly network: Network;
  readonly process: Process;
  readonly site: SimulatedCluster;
  readonly callers: ReadonlyMap<string, Caller>;
}

const NOTHING: WireAnswer = { status: 500, body: "" };

const serve = async (served: Served, incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { network, process, site, callers } = served;
  const body = await textOf(incoming);
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://simulated");
  const request = apiRequest(incoming.method ?? "", pathname, body);
  const caller = callers.get((incoming.headers.authorization ?? "").replace("Bearer ", ""));
  if (!caller) throw new TypeError("a request of no sync");
  // What was executed, whether or not its answer arrives.
  let made = NOTHING;
  const answer = await network.call<WireAnswer | Break>(process, {
    ...wordsFor(request),
    by: caller.by,
    timeoutMs: LOST_MS,
    // The server executes a request until the timeout that the client gave to it, and not after.
    lateMs: Number.parseInt(searchParams.get("timeout") ?? "0", 10),
    execute: () => {
      made = apiAnswer(request, { read: site.read, put: (write) => site.put(write, caller.effect) });
      return made;
    },
    unclear: (fate) => failedBy(fate) ?? breakOf(fate, made),
  });
  if (typeof answer === "string") breakOff(response, made, answer, JSON_TYPE);
  else response.writeHead(answer.status, { "content-type": JSON_TYPE }).end(answer.body);
};

const JSON_TYPE = "application/json";

const failedBy = ({ fault, lateness }: Fate): WireAnswer | undefined => {
  if (fault === "denied" || fault === "copied") return statusAnswer(denialOf(lateness));
  return fault === "failed before" || fault === "failed after" ? statusAnswer(BROKEN) : undefined;
};

const wordsFor = (request: ApiRequest): { readonly kind: "put" | "read"; readonly name: string; readonly what: string } => {
  switch (request.kind) {
    case "put":
      return { kind: "put", name: "put", what: `PUT ${request.write.target.name} to ${request.write.replicas}` };
    case "read":
      return { kind: "read", name: "read scale", what: `GET ${request.target.name}` };
    case "group":
    case "resources":
      return { kind: "read", name: "discover", what: "GET the kinds of a group" };
  }
};
