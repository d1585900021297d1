import type { OnDated } from "../aws/bounded-requests.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { proxyName } from "../../rules/model/metric-source.ts";
import {
  type ClusterRecord,
  type ConnectionRecord,
  incarnationOf,
} from "../../rules/model/records.ts";
import { type Access, NOTHING_TRUSTED, type Trusted } from "./access/access.ts";
import type { EksDescription } from "./access/eks-description.ts";
import type {
  ClusterClient,
  ObservedCluster,
  ServiceAnswer,
  ServiceRequest,
} from "./cluster-client.ts";
import { apiDiscovery, segment } from "./discovery.ts";
import { fieldManagerOf, type ApiSession, putScaleWithin, readScaleWithin } from "./scale.ts";
import { objectWriter } from "./objects/write-back.ts";
import { newMemory } from "./observe/memory.ts";
import { observeWatched } from "./observe/observe.ts";
import { askRecommender } from "./recommender.ts";
import { listSpecs } from "./specs/list-specs.ts";
import { fairGate } from "../turns/gate.ts";
import {
  clusterTransport,
  type IdentifiedOptions,
  refusingTransport,
} from "./transport/same-cluster.ts";
import { OF_THE_MACHINE, type Surroundings } from "./transport/exchange.ts";
import type { Transport } from "./transport/transport.ts";
import {
  MAX_DESCRIPTIONS,
  MAX_FLOW_CALLS,
  MAX_PARALLEL_CALLS,
  SLOW_CALL_MS,
} from "./request-limits.ts";

export interface ConnectOptions {
  /**
   * The real wall clock in milliseconds, also where the clock of the sync is virtual: tokens and
   * connections age in real time.
   */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock, for budgets. */
  readonly elapsed?: () => number;
  /**
   * Time and connections of the calls, where they are not the machine's: the simulation has its
   * own.
   */
  readonly surroundings?: Surroundings;
  /**
   * What a record or manifest may use on this machine. In functions it may use nothing; the
   * embedded run trusts its own machine (access/kubeconfig-file.ts).
   */
  readonly trusted?: Trusted;
  /** The name that this stack gives when it assumes a role of another account. */
  readonly externalId?: string;
  /**
   * Descriptions of EKS clusters by name. They live longer than a client, so that each cluster is
   * described once.
   */
  readonly eksDescriptions?: {
    readonly get: (cluster: string) => EksDescription | undefined;
    readonly set: (cluster: string, description: EksDescription) => void;
  };
  /**
   * Gets the `Date` of each answer of the API server, where its clock is the one to compare with.
   */
  readonly onDated?: OnDated;
  /**
   * When the cluster last got a kind, by `clock`, where this process gives it its kinds, as in the
   * embedded run.
   */
  readonly newestKindMs?: () => number;
  /** Called once for each client and kind of problem: what could not be read, and what follows. */
  readonly notice?: (message: string) => void;
}

type Connectable = Identified & Pick<ConnectionRecord, "connection">;
/** A connection that is only checked, before its cluster is added, has no uid. */
type Identified = Pick<ClusterRecord, "name"> &
  Partial<Pick<ClusterRecord, "uid">> &
  Pick<IdentifiedOptions, "kubeSystemUid">;

/**
 * A client for one cluster. It opens no connection yet. Throws a TidemarkError `cluster.access.…`
 * for a connection that cannot be used.
 */
export const connect = async (
  record: Connectable,
  options: ConnectOptions,
): Promise<ClusterClient> => {
  const access = await accessFor(record, options);
  return clientFor(record, access, options);
};

