import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type {
  ClusterClient,
  ObservedCluster,
  ScaleWrite,
} from "../../../lib/stack/cluster/cluster-client.ts";
import { clientFor } from "../../../lib/stack/cluster/connect.ts";
import { decodeAnswer, STATUS_KIND } from "../../../lib/stack/cluster/wire/answer.ts";
import { clusterName } from "../../../lib/rules/model/ids.ts";
import type { ApiFailure } from "../../../lib/rules/model/observation.ts";
import type { Effect, SimulatedCluster } from "../cluster.ts";
import { BROKEN, BUSY, denialOf } from "../cluster-client.ts";
import type { CallKind, Fate } from "../fates.ts";
import type { Invocation } from "../invocation.ts";
import type { Listing } from "../objects/list-objects.ts";
import type { Failing } from "../observe.ts";
import type { Network, Process } from "../process.ts";
import type { Behind } from "../swaps.ts";
import { type ApiRequest, apiRequest, type Collection } from "./api-requests.ts";
import { type ApiServer, apiServer, statusAnswer, type Troubles } from "./api-server.ts";
import {
  type Break,
  breakOf,
  breakOff,
  LOST_MS,
  textOf,
  type WireAnswer,
} from "./broken-answers.ts";
import { connectionTo, type Reached, serverOf } from "./connections.ts";

/**
 * The sync that makes a request, what is done with the counts that it moves, and what it does not
 * get.
 */
export interface Caller {
  readonly by: Invocation;
  readonly effect: (effect: Effect) => void;
  /** What fails in the next observation, and in the next LISTs of objects. */
  readonly failing: () => Failing;
  readonly listing: () => Listing;
  /** Gets a PUT that another cluster got, which rests on what that cluster has answered. */
  readonly reachedAnother?: (write: ScaleWrite) => void;
}

/** A caller with the troubles of what it does at present. */
interface Calling extends Caller {
  troubles: Troubles;
}

/**
 * One client of one API server in one process, with the connections that it keeps between syncs.
 */
interface Kept {
  readonly client: ClusterClient;
  readonly callers: Map<string, Calling>;
}

interface World {
  readonly network: Network;
  readonly nowMs: () => number;
  /** Who answers at the address of a cluster now; absent where it is always that cluster. */
  readonly behind?: (site: SimulatedCluster) => Behind;
}

const calling = new AsyncLocalStorage<Calling>();
const keptBy = new WeakMap<Process, Map<SimulatedCluster, Kept>>();
const servers = new WeakMap<SimulatedCluster, ApiServer>();

const serverFor = (site: SimulatedCluster, nowMs: () => number): ApiServer => {
  const server = servers.get(site) ?? apiServer(site, nowMs);
  servers.set(site, server);
  return server;
};

type OverSockets = Pick<
  ClusterClient,
  "observe" | "listSpecs" | "putScale" | "readScale" | "writeBack"
>;

/**
 * A cluster by its real client, over connections in memory: its transport, its discovery, its
 * limits, its LISTs and HTTP are those of a function.
 */
export const clusterOverSockets = (
  world: World,
  site: SimulatedCluster,
  asked: Caller,
): OverSockets => {
  const { by } = asked;
  const sites = keptBy.get(by.process) ?? new Map<SimulatedCluster, Kept>();
  keptBy.set(by.process, sites);
  const { client, callers } = sites.get(site) ?? newKept(world, by.process, site);
  sites.set(site, { client, callers });
  const caller: Calling = { ...asked, troubles: {} };
  callers.set(by.name, caller);
  const during = async <Answer>(
    troubles: Troubles,
    call: () => Promise<Answer>,
  ): Promise<Answer> => {
    caller.troubles = troubles;
    const answer = await calling.run(caller, call);
    caller.troubles = {};
    return answer;
  };
  const { writeBack } = client;
  return {
    observe: async (watched, limits) => {
      const troubles: Troubles = { failing: caller.failing() };
      const observed = ({ later, ...part }: ObservedCluster): ObservedCluster =>
        later ? { ...part, later: async () => observed(await during(troubles, later)) } : part;
      return observed(await during(troubles, () => client.observe(watched, limits)));
    },
    listSpecs: (request) => during({ listing: caller.listing() }, () => client.listSpecs(request)),
    putScale: (write, timeoutMs) => calling.run(caller, () => client.putScale(write, timeoutMs)),
    readScale: (namespace, target, timeoutMs) =>
      calling.run(caller, () => client.readScale(namespace, target, timeoutMs)),
    ...(writeBack && {
      writeBack: (updates, limits) => calling.run(caller, () => writeBack(updates, limits)),
    }),
  };
};

