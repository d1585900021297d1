import { type DynamoDBClient, type GetItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import type { SpecListing, SpecObject } from "../../../lib/stack/cluster/cluster-client.ts";
import { CHANGE_SK_PREFIX } from "../../../lib/stack/store/table/keys.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { hasObjects } from "../objects/plan-objects.ts";
import type { Process } from "../process.ts";
import { SHARED_RULES } from "../rules.ts";
import type { Item } from "../watch/head.ts";
import { ACTS, CHANGES, ENDS, type PlantedBug, RIVALS } from "./planted.ts";
import { withClient } from "./ports.ts";

/** What one environment keeps of the answers of one cluster. */
interface Kept {
  /** By kind and namespace. */
  readonly answers: Map<string, SpecListing>;
  /** By uid of the object: its highest generation, and its last manifest that could be used. */
  readonly manifests: Map<string, string>;
}

type Mistake = (listing: SpecListing, kept: Kept) => SpecListing;

const keptBy = new WeakMap<Process, Map<string, Kept>>();

const keptOf = (process: Process, cluster: string): Kept => {
  const clusters = keptBy.get(process) ?? new Map<string, Kept>();
  keptBy.set(process, clusters);
  const kept = clusters.get(cluster) ?? { answers: new Map(), manifests: new Map() };
  clusters.set(cluster, kept);
  return kept;
};

/**
 * Other answers than the cluster gave. Every object comes with its manifest, so that a mistake may
 * keep it.
 */
const withListings =
  (mistake: Mistake): NonNullable<PlantedBug["ports"]> =>
  (ports, { process, message }) =>
    withClient(ports, (inner) => ({
      ...inner,
      listSpecs: async (request) => {
        const answer = await inner.listSpecs({ ...request, knownVersion: () => undefined });
        return {
          ...answer,
          listings: answer.listings.map((listing) =>
            mistake(listing, keptOf(process, message.cluster)),
          ),
        };
      },
    }));

const withObjects = (
  listing: SpecListing,
  change: (object: SpecObject) => SpecObject,
): SpecListing =>
  listing.outcome.kind === "failed"
    ? listing
    : { ...listing, outcome: { kind: "listed", objects: listing.outcome.objects.map(change) } };

const failedIsEmpty: PlantedBug = {
  leftOut: "a hold where the LIST of the objects failed (it is taken for an empty one)",
  seed: 6,
  where: hasObjects,
  caughtBy: [ENDS],
  ports: withListings((listing) =>
    listing.outcome.kind === "failed"
      ? { ...listing, outcome: { kind: "listed", objects: [] } }
      : listing,
  ),
};

const failedIsLast: PlantedBug = {
  leftOut: "a hold where the LIST of the objects failed (the answer before it counts)",
  seed: 22,
  where: hasObjects,
  caughtBy: [ACTS],
  ports: withListings((listing, { answers }) => {
    const key = `${listing.kind.kind}/${listing.namespace ?? ""}`;
    if (listing.outcome.kind === "listed") answers.set(key, listing);
    return answers.get(key) ?? listing;
  }),
};

const lastValid: PlantedBug = {
  leftOut: "a hold where an object is invalid (its last valid manifest counts)",
  seed: 22,
  where: hasObjects,
  caughtBy: [ACTS],
  ports: withListings((listing, { manifests }) =>
    withObjects(listing, (object) => {
      const { uid, manifest = "" } = object;
      if (SHARED_RULES.specOf(manifest).kind === "spec") manifests.set(uid, manifest);
      return { ...object, manifest: manifests.get(uid) ?? manifest };
    }),
  ),
};

const unseenFollower: PlantedBug = {
  leftOut: "a look at who writes the status of an object",
  seed: 46,
  where: hasObjects,
  caughtBy: [RIVALS],
  ports: withListings((listing) => withObjects(listing, ({ statusBy: _by, ...object }) => object)),
};

/** Every autoscaler of an object is read as if an answer without its object had come before. */
const endedAtOnce: PlantedBug = {
  leftOut: "a second answer before an autoscaler ends",
  seed: 26,
  where: hasObjects,
  caughtBy: [ENDS],
  ports: (ports) => {
    const { client } = ports.tables;
    const marked = (item: Item): Item =>
      item["origin"]?.M
        ? {
            ...item,
            origin: {
              M: { ...item["origin"].M, goneMs: item["origin"].M["goneMs"] ?? { N: "1" } },
            },
          }
        : item;
    const send = async (command: object): Promise<object> => {
      const answer = (await client.send(command as GetItemCommand)) as {
        readonly Items?: readonly Item[];
      };
      return command instanceof QueryCommand && answer.Items
        ? { ...answer, Items: answer.Items.map(marked) }
        : answer;
    };
    return {
      ...ports,
      tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
    };
  },
};

/** What the syncs store of objects is in no list of changes. */
const untoldChanges: PlantedBug = {
  leftOut: "the change of an edit that a sync makes",
  seed: 2,
  where: hasObjects,
  caughtBy: [CHANGES],
  ports: (ports): SyncPorts => ({
    ...ports,
    insert: async (items) => {
      const others = items.filter(({ sk }) => !sk.startsWith(CHANGE_SK_PREFIX));
      const inserted = others.length > 0 ? await ports.insert(others) : [];
      return items.map((item) => inserted[others.indexOf(item)] ?? { kind: "inserted" });
    },
  }),
};

export const OBJECT_BUGS: readonly PlantedBug[] = [
  failedIsEmpty,
  failedIsLast,
  lastValid,
  unseenFollower,
  endedAtOnce,
  untoldChanges,
];