export const clientFor = (
  record: Identified,
  access: Access,
  options: ConnectOptions,
): ClusterClient => {
  const { name: cluster, kubeSystemUid } = record;
  const elapsed = options.elapsed ?? (() => performance.now());
  const { clock, surroundings = OF_THE_MACHINE, onDated } = options;
  const calls = clusterTransport({
    cluster,
    kubeSystemUid,
    access,
    clock,
    elapsed,
    surroundings,
    ...(onDated && { onDated }),
  });
  const transport = gated(calls, { elapsed, after: surroundings.after });
  const sessionOver = (over: Transport): ApiSession => ({
    cluster,
    transport: over,
    discovery: apiDiscovery(over, options.clock, options.newestKindMs),
    fieldManager: fieldManagerOf(record),
    elapsed,
    after: surroundings.after,
  });
  const session = sessionOver(transport);
  const memory = newMemory(options.clock, options.notice ?? (() => undefined));
  /**
   * What was read, or what it is where every call failed, because another cluster may have answered
   * some of them. It is not read again: the next sync asks a cluster that says which it is.
   */
  const certain = async <Answer>(
    answer: Answer,
    read: (refused: ApiSession) => Promise<Answer>,
  ): Promise<Answer> => {
    const failure = await transport.doubt();
    return failure ? read(sessionOver(refusingTransport(failure))) : answer;
  };
  const observe = async (...[watched, limits]: Observing): Promise<ObservedCluster> => {
    const checked = async ({ later, ...part }: ObservedCluster): Promise<ObservedCluster> => {
      const asked = watched.filter(({ uid }) => part.observations.has(uid));
      const here = await certain(part, (refused) =>
        observeWatched(refused, memory, asked, { ...limits, inRounds: false }),
      );
      return later ? { ...here, later: async () => checked(await later()) } : here;
    };
    return checked(await observeWatched(session, memory, watched, limits));
  };
  return {
    tokenLife: access.tokenLife,
    observe,
    listSpecs: async (request) =>
      certain(await listSpecs({ session, memory }, record, request), (refused) =>
        listSpecs({ session: refused, memory }, record, request),
      ),
    putScale: (write, timeoutMs) => putScaleWithin(session, write, timeoutMs),
    readScale: async (...read) =>
      certain(await readScaleWithin(session, ...read), (refused) =>
        readScaleWithin(refused, ...read),
      ),
    recommend: (recommender, request, timeoutMs) =>
      askRecommender(options.trusted ?? NOTHING_TRUSTED, recommender, request, timeoutMs),
    getFromService: async (...request) =>
      certain(await getFromService(session, ...request), (refused) =>
        getFromService(refused, ...request),
      ),
    writeBack: objectWriter(session, options.clock),
    look: async (timeoutMs) =>
      void (await transport.getOnce({ path: "/version", resource: "version" }, timeoutMs)),
    close: transport.close,
  };
};

type Observing = Parameters<ClusterClient["observe"]>;

/** Bounds the parallel reads. A read waits before it takes from its budget; a PUT never waits. */
const gated = (
  transport: Transport,
  { elapsed, after }: Pick<ApiSession, "elapsed" | "after">,
): Transport => {
  const gate = fairGate({
    places: MAX_PARALLEL_CALLS,
    ofFlow: MAX_PARALLEL_CALLS,
    elapsed,
    slow: { afterMs: SLOW_CALL_MS, places: MAX_FLOW_CALLS, after },
  });
  return {
    ...transport,
    get: (request, budget) => gate.run(request.flow, () => transport.get(request, budget)),
  };
};

/** Loads the code of each kind of access when the first cluster needs it. */
export const accessFor = async (
  { name, connection }: Pick<Connectable, "connection" | "name">,
  { clock, trusted = NOTHING_TRUSTED, eksDescriptions, externalId }: ConnectOptions,
): Promise<Access> => {
  const { ownAddresses, kubeconfigFile } = trusted;
  switch (connection.kind) {
    case "eks": {
      const { eksAccess } = await import("./access/eks.ts");
      const known = eksDescriptions?.get(name);
      const given = { ...(known && { known }), ...(externalId !== undefined && { externalId }) };
      const access = await eksAccess(connection, { cluster: name, clock, ownAddresses, ...given });
      eksDescriptions?.set(name, access.described);
      return access;
    }
    case "secret": {
      const { secretAccess } = await import("./access/secret.ts");
      return secretAccess(connection, { cluster: name, clock, ownAddresses });
    }
    case "kubeconfig": {
      if (!kubeconfigFile) throw noFiles(name);
      const { path, context } = connection;
      return kubeconfigFile({
        path,
        cluster: name,
        clock,
        ...(context !== undefined && { context }),
      });
    }
  }
};

const noFiles = (cluster: string): TidemarkError =>
  new TidemarkError(
    "cluster.access.kubeconfig",
    `Cannot connect cluster "${cluster}": a kubeconfig file is read only in the embedded run; put it into a secret, or connect the cluster as EKS`,
    { cluster },
  );

/**
 * Sends one GET to a service of the cluster through its API server: with the connection and the
 * credentials that the cluster has, without an ingress. The API server sends the request to a pod
 * of the service and removes our credentials from it. The right is `get` of `services/proxy` for
 * this one service (`tidemark cluster rbac --source`).
 */
