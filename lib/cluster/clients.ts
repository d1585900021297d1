import type { ClusterRecord } from "../model/records.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { MAX_CLIENTS } from "./limits.ts";
import type { ClusterClient } from "./port.ts";

/** Clients kept between invocations of a warm environment, so that connections, tokens and discovery are used again. */
export interface ClusterClients {
  /** The client of this version of the record; a newer version closes the older client. Fails as `connect` does, and then tries anew next time. */
  readonly clientFor: (record: Connectable) => Promise<ClusterClient>;
  readonly closeAll: () => Promise<void>;
}

type Connectable = Pick<ClusterRecord, "name" | "connection" | "version">;
interface Kept {
  readonly version: number;
  readonly client: Promise<ClusterClient>;
}

export const clusterClients = (
  options: ConnectOptions,
  open: (record: Connectable, options: ConnectOptions) => Promise<ClusterClient> = connect,
): ClusterClients => {
  // In order of last use: a Map keeps the order of insertion, and every use inserts anew.
  const kept = new Map<string, Kept>();
  const drop = (name: string, entry: Kept): void => {
    if (kept.get(name) === entry) kept.delete(name);
    entry.client.then(
      (client) => client.close(),
      // It never opened; whoever asked for it has been told.
      () => undefined,
    );
  };
  return {
    clientFor: (record) => {
      const known = kept.get(record.name);
      if (known && known.version !== record.version) drop(record.name, known);
      const entry: Kept = known?.version === record.version ? known : { version: record.version, client: open(record, options) };
      kept.delete(record.name);
      kept.set(record.name, entry);
      entry.client.catch(() => drop(record.name, entry));
      const [oldest] = kept;
      if (oldest && kept.size > MAX_CLIENTS) drop(...oldest);
      return entry.client;
    },
    closeAll: async () => {
      const entries = [...kept];
      for (const [name, entry] of entries) drop(name, entry);
      await Promise.allSettled(entries.map(([, entry]) => entry.client));
    },
  };
};