/**
 * The first protobuf answer loads its reader. Virtual time cannot wait for that, so it is loaded
 * before a seed begins.
 */
export const warmReader = async (): Promise<void> => {
  await decodeAnswer(Buffer.alloc(0), STATUS_KIND);
};

const newKept = (world: World, process: Process, site: SimulatedCluster): Kept => {
  const { network, nowMs } = world;
  const callers = new Map<string, Calling>();
  const served: Served = { ...world, process, site, callers };
  const server: Server = serverOf((request, response) => void serve(served, request, response));
  const access = {
    server: new URL(`http://${site.name}.simulated`),
    rejectUnauthorized: true,
    ownAddresses: true,
    // The token of a request is the name of the sync that makes it.
    credentials: async () => ({
      headers: { authorization: `Bearer ${calling.getStore()?.by.name}` },
    }),
    forget: () => undefined,
  };
  const kubeSystemUid = world.behind && site.identity;
  const client = clientFor({ name: clusterName(site.name), kubeSystemUid }, access, {
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
      connection: () =>
        connectionTo(server, () => reach(network, process, site, calling.getStore()?.by)),
    },
  });
  return { client, callers };
};

/**
 * What a caller waits for a connection at the most: nothing answers for longer than any limit of a
 * call.
 */
const NEVER_CONNECTED_MS = 60_000;

const reach = (
  network: Network,
  process: Process,
  site: SimulatedCluster,
  by: Invocation | undefined,
): Promise<Reached> =>
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

interface Served extends World {
  readonly process: Process;
  /** The cluster whose address it is. */
  readonly site: SimulatedCluster;
  readonly callers: ReadonlyMap<string, Calling>;
}

const NOTHING: WireAnswer = { status: 500, body: "" };

/** An answer that comes so much later than its request. */
interface Late {
  readonly afterMs: number;
}

const serve = async (
  served: Served,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { network, process, callers } = served;
  const url = new URL(incoming.url ?? "", "http://simulated");
  const { authorization = "", accept = "" } = incoming.headers;
  const request = apiRequest({
    method: incoming.method ?? "",
    url,
    accept,
    body: await textOf(incoming),
  });
  const caller = callers.get(authorization.replace("Bearer ", ""));
  if (!caller) throw new TypeError("a request of no sync");
  const call = callOf(request, caller.troubles);
  // The server executes a request until the timeout that the client gave to it, and not after.
  const lateMs = Number.parseInt(url.searchParams.get("timeout") ?? "0", 10);
  // What was executed, whether or not its answer arrives.
  let made = NOTHING;
  const answer = await network.call<WireAnswer | Break | Late>(process, {
    ...call,
    by: caller.by,
    timeoutMs: LOST_MS,
    lateMs,
    waitsForAnswer: true,
    execute: () => {
      made = answeredBy(served, request, caller);
      return made;
    },
    unclear: (fate) =>
      failedBy(fate, request) ?? lateBy(fate, call.kind, lateMs) ?? breakOf(fate, made),
  });
  if (typeof answer === "string")
    breakOff(response, made, answer, made.headers?.["content-type"] ?? JSON_TYPE);
  else if ("afterMs" in answer)
    await network.wait(process, answer.afterMs).then(() => respond(response, made));
  else respond(response, answer);
};

