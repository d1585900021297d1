import { TidemarkError } from "../model/errors.ts";
import { proxyName } from "../model/metric-source.ts";
import type { ClusterRecord, ConnectionRecord } from "../model/records.ts";
import { type Access, NOTHING_TRUSTED, type Trusted } from "./access/access.ts";
import type { EksDescription } from "./access/eks-description.ts";
import type { ClusterClient, ServiceAnswer, ServiceRequest } from "./cluster-client.ts";
import { apiDiscovery, segment } from "./discovery.ts";
import { fieldManagerOf } from "./read/scale.ts";
import { objectWriter } from "./objects/write-back.ts";
import { newMemory } from "./observe/memory.ts";
import { observe } from "./observe/observe.ts";
import { askRecommender } from "./recommender.ts";
import { type ApiSession, putScaleWithin, readScaleWithin } from "./scale.ts";
import { listSpecs } from "./specs/list-specs.ts";
import { fairGate } from "./transport/fair-gate.ts";
import { sameCluster } from "./transport/same-cluster.ts";
import { OF_THE_MACHINE, type Surroundings } from "./transport/exchange.ts";
import { apiTransport, type OnDated, type Transport } from "./transport/transport.ts";

export interface ConnectOptions {
  /** The real wall clock in milliseconds, also where the clock of the sync is virtual: tokens and connections age in real time. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock, for budgets. */
  readonly elapsed?: () => number;
  /** Time and connections of the calls, where they are not the machine's: the simulation has its own. */
  readonly surroundings?: Surroundings;
  /** What a record or manifest may use on this machine. In functions it may use nothing; the embedded run trusts its own machine (access/kubeconfig-file.ts). */
  readonly trusted?: Trusted;
  /** The name that this stack gives when it assumes a role of another account. */
  readonly externalId?: string;
  /** Descriptions of EKS clusters by name. They live longer than a client, so that each cluster is described once. */
  readonly eksDescriptions?: {
    readonly get: (cluster: string) => EksDescription | undefined;
    readonly set: (cluster: string, description: EksDescription) => void;
  };
  /** Gets the `Date` of each answer of the API server, where its clock is the one to compare with. */
  readonly onDated?: OnDated;
  /** Called once for each client and kind of problem: what could not be read, and what follows. */
  readonly notice?: (message: string) => void;
}

type Connectable = Identified & Pick<ConnectionRecord, "connection">;
type Identified = Pick<ClusterRecord, "name" | "uid"> & Pick<ConnectionRecord, "kubeSystemUid">;

/** A client for one cluster. It opens no connection yet. Throws a TidemarkError `cluster.access.…` for a connection that cannot be used. */
export const connect = async (record: Connectable, options: ConnectOptions): Promise<ClusterClient> => {
  const access = await accessFor(record, options);
  return clientFor(record, access, options);
};

/** A client with this access. */
export const clientFor = (record: Identified, access: Access, options: ConnectOptions): ClusterClient => {
  const { name: cluster, kubeSystemUid } = record;
  const elapsed = options.elapsed ?? (() => performance.now());
  const { clock, surroundings = OF_THE_MACHINE, onDated } = options;
  const calls = apiTransport({ cluster, access, clock, elapsed, surroundings, ...(onDated && { onDated }) });
  const identified = kubeSystemUid === undefined ? calls : sameCluster(calls, { cluster, uid: kubeSystemUid, clock, elapsed });
  const transport = gated(identified, surroundings.after);
  const session: ApiSession = {
    cluster,
    transport,
    discovery: apiDiscovery(transport, options.clock),
    fieldManager: fieldManagerOf(record),
    elapsed,
    after: surroundings.after,
  };
  const memory = newMemory(options.clock, options.notice ?? (() => undefined));
  return {
    observe: (watched, limits) => observe(session, memory, watched, limits),
    listSpecs: (request) => listSpecs({ session, memory }, record, request),
    putScale: (write, timeoutMs) => putScaleWithin(session, write, timeoutMs),
    readScale: (namespace, target, timeoutMs) => readScaleWithin(session, namespace, target, timeoutMs),
    recommend: (recommender, request, timeoutMs) => askRecommender(options.trusted ?? NOTHING_TRUSTED, recommender, request, timeoutMs),
    getFromService: (request, limits) => getFromService(session, request, limits),
    writeBack: objectWriter(session, options.clock),
    look: async (timeoutMs) => void (await transport.getOnce({ path: "/version", resource: "version" }, timeoutMs)),
    close: transport.close,
  };
};

/** Bounds the parallel reads. A read waits before it takes from its budget; a PUT never waits. */
const gated = (transport: Transport, after: Surroundings["after"]): Transport => {
  const gate = fairGate(after);
  return { ...transport, get: (request, budget) => gate.run(request.flow, () => transport.get(request, budget)) };
};

/** Loads the code of each kind of access when the first cluster needs it. */
export const accessFor = async (
  { name, connection }: Connectable,
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
      return kubeconfigFile({ path, cluster: name, clock, ...(context !== undefined && { context }) });
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
 * Sends one GET to a service of the cluster through its API server: with the connection and the credentials that the cluster has, without an ingress. The API server sends the request to a pod
 * of the service and removes our credentials from it. The right is `get` of `services/proxy` for this one service (`tidemark cluster rbac --source`).
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
