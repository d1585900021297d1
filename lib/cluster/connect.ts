import pLimit from "p-limit";
import { TidemarkError } from "../model/errors.ts";
import type { ClusterRecord } from "../model/records.ts";
import type { Access } from "./access/access.ts";
import type { EksDescription } from "./access/eks-description.ts";
import { NOTHING_TRUSTED, type Trusted } from "./access/trusted.ts";
import { apiDiscovery } from "./discovery.ts";
import { MAX_PARALLEL_CALLS } from "./limits.ts";
import { newMemory } from "./observe/memory.ts";
import { observe } from "./observe/observe.ts";
import type { ClusterClient } from "./port.ts";
import { askRecommender } from "./recommender.ts";
import { type Line, putScaleWithin, readScaleWithin } from "./scale.ts";
import { apiTransport, type Transport } from "./transport/transport.ts";

export interface ConnectOptions {
  /** Real wall clock in milliseconds, also where the sync's own is virtual: tokens and connections age in real time. */
  readonly clock: () => number;
  /** Milliseconds of a clock that only runs forward; budgets are measured with it. */
  readonly elapsed?: () => number;
  /** What this machine may be used for. Inside functions nothing; the embedded run trusts its own machine (access/on-this-machine.ts). */
  readonly trusted?: Trusted;
  /** What AWS said about EKS clusters, by the cluster's name: kept longer than a client, so that AWS is asked once. */
  readonly eksDescriptions?: {
    readonly get: (cluster: string) => EksDescription | undefined;
    readonly set: (cluster: string, description: EksDescription) => void;
  };
  /** Told once per client and matter: something could not be looked at, and what that means. */
  readonly notice?: (message: string) => void;
}

type Connectable = Pick<ClusterRecord, "name" | "connection">;

/** A client for one cluster. Opens no connection to it yet; a connection record that cannot be used is a TidemarkError `cluster.access.…`. */
export const connect = async (record: Connectable, options: ConnectOptions): Promise<ClusterClient> => {
  const access = await accessFor(record, options);
  return clientFor(record.name, access, options);
};

/** A client over a given access. */
export const clientFor = (cluster: string, access: Access, options: ConnectOptions): ClusterClient => {
  const elapsed = options.elapsed ?? (() => performance.now());
  const transport = gated(apiTransport({ cluster, access, clock: options.clock, elapsed }));
  const line: Line = { cluster, transport, discovery: apiDiscovery(transport, options.clock), elapsed };
  const memory = newMemory(options.clock, options.notice ?? (() => undefined));
  return {
    observe: (watched, limits) => observe(line, memory, watched, limits),
    putScale: (write, timeoutMs) => putScaleWithin(line, write, timeoutMs),
    readScale: (namespace, target, timeoutMs) => readScaleWithin(line, namespace, target, timeoutMs),
    recommend: (recommender, request, timeoutMs) => askRecommender(options.trusted ?? NOTHING_TRUSTED, recommender, request, timeoutMs),
    close: transport.close,
  };
};

/** Reads wait here for their turn, before they take from their budget; a PUT waits for nobody. */
const gated = (transport: Transport): Transport => {
  const gate = pLimit(MAX_PARALLEL_CALLS);
  return { ...transport, get: (request, budget) => gate(() => transport.get(request, budget)) };
};

/** Each way in is loaded when a cluster needs it. */
const accessFor = async (
  { name, connection }: Connectable,
  { clock, trusted = NOTHING_TRUSTED, eksDescriptions }: ConnectOptions,
): Promise<Access> => {
  const { ownAddresses, kubeconfigFile } = trusted;
  switch (connection.kind) {
    case "eks": {
      const { eksAccess } = await import("./access/eks.ts");
      const known = eksDescriptions?.get(name);
      const access = await eksAccess(connection, { cluster: name, clock, ownAddresses, ...(known && { known }) });
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
    `Cannot connect cluster "${cluster}": a kubeconfig file is read in the embedded run alone; put it into a secret, or connect the cluster as EKS`,
    { cluster },
  );
