import { type ClusterClients, clusterClients } from "../../lib/stack/cluster/connect.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import type { ClusterRecord } from "../../lib/rules/model/records.ts";
import type { SimulatedCluster } from "./cluster.ts";
import type { Invocation } from "./invocation.ts";
import type { Process } from "./process.ts";
import type { Stage } from "./stage.ts";
import { ELSEWHERE } from "./world.ts";

type Places = Pick<Stage, "clusters" | "elsewhere" | "connectedTo">;

const siteAt = (
  { clusters, elsewhere }: Places,
  name: string,
  path: string | undefined,
): SimulatedCluster => {
  const site = (path === ELSEWHERE.path ? elsewhere : clusters).get(name);
  if (!site) throw new RangeError(`there is no cluster "${name}"`);
  return site;
};

/**
 * The API server that the stored record of a cluster leads to; the first one while there is no
 * record.
 */
export const siteOf = (places: Places, name: string): SimulatedCluster =>
  siteAt(places, name, places.connectedTo(name));

interface Kept {
  readonly clients: ClusterClients<ClusterRecord>;
  readonly sites: WeakMap<ClusterClient, SimulatedCluster>;
}

const keptBy = new WeakMap<Process, Kept>();

const keptOf = (places: Places, process: Process): Kept => {
  const known = keptBy.get(process);
  if (known) return known;
  const sites = new WeakMap<ClusterClient, SimulatedCluster>();
  const open = async ({ name }: ClusterRecord): Promise<ClusterClient> => {
    const client = { ...NEVER_ASKED };
    const path = places.connectedTo(name);
    if (path === undefined)
      throw new TidemarkError(
        "cluster.access.none",
        `Cannot connect cluster "${name}": no connection is stored for it`,
        { name },
      );
    sites.set(client, siteAt(places, name, path));
    return client;
  };
  const kept = { clients: clusterClients({ clock: () => 0 }, open), sites };
  keptBy.set(process, kept);
  return kept;
};

const never = (): never => {
  throw new TypeError("only its place is asked for");
};
const NEVER_ASKED: ClusterClient = {
  observe: never,
  putScale: never,
  readScale: never,
  recommend: never,
  listSpecs: never,
  close: () => {},
};

/**
 * The API server that a process reaches for a record, by the real clients that a warm environment
 * keeps: by what it was opened for, not by what is stored now.
 */
export const siteFor = async (
  places: Places,
  process: Process,
  record: ClusterRecord,
): Promise<SimulatedCluster> => {
  const { clients, sites } = keptOf(places, process);
  const site = sites.get(await clients.clientFor(record));
  if (!site) throw new TypeError("a client of no place");
  return site;
};

/**
 * A removed cluster gets no PUT any more, and after it was added again elsewhere the API server of
 * before gets none.
 */
export const watchSite = (
  stage: Places & Pick<Stage, "ledger">,
  { name, message: { cluster } }: Invocation,
  site: SimulatedCluster,
  words: string,
): void => {
  const path = stage.connectedTo(cluster);
  if (path !== undefined && siteAt(stage, cluster, path) === site) return;
  stage.ledger.violate(
    "no PUT goes to an API server that its cluster does not name",
    `${name} ${words} in "${cluster}", which ${path === undefined ? "was removed" : `is at "${path}"`}`,
  );
};