const getFromService = (
  { transport }: ApiSession,
  { service, path, parameters, headers }: ServiceRequest,
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<ServiceAnswer> =>
  transport.getOnce(
    {
      path: `/api/v1/namespaces/${segment(service.namespace)}/services/${segment(proxyName(service))}/proxy${service.path}${path}`,
      resource: "services/proxy",
      query: parameters,
      maxBytes: limits.maxBytes,
      ...(headers && { headers }),
    },
    limits.timeoutMs,
  );

/**
 * The clients of a warm environment. They stay between invocations, so that connections, tokens and
 * discovery are reused.
 */
export interface ClusterClients<Cluster extends KnownCluster> {
  /**
   * The client of this version of the cluster. A new version, or another cluster of the same name,
   * closes the earlier client. Throws the errors of `open`; the next call tries again.
   */
  readonly clientFor: (record: Cluster) => Promise<ClusterClient>;
  readonly closeAll: () => Promise<void>;
}

type KnownCluster = Pick<ClusterRecord, "name" | "uid" | "version">;
interface Kept {
  readonly incarnation: string;
  readonly client: Promise<ClusterClient>;
}

/** `open` is called once for each version of a cluster, so what it reads is read once. */
export const clusterClients = <Cluster extends KnownCluster>(
  options: ConnectOptions,
  open: (record: Cluster, options: ConnectOptions) => Promise<ClusterClient>,
  clientsMax: number = CLIENTS_LEAST,
): ClusterClients<Cluster> => {
  const descriptions = keptDescriptions();
  // In order of last use: a Map keeps the order of insertion, and every use inserts the entry
  // again.
  const kept = new Map<string, Kept>();
  const drop = (name: string, entry: Kept): void => {
    if (kept.get(name) === entry) kept.delete(name);
    entry.client.then(
      (client) => client.close(),
      // The client never opened. The caller of `clientFor` gets the error.
      () => undefined,
    );
  };
  return {
    clientFor: (record) => {
      const incarnation = incarnationOf(record);
      const known = kept.get(record.name);
      if (known && known.incarnation !== incarnation) drop(record.name, known);
      const entry: Kept =
        known?.incarnation === incarnation
          ? known
          : {
              incarnation,
              client: open(record, { ...options, eksDescriptions: descriptions.of(incarnation) }),
            };
      kept.delete(record.name);
      kept.set(record.name, entry);
      entry.client.catch(() => drop(record.name, entry));
      const [oldest] = kept;
      if (oldest && kept.size > clientsMax) drop(...oldest);
      return entry.client;
    },
    closeAll: async () => {
      const entries = [...kept];
      for (const [name, entry] of entries) drop(name, entry);
      await Promise.allSettled(entries.map(([, entry]) => entry.client));
    },
  };
};

interface Descriptions {
  /**
   * The descriptions for one incarnation of a record. A cluster that was removed and added again
   * under its name is described again.
   */
  readonly of: (incarnation: string) => NonNullable<ConnectOptions["eksDescriptions"]>;
}

const keptDescriptions = (): Descriptions => {
  const kept = new Map<
    string,
    { readonly incarnation: string; readonly description: EksDescription }
  >();
  return {
    of: (incarnation) => ({
      get: (name) => {
        const entry = kept.get(name);
        return entry?.incarnation === incarnation ? entry.description : undefined;
      },
      set: (name, description) => {
        const [oldest] = kept.keys();
        if (oldest !== undefined && kept.size >= MAX_DESCRIPTIONS) kept.delete(oldest);
        kept.set(name, { incarnation, description });
      },
    }),
  };
};

/** Room for clients where the memory is not known, and the least there is. */
export const CLIENTS_LEAST = 64;

/**
 * Memory of one warm client with its connections, twice what `npm run bench -- clients` measures.
 */
const CLIENT_MIB = 0.5;

/**
 * Memory of the process beside its clients: the peak of a sync of 1,000 autoscalers (`npm run bench
 * -- cluster`).
 */
const BESIDE_MIB = 300;

/**
 * How many clients a function with this much memory keeps. An environment gets the messages of all
 * clusters in turn, so with fewer clients than clusters each sync opens one: it reads a secret or
 * asks EKS, and makes a new TLS connection. On doubt, few: a process without memory ends in the
 * middle of a sync.
 */
export const clientsThatFit = (memoryMib: number): number =>
  Number.isFinite(memoryMib)
    ? Math.max(CLIENTS_LEAST, Math.floor((memoryMib - BESIDE_MIB) / CLIENT_MIB))
    : CLIENTS_LEAST;