const answeredBy = (
  { site, behind, nowMs }: Served,
  request: ApiRequest,
  caller: Calling,
): WireAnswer => {
  const { site: there, answers } = behind?.(site) ?? { site, answers: "its own" as const };
  if (there !== site && request.kind === "put" && isOf(there, request.write))
    caller.reachedAnother?.(request.write);
  return serverFor(there, nowMs).answer(request, { ...caller, identity: answers });
};

/** A PUT with a uid of this cluster, which refuses every other. */
const isOf = (site: SimulatedCluster, { namespace, target, targetUid }: ScaleWrite): boolean =>
  site.at(namespace, target)?.uid === targetUid;

const JSON_TYPE = "application/json";

const respond = (response: ServerResponse, { status, body, headers }: WireAnswer): void => {
  response.writeHead(status, { "content-type": JSON_TYPE, ...headers }).end(body);
};

/**
 * The pages of a LIST begin with one that every server has; what it remembers of the others it may
 * have dropped.
 */
const EXPIRED: ApiFailure = {
  code: 410,
  reason: "Expired",
  message: "the continue token is too old",
};
const FORBIDDEN: ApiFailure = {
  code: 403,
  reason: "Forbidden",
  message: "the user cannot list this",
};
const RETRY_SECONDS = "1";

const busy = (): WireAnswer => ({
  ...statusAnswer(BUSY),
  headers: { "retry-after": RETRY_SECONDS },
});

const failedBy = ({ fault, lateness }: Fate, request: ApiRequest): WireAnswer | undefined => {
  if (fault === "throttled") return busy();
  if (fault === "failed before" || fault === "failed after") return statusAnswer(BROKEN);
  if (fault !== "denied" && fault !== "copied") return undefined;
  if (request.kind === "put") return statusAnswer(denialOf(lateness));
  return statusAnswer(request.kind === "list" && request.token !== undefined ? EXPIRED : FORBIDDEN);
};

/**
 * A read is answered late, within the limit of its client or after it; a write that lands late has
 * no answer.
 */
const lateBy = ({ fault, lateness }: Fate, kind: CallKind, lateMs: number): Late | undefined =>
  fault === "late" && kind === "list" ? { afterMs: Math.floor(lateness * lateMs) } : undefined;

interface NamedCall {
  readonly kind: CallKind;
  readonly name: string;
  readonly what: string;
}

const LISTS: Readonly<Record<Collection["of"], string>> = {
  workloads: "LIST workloads",
  pods: "LIST pods",
  "pod metrics": "LIST pod metrics",
  hpas: "LIST other controllers",
  "scaled objects": "LIST other controllers",
  datadog: "LIST other controllers",
  objects: "LIST objects",
};

/** The words for a request, and which faults it meets. */
const callOf = (request: ApiRequest, { failing }: Troubles): NamedCall => {
  const named = (kind: CallKind, name: string, what = name): NamedCall => ({ kind, name, what });
  switch (request.kind) {
    case "put":
      return named("put", "put", `PUT ${request.write.target.name} to ${request.write.replicas}`);
    case "read":
      return failing
        ? named("list", "GET a watched scale")
        : named("read", "read scale", `GET ${request.target.name}`);
    case "identity":
      return named("read", "identity", "GET the identity");
    case "group":
    case "resources":
      return named("read", "discover", "GET the kinds of a group");
    case "list":
      return named(
        "list",
        failing && request.collection.of === "objects" ? LISTS.hpas : LISTS[request.collection.of],
      );
    case "metric":
      return named("list", "GET a metric", `GET ${request.metric}`);
    case "status":
      return named("update", "PATCH a status", `PATCH the status of ${request.name}`);
    case "event":
      return named("update", request.isNew ? "POST an event" : "PATCH an event");
  }
};
