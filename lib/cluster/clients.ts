import { incarnationOf, type ClusterRecord } from "../model/records.ts";
import type { EksDescription } from "./access/eks-description.ts";
import type { ClusterClient } from "./cluster-client.ts";
import type { ConnectOptions } from "./connect.ts";
import { MAX_DESCRIPTIONS } from "./request-limits.ts";

/** The clients of a warm environment. They stay between invocations, so that connections, tokens and discovery are reused. */
export interface ClusterClients<Cluster extends KnownCluster> {
  /** The client of this version of the cluster. A new version, or another cluster of the same name, closes the earlier client. Throws the errors of `open`; the next call tries again. */
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
  // In order of last use: a Map keeps the order of insertion, and every use inserts the entry again.
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
          : { incarnation, client: open(record, { ...options, eksDescriptions: descriptions.of(incarnation) }) };
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
  /** The descriptions for one incarnation of a record. A cluster that was removed and added again under its name is described again. */
  readonly of: (incarnation: string) => NonNullable<ConnectOptions["eksDescriptions"]>;
}

const keptDescriptions = (): Descriptions => {
  const kept = new Map<string, { readonly incarnation: string; readonly description: EksDescription }>();
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

/** Memory of one warm client with its connections, twice what `npm run bench -- clients` measures. */
const CLIENT_MIB = 0.5;

/** Memory of the process beside its clients: the peak of a sync of 1,000 autoscalers (`npm run bench -- cluster`). */
const BESIDE_MIB = 300;

/**
 * How many clients a function with this much memory keeps. An environment gets the messages of all clusters in turn, so with fewer clients than clusters each sync opens one: it reads a secret or asks EKS, and
 * makes a new TLS connection. Fails to few: a process without memory ends in the middle of a sync.
 */
export const clientsThatFit = (memoryMib: number): number =>
  Number.isFinite(memoryMib) ? Math.max(CLIENTS_LEAST, Math.floor((memoryMib - BESIDE_MIB) / CLIENT_MIB)) : CLIENTS_LEAST;
